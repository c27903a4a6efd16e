//! Known-answer acquisitions: counts of a known periodic specimen with known optics.

mod diffraction;
pub(crate) mod draw;
#[cfg(test)]
mod literal;
mod plane;
mod record;
mod specimen;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use ndarray::Array2;
use rayon::prelude::*;
use ssb_core::{
    Aberrations, Angle, Calibration, Candidate, Chi, Control, Error, Length, Sourced, ndarray,
    wavelength_a,
};

use diffraction::{Diffraction, Optics, Workspace};
use draw::Draws;
use plane::resample;
pub use record::{Counts, SimulatedScan, Truth};
pub use specimen::Specimen;

/// An acquisition to be simulated; the scan covers exactly one period of the specimen.
///
/// ```
/// use ssb_testkit::simulate::{Simulation, Specimen};
/// let simulation = Simulation {
///     scan_shape: [16, 16],
///     det_shape: [12, 12],
///     bf_center_px: [5.5, 5.5],
///     ..Simulation::demo()
/// };
/// let scan = simulation.run(&ssb_core::Control::default())?;
/// assert_eq!(scan.counts.shape(), [16, 16, 12, 12]);
/// assert_eq!(scan.truth.phase_rad.dim(), (16, 16));
/// # Ok::<(), ssb_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// What is looked at.
    pub specimen: Specimen,
    /// Voltage, semi-angle, steps and rotation.
    pub calibration: Calibration,
    /// Lens aberrations; C10 is the defocus at mid-depth.
    pub aberrations: Aberrations,
    /// Scan positions (rows, cols).
    pub scan_shape: [usize; 2],
    /// Detector pixels (rows, cols).
    pub det_shape: [usize; 2],
    /// Centre of the bright-field disk (row, col) in pixels.
    pub bf_center_px: [f64; 2],
    /// Electrons of the whole beam at each scan position.
    pub electrons_per_pattern: f64,
    /// Thickness of the specimen in nm; 0 is the thin object.
    pub thickness_nm: f64,
    /// Tilt of the specimen (row, col) in mrad; nothing without thickness.
    pub tilt_mrad: [f64; 2],
    /// Thickness of one slice in nm, at most; two slices or more are taken.
    pub slice_nm: f64,
    /// Points along each axis of a pixel over which its intensity is averaged; 1 is its centre.
    pub points_per_pixel: usize,
    /// Seed of specimen and noise.
    pub seed: u64,
}

impl Simulation {
    /// A crystal with vacancies seen with a defocused, astigmatic 300 kV beam and a rotated
    /// detector; a fit of it takes seconds.
    #[must_use]
    pub fn demo() -> Self {
        let origin = "simulated";
        Self {
            specimen: Specimen::Lattice,
            calibration: Calibration {
                voltage_kv: Sourced::new(300.0, origin),
                semiangle_mrad: Sourced::new(30.0, origin),
                // Six cells of the lattice in 96 positions.
                scan_step_a: Sourced::new([0.245, 0.245], origin),
                det_step_mrad: Sourced::new([3.2, 3.2], origin),
                rotation_deg: Sourced::new(-17.0, origin),
            },
            aberrations: Aberrations::default()
                .with(0, Length::from_nm(12.0), Angle::default())
                .with(1, Length::from_nm(4.0), Angle::from_rad(0.6)),
            scan_shape: [96, 96],
            det_shape: [32, 32],
            bf_center_px: [15.6, 16.2],
            electrons_per_pattern: 1e4,
            thickness_nm: 0.0,
            tilt_mrad: [0.0, 0.0],
            slice_nm: 1.0,
            points_per_pixel: 1,
            seed: 42,
        }
    }

    /// Simulates the counts.
    ///
    /// The expected counts are rounded to 2^-12 electrons and each detector pixel draws from its
    /// own stream of the seed, so that the result does not depend on the number of threads, nor
    /// on the last bits in which machines differ. The sample type is the smallest of uint8,
    /// uint16 and uint32 that holds the largest count.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a value out of range or a count beyond uint32;
    /// [`Error::Cancelled`].
    pub fn run(&self, control: &Control) -> Result<SimulatedScan, Error> {
        let prepared = self.prepare()?;
        let pixels = self.det_shape[0] * self.det_shape[1];
        let done = AtomicU64::new(0);
        let columns: Vec<Vec<u32>> = (0..pixels)
            .into_par_iter()
            .map_init(
                || prepared.memory(),
                |memory, pixel| {
                    control.check()?;
                    let at = [pixel / self.det_shape[1], pixel % self.det_shape[1]];
                    let expected = prepared.expected(at, memory);
                    let mut draws = Draws::new(self.seed, pixel as u64);
                    let column = expected
                        .iter()
                        .map(|rate| count(*rate, &mut draws))
                        .collect();
                    let n = done.fetch_add(1, Ordering::Relaxed) + 1;
                    control.report("simulate detector pixels", n, pixels as u64);
                    column
                },
            )
            .collect::<Result<_, Error>>()?;
        let phase_rad = resample(&prepared.phase_rad, self.scan_shape);
        Ok(SimulatedScan {
            counts: Counts::assemble(&columns, self.scan_shape, self.det_shape),
            truth: Truth::of(self, phase_rad),
        })
    }

    /// The expected counts of one detector pixel (row, col), `[scan rows, scan cols]`, unrounded.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a value out of range.
    pub fn expected_counts(&self, pixel: [usize; 2]) -> Result<Array2<f64>, Error> {
        let prepared = self.prepare()?;
        let mut memory = prepared.memory();
        let expected = prepared.expected(pixel, &mut memory);
        Ok(Array2::from_shape_fn(self.scan_shape, |(r, c)| {
            expected[r * self.scan_shape[1] + c]
        }))
    }

    /// The candidate that describes this acquisition.
    #[must_use]
    pub fn candidate(&self) -> Candidate {
        let thick = self.thickness_nm > 0.0;
        Candidate {
            aberrations: self.aberrations.clone(),
            tilt_mrad: if thick { self.tilt_mrad } else { [0.0; 2] },
            depth_spread_nm: self.thickness_nm,
            rotation_deg: None,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let bad = |object: &str, expected: &str, found: String| Error::BadValue {
            object: object.into(),
            expected: expected.into(),
            found,
            action: "correct the value".into(),
        };
        for (name, shape, least) in [
            ("scan shape", self.scan_shape, 2),
            ("det shape", self.det_shape, 1),
        ] {
            if shape.iter().any(|n| *n < least || *n > 65_536) {
                let expected = format!("axes of {least} to 65536");
                return Err(bad(name, &expected, format!("{} x {}", shape[0], shape[1])));
            }
        }
        let c = &self.calibration;
        for (name, value, low, high) in [
            ("voltage (kV)", c.voltage_kv.value, 1.0, 5000.0),
            ("semi-angle (mrad)", c.semiangle_mrad.value, 0.01, 500.0),
            ("scan step (Å)", c.scan_step_a.value[0], 1e-4, 1e5),
            ("scan step (Å)", c.scan_step_a.value[1], 1e-4, 1e5),
            (
                "detector step (mrad)",
                c.det_step_mrad.value[0],
                1e-5,
                200.0,
            ),
            (
                "detector step (mrad)",
                c.det_step_mrad.value[1],
                1e-5,
                200.0,
            ),
            ("rotation (deg)", c.rotation_deg.value, -360.0, 360.0),
            (
                "dose (electrons per pattern)",
                self.electrons_per_pattern,
                1e-6,
                1e12,
            ),
            ("thickness (nm)", self.thickness_nm, 0.0, 1000.0),
            ("slice (nm)", self.slice_nm, 0.01, 1000.0),
            ("tilt (mrad)", self.tilt_mrad[0], -500.0, 500.0),
            ("tilt (mrad)", self.tilt_mrad[1], -500.0, 500.0),
            ("points per pixel", self.points_per_pixel as f64, 1.0, 32.0),
            ("disk centre (pixel row)", self.bf_center_px[0], -1e5, 1e5),
            ("disk centre (pixel col)", self.bf_center_px[1], -1e5, 1e5),
        ] {
            if !(low..=high).contains(&value) {
                return Err(bad(name, &format!("{low} to {high}"), value.to_string()));
            }
        }
        let finite =
            |v: &ssb_core::Aberration| v.magnitude_a.is_finite() && v.angle_rad.is_finite();
        if !self.aberrations.values().iter().all(finite) {
            return Err(bad(
                "aberrations",
                "finite values",
                "NaN or infinity".into(),
            ));
        }
        Ok(())
    }

    fn prepare(&self) -> Result<Prepared, Error> {
        self.check()?;
        let c = &self.calibration;
        let wavelength_a = wavelength_a(c.voltage_kv.value);
        let [rows, cols] = self.scan_shape;
        let field_a = [
            rows as f64 * c.scan_step_a.value[0],
            cols as f64 * c.scan_step_a.value[1],
        ];
        let optics = Optics {
            wavelength_a,
            semiangle_rad: c.semiangle_mrad.value * 1e-3,
            det_step_rad: c.det_step_mrad.value.map(|s| s * 1e-3),
            field_a,
            chi: Chi::new(&self.aberrations, wavelength_a),
        };
        let frame = Frame::new(self, wavelength_a);
        let shape = self.grid(&frame, &optics)?;
        let phase_rad = self.specimen.phase_rad(field_a, shape, self.seed)?;
        let slices = ((self.thickness_nm / self.slice_nm).ceil() as usize).max(2);
        let beam = frame.beam(&optics);
        let thickness_a = self.thickness_nm * 10.0;
        let tilt_rad = self.tilt_mrad.map(|t| t * 1e-3);
        Ok(Prepared {
            electrons_per_intensity: self.electrons_per_pattern / beam,
            diffraction: Diffraction::new(
                optics,
                self.scan_shape,
                &phase_rad,
                (thickness_a, slices),
                tilt_rad,
            ),
            frame,
            points: rows * cols,
            phase_rad,
        })
    }

    /// A multiple of the scan that holds every frequency that reaches the detector, and every
    /// sample of a given phase.
    fn grid(&self, frame: &Frame, optics: &Optics) -> Result<[usize; 2], Error> {
        let [rows, cols] = self.det_shape;
        let corners = [[0, 0], [0, cols - 1], [rows - 1, 0], [rows - 1, cols - 1]];
        let given = self.specimen.samples();
        let shape = [0, 1].map(|axis| {
            let farthest = corners
                .iter()
                .map(|p| frame.k_per_a(p.map(|v| v as f64))[axis].abs())
                .fold(0.0, f64::max);
            let needed = 2.0 * (farthest + optics.edge_per_a()) * optics.field_a[axis] + 2.0;
            let factor = (needed.max(given[axis] as f64) / self.scan_shape[axis] as f64).ceil();
            factor.max(1.0) as usize * self.scan_shape[axis]
        });
        if shape[0].saturating_mul(shape[1]) > 1 << 28 {
            return Err(Error::BadValue {
                object: "field of view x detector angle".into(),
                expected: "a specimen grid of at most 2^28 points".into(),
                found: format!("{} x {}", shape[0], shape[1]),
                action: "use fewer scan positions, a smaller step or a smaller detector".into(),
            });
        }
        Ok(shape)
    }
}

/// A Poisson count of an expected value rounded to 2^-12.
fn count(rate: f64, draws: &mut Draws) -> Result<u32, Error> {
    let drawn = draws.poisson((rate * 4096.0).round() / 4096.0);
    u32::try_from(drawn).map_err(|_| Error::BadValue {
        object: "dose".into(),
        expected: "counts that fit uint32".into(),
        found: format!("{drawn} electrons in one pixel"),
        action: "lower the dose".into(),
    })
}

/// Detector pixels in the scan frame.
struct Frame {
    center_px: [f64; 2],
    step_per_a: [f64; 2],
    sin_cos: (f64, f64),
    /// Offsets of the points of a pixel from its centre, in pixels along one axis.
    offsets_px: Vec<f64>,
}

impl Frame {
    fn new(simulation: &Simulation, wavelength_a: f64) -> Self {
        let c = &simulation.calibration;
        let n = simulation.points_per_pixel;
        Self {
            center_px: simulation.bf_center_px,
            step_per_a: c.det_step_mrad.value.map(|s| s * 1e-3 / wavelength_a),
            sin_cos: c.rotation_deg.value.to_radians().sin_cos(),
            offsets_px: (0..n).map(|i| (i as f64 + 0.5) / n as f64 - 0.5).collect(),
        }
    }

    /// Detector coordinate in 1/Å of a place in pixels, rotated into the scan frame.
    fn k_per_a(&self, place_px: [f64; 2]) -> [f64; 2] {
        let [row, col] =
            [0, 1].map(|axis| (place_px[axis] - self.center_px[axis]) * self.step_per_a[axis]);
        let (sin, cos) = self.sin_cos;
        [row * cos - col * sin, row * sin + col * cos]
    }

    /// The points over which a pixel is averaged, in 1/Å.
    fn points_per_a(&self, pixel: [i64; 2]) -> impl Iterator<Item = [f64; 2]> + '_ {
        let [row, col] = pixel.map(|p| p as f64);
        self.offsets_px.iter().flat_map(move |down| {
            let offsets = self.offsets_px.iter();
            offsets.map(move |right| self.k_per_a([row + down, col + right]))
        })
    }

    /// The intensity of the beam in vacuum, summed over all pixels, those beyond the detector
    /// included.
    fn beam(&self, optics: &Optics) -> f64 {
        let edge = optics.edge_per_a();
        let [rows, cols] = [0, 1].map(|axis| {
            let reach = (edge / self.step_per_a[axis]).ceil() + 1.0;
            let center = self.center_px[axis];
            (center - reach).floor() as i64..=(center + reach).ceil() as i64
        });
        let sum: f64 = rows
            .flat_map(|row| cols.clone().map(move |col| [row, col]))
            .flat_map(|pixel| self.points_per_a(pixel))
            .map(|k| optics.aperture(k).powi(2))
            .sum();
        sum / self.offsets_px.len().pow(2) as f64
    }
}

/// Everything that one detector pixel needs.
struct Prepared {
    diffraction: Diffraction,
    frame: Frame,
    electrons_per_intensity: f64,
    points: usize,
    phase_rad: Array2<f64>,
}

impl Prepared {
    fn memory(&self) -> (Workspace, Vec<f64>) {
        (self.diffraction.workspace(), vec![0.0; self.points])
    }

    /// Expected counts of one pixel over the scan, row-major.
    fn expected<'m>(
        &self,
        pixel: [usize; 2],
        (workspace, expected): &'m mut (Workspace, Vec<f64>),
    ) -> &'m [f64] {
        expected.fill(0.0);
        let share = self.electrons_per_intensity / self.frame.offsets_px.len().pow(2) as f64;
        // A pixel that would not reach half of the rounding unit gives no count at all.
        let negligible = 0.5 / 4096.0 / self.frame.offsets_px.len().pow(2) as f64;
        for k in self.frame.points_per_a(pixel.map(|p| p as i64)) {
            self.diffraction
                .add_intensity(k, share, negligible, workspace, expected);
        }
        expected
    }
}
