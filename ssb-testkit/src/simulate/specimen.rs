//! Thin and thick phase objects that repeat with the field of view.

use ndarray::Array2;
use ssb_core::{Error, ndarray};

use super::draw::Draws;
use super::plane::resample;

/// A phase object over one period, the field of view of the scan.
#[derive(Debug, Clone, PartialEq)]
pub enum Specimen {
    /// Gaussian atoms of different strength and width at random places, never closer than 1.4 Å.
    Atoms,
    /// A perovskite seen along its cube axis: strong and weaker columns in a square lattice of
    /// about 3.9 Å (stretched to fit the field of view), faint columns between them, slightly
    /// disordered, some columns thinner or missing.
    Lattice,
    /// A given phase in radians, `[rows, cols]` samples of one period (field of view).
    Phase(Array2<f64>),
}

/// A periodic Gaussian of the phase.
struct Column {
    /// Centre (row, col) in Å.
    at_a: [f64; 2],
    peak_rad: f64,
    sigma_a: f64,
}

/// Distance below which random atoms are not placed, in Å.
const CLOSEST_A: f64 = 1.4;
/// Atoms in one Å².
const ATOMS_PER_A2: f64 = 0.15;
/// Lattice period in Å.
const LATTICE_A: f64 = 3.905;

impl Specimen {
    /// The phase in radians on a grid of `shape` over `field_a` (Å), the same for a seed.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a given phase that is empty or not finite.
    pub(super) fn phase_rad(
        &self,
        field_a: [f64; 2],
        shape: [usize; 2],
        seed: u64,
    ) -> Result<Array2<f64>, Error> {
        let mut draws = Draws::new(seed, u64::MAX);
        match self {
            Self::Atoms => Ok(gaussians(&atoms(field_a, &mut draws), field_a, shape)),
            Self::Lattice => Ok(gaussians(&lattice(field_a, &mut draws), field_a, shape)),
            Self::Phase(phase) => {
                if phase.is_empty() || phase.iter().any(|v| !v.is_finite()) {
                    return Err(Error::BadValue {
                        object: "phase of the specimen".into(),
                        expected: "a non-empty array of finite radians".into(),
                        found: format!("shape {:?} or a value that is not finite", phase.shape()),
                        action: "correct the array".into(),
                    });
                }
                Ok(resample(phase, shape))
            }
        }
    }

    /// Samples of a given phase, so that the simulation's grid can hold all its detail.
    pub(super) fn samples(&self) -> [usize; 2] {
        match self {
            Self::Phase(phase) => [phase.nrows(), phase.ncols()],
            Self::Atoms | Self::Lattice => [0, 0],
        }
    }
}

fn atoms(field_a: [f64; 2], draws: &mut Draws) -> Vec<Column> {
    let wanted = ((field_a[0] * field_a[1] * ATOMS_PER_A2).round() as usize).max(1);
    let mut columns: Vec<Column> = Vec::with_capacity(wanted);
    // At this density a free place is found within a few tries; the bound only ends the search in
    // a field too small for another atom.
    for _ in 0..1000 * wanted {
        let at_a = field_a.map(|f| draws.between(0.0, f));
        let free = columns.iter().all(|c| {
            let d = [0, 1].map(|axis| {
                let d = (c.at_a[axis] - at_a[axis]).abs();
                d.min(field_a[axis] - d)
            });
            d[0] * d[0] + d[1] * d[1] >= CLOSEST_A * CLOSEST_A
        });
        if free {
            columns.push(Column {
                at_a,
                peak_rad: draws.between(0.08, 0.45),
                sigma_a: draws.between(0.28, 0.5),
            });
            if columns.len() == wanted {
                break;
            }
        }
    }
    columns
}

fn lattice(field_a: [f64; 2], draws: &mut Draws) -> Vec<Column> {
    let cells = field_a.map(|f| ((f / LATTICE_A).round() as usize).max(1));
    let cell_a = [0, 1].map(|axis| field_a[axis] / cells[axis] as f64);
    // (place in the cell, peak phase, width) of the strong, the weaker and the faint columns.
    let motif = [
        ([0.25, 0.25], 0.50, 0.42),
        ([0.75, 0.75], 0.32, 0.38),
        ([0.25, 0.75], 0.11, 0.36),
        ([0.75, 0.25], 0.11, 0.36),
    ];
    let mut columns = Vec::with_capacity(cells[0] * cells[1] * motif.len());
    for i in 0..cells[0] {
        for j in 0..cells[1] {
            for (place, peak_rad, sigma_a) in motif {
                let at_a = [0, 1].map(|axis| {
                    ([i, j][axis] as f64 + place[axis]) * cell_a[axis] + 0.05 * draws.normal()
                });
                // Four columns in a hundred are vacant, four half filled.
                let filled = match draws.uniform() {
                    u if u < 0.04 => 0.0,
                    u if u < 0.08 => 0.5,
                    _ => 1.0,
                };
                columns.push(Column {
                    at_a,
                    peak_rad: filled * peak_rad,
                    sigma_a,
                });
            }
        }
    }
    columns
}

/// The sum of periodic Gaussians `peak exp(-d^2 / 2 sigma^2)` on a grid.
fn gaussians(columns: &[Column], field_a: [f64; 2], shape: [usize; 2]) -> Array2<f64> {
    let mut phase = Array2::zeros(shape);
    for column in columns {
        let [along_rows, along_cols] = [0, 1].map(|axis| {
            profile(
                column.at_a[axis],
                column.sigma_a,
                field_a[axis],
                shape[axis],
            )
        });
        for (row, weight) in &along_rows {
            for (col, other) in &along_cols {
                phase[(*row, *col)] += column.peak_rad * weight * other;
            }
        }
    }
    phase
}

/// Samples `(index, value)` of a Gaussian about `at_a`, over all its periods within 8 sigma.
fn profile(at_a: f64, sigma_a: f64, field_a: f64, n: usize) -> Vec<(usize, f64)> {
    let step_a = field_a / n as f64;
    let reach_a = 8.0 * sigma_a;
    let first = ((at_a - reach_a) / step_a).ceil() as i64;
    let last = ((at_a + reach_a) / step_a).floor() as i64;
    (first..=last)
        .map(|i| {
            let d = (i as f64 * step_a - at_a) / sigma_a;
            (i.rem_euclid(n as i64) as usize, libm::exp(-0.5 * d * d))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_wraps_round() {
        let column = Column {
            at_a: [0.1, 9.9],
            peak_rad: 0.3,
            sigma_a: 0.7,
        };
        let phase = gaussians(&[column], [8.0, 10.0], [32, 50]);
        for ((r, c), value) in phase.indexed_iter() {
            let mut want = 0.0;
            for i in -2..=2 {
                for j in -2..=2 {
                    let d = [
                        r as f64 * 0.25 - 0.1 + 8.0 * f64::from(i),
                        c as f64 * 0.2 - 9.9 + 10.0 * f64::from(j),
                    ];
                    want += 0.3 * (-(d[0] * d[0] + d[1] * d[1]) / (2.0 * 0.49)).exp();
                }
            }
            assert!((value - want).abs() < 1e-12, "({r}, {c}): {value} {want}");
        }
    }

    #[test]
    fn atoms_keep_their_distance() {
        let field_a = [16.0, 12.0];
        let columns = atoms(field_a, &mut Draws::new(5, 0));
        assert_eq!(columns.len(), 29);
        for (i, a) in columns.iter().enumerate() {
            for b in &columns[..i] {
                let d2: f64 = (0..2)
                    .map(|axis| {
                        let d = (a.at_a[axis] - b.at_a[axis]).abs();
                        d.min(field_a[axis] - d).powi(2)
                    })
                    .sum();
                assert!(d2 >= 1.96);
            }
        }
    }

    #[test]
    fn the_lattice_repeats_and_is_not_perfect() {
        let phase = Specimen::Lattice
            .phase_rad([31.24, 31.24], [256, 256], 1)
            .unwrap();
        let spectrum = super::super::plane::coefficients(&phase.mapv(Into::into));
        // Eight cells: reflections of the lattice at multiples of 8, hardly anything at 7.
        assert!(spectrum[(8, 8)].norm() > 20.0 * spectrum[(7, 3)].norm());
        assert!(spectrum[(7, 3)].norm() > 1e-6);
        let other = Specimen::Lattice
            .phase_rad([31.24, 31.24], [256, 256], 2)
            .unwrap();
        assert_ne!(phase, other);
    }

    #[test]
    fn a_bad_phase_is_refused() {
        let mut phase = Array2::zeros((4, 4));
        phase[(1, 2)] = f64::NAN;
        let error = Specimen::Phase(phase).phase_rad([4.0, 4.0], [8, 8], 0);
        assert!(error.unwrap_err().to_string().contains("finite"));
    }
}
