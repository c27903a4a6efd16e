//! G from counts: a real-to-half-complex transform of every BF column (numerics sections 1 and 2).
//!
//! Counts travel as they are stored, packed in words; the mean of each column is taken out in integers
//! before anything is rounded, and G is in units of the DC value.

use cubecl::prelude::*;
use serde::Serialize;

use super::C32;
use super::layout::{ROW_BLOCK, Scan};
use super::tables::complex;
use crate::line::{LinePlan, input_index, output_index, transform};

/// How a sample of a BF column is stored in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Sample {
    /// Unsigned integers of 8, 16 or 32 bits.
    Unsigned(u32),
    /// Signed integers of 8, 16 or 32 bits.
    Signed(u32),
    /// float32, from which the mean is out and which are in units of the DC value already.
    Float,
}

impl Sample {
    /// Bits of one sample.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Unsigned(bits) | Self::Signed(bits) => bits,
            Self::Float => 32,
        }
    }
}

/// What is compiled into the two passes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ForwardPass {
    pub(crate) line: LinePlan,
    pub(crate) lines: usize,
}

impl ForwardPass {
    pub(crate) fn units(&self) -> usize {
        self.lines * self.line.units
    }

    pub(crate) fn shared_floats(&self) -> usize {
        (self.lines * self.line.exchange_floats()).max(1)
    }
}

/// Pairs of scan rows, each transformed as one complex line.
fn row_pairs(scan: Scan) -> usize {
    scan.rows.div_ceil(2)
}

/// Complex values of one BF pixel between the passes.
pub(crate) fn between(scan: Scan) -> usize {
    row_pairs(scan).div_ceil(ROW_BLOCK) * ROW_BLOCK * scan.cols
}

/// Sample `index` less the column's mean (an integer part `whole` in two's complement offset, and a
/// rest), in units of the DC value: `scale` is its reciprocal, rounded, and `scale_rest` what was lost, for
/// a common factor would bias every phase alike.
#[cube]
fn sample_at(
    words: &Array<u32>,
    index: usize,
    whole: u32,
    rest: f32,
    scale: f32,
    scale_rest: f32,
    #[comptime] sample: Sample,
) -> f32 {
    let per_word = comptime!((32 / sample.bits()) as usize);
    let word = words[index / per_word];
    if comptime!(sample == Sample::Float) {
        f32::reinterpret(word)
    } else {
        let bits = comptime!(sample.bits());
        let shift = (index % per_word) as u32 * bits;
        // To the top of the word and back down, then signed numbers moved up by half the range.
        let top = word << (comptime!(32 - bits) - shift);
        let offset = comptime!(if matches!(sample, Sample::Signed(_)) {
            1u32 << 31
        } else {
            0u32
        });
        let value = (top ^ offset) >> comptime!(32 - bits);
        let above = f32::cast_from(select(value >= whole, value - whole, 0u32));
        let below = f32::cast_from(select(value >= whole, 0u32, whole - value));
        let value = above - below - rest;
        value * scale + value * scale_rest
    }
}

/// Forward transform of pairs of scan rows of `pixels` BF columns; lines along the first axis of cubes,
/// BF pixels along the second. Writes `[pixel][pair / 4][column][pair % 4]`.
#[cube(launch_unchecked)]
pub(crate) fn forward_rows(
    words: &Array<u32>,
    wholes: &Array<u32>,
    rests: &Array<f32>,
    table: &Array<C32>,
    output: &mut Array<C32>,
    scale: f32,
    scale_rest: f32,
    rows: u32,
    #[comptime] sample: Sample,
    #[comptime] pass: ForwardPass,
) {
    let plan = comptime!(pass.line.clone());
    let mut shared = SharedMemory::<f32>::new(comptime!(pass.shared_floats()));
    let rows = rows as usize;
    let cols = comptime!(plan.n);
    let between = rows.div_ceil(2usize).div_ceil(ROW_BLOCK) * ROW_BLOCK * cols;
    let unit = UNIT_POS as usize % comptime!(plan.units);
    let local = UNIT_POS as usize / comptime!(plan.units);
    let pair = CUBE_POS_X as usize * comptime!(pass.lines) + local;
    let pixel = CUBE_POS_Y as usize;
    let active = 2 * pair < rows;
    let both = 2 * pair + 1 < rows;
    let whole = wholes[pixel];
    let rest = rests[pixel];
    let from = (pixel * rows + 2 * pair) * cols;
    let mut re = Array::<f32>::new(comptime!(plan.registers()));
    let mut im = Array::<f32>::new(comptime!(plan.registers()));
    #[unroll]
    for t in 0..comptime!(plan.passes(0)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[0]) {
            let slot = comptime!(t * plan.radices[0] + k);
            let col = input_index(unit, t, k, comptime!(plan.clone()));
            re[slot] = f32::new(0.0);
            im[slot] = f32::new(0.0);
            if active && col < cols {
                // Parts swapped: a forward transform.
                im[slot] = sample_at(words, from + col, whole, rest, scale, scale_rest, sample);
                if both {
                    re[slot] = sample_at(
                        words,
                        from + cols + col,
                        whole,
                        rest,
                        scale,
                        scale_rest,
                        sample,
                    );
                }
            }
        }
    }
    let at = local * comptime!(plan.exchange_floats());
    transform(
        &mut re,
        &mut im,
        &mut shared,
        table,
        unit,
        at,
        comptime!(plan.clone()),
    );
    let out = pixel * between
        + (pair / comptime!(ROW_BLOCK)) * (ROW_BLOCK * cols)
        + pair % comptime!(ROW_BLOCK);
    let last = comptime!(plan.last());
    #[unroll]
    for t in 0..comptime!(plan.passes(last)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[last]) {
            let slot = comptime!(t * plan.radices[last] + k);
            let col = output_index(unit, t, k, comptime!(plan.clone()));
            if active && col < cols {
                output[out + col * comptime!(ROW_BLOCK)] = complex(im[slot], re[slot]);
            }
        }
    }
}

/// Forward transform of the stored columns of the same BF pixels into G, `[pixel][column][row]` from BF
/// pixel `first` of the block on; G(0) is set to 0.
#[cube(launch_unchecked)]
pub(crate) fn forward_columns(
    input: &Array<C32>,
    table: &Array<C32>,
    g: &mut Array<C32>,
    first: u32,
    cols: u32,
    #[comptime] pass: ForwardPass,
) {
    let plan = comptime!(pass.line.clone());
    let mut shared = SharedMemory::<f32>::new(comptime!(pass.shared_floats()));
    let rows = comptime!(plan.n);
    let cols = cols as usize;
    let half = cols / 2 + 1;
    let between = comptime!(plan.n.div_ceil(2).div_ceil(ROW_BLOCK) * ROW_BLOCK) * cols;
    let unit = UNIT_POS as usize % comptime!(plan.units);
    let local = UNIT_POS as usize / comptime!(plan.units);
    let col = CUBE_POS_X as usize * comptime!(pass.lines) + local;
    let pixel = CUBE_POS_Y as usize;
    let active = col < half;
    let mirror = select(col == 0, 0usize, cols - col);
    let from = pixel * between;
    let mut re = Array::<f32>::new(comptime!(plan.registers()));
    let mut im = Array::<f32>::new(comptime!(plan.registers()));
    #[unroll]
    for t in 0..comptime!(plan.passes(0)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[0]) {
            let slot = comptime!(t * plan.radices[0] + k);
            let row = input_index(unit, t, k, comptime!(plan.clone()));
            re[slot] = f32::new(0.0);
            im[slot] = f32::new(0.0);
            if active && row < rows {
                // The spectra of a pair's two rows are the Hermitian parts of its line's.
                let pair = row / 2;
                let block = from
                    + (pair / comptime!(ROW_BLOCK)) * (ROW_BLOCK * cols)
                    + pair % comptime!(ROW_BLOCK);
                let a = input[block + col * comptime!(ROW_BLOCK)];
                let b = input[block + mirror * comptime!(ROW_BLOCK)];
                let odd = row % 2 == 1;
                let x_re = select(odd, a[1] + b[1], a[0] + b[0]) * 0.5;
                let x_im = select(odd, b[0] - a[0], a[1] - b[1]) * 0.5;
                re[slot] = x_im;
                im[slot] = x_re;
            }
        }
    }
    let at = local * comptime!(plan.exchange_floats());
    transform(
        &mut re,
        &mut im,
        &mut shared,
        table,
        unit,
        at,
        comptime!(plan.clone()),
    );
    let out = ((first as usize + pixel) * half + col) * rows;
    let last = comptime!(plan.last());
    #[unroll]
    for t in 0..comptime!(plan.passes(last)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[last]) {
            let slot = comptime!(t * plan.radices[last] + k);
            let row = output_index(unit, t, k, comptime!(plan.clone()));
            if active && row < rows {
                let live = select(row + col == 0, 0.0, 1.0);
                g[out + row] = complex(im[slot] * live, re[slot] * live);
            }
        }
    }
}
