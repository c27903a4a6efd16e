//! What a simulation gives: counts in the smallest type that holds them, and the truth.

use ndarray::{Array2, Array4};
use rayon::prelude::*;
use serde::Serialize;
use ssb_core::{
    BfDisk, BfOptions, Calibration, Candidate, Columns, Error, Evidence, Geometry, Problem,
    ndarray, select_bf,
};

use super::Simulation;

/// Counts `[scan row, scan col, detector row, detector col]`.
#[derive(Debug, Clone, PartialEq)]
pub enum Counts {
    /// No count above 255.
    U8(Array4<u8>),
    /// No count above 65535.
    U16(Array4<u16>),
    /// Larger counts.
    U32(Array4<u32>),
}

/// Runs the same expression on the array inside, whatever its type.
macro_rules! with_counts {
    ($counts:expr, $array:ident => $body:expr) => {
        match $counts {
            Counts::U8($array) => $body,
            Counts::U16($array) => $body,
            Counts::U32($array) => $body,
        }
    };
}

impl Counts {
    /// From one column of counts over the scan for each detector pixel.
    pub(super) fn assemble(
        columns: &[Vec<u32>],
        scan_shape: [usize; 2],
        det_shape: [usize; 2],
    ) -> Self {
        let max = columns.iter().flatten().copied().max().unwrap_or(0);
        if max <= u32::from(u8::MAX) {
            Self::U8(turn(columns, scan_shape, det_shape, |v| v as u8))
        } else if max <= u32::from(u16::MAX) {
            Self::U16(turn(columns, scan_shape, det_shape, |v| v as u16))
        } else {
            Self::U32(turn(columns, scan_shape, det_shape, |v| v))
        }
    }

    /// Shape of the array.
    #[must_use]
    pub fn shape(&self) -> [usize; 4] {
        let (a, b, c, d) = with_counts!(self, array => array.dim());
        [a, b, c, d]
    }

    /// NumPy's name of the sample type.
    #[must_use]
    pub fn dtype(&self) -> &'static str {
        match self {
            Self::U8(_) => "uint8",
            Self::U16(_) => "uint16",
            Self::U32(_) => "uint32",
        }
    }

    /// The largest count.
    #[must_use]
    pub fn max(&self) -> u32 {
        fn largest<T: Copy + Into<u32>>(array: &Array4<T>) -> u32 {
            array.iter().map(|v| (*v).into()).max().unwrap_or(0)
        }
        with_counts!(self, array => largest(array))
    }

    /// Mean counts of every detector pixel.
    #[must_use]
    pub fn mean_pattern(&self) -> Array2<f64> {
        let [rows, cols, det_rows, det_cols] = self.shape();
        let mut sum = Array2::<f64>::zeros((det_rows, det_cols));
        with_counts!(self, array => {
            for row in array.outer_iter() {
                for frame in row.outer_iter() {
                    sum.zip_mut_with(&frame, |s, v| *s += f64::from(*v));
                }
            }
        });
        sum / (rows * cols) as f64
    }

    /// Columns of the pixels of a disk, in their own type.
    fn columns(&self, disk: &BfDisk) -> Columns {
        fn gather<T: Copy>(array: &Array4<T>, disk: &BfDisk) -> Array2<T> {
            let (rows, cols, ..) = array.dim();
            Array2::from_shape_fn((disk.pixels.len(), rows * cols), |(b, n)| {
                let [r, c] = disk.pixels[b].map(|p| p as usize);
                array[(n / cols, n % cols, r, c)]
            })
        }
        match self {
            Self::U8(array) => Columns::U8(gather(array, disk)),
            Self::U16(array) => Columns::U16(gather(array, disk)),
            Self::U32(array) => Columns::U32(gather(array, disk)),
        }
    }
}

/// From pixel-major to frame-major order.
fn turn<T: Copy + Default + Send + Sync>(
    columns: &[Vec<u32>],
    scan_shape: [usize; 2],
    det_shape: [usize; 2],
    narrow: impl Fn(u32) -> T + Sync,
) -> Array4<T> {
    let [rows, cols] = scan_shape;
    let mut array = Array4::default((rows, cols, det_shape[0], det_shape[1]));
    let scan_rows: Vec<_> = array.outer_iter_mut().collect();
    scan_rows
        .into_par_iter()
        .enumerate()
        .for_each(|(r, mut scan_row)| {
            for (c, mut frame) in scan_row.outer_iter_mut().enumerate() {
                for (value, column) in frame.iter_mut().zip(columns) {
                    *value = narrow(column[r * cols + c]);
                }
            }
        });
    array
}

/// What is true of a simulated acquisition.
///
/// As JSON it holds everything but the phase, which is written as an array beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// Phase of the specimen in radians at every scan position; the whole depth projected.
    #[serde(skip)]
    pub phase_rad: Array2<f64>,
    /// Aberrations, tilt and depth.
    pub candidate: Candidate,
    /// Calibration.
    pub calibration: Calibration,
    /// Scan positions (rows, cols).
    pub scan_shape: [usize; 2],
    /// Detector pixels (rows, cols).
    pub det_shape: [usize; 2],
    /// Centre of the bright-field disk (row, col) in pixels.
    pub bf_center_px: [f64; 2],
    /// Radii of the bright-field disk (row, col) in pixels.
    pub bf_radius_px: [f64; 2],
    /// Electrons of the whole beam at each scan position.
    pub electrons_per_pattern: f64,
    /// Points along each axis over which a pixel was averaged.
    pub points_per_pixel: usize,
    /// Seed of specimen and noise.
    pub seed: u64,
}

impl Truth {
    pub(super) fn of(simulation: &Simulation, phase_rad: Array2<f64>) -> Self {
        let c = &simulation.calibration;
        Self {
            phase_rad,
            candidate: simulation.candidate(),
            calibration: c.clone(),
            scan_shape: simulation.scan_shape,
            det_shape: simulation.det_shape,
            bf_center_px: simulation.bf_center_px,
            bf_radius_px: c.det_step_mrad.value.map(|s| c.semiangle_mrad.value / s),
            electrons_per_pattern: simulation.electrons_per_pattern,
            points_per_pixel: simulation.points_per_pixel,
            seed: simulation.seed,
        }
    }
}

/// Counts with their truth.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedScan {
    /// The counts.
    pub counts: Counts,
    /// What they show.
    pub truth: Truth,
}

impl SimulatedScan {
    /// The problem that a backend prepares, with the disk chosen by `options`.
    ///
    /// # Errors
    /// [`Error::NoDisk`] when the counts show no disk, and what [`Problem::new`] refuses.
    pub fn problem(&self, options: &BfOptions) -> Result<(Problem, BfDisk), Error> {
        let disk = select_bf(self.counts.mean_pattern().view(), None, options)?;
        let geometry = Geometry::new(&self.truth.calibration, self.truth.scan_shape, &disk)?;
        let evidence = Evidence::new(self.truth.scan_shape, self.counts.columns(&disk))?;
        Ok((Problem::new(geometry, evidence)?, disk))
    }
}
