//! The complex object, numerics sections 1 and 5: `object = mean_b O_b = IFFT2(mean_b C_b)`.

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::Complex64;

use crate::{Transform, padded_spectrum};

/// The sum over b of `C_b(q)`.
#[derive(Debug, Clone)]
pub struct MeanSpectrum {
    shape: [usize; 2],
    sum: Vec<Complex64>,
    count: usize,
}

impl MeanSpectrum {
    /// An empty sum over `(rows, cols)` scan frequencies.
    #[must_use]
    pub fn new(shape: [usize; 2]) -> Self {
        Self {
            shape,
            sum: vec![Complex64::default(); shape[0] * shape[1]],
            count: 0,
        }
    }

    /// Adds one `C_b`.
    pub fn add(&mut self, corrected: &[Complex64]) {
        self.count += 1;
        for (sum, value) in self.sum.iter_mut().zip(corrected) {
            *sum += value;
        }
    }

    /// The object in counts, sampled `upsample` times finer on both axes.
    #[must_use]
    pub fn object(&self, upsample: usize) -> Array2<Complex64> {
        let mean: Vec<Complex64> = self.sum.iter().map(|v| v / self.count as f64).collect();
        let mut data = padded_spectrum(&mean, self.shape, upsample);
        let fine = self.shape.map(|n| n * upsample);
        Transform::new(fine).inverse(&mut data);
        let mut object = Array2::default((fine[0], fine[1]));
        for (to, from) in object.iter_mut().zip(data) {
            *to = from;
        }
        object
    }
}
