//! The exact loss and the mean phase: packs of BF pixels through a topology, sums read back once.

use cubecl::prelude::*;
use ssb_core::{Candidate, Control, Error, Evaluation, MeanPhase, PhaseSums};

use super::buffers::{TOTAL_EACH, total_cubes};
use super::candidate_lists;
use super::{KernelEvaluator, Pack};
use crate::device::DeviceArray;
use crate::kernel::launch::launch;
use crate::kernel::layout::Model;
use crate::kernel::moments::total_image;
use crate::kernel::nyquist::{real_lines, separate_row};
use crate::kernel::tables::{phase_table, wave_table};
use crate::plan::{self, SUM_UNITS};

/// Values of images that the host adds up itself, in float64; where rounding would show most.
const FEW_VALUES: usize = 1 << 19;

/// `sum_b phi_b(R)` of one candidate.
pub(super) enum Total {
    /// In radians, row-major.
    Image(Vec<f64>),
    /// In the device's total image; the sum of its squares in rad^2.
    OnDevice { squared_rad2: f64 },
}

impl Total {
    fn squared_rad2(&self) -> f64 {
        match self {
            Self::Image(image) => image.iter().map(|v| v * v).sum(),
            Self::OnDevice { squared_rad2 } => *squared_rad2,
        }
    }
}

/// What is done with a pack.
type PackRun<'a, R> = dyn FnMut(&KernelEvaluator<R>, &Pack<'_, R>) -> Result<(), Error> + 'a;

/// What a pass over the BF pixels went through.
pub(super) struct Passed {
    packs: usize,
    /// BF pixels of the widest pack.
    widest: usize,
}

/// The uploaded lists of a batch.
pub(super) struct Batch {
    pub(super) model: Model,
    pub(super) candidates: usize,
    waves: DeviceArray<f32>,
}

impl<R: Runtime> KernelEvaluator<R> {
    /// Losses of at most [`plan::MOST_CANDIDATES`] candidates that share code and rotation.
    pub(super) fn losses(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        self.phase_sums(candidates, control)?
            .into_iter()
            .map(|(sums, total)| sums.evaluation(total.squared_rad2(), self.info.backend))
            .collect()
    }

    /// Mean phase and loss of one candidate.
    pub(super) fn phase_image(
        &mut self,
        candidate: &Candidate,
        control: &Control,
    ) -> Result<MeanPhase, Error> {
        let mut sums = self.phase_sums(std::slice::from_ref(candidate), control)?;
        let (sums, total) = sums.remove(0);
        sums.mean_phase(&self.image_of(total)?, self.info.backend)
    }

    /// The image of a total of the first candidate.
    pub(super) fn image_of(&self, total: Total) -> Result<Vec<f64>, Error> {
        Ok(match total {
            Total::Image(image) => image,
            Total::OnDevice { .. } => {
                let image = self.read(&self.buffers.total)?;
                let points = self.plan.request.scan.points();
                image[..points].iter().map(|v| f64::from(*v)).collect()
            }
        })
    }

    fn phase_sums(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<(PhaseSums, Total)>, Error> {
        if let Some(first) = candidates.first() {
            self.turn_to(first);
            self.prove_loss(candidate_lists::model(&self.geometry, first), control)?;
        }
        self.phase_sums_of(candidates, false, control)
    }

    /// Sums over every stored BF pixel, or over the one of the self-test.
    pub(super) fn phase_sums_of(
        &mut self,
        candidates: &[Candidate],
        only_proof: bool,
        control: &Control,
    ) -> Result<Vec<(PhaseSums, Total)>, Error> {
        let batch = self.upload(candidates)?;
        let passed = self.over_packs(&batch, only_proof, control, &mut |evaluator, pack| {
            evaluator.separate_nyquist_row(pack);
            plan::run(pack)
        })?;
        let (scan, buffers) = (self.plan.request.scan, &self.buffers);
        // Sets that no pack reached hold nothing.
        let images = passed.packs.min(self.plan.sets) * self.plan.slots[1];
        let totals = self.totals(images, candidates.len())?;
        let squares = self.read(&buffers.squares)?;
        let columns = self.read(&buffers.column_degenerate)?;
        let rows = if scan.even_rows() {
            self.read(&buffers.row_degenerate)?
        } else {
            Vec::new()
        };
        let tiles = self.plan.tiles();
        let column_share = self.plan.slots[0] * tiles[0];
        let square_share = self.plan.square_sets * self.plan.slots[1] * tiles[1];
        let square_images = passed.packs.min(self.plan.square_sets) * self.plan.slots[1];
        Ok(totals
            .into_iter()
            .enumerate()
            .map(|(m, image)| {
                let of_rows = rows.get(m * self.plan.pack..).unwrap_or_default();
                let degenerate = total(&columns[m * column_share..][..column_share])
                    + total(&of_rows[..passed.widest.min(of_rows.len())]);
                let sums = PhaseSums {
                    scan_shape: self.geometry.scan_shape,
                    squares_rad2: total(&squares[m * square_share..][..square_images * tiles[1]]),
                    degenerate: degenerate as u64,
                    supported: self.frame.supported,
                    bf_pixels: self.info.bf_pixels,
                };
                (sums, image)
            })
            .collect())
    }

    /// Totals of the first `images` images for each candidate.
    fn totals(&self, images: usize, candidates: usize) -> Result<Vec<Total>, Error> {
        let buffers = &self.buffers;
        let points = self.plan.request.scan.points();
        let stride = self.plan.sets * self.plan.slots[1];
        if candidates * stride * points <= FEW_VALUES {
            let sums = self.read(&buffers.sums)?;
            return Ok((0..candidates)
                .map(|m| {
                    let mut image = vec![0.0; points];
                    for part in sums[m * stride * points..].chunks(points).take(images) {
                        for (to, from) in image.iter_mut().zip(part) {
                            *to += f64::from(*from);
                        }
                    }
                    Total::Image(image)
                })
                .collect());
        }
        let cubes = total_cubes(points);
        launch!(
            R,
            total_image,
            &self.device.client,
            CubeCount::Static(cubes as u32, candidates as u32, 1),
            CubeDim::new_1d(SUM_UNITS as u32),
            buffers.sums.arg(),
            buffers.total.arg(),
            buffers.total_squares.arg(),
            points as u32,
            images as u32,
            stride as u32,
            SUM_UNITS,
            TOTAL_EACH,
        );
        let squares = self.read(&buffers.total_squares)?;
        Ok((0..candidates)
            .map(|m| Total::OnDevice {
                squared_rad2: total(&squares[m * cubes..][..cubes]),
            })
            .collect())
    }

    pub(super) fn read(&self, array: &DeviceArray<f32>) -> Result<Vec<f32>, Error> {
        array.read(&self.device.client, &self.device.connected.faults)
    }

    /// Sends a batch's lists and builds the tables that all BF pixels share.
    pub(super) fn upload(&mut self, candidates: &[Candidate]) -> Result<Batch, Error> {
        let Some(first) = candidates.first() else {
            return Err(Error::Internal("a batch of no candidates".into()));
        };
        self.turn_to(first);
        let scan = self.plan.request.scan;
        let client = &self.device.client;
        let model = candidate_lists::model(&self.geometry, first);
        let (mut phases, mut waves) = (Vec::new(), Vec::new());
        for candidate in candidates {
            phases.extend(candidate_lists::phase_list(&self.geometry, scan, candidate));
            waves.extend(candidate_lists::wave_list(
                &self.geometry,
                &self.frame,
                candidate,
            ));
        }
        let phases = DeviceArray::uploaded(client, &phases);
        launch!(
            R,
            phase_table,
            client,
            CubeCount::Static(
                scan.phase_pairs().div_ceil(SUM_UNITS) as u32,
                candidates.len() as u32,
                1,
            ),
            CubeDim::new_1d(SUM_UNITS as u32),
            phases.arg(),
            self.buffers.candidates.vectors(2),
            scan.candidate_pairs(model.polynomial, self.plan.pack) as u32,
            scan.rows as u32,
            scan.cols as u32,
            model.polynomial,
        );
        Ok(Batch {
            model,
            candidates: candidates.len(),
            waves: DeviceArray::uploaded(client, &waves),
        })
    }

    /// Runs every pack of BF pixels with its tables in place.
    pub(super) fn over_packs(
        &mut self,
        batch: &Batch,
        only_proof: bool,
        control: &Control,
        run: &mut PackRun<'_, R>,
    ) -> Result<Passed, Error> {
        let scan = self.plan.request.scan;
        let all = self.stored.len();
        let proof = self.proof.place;
        let (mut before, mut waiting, mut widest) = (0, 0, 0);
        for part in 0..self.store.parts() {
            let whole = self.store.range(part);
            let range = if only_proof {
                proof.max(whole.start)..(proof + 1).min(whole.end)
            } else {
                whole.clone()
            };
            if range.is_empty() {
                continue;
            }
            let g = self.store.part(part, control)?;
            for first in range.clone().step_by(self.plan.pack) {
                control.check()?;
                let pixels = self.plan.pack.min(range.end - first);
                launch!(
                    R,
                    wave_table,
                    &self.device.client,
                    CubeCount::Static(pixels as u32, batch.candidates as u32, 1),
                    CubeDim::new_1d(SUM_UNITS as u32),
                    batch.waves.arg(),
                    self.buffers.candidates.vectors(2),
                    first as u32,
                    all as u32,
                    scan.candidate_pairs(batch.model.polynomial, self.plan.pack) as u32,
                    scan.rows as u32,
                    scan.cols as u32,
                    batch.model.polynomial,
                );
                run(
                    self,
                    &Pack {
                        client: &self.device.client,
                        plan: &self.plan,
                        buffers: &self.buffers,
                        g: g.clone(),
                        acquisition: self.acquisition[part].clone(),
                        model: batch.model,
                        candidates: batch.candidates,
                        first: first - whole.start,
                        pixels,
                        before,
                        most_cubes: self.device.connected.limits.cubes_per_dimension,
                    },
                )?;
                before += 1;
                widest = widest.max(pixels);
                waiting += 1;
                if waiting == self.plan.depth {
                    self.device.connected.faults.finish(&self.device.client)?;
                    waiting = 0;
                }
            }
        }
        Ok(Passed {
            packs: before,
            widest,
        })
    }

    /// Splits the Nyquist row of an even number of scan rows and transforms its real term.
    fn separate_nyquist_row(&self, pack: &Pack<'_, R>) {
        let scan = self.plan.request.scan;
        if !scan.even_rows() {
            return;
        }
        let (client, buffers) = (&self.device.client, &self.buffers);
        launch!(
            R,
            separate_row,
            client,
            CubeCount::Static(pack.pixels(), pack.candidates as u32, 1),
            CubeDim::new_1d(SUM_UNITS as u32),
            pack.g.vectors(2),
            pack.acquisition.arg(),
            buffers.candidates.vectors(2),
            buffers.real_row.vectors(2),
            buffers.row_degenerate.arg(),
            pack.first(),
            pack.again(),
            self.plan.pack as u32,
            pack.pairs_per_candidate(),
            scan.rows as u32,
            scan.cols as u32,
            pack.model,
            SUM_UNITS,
        );
        let lines = pack.pixels * pack.candidates;
        let shape = &self.plan.rows;
        launch!(
            R,
            real_lines,
            client,
            pack.cubes(lines.div_ceil(2).div_ceil(shape.lines) as u32),
            CubeDim::new_1d((shape.lines * shape.line.units) as u32),
            buffers.real_row.vectors(2),
            buffers.over_cols.arg(),
            buffers.row_table.vectors(2),
            lines as u32,
            1,
            scan.half() as u32,
            1,
            shape.lines,
            shape.line.clone(),
        );
    }
}

fn total(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v)).sum()
}
