//! G on the device: resident, or made anew from the counts whenever a buffer of it is needed.

use cubecl::prelude::*;
use ssb_core::{Columns, Control, Error, Evidence};

use super::Device;
use crate::device::DeviceArray;
use crate::kernel::launch::launch;
use crate::kernel::layout::Scan;
use crate::kernel::prepare::{ForwardPass, Sample, between, forward_columns, forward_rows};
use crate::plan::{Arrangement, LineShape};

/// How the counts of an acquisition travel.
pub(super) fn sample_of(columns: &Columns) -> Sample {
    match columns {
        Columns::U8(_) => Sample::Unsigned(8),
        Columns::U16(_) => Sample::Unsigned(16),
        Columns::U32(_) => Sample::Unsigned(32),
        Columns::I8(_) => Sample::Signed(8),
        Columns::I16(_) => Sample::Signed(16),
        Columns::I32(_) => Sample::Signed(32),
        // Floating point, and whatever is added later: as float32, from float64 arithmetic on the host.
        _ => Sample::Float,
    }
}

/// G of all stored BF pixels.
pub(super) struct Store<R: Runtime> {
    buffers: Vec<DeviceArray<f32>>,
    maker: Maker<R>,
    /// Present when G is streamed.
    evidence: Option<Evidence>,
    /// Which part of G a streamed buffer holds.
    held: Option<usize>,
}

/// Makes G from counts.
struct Maker<R: Runtime> {
    device: Device<R>,
    scan: Scan,
    stored: Vec<usize>,
    dc: f64,
    sample: Sample,
    store: usize,
    upload: usize,
    rows: ForwardPass,
    columns: ForwardPass,
    row_table: DeviceArray<f32>,
    column_table: DeviceArray<f32>,
    between: DeviceArray<f32>,
}

impl<R: Runtime> Store<R> {
    /// Transforms the counts, or keeps them for later when G does not fit.
    pub(super) fn new(
        device: &Device<R>,
        plan: &Arrangement,
        stored: Vec<usize>,
        evidence: Evidence,
        tables: [&DeviceArray<f32>; 2],
        control: &Control,
    ) -> Result<Self, Error> {
        let scan = plan.request.scan;
        let pass = |shape: &LineShape| ForwardPass {
            line: shape.line.clone(),
            lines: shape.lines,
        };
        let maker = Maker {
            device: device.clone(),
            scan,
            dc: evidence.dc(),
            sample: sample_of(evidence.columns()),
            store: plan.store,
            upload: plan.upload,
            rows: pass(&plan.rows),
            columns: pass(&plan.columns),
            column_table: tables[0].clone(),
            row_table: tables[1].clone(),
            between: DeviceArray::reserved(&device.client, 2 * plan.upload * between(scan)),
            stored,
        };
        let parts = maker.stored.len().div_ceil(plan.store);
        let held = if plan.resident { parts } else { 1 };
        let buffers: Vec<_> = (0..held)
            .map(|part| {
                let pixels = if plan.resident {
                    maker.range(part).len()
                } else {
                    plan.store
                };
                DeviceArray::reserved(&device.client, 2 * pixels * scan.plane())
            })
            .collect();
        let mut store = Self {
            buffers,
            maker,
            evidence: None,
            held: None,
        };
        if plan.resident {
            for part in 0..parts {
                store
                    .maker
                    .fill(part, &store.buffers[part], &evidence, control)?;
            }
        } else {
            store.evidence = Some(evidence);
        }
        Ok(store)
    }

    /// Number of buffers that G has in all.
    pub(super) fn parts(&self) -> usize {
        self.maker.stored.len().div_ceil(self.maker.store)
    }

    /// Stored BF pixels of one part.
    pub(super) fn range(&self, part: usize) -> std::ops::Range<usize> {
        self.maker.range(part)
    }

    /// A part of G, made when it is not there.
    pub(super) fn part(
        &mut self,
        part: usize,
        control: &Control,
    ) -> Result<DeviceArray<f32>, Error> {
        let Some(evidence) = &self.evidence else {
            return Ok(self.buffers[part].clone());
        };
        if self.held != Some(part) {
            self.held = None;
            self.maker.fill(part, &self.buffers[0], evidence, control)?;
            self.held = Some(part);
        }
        Ok(self.buffers[0].clone())
    }
}

impl<R: Runtime> Maker<R> {
    fn range(&self, part: usize) -> std::ops::Range<usize> {
        let first = part * self.store;
        first..(first + self.store).min(self.stored.len())
    }

    fn fill(
        &self,
        part: usize,
        g: &DeviceArray<f32>,
        evidence: &Evidence,
        control: &Control,
    ) -> Result<(), Error> {
        let range = self.range(part);
        for first in range.clone().step_by(self.upload) {
            control.check()?;
            let last = (first + self.upload).min(range.end);
            self.transform(&self.stored[first..last], first - range.start, g, evidence);
            self.device.connected.faults.finish(&self.device.client)?;
            let total = self.stored.len() as u64;
            control.report("transform bright-field columns", last as u64, total);
        }
        Ok(())
    }

    fn transform(&self, pixels: &[usize], first: usize, g: &DeviceArray<f32>, evidence: &Evidence) {
        let client = &self.device.client;
        let scan = self.scan;
        let points = (scan.rows * scan.cols) as f64;
        let means: Vec<f64> = pixels.iter().map(|b| evidence.sum(*b) / points).collect();
        // The integer part in the order of unsigned numbers: signed ones are moved up by half their range.
        let offset = match self.sample {
            Sample::Signed(bits) => 2.0_f64.powi(bits as i32 - 1),
            _ => 0.0,
        };
        let wholes: Vec<u32> = means.iter().map(|m| (m.floor() + offset) as u32).collect();
        let rests: Vec<f32> = means.iter().map(|m| (m - m.floor()) as f32).collect();
        let scale = 1.0 / self.dc;
        let words = words(evidence, pixels, &means, scale);
        let words = DeviceArray::uploaded(client, &words);
        let wholes = DeviceArray::uploaded(client, &wholes);
        let rests = DeviceArray::uploaded(client, &rests);
        let lines = scan.rows.div_ceil(2);
        launch!(
            R,
            forward_rows,
            client,
            CubeCount::Static(
                lines.div_ceil(self.rows.lines) as u32,
                pixels.len() as u32,
                1
            ),
            CubeDim::new_1d(self.rows.units() as u32),
            words.arg(),
            wholes.arg(),
            rests.arg(),
            self.row_table.vectors(2),
            self.between.vectors(2),
            scale as f32,
            (scale - f64::from(scale as f32)) as f32,
            scan.rows as u32,
            self.sample,
            self.rows.clone(),
        );
        launch!(
            R,
            forward_columns,
            client,
            CubeCount::Static(
                scan.half().div_ceil(self.columns.lines) as u32,
                pixels.len() as u32,
                1
            ),
            CubeDim::new_1d(self.columns.units() as u32),
            self.between.vectors(2),
            self.column_table.vectors(2),
            g.vectors(2),
            first as u32,
            scan.cols as u32,
            self.columns.clone(),
        );
    }
}

/// The counts of some BF pixels as they are, packed into words; floating-point data less its mean and in
/// units of the DC value.
fn words(evidence: &Evidence, pixels: &[usize], means: &[f64], scale: f64) -> Vec<u32> {
    fn packed<T: CubeElement>(rows: impl Iterator<Item = Vec<T>>) -> Vec<u32> {
        let mut bytes: Vec<u8> = rows.flat_map(|row| T::as_bytes(&row).to_vec()).collect();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        u32::from_bytes(&bytes).to_vec()
    }
    macro_rules! integers {
        ($array:expr) => {
            packed(pixels.iter().map(|b| $array.row(*b).to_vec()))
        };
    }
    match evidence.columns() {
        Columns::U8(a) => integers!(a),
        Columns::U16(a) => integers!(a),
        Columns::U32(a) => integers!(a),
        Columns::I8(a) => integers!(a),
        Columns::I16(a) => integers!(a),
        Columns::I32(a) => integers!(a),
        _ => packed(pixels.iter().zip(means).map(|(b, mean)| {
            let [rows, cols] = evidence.scan_shape();
            let mut out = vec![0.0_f32; rows * cols];
            evidence.read(*b, *mean, scale, &mut out);
            out
        })),
    }
}
