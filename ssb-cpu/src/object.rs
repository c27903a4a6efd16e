//! The complex object: the mean of `C_b` first, then one inverse transform (numerics section 5).

use ndarray::Array2;
use num_complex::Complex64;
use pulp::{Simd, WithSimd};
use rustfft::num_complex::Complex32;
use ssb_core::{Candidate, Control, Error, check_upsampling, object_image};

use crate::aligned::Aligned;
use crate::correct_tile::Sink;
use crate::evaluator::CpuEvaluator;
use crate::lanes::{LaneSums, combine};
use crate::layout::Layout;
use crate::loss::Workspace;
use crate::nyquist_line::NyquistLine;
use crate::pixel::Pixel;
use crate::vectors::{Cell, F, Z, cells_mut};

/// Adds `S` to a block's sums.
struct AddSink<'a, S: Simd> {
    simd: S,
    sums: &'a mut [Cell<S>],
}

impl<S: Simd> Sink<S> for AddSink<'_, S> {
    #[inline(always)]
    fn put(&mut self, row: usize, s: Z<S>, _: F<S>) {
        let sum = Z::load(self.simd, &self.sums[row]);
        self.sums[row] = (sum + s).cell();
    }

    #[inline(always)]
    fn skip(&mut self, _: std::ops::Range<usize>) {}
}

/// Adds one pixel's `S` to sums in the order of G.
struct AddSpectrum<'a> {
    layout: &'a Layout,
    pixel: &'a Pixel<'a>,
    workspace: &'a mut Workspace,
    sums: &'a mut [f32],
}

impl WithSimd for AddSpectrum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            layout,
            pixel,
            workspace,
            sums,
        } = self;
        let (scratch, line) = (&mut workspace.pixel, &mut workspace.line_work);
        pixel.fill_axes(simd, scratch);
        let plane = cells_mut::<S>(&mut sums[..layout.plane_floats()]);
        let blocks = plane.chunks_exact_mut(layout.rows).enumerate();
        for (block, sums) in blocks.take(pixel.occupied_blocks()) {
            let mut sink = AddSink::<S> { simd, sums };
            pixel.correct_block::<S, true>(simd, block, scratch, &mut sink);
        }
        let lines = [
            layout.nyquist_row().map(NyquistLine::Row),
            layout.nyquist_col().map(NyquistLine::Column),
        ];
        for (nyquist, sums) in lines.into_iter().zip(layout.nyquist_lines_mut(sums)) {
            let Some(nyquist) = nyquist else { continue };
            line.resize(sums.len() / 2, Complex32::default());
            if pixel
                .correct_nyquist_line(nyquist, &mut scratch.line, line)
                .is_some()
            {
                let (re, im) = sums.split_at_mut(line.len());
                for (z, (re, im)) in line.iter().zip(re.iter_mut().zip(im)) {
                    *re += z.re;
                    *im += z.im;
                }
            }
        }
    }
}

impl CpuEvaluator {
    pub(crate) fn fourier_sum(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        check_upsampling(upsample)?;
        self.turn_to(candidate);
        let tables = self.tables(candidate);
        let this = &*self;
        let layout = this.lattice.layout;
        let floats = layout.pixel_floats();
        let mut totals = [vec![0.0; floats]];
        this.over_lanes(
            control,
            || vec![LaneSums::new(this.spectra.take(|| Aligned::new(floats)))],
            |lane, open, workspace| {
                for sums in lane {
                    this.vectors.run(AddSpectrum {
                        layout: &layout,
                        pixel: &Pixel::new(&this.lattice, &tables, open, f64::INFINITY),
                        workspace,
                        sums: sums.short.get_mut(),
                    });
                }
            },
            |lanes| combine(this.vectors, &mut totals, lanes, &this.spectra),
        )?;
        let [total] = totals;
        let (plane, row) = in_order(&layout, &total);
        object_image(
            [layout.rows, layout.cols],
            &plane,
            &row,
            this.info.dc,
            this.info.bf_pixels,
            upsample,
        )
    }
}

/// Sums in the order of G as `[cols / 2 + 1][rows]`, and the Nyquist row.
fn in_order(layout: &Layout, total: &[f64]) -> (Vec<Complex64>, Vec<Complex64>) {
    let (rows, lanes) = (layout.rows, layout.lanes);
    let lines = &total[layout.plane_floats()..];
    let row_floats = layout.nyquist_row().map_or(0, |_| 2 * layout.cols);
    let (row, col) = lines.split_at(row_floats);
    let line = |values: &[f64]| -> Vec<Complex64> {
        let (re, im) = values.split_at(values.len() / 2);
        let pairs = re.iter().zip(im);
        pairs.map(|(re, im)| Complex64::new(*re, *im)).collect()
    };
    let mut plane = Vec::with_capacity(rows * (layout.cols / 2 + 1));
    for column in 0..layout.plane_cols {
        plane.extend((0..rows).map(|row| {
            let at = ((column / lanes) * rows + row) * 2 * lanes + column % lanes;
            Complex64::new(total[at], total[at + lanes])
        }));
    }
    if layout.nyquist_col().is_some() {
        plane.extend(line(&col[..2 * rows]));
    }
    (plane, line(row))
}
