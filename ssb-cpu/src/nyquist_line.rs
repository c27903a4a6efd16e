//! The Nyquist lines of even axes (numerics section 2), each corrected and transformed on its own.
//!
//! With `u` the inverse transform of a line's `S`, the line adds `Re u` to the real image `s_b` and
//! `-Im u` to the real part of `O_b`, both with the sign that alternates across the line.

use rustfft::num_complex::Complex32;
use ssb_core::support::chord;

use crate::candidate_tables::{Thick, polynomial};
use crate::correct_line::{Along, Fixed, Out, correct_line};
use crate::layout::Layout;
use crate::pixel::{COL, Pixel, ROW};
use crate::turns::{fill_cos_sin, sin_cos_turns};

/// Arrays along one line.
pub struct LineScratch {
    d: [Vec<f32>; 2],
    wave: [Vec<f32>; 2],
    sinc: [Vec<f32>; 2],
    s: [Vec<f32>; 2],
    gamma2: Vec<f32>,
    x: Vec<f32>,
    x_steps: Vec<f32>,
}

impl LineScratch {
    pub fn new(layout: &Layout) -> Self {
        let line = || vec![0.0; layout.rows.max(layout.cols)];
        Self {
            d: [line(), line()],
            wave: [line(), line()],
            sinc: [line(), line()],
            s: [line(), line()],
            gamma2: line(),
            x: line(),
            x_steps: line(),
        }
    }
}

/// Which Nyquist line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NyquistLine {
    /// Runs over `q_row` at the last column; leaves the corner out.
    Column(usize),
    /// Runs over every `q_col` at the middle row.
    Row(usize),
}

impl Pixel<'_> {
    /// Writes `S` of a Nyquist line; returns its degenerate points, or `None` when no sideband reaches it
    /// (then `s` is left alone).
    #[inline(always)]
    pub fn correct_nyquist_line(
        &self,
        line: NyquistLine,
        scratch: &mut LineScratch,
        s: &mut [Complex32],
    ) -> Option<u32> {
        let lattice = self.lattice;
        let (along, across, index) = match line {
            NyquistLine::Column(col) => (ROW, COL, col),
            NyquistLine::Row(row) => (COL, ROW, row),
        };
        let n = lattice.q_per_a[along].len();
        let (lo, hi) = self.line_reach(along, lattice.q_per_a[across][index])?;
        // The corner belongs to both lines; the row's correction has it.
        let first = match line {
            NyquistLine::Column(_) => -((n as i64 - 1) / 2),
            NyquistLine::Row(_) => -(n as i64 / 2),
        };
        let (lo, hi) = (lo.max(first), hi.min((n as i64 - 1) / 2));
        s.fill(Complex32::default());
        let mut degenerate = 0;
        for (a, b, shift) in [(lo.max(0), hi, 0), (lo, hi.min(-1), n as i64)] {
            if a <= b {
                let range = (a + shift) as usize..(b + shift) as usize + 1;
                degenerate += self.line_stretch(line, [along, across, index], range, scratch, s);
            }
        }
        Some(degenerate)
    }

    /// The hull, in signed indices, of the two apertures' chords on a line.
    #[inline(always)]
    fn line_reach(&self, along: usize, q_across: f64) -> Option<(i64, i64)> {
        let spacing = self.lattice.spacing_per_a[along];
        let (center, side) = (self.k[along], self.k[1 - along]);
        let outer = self.lattice.outer_per_a;
        let plus = chord(center, side - q_across, outer, spacing);
        let minus = chord(-center, -side - q_across, outer, spacing);
        match (plus, minus) {
            (Some(p), Some(m)) => Some((p.0.min(m.0), p.1.max(m.1))),
            (p, m) => p.or(m),
        }
    }

    #[inline(always)]
    fn line_stretch(
        &self,
        line: NyquistLine,
        [along, across, index]: [usize; 3],
        range: std::ops::Range<usize>,
        scratch: &mut LineScratch,
        out: &mut [Complex32],
    ) -> u32 {
        let lattice = self.lattice;
        let n = range.len();
        let q_across = lattice.q_per_a[across][index];
        let q = &lattice.q_per_a[along][range.clone()];
        let (g, (even, odd)) = match line {
            NyquistLine::Column(_) => (
                lattice.layout.nyquist_col_of(self.g),
                self.parts.at_col(q_across),
            ),
            NyquistLine::Row(_) => (
                lattice.layout.nyquist_row_of(self.g),
                self.parts.at_row(q_across),
            ),
        };
        let [cos, sin] = &mut scratch.d;
        fill_cos_sin(&mut cos[..n], &mut sin[..n], |i| -polynomial(&even, q[i]));
        let [cos, sin] = &mut scratch.wave;
        fill_cos_sin(&mut cos[..n], &mut sin[..n], |i| -polynomial(&odd, q[i]));
        if !self.tables.chi.own().is_empty() {
            self.line_own_phases(along, q_across, q, [&even, &odd], scratch);
        }
        let step = lattice.det_step_rad;
        for (i, q) in q.iter().enumerate() {
            let x = 2.0 * self.k[along] * q;
            scratch.x[i] = x as f32;
            scratch.x_steps[i] = (x * step[along].powi(2)) as f32;
        }
        if let Some(thick) = self.tables.thick {
            self.fill_sinc(along, q_across, thick, q, &mut scratch.sinc);
        }
        let x = 2.0 * self.k[across] * q_across;
        let squares = |v: [f64; 2]| v[ROW] * v[ROW] + v[COL] * v[COL];
        let k_steps = [self.k[ROW] * step[ROW], self.k[COL] * step[COL]];
        let fixed = Fixed {
            wave: [1.0, 0.0],
            base: (squares(self.k) + q_across * q_across) as f32,
            x: x as f32,
            base_steps: (squares(k_steps) + (q_across * step[across]).powi(2)) as f32,
            x_steps: (x * step[across].powi(2)) as f32,
            aperture: self.aperture as f32,
        };
        let inputs = Along {
            g: g.map(|v| &v[range.clone()]),
            d: [&scratch.d[0][..n], &scratch.d[1][..n]],
            wave: [&scratch.wave[0][..n], &scratch.wave[1][..n]],
            q2: &lattice.q2[along][range.clone()],
            x: &scratch.x[..n],
            q2_steps: &lattice.q2_steps[along][range.clone()],
            x_steps: &scratch.x_steps[..n],
            sinc: [&scratch.sinc[0][..n], &scratch.sinc[1][..n]],
        };
        let [re, im] = &mut scratch.s;
        let lines = Out {
            s: [&mut re[..n], &mut im[..n]],
            gamma2: &mut scratch.gamma2[..n],
        };
        let shape = &lattice.aperture;
        let degenerate = match (lattice.unequal_steps, self.tables.thick.is_some()) {
            (false, false) => correct_line::<false, false, true>(shape, &inputs, &fixed, lines),
            (false, true) => correct_line::<false, true, true>(shape, &inputs, &fixed, lines),
            (true, false) => correct_line::<true, false, true>(shape, &inputs, &fixed, lines),
            (true, true) => correct_line::<true, true, true>(shape, &inputs, &fixed, lines),
        };
        for ((z, re), im) in out[range].iter_mut().zip(&scratch.s[0]).zip(&scratch.s[1]) {
            *z = Complex32::new(*re, *im);
        }
        degenerate
    }

    /// `d` and the wave again, where terms with a formula of their own add to both parts.
    fn line_own_phases(
        &self,
        along: usize,
        q_across: f64,
        q: &[f64],
        [even, odd]: [&[f64]; 2],
        scratch: &mut LineScratch,
    ) {
        let own: Vec<[f64; 2]> = q
            .iter()
            .map(|q| {
                let mut point = [q_across; 2];
                point[along] = *q;
                self.tables.chi.own().about(self.k, point)
            })
            .collect();
        let n = q.len();
        let [cos, sin] = &mut scratch.d;
        fill_cos_sin(&mut cos[..n], &mut sin[..n], |i| {
            -polynomial(even, q[i]) - own[i][0]
        });
        let [cos, sin] = &mut scratch.wave;
        fill_cos_sin(&mut cos[..n], &mut sin[..n], |i| {
            -polynomial(odd, q[i]) - own[i][1]
        });
    }

    /// sinc(r1 t/2) and sinc(r2 t/2) along a stretch; r1 and r2 of numerics section 4, in turns.
    #[inline(always)]
    fn fill_sinc(
        &self,
        along: usize,
        q_across: f64,
        thick: Thick,
        q: &[f64],
        sinc: &mut [Vec<f32>; 2],
    ) {
        let [minus, plus] = sinc;
        let across = 1 - along;
        let curvature = 0.5 * self.lattice.wavelength_a * thick.half_depth_a;
        let shift = [0, 1].map(|axis| thick.tilt_rad[axis] * thick.half_depth_a);
        for (q, (m, p)) in q.iter().zip(minus.iter_mut().zip(plus)) {
            let q2 = q * q + q_across * q_across;
            let x = 2.0 * (self.k[along] * q + self.k[across] * q_across);
            let tilt = shift[along] * q + shift[across] * q_across;
            *m = sinc_of_turns(-curvature * (q2 - x) - tilt);
            *p = sinc_of_turns(curvature * (q2 + x) - tilt);
        }
    }
}

/// sin(y) / y for `y = 2 pi turns`.
#[inline(always)]
fn sinc_of_turns(turns: f64) -> f32 {
    let y = (std::f64::consts::TAU * turns) as f32;
    let (sine, _) = sin_cos_turns(turns);
    let small = y.abs() < 1e-2;
    let quotient = sine / if small { 1.0 } else { y };
    let series = 1.0 - y * y * (1.0 / 6.0 - y * y / 120.0);
    if small { series } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sinc_is_accurate_even_and_one_at_zero() {
        assert_eq!(sinc_of_turns(0.0), 1.0);
        for i in 1..4000 {
            let turns = f64::from(i) * 0.003_1;
            let y = std::f64::consts::TAU * turns;
            let got = sinc_of_turns(turns);
            assert!((f64::from(got) - y.sin() / y).abs() < 2e-7, "{turns}");
            assert_eq!(got, sinc_of_turns(-turns));
        }
    }
}
