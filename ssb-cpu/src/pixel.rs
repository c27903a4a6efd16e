//! One BF pixel: which stretches of which lines its sidebands reach, and their correction.

use ssb_core::EvenOdd;
use ssb_core::support::chord;

use crate::candidate_tables::{CandidateTables, Lattice, Thick, polynomial};
use crate::correct::{Along, Fixed, Out, correct_line};
use crate::prepare::PixelSpectrum;
use crate::turns::{fill_cos_sin, sin_cos_turns};

const ROW: usize = 0;
const COL: usize = 1;

/// Which line of scan frequencies: a stored column, or the Nyquist row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Runs over `q_row` at this `q_col`.
    Column(usize),
    /// Runs over every `q_col` at the Nyquist row.
    NyquistRow(usize),
}

/// A corrected stretch of a line.
pub struct Stretch<'a> {
    pub line: Line,
    /// Index along the line of the first point.
    pub start: usize,
    /// `S = -i C`, or `-i G conj Gamma` when not normalised.
    pub s: [&'a [f32]; 2],
    /// `|Gamma|^2`.
    pub gamma2: &'a [f32],
}

/// One BF pixel under one candidate.
pub struct Pixel<'a> {
    lattice: &'a Lattice,
    tables: &'a CandidateTables,
    spectrum: &'a PixelSpectrum,
    k: [f64; 2],
    aperture: f64,
    parts: EvenOdd,
}

/// Arrays along one line, as long as the longer axis, and per-pixel tables of both axes.
pub struct PixelScratch {
    d: [Vec<f32>; 2],
    wave: [Vec<f32>; 2],
    sinc: [Vec<f32>; 2],
    s: [Vec<f32>; 2],
    gamma2: Vec<f32>,
    /// `2 k q` along each axis, and weighted with the squared detector step.
    x: [Vec<f32>; 2],
    x_steps: [Vec<f32>; 2],
    /// cos and sin of minus (a+b)/2 along each axis (quadratic phase only).
    axis_wave: [[Vec<f32>; 2]; 2],
}

impl PixelScratch {
    pub fn new(lattice: &Lattice) -> Self {
        let lengths = [lattice.rows, lattice.cols];
        let line = || vec![0.0; lattice.rows.max(lattice.cols)];
        let axes = || lengths.map(|n| vec![0.0; n]);
        Self {
            d: [line(), line()],
            wave: [line(), line()],
            sinc: [line(), line()],
            s: [line(), line()],
            gamma2: line(),
            x: axes(),
            x_steps: axes(),
            axis_wave: lengths.map(|n| [vec![0.0; n], vec![0.0; n]]),
        }
    }
}

impl<'a> Pixel<'a> {
    pub fn new(
        lattice: &'a Lattice,
        tables: &'a CandidateTables,
        spectrum: &'a PixelSpectrum,
        k: [f64; 2],
        aperture: f64,
    ) -> Self {
        Self {
            lattice,
            tables,
            spectrum,
            k,
            aperture,
            parts: tables.chi.about(k),
        }
    }

    /// Number of stored columns that the sidebands reach.
    pub fn occupied(&self) -> usize {
        let reach = self.lattice.outer_per_a + self.k[COL].abs();
        ((reach / self.lattice.spacing_per_a[COL]).floor() as usize + 1).min(self.lattice.half_cols)
    }

    /// Fills the tables along both axes.
    #[inline(always)]
    pub fn fill_axes(&self, scratch: &mut PixelScratch) {
        // (a+b)/2 of a quadratic phase is linear in q: one plane wave, a factor for each axis.
        let slope = [self.parts.at_col(0.0).1[1], self.parts.at_row(0.0).1[1]];
        for axis in [ROW, COL] {
            let (q, k) = (&self.lattice.q_per_a[axis], self.k[axis]);
            let weight = self.lattice.det_step_rad[axis].powi(2);
            for (x, q) in scratch.x[axis].iter_mut().zip(q) {
                *x = (2.0 * k * q) as f32;
            }
            if self.lattice.unequal_steps {
                for (x, q) in scratch.x_steps[axis].iter_mut().zip(q) {
                    *x = (2.0 * k * q * weight) as f32;
                }
            }
            if self.tables.quadratic.is_some() {
                let [cos, sin] = &mut scratch.axis_wave[axis];
                fill_cos_sin(cos, sin, |i| -slope[axis] * q[i]);
            }
        }
    }

    /// Corrects every reached stretch of the occupied stored columns (their Nyquist row left out) and
    /// of the Nyquist row, and hands each to `consume`. `limit_per_a` bounds `|q|` (the agreement's
    /// band). Returns the degenerate points of the whole plane, DC out.
    #[inline(always)]
    pub fn correct<const NORMALISED: bool>(
        &self,
        scratch: &mut PixelScratch,
        limit_per_a: f64,
        mut consume: impl FnMut(Stretch<'_>),
    ) -> u64 {
        let lattice = self.lattice;
        let mut degenerate = 0;
        let columns = (0..self.occupied()).map(Line::Column);
        for line in columns.chain(lattice.nyquist_row().map(Line::NyquistRow)) {
            // Columns that mirror onto others stand for two; the Nyquist row is given whole.
            let mirrored = matches!(line, Line::Column(col)
                if col != 0 && lattice.nyquist_col() != Some(col));
            let found = self.line::<NORMALISED>(line, limit_per_a, scratch, &mut consume);
            degenerate += u64::from(found) * if mirrored { 2 } else { 1 };
        }
        // Gamma(0) is exactly 0; DC does not count.
        degenerate.saturating_sub(u64::from(self.aperture > 0.0))
    }

    #[inline(always)]
    fn line<const NORMALISED: bool>(
        &self,
        line: Line,
        limit_per_a: f64,
        scratch: &mut PixelScratch,
        consume: &mut impl FnMut(Stretch<'_>),
    ) -> u32 {
        let (along, across, index) = match line {
            Line::Column(col) => (ROW, COL, col),
            Line::NyquistRow(row) => (COL, ROW, row),
        };
        let n = self.lattice.q_per_a[along].len();
        let Some((lo, hi)) = self.reach(along, self.lattice.q_per_a[across][index], limit_per_a)
        else {
            return 0;
        };
        // Stored columns leave the Nyquist row to its own line.
        let first = if line == Line::Column(index) {
            -((n as i64 - 1) / 2)
        } else {
            -(n as i64 / 2)
        };
        let (lo, hi) = (lo.max(first), hi.min((n as i64 - 1) / 2));
        let mut degenerate = 0;
        for (a, b, shift) in [(lo.max(0), hi, 0), (lo, hi.min(-1), n as i64)] {
            if a <= b {
                let range = (a + shift) as usize..(b + shift) as usize + 1;
                degenerate +=
                    self.stretch::<NORMALISED>(line, along, across, range, scratch, consume);
            }
        }
        degenerate
    }

    /// The hull, in signed indices, of the two apertures' chords on a line, within `limit_per_a`.
    #[inline(always)]
    fn reach(&self, along: usize, q_across: f64, limit_per_a: f64) -> Option<(i64, i64)> {
        let spacing = self.lattice.spacing_per_a[along];
        let (center, side) = (self.k[along], self.k[1 - along]);
        let outer = self.lattice.outer_per_a;
        let plus = chord(center, side - q_across, outer, spacing);
        let minus = chord(-center, -side - q_across, outer, spacing);
        let hull = match (plus, minus) {
            (Some(p), Some(m)) => (p.0.min(m.0), p.1.max(m.1)),
            (p, m) => p.or(m)?,
        };
        if limit_per_a == f64::INFINITY {
            return Some(hull);
        }
        let (lo, hi) = chord(0.0, q_across, limit_per_a, spacing)?;
        Some((hull.0.max(lo), hull.1.min(hi)))
    }

    #[inline(always)]
    fn stretch<const NORMALISED: bool>(
        &self,
        line: Line,
        along: usize,
        across: usize,
        range: std::ops::Range<usize>,
        scratch: &mut PixelScratch,
        consume: &mut impl FnMut(Stretch<'_>),
    ) -> u32 {
        let lattice = self.lattice;
        let (start, n) = (range.start, range.len());
        let (g, index) = match line {
            Line::Column(col) => (self.spectrum.column(col, lattice.rows), col),
            Line::NyquistRow(row) => (self.spectrum.nyquist_row(), row),
        };
        let q_across = lattice.q_per_a[across][index];
        let mut fixed = Fixed {
            wave: [1.0, 0.0],
            base: (self.k[0].powi(2) + self.k[1].powi(2) + q_across * q_across) as f32,
            x: scratch.x[across][index],
            base_steps: self.base_steps(across, q_across),
            x_steps: scratch.x_steps[across][index],
            aperture: self.aperture as f32,
        };
        if let Some(thick) = self.tables.thick {
            self.fill_sinc(along, q_across, thick, range.clone(), &mut scratch.sinc);
        }
        let d;
        let wave;
        if let Some(tables) = &self.tables.quadratic {
            d = match line {
                Line::Column(col) => {
                    [0, 1].map(|i| &tables.plane[i][col * lattice.rows..][range.clone()])
                }
                Line::NyquistRow(_) => [0, 1].map(|i| &tables.nyquist_row[i][range.clone()]),
            };
            wave = [0, 1].map(|i| &scratch.axis_wave[along][i][range.clone()]);
            fixed.wave = [0, 1].map(|i| scratch.axis_wave[across][i][index]);
        } else {
            let (even, odd) = match line {
                Line::Column(_) => self.parts.at_col(q_across),
                Line::NyquistRow(_) => self.parts.at_row(q_across),
            };
            let q = &lattice.q_per_a[along][range.clone()];
            let [cos, sin] = &mut scratch.d;
            fill_cos_sin(&mut cos[..n], &mut sin[..n], |i| -polynomial(&even, q[i]));
            let [cos, sin] = &mut scratch.wave;
            fill_cos_sin(&mut cos[..n], &mut sin[..n], |i| -polynomial(&odd, q[i]));
            if !self.tables.chi.own().is_empty() {
                self.fill_own(along, q_across, q, [&even, &odd], scratch);
            }
            d = [&scratch.d[0][..n], &scratch.d[1][..n]];
            wave = [&scratch.wave[0][..n], &scratch.wave[1][..n]];
        }
        let inputs = Along {
            g: g.map(|v| &v[range.clone()]),
            d,
            wave,
            q2: &lattice.q2[along][range.clone()],
            x: &scratch.x[along][range.clone()],
            q2_steps: &lattice.q2_steps[along][range.clone()],
            x_steps: &scratch.x_steps[along][range.clone()],
            sinc: [&scratch.sinc[0][..n], &scratch.sinc[1][..n]],
        };
        let [re, im] = &mut scratch.s;
        let out = Out {
            s: [&mut re[..n], &mut im[..n]],
            gamma2: &mut scratch.gamma2[..n],
        };
        let shape = &lattice.aperture;
        let degenerate = match (lattice.unequal_steps, self.tables.thick.is_some()) {
            (false, false) => correct_line::<false, false, NORMALISED>(shape, &inputs, &fixed, out),
            (false, true) => correct_line::<false, true, NORMALISED>(shape, &inputs, &fixed, out),
            (true, false) => correct_line::<true, false, NORMALISED>(shape, &inputs, &fixed, out),
            (true, true) => correct_line::<true, true, NORMALISED>(shape, &inputs, &fixed, out),
        };
        consume(Stretch {
            line,
            start,
            s: [&scratch.s[0][..n], &scratch.s[1][..n]],
            gamma2: &scratch.gamma2[..n],
        });
        degenerate
    }

    /// `d` and the wave again, where terms with a formula of their own add to both parts.
    fn fill_own(
        &self,
        along: usize,
        q_across: f64,
        q: &[f64],
        [even, odd]: [&[f64]; 2],
        scratch: &mut PixelScratch,
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

    /// The fixed part of `(u_row dalpha_row)^2 + (u_col dalpha_col)^2`.
    #[inline(always)]
    fn base_steps(&self, across: usize, q_across: f64) -> f32 {
        let step = self.lattice.det_step_rad;
        ((self.k[0] * step[0]).powi(2)
            + (self.k[1] * step[1]).powi(2)
            + (q_across * step[across]).powi(2)) as f32
    }

    /// sinc(r1 t/2) and sinc(r2 t/2) along a stretch; r1 and r2 of numerics section 4, in turns.
    #[inline(always)]
    fn fill_sinc(
        &self,
        along: usize,
        q_across: f64,
        thick: Thick,
        range: std::ops::Range<usize>,
        sinc: &mut [Vec<f32>; 2],
    ) {
        let [minus, plus] = sinc;
        let across = 1 - along;
        let n = range.len();
        let curvature = 0.5 * self.lattice.wavelength_a * thick.half_depth_a;
        let shift = [0, 1].map(|axis| thick.tilt_rad[axis] * thick.half_depth_a);
        let q = &self.lattice.q_per_a[along][range];
        for (i, (m, p)) in minus[..n].iter_mut().zip(&mut plus[..n]).enumerate() {
            let q2 = q[i] * q[i] + q_across * q_across;
            let x = 2.0 * (self.k[along] * q[i] + self.k[across] * q_across);
            let tilt = shift[along] * q[i] + shift[across] * q_across;
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
