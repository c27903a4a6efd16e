//! How one line is transformed: radices, units and exchange, planned on the host.

use std::f64::consts::{PI, TAU};

use num_complex::Complex64;
use rustfft::{FftDirection, FftPlanner};
use serde::Serialize;

/// Longest line that is offered.
pub const LONGEST_LINE: usize = 4096;

/// Most complex values that one unit keeps in registers.
const MOST_REGISTERS: usize = 32;

/// The way a line of some length is transformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Mixed radices 2, 3, 4, 5, 7 and 8.
    Radices,
    /// A convolution of a longer line of mixed radices, for other prime factors.
    Bluestein,
    /// The sum as it is defined, for prime factors whose convolution does not fit the device.
    Direct,
}

/// Transform of one line by a group of units that share memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct LinePlan {
    /// Points of the line.
    pub n: usize,
    /// How.
    pub method: Method,
    /// Points that are really transformed: `n`, or the length of Bluestein's convolution.
    pub length: usize,
    /// Radices in the order of the stages.
    pub radices: Vec<usize>,
    /// Units that share one line.
    pub units: usize,
    /// Real and imaginary parts are exchanged one after the other, through half the memory.
    pub split: bool,
}

/// Radices of a length with no other prime factors than 2, 3, 5, 7; the largest first, so that the
/// first exchange has the fewest twiddles.
fn radices(mut n: usize) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    let mut twos = 0;
    for prime in [7, 5, 3] {
        while n.is_multiple_of(prime) {
            n /= prime;
            found.push(prime);
        }
    }
    while n.is_multiple_of(2) {
        n /= 2;
        twos += 1;
    }
    if n != 1 {
        return None;
    }
    // Twos in the fewest stages: eights, then fours, at most one two.
    let mut rest: Vec<usize> = match twos % 3 {
        1 if twos >= 4 => vec![4, 4],
        1 => vec![2],
        2 => vec![4],
        _ => Vec::new(),
    };
    let eights = (twos - rest.iter().map(|r| r.ilog2() as usize).sum::<usize>()) / 3;
    found.extend(std::iter::repeat_n(8, eights));
    found.append(&mut rest);
    found.sort_unstable_by(|a, b| b.cmp(a));
    if found.is_empty() {
        found.push(1);
    }
    Some(found)
}

/// Shortest length of mixed radices that is at least `at_least`.
fn convolution_length(at_least: usize) -> usize {
    (at_least..)
        .find(|n| radices(*n).is_some())
        .unwrap_or(at_least)
}

impl LinePlan {
    /// The plan of a line of `n` points on a device with this much shared memory for one line and at
    /// most `most_units` units for it. `None` when `n` is out of range or nothing fits.
    #[must_use]
    pub fn new(n: usize, shared_bytes: usize, most_units: usize) -> Option<Self> {
        if !(1..=LONGEST_LINE).contains(&n) {
            return None;
        }
        if let Some(radices) = radices(n) {
            return Self::staged(n, Method::Radices, n, radices, shared_bytes, most_units);
        }
        let length = convolution_length(2 * n - 1);
        radices(length)
            .and_then(|radices| {
                let method = Method::Bluestein;
                Self::staged(n, method, length, radices, shared_bytes, most_units)
            })
            .or_else(|| Self::staged(n, Method::Direct, n, vec![1], shared_bytes, most_units))
    }

    fn staged(
        n: usize,
        method: Method,
        length: usize,
        radices: Vec<usize>,
        shared_bytes: usize,
        most_units: usize,
    ) -> Option<Self> {
        let split = 8 * length > shared_bytes;
        if split && 4 * length > shared_bytes {
            return None;
        }
        let mut plan = Self {
            n,
            method,
            length,
            radices,
            units: 1,
            split,
        };
        // As few units as keep about eight points each: fewer leave the exchange to more lines at once,
        // more leave registers idle.
        let ideal = match method {
            Method::Direct => length,
            _ => length.div_ceil(8) * 3 / 2,
        };
        plan.units = (1..=most_units.min(ideal.max(1)))
            .rev()
            .min_by_key(|units| {
                let mut tried = plan.clone();
                tried.units = *units;
                (tried.wasted(), tried.registers())
            })?;
        (plan.registers() <= MOST_REGISTERS).then_some(plan)
    }

    /// Register slots filled in vain over all stages, relative to an ideal of eight points a unit.
    fn wasted(&self) -> usize {
        let worst = self.registers().saturating_sub(8) * self.length / 8;
        let idle: usize = self
            .radices
            .iter()
            .enumerate()
            .map(|(s, radix)| self.passes(s) * radix * self.units - self.length)
            .sum();
        worst * 4 + idle
    }

    /// Butterflies of stage `s`.
    #[must_use]
    pub fn butterflies(&self, s: usize) -> usize {
        self.length / self.radices[s]
    }

    /// Rounds in which the units of a line work through the butterflies of stage `s`.
    #[must_use]
    pub fn passes(&self, s: usize) -> usize {
        self.butterflies(s).div_ceil(self.units)
    }

    /// Product of the radices before stage `s`.
    #[must_use]
    pub fn done_before(&self, s: usize) -> usize {
        self.radices[..s].iter().product()
    }

    /// Complex values that a unit keeps in registers.
    #[must_use]
    pub fn registers(&self) -> usize {
        (0..self.radices.len())
            .map(|s| self.passes(s) * self.radices[s])
            .max()
            .unwrap_or(1)
    }

    /// Last stage.
    #[must_use]
    pub fn last(&self) -> usize {
        self.radices.len() - 1
    }

    /// Whether every unit has a butterfly in every pass of stage `s`.
    #[must_use]
    pub fn full(&self, s: usize) -> bool {
        self.passes(s) * self.units == self.butterflies(s)
    }

    /// Floats of shared memory through which one line is exchanged; 0 where no exchange is needed.
    #[must_use]
    pub fn exchange_floats(&self) -> usize {
        match self.method {
            Method::Radices if self.radices.len() == 1 => 0,
            _ if self.split => self.length,
            _ => 2 * self.length,
        }
    }

    /// Floats of shared memory for a line that is staged before its transform, and then exchanged.
    #[must_use]
    pub fn staged_floats(&self) -> usize {
        if self.split {
            self.length
        } else {
            2 * self.length
        }
    }

    /// Barriers of one transform.
    #[must_use]
    pub fn barriers(&self) -> usize {
        let each = if self.split { 4 } else { 2 };
        let stages = self.radices.len() - 1;
        match self.method {
            Method::Radices => each * stages,
            Method::Bluestein => each * (2 * stages + 1),
            Method::Direct => 4,
        }
    }

    /// Floating-point operations of one line, counted as `5 n log2 n` for a line of mixed radices.
    #[must_use]
    pub fn operations(&self) -> u64 {
        let length = self.length as f64;
        let staged = 5.0 * length * length.log2().max(1.0);
        (match self.method {
            Method::Radices => staged,
            Method::Bluestein => 2.0 * staged + 20.0 * length,
            Method::Direct => 8.0 * length * length,
        }) as u64
    }

    /// What the kernels read besides the line: twiddles `exp(2 pi i m / length)`, then for Bluestein
    /// the chirp `exp(pi i m^2 / n)` and the transformed kernel of the convolution over its length.
    /// Interleaved real and imaginary parts, from float64.
    #[must_use]
    pub fn table(&self) -> Vec<f32> {
        let unit = |turns: f64| Complex64::from_polar(1.0, TAU * turns);
        let mut table: Vec<Complex64> = (0..self.length)
            .map(|m| unit(m as f64 / self.length as f64))
            .collect();
        if self.method == Method::Bluestein {
            let n = self.n;
            // m^2 modulo 2n in integers, so that the angle stays small.
            let chirp: Vec<Complex64> = (0..n)
                .map(|m| Complex64::from_polar(1.0, PI * ((m * m) % (2 * n)) as f64 / n as f64))
                .collect();
            let mut kernel = vec![Complex64::default(); self.length];
            for (m, c) in chirp.iter().enumerate() {
                kernel[m] = c.conj();
                kernel[(self.length - m) % self.length] = c.conj();
            }
            FftPlanner::new()
                .plan_fft(self.length, FftDirection::Inverse)
                .process(&mut kernel);
            table.extend(chirp);
            table.extend(kernel.iter().map(|z| z / self.length as f64));
        }
        table
            .iter()
            .flat_map(|z| [z.re as f32, z.im as f32])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_has_a_plan_on_the_smallest_device() {
        for n in 1..=LONGEST_LINE {
            let plan = LinePlan::new(n, 16 << 10, 256).unwrap();
            assert!(
                plan.registers() <= MOST_REGISTERS && plan.units <= 256,
                "{plan:?}"
            );
            assert!(4 * plan.exchange_floats() <= 16 << 10, "{plan:?}");
            assert_eq!(
                plan.radices.iter().product::<usize>().max(1),
                match plan.method {
                    Method::Direct => 1,
                    _ => plan.length,
                }
            );
            assert!(
                plan.radices
                    .iter()
                    .all(|r| [1, 2, 3, 4, 5, 7, 8].contains(r))
            );
            if plan.method == Method::Bluestein {
                assert!(plan.length >= 2 * n - 1);
            }
        }
        assert!(LinePlan::new(LONGEST_LINE + 1, 1 << 20, 1024).is_none());
        assert!(LinePlan::new(0, 1 << 20, 1024).is_none());
    }

    #[test]
    fn common_lengths_keep_eight_points_a_unit() {
        for (n, units, radices) in [
            (64, 8, vec![8, 8]),
            (512, 64, vec![8, 8, 8]),
            (1024, 128, vec![8, 8, 4, 4]),
            (4096, 512, vec![8; 4]),
        ] {
            let plan = LinePlan::new(n, 32 << 10, 1024).unwrap();
            assert_eq!(
                (plan.units, plan.radices.clone()),
                (units, radices),
                "{plan:?}"
            );
            assert_eq!(plan.registers(), 8);
            assert!(!plan.split);
        }
    }
}
