//! The mean diffraction pattern: what the sums over the frames say about each pixel.

use ssb_core::ndarray::Array2;

use crate::mean::Sums;
use crate::sample_type::Stored;
use crate::source::Source;

/// The mean diffraction pattern and what stood out in it.
#[derive(Debug, Clone)]
pub struct MeanPattern {
    /// Mean counts of each pixel of the transformed detector; masked pixels are 0. NaN and
    /// infinite samples count as 0.
    pub mean: Array2<f64>,
    /// The largest count in a pixel that is not masked.
    pub max_count: f64,
    /// Pixels that are not masked and reach, in some frame, the largest value of an integer type or the
    /// saturation that the file states: dead, hot or saturated.
    pub saturated_pixels: Vec<[u32; 2]>,
    /// NaN and infinities in pixels that are not masked.
    pub non_finite: u64,
    /// The pixels (row, col) that hold them.
    pub non_finite_pixels: Vec<[u32; 2]>,
}

impl Source {
    /// The mean pattern that sums over `frames` frames show.
    pub(crate) fn pattern_of<T: Stored>(&self, sums: &Sums, frames: f64) -> MeanPattern {
        let totals = self.orientation.apply(&sums.totals);
        let max = self.orientation.apply(&sums.max);
        let non_finite = self.orientation.apply(&sums.non_finite);
        let good = |place: (usize, usize)| self.mask().is_none_or(|m| m[place]);
        let mut pattern = MeanPattern {
            mean: Array2::zeros(totals.dim()),
            max_count: 0.0,
            saturated_pixels: Vec::new(),
            non_finite: 0,
            non_finite_pixels: Vec::new(),
        };
        let mut largest = f64::NEG_INFINITY;
        for (place, total) in totals.indexed_iter().filter(|(p, _)| good(*p)) {
            let sum = if T::MAX.is_some() {
                total.integer as f64
            } else {
                total.real
            };
            pattern.mean[place] = sum / frames;
            largest = largest.max(max[place]);
            if non_finite[place] > 0 {
                pattern.non_finite += non_finite[place];
                pattern
                    .non_finite_pixels
                    .push([place.0 as u32, place.1 as u32]);
            }
            let full = T::MAX.map(ssb_core::Sample::to_f64);
            let stated = self.saturation().map(|s| s.value);
            if [full, stated]
                .into_iter()
                .flatten()
                .any(|s| max[place] >= s)
            {
                let pixel = [place.0 as u32, place.1 as u32];
                pattern.saturated_pixels.push(pixel);
            }
        }
        if largest.is_finite() {
            pattern.max_count = largest;
        }
        pattern
    }
}
