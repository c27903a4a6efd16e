//! The data ready to be steered: the session on all bright-field pixels, and, where that is too slow for
//! dragging, a second one on evenly spread pixels.

use std::time::Instant;

use ssb_core::ndarray::Array2;
use ssb_core::{
    Aberrations, Angle, Backend, BfDisk, Candidate, Control, Evidence, Geometry, Length,
    PrepareOptions,
};

use crate::acquisition::Acquisition;
use crate::{Error, Session};

/// A frame of a drag should take no longer, in seconds: thirty a second, with as much time to draw
/// them on the same processor.
const PACE_SECONDS: f64 = 0.015;
/// Samples that are set aside for the second session, at most.
const MOST_SAMPLES: usize = 1 << 25;
/// Fewer pixels than this make no picture.
const FEWEST_PIXELS: usize = 24;

/// Sessions and what is fixed about them.
pub struct Prepared {
    pub session: Session,
    /// Evenly spread pixels of the disk, for dragging.
    pub quick: Option<Session>,
    /// Mean counts of the disk's pixels at each scan position.
    pub virtual_bf: Array2<f32>,
    /// Seconds of one picture from all pixels, as measured.
    pub full_seconds: f64,
    /// Seconds that the preparation took.
    pub prepare_seconds: f64,
}

/// Where and how sessions are prepared.
#[derive(Debug, Clone)]
pub struct Place {
    pub backend: Backend,
    pub options: PrepareOptions,
}

/// The same data with only some pixels of the disk, evenly spread.
fn thinned(all: &Acquisition, pixels: usize) -> Result<Acquisition, Error> {
    let (total, wanted) = (all.disk.pixels.len(), pixels.max(1));
    let chosen: Vec<usize> = (0..wanted)
        .map(|i| (2 * i + 1) * total / (2 * wanted))
        .collect();
    let columns = all.evidence.columns().select(&chosen);
    let disk = BfDisk {
        pixels: chosen.iter().map(|i| all.disk.pixels[*i]).collect(),
        ..all.disk.clone()
    };
    let scan_shape = all.evidence.scan_shape();
    Ok(Acquisition {
        calibration: all.calibration.clone(),
        geometry: Geometry::new(&all.calibration, scan_shape, &disk)?,
        disk,
        mean_pattern: all.mean_pattern.clone(),
        mask: all.mask.clone(),
        record: all.record.clone(),
        warnings: Vec::new(),
        evidence: Evidence::new(scan_shape, columns)?,
    })
}

/// Mean counts of the disk's pixels at each scan position.
fn virtual_bf(evidence: &Evidence) -> Array2<f32> {
    let [rows, cols] = evidence.scan_shape();
    let mut sum = vec![0.0; rows * cols];
    let mut column = vec![0.0; rows * cols];
    for b in 0..evidence.len() {
        evidence.read_f64(b, &mut column);
        for (s, v) in sum.iter_mut().zip(&column) {
            *s += v;
        }
    }
    let pixels = evidence.len() as f64;
    Array2::from_shape_fn((rows, cols), |(r, c)| (sum[r * cols + c] / pixels) as f32)
}

/// Seconds of one picture, the shortest of three; the first one also compiles what a device needs.
fn picture_seconds(session: &Session) -> Result<f64, Error> {
    let ordinary = Aberrations::default()
        .with(0, Length::from_nm(7.0), Angle::from_rad(0.0))
        .with(1, Length::from_nm(3.0), Angle::from_rad(0.4));
    let candidate = Candidate::thin(ordinary);
    let mut shortest = f64::INFINITY;
    for _ in 0..3 {
        let since = Instant::now();
        session.object(&candidate, 1)?;
        shortest = shortest.min(since.elapsed().as_secs_f64());
        if shortest > 2.0 {
            break;
        }
    }
    Ok(shortest)
}

impl Prepared {
    /// Prepares gathered counts.
    ///
    /// # Errors
    /// As [`Session::of`].
    pub fn new(all: Acquisition, place: &Place, control: &Control) -> Result<Self, Error> {
        let since = Instant::now();
        let virtual_bf = virtual_bf(&all.evidence);
        let pixels = all.disk.pixels.len();
        let samples = virtual_bf.len();
        let spare_pixels = (pixels / 2).min(MOST_SAMPLES / samples.max(1));
        // A stated budget is kept to by the one session that must be.
        let spare = (spare_pixels >= FEWEST_PIXELS && place.options.max_memory_bytes.is_none())
            .then(|| thinned(&all, spare_pixels))
            .transpose()?;
        let session = Session::of(all, &place.backend, &place.options, control)?;
        let full_seconds = picture_seconds(&session)?;
        let affordable = pixels as f64 * PACE_SECONDS / full_seconds;
        let quick = match spare.filter(|_| affordable < pixels as f64) {
            None => None,
            Some(spare) => {
                let wanted = (affordable as usize).clamp(FEWEST_PIXELS, spare_pixels);
                let few = thinned(&spare, wanted)?;
                Some(Session::of(few, &place.backend, &place.options, control)?)
            }
        };
        Ok(Self {
            session,
            quick,
            virtual_bf,
            full_seconds,
            prepare_seconds: since.elapsed().as_secs_f64(),
        })
    }
}
