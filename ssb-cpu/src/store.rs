//! G of every BF pixel that the aperture can reach: held in memory, or made anew from the counts.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use ssb_core::{Control, Error, Evidence};

use crate::aligned::Aligned;
use crate::half_plane::HalfPlane;
use crate::vectors::{Vectors, cells_mut};

/// G over the DC value, and what it takes to make it.
pub struct Store {
    /// Indices in the selection of the pixels that the aperture can reach.
    pub pixels: Vec<usize>,
    /// G of the first pixels, one after the other.
    held: Aligned,
    held_pixels: usize,
    /// The counts, kept when some pixels are not held.
    evidence: Option<Evidence>,
    scale: f64,
}

/// Work space of one worker that makes G.
pub struct ForwardScratch {
    image: Vec<f32>,
    plane: Aligned,
    tile: Aligned,
    work: Aligned,
}

impl ForwardScratch {
    pub fn new(half_plane: &HalfPlane) -> Self {
        let layout = &half_plane.layout;
        Self {
            image: vec![0.0; layout.rows * layout.cols],
            plane: Aligned::new(layout.workspace_floats()),
            tile: half_plane.tile(),
            work: half_plane.work(),
        }
    }
}

struct Forward<'a> {
    half_plane: &'a HalfPlane,
    evidence: &'a Evidence,
    pixel: usize,
    scale: f64,
    scratch: &'a mut ForwardScratch,
    g: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ForwardScratch {
            image,
            plane,
            tile,
            work,
        } = self.scratch;
        // The mean goes first (float64, from exact sums): float32 spends its digits on the signal.
        let mean = self.evidence.sum(self.pixel) / image.len() as f64;
        self.evidence.read(self.pixel, mean, self.scale, image);
        self.half_plane.forward(
            simd,
            image,
            self.g,
            cells_mut::<S>(plane.get_mut()),
            cells_mut::<S>(tile.get_mut()),
            cells_mut::<S>(work.get_mut()),
        );
        // G(0): with the DC value exactly 1 its rounding cannot bias every phase alike.
        self.g[0] = 0.0;
        self.g[S::F32_LANES] = 0.0;
    }
}

impl Store {
    /// Transforms the counts of the first `held_pixels` of `pixels`, in units of the DC value.
    pub fn new(
        half_plane: &HalfPlane,
        vectors: Vectors,
        evidence: Evidence,
        pixels: Vec<usize>,
        held_pixels: usize,
        control: &Control,
    ) -> Result<Self, Error> {
        let length = half_plane.layout.pixel_floats();
        let scale = 1.0 / evidence.dc();
        let held_pixels = held_pixels.min(pixels.len());
        let mut held = Aligned::try_new(length * held_pixels).ok_or_else(|| Error::Unsuitable {
            backend: crate::entry::NAME.into(),
            reason: format!(
                "there is no memory for {} MiB of G; state a budget with --max-memory",
                (length * held_pixels * size_of::<f32>()) >> 20
            ),
        })?;
        let finished = std::sync::atomic::AtomicU64::new(0);
        let total = held_pixels as u64;
        held.get_mut()
            .par_chunks_mut(length)
            .zip(&pixels)
            .with_min_len(8)
            .try_for_each_init(
                || ForwardScratch::new(half_plane),
                |scratch, (g, pixel)| {
                    control.check()?;
                    vectors.run(Forward {
                        half_plane,
                        evidence: &evidence,
                        pixel: *pixel,
                        scale,
                        scratch,
                        g,
                    });
                    let done = finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
                    control.report("transform bright-field columns", done, total);
                    Ok(())
                },
            )?;
        let streams = held_pixels < pixels.len();
        Ok(Self {
            pixels,
            held,
            held_pixels,
            evidence: streams.then_some(evidence),
            scale,
        })
    }

    /// G of the pixel at `index`, made in `made` if it is not held.
    pub fn g<'a>(
        &'a self,
        half_plane: &HalfPlane,
        vectors: Vectors,
        index: usize,
        made: &'a mut Option<(ForwardScratch, Aligned)>,
    ) -> &'a [f32] {
        let length = half_plane.layout.pixel_floats();
        if index < self.held_pixels {
            return &self.held.get()[index * length..][..length];
        }
        let (scratch, g) =
            made.get_or_insert_with(|| (ForwardScratch::new(half_plane), Aligned::new(length)));
        if let Some(evidence) = &self.evidence {
            vectors.run(Forward {
                half_plane,
                evidence,
                pixel: self.pixels[index],
                scale: self.scale,
                scratch,
                g: g.get_mut(),
            });
        }
        g.get()
    }
}
