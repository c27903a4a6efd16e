//! The prepared evaluator on a device: what is uploaded, launched and read back.

mod acquisition;
mod buffers;
mod candidate_lists;
mod pack;
mod passes;
mod self_test;
mod spectra;
mod store;
mod sums;

use cubecl::prelude::*;
use ndarray::Array2;
use num_complex::{Complex32, Complex64};
use ssb_core::{
    BandPoint, Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, Evidence, Geometry,
    Limits, MeanPhase, PrepareOptions, Problem,
};

pub(crate) use pack::Pack;

use crate::device::{Connected, DeviceArray};
use crate::kernel::layout::Scan;
use crate::plan::{self, Arrangement, MOST_CANDIDATES, Request};
use acquisition::Frame;
use buffers::Buffers;
use self_test::Proof;
use store::Store;

/// Shortest scan axis that the half-spectrum kernels take.
pub const SHORTEST_AXIS: usize = 8;

/// A client and what is known of its device.
pub(crate) struct Device<R: Runtime> {
    pub(crate) client: ComputeClient<R>,
    pub(crate) connected: Connected,
}

impl<R: Runtime> Clone for Device<R> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            connected: self.connected.clone(),
        }
    }
}

/// G on a device with everything an evaluation needs.
pub(crate) struct KernelEvaluator<R: Runtime> {
    info: EvaluatorInfo,
    geometry: Geometry,
    device: Device<R>,
    plan: Arrangement,
    buffers: Buffers,
    store: Store<R>,
    stored: Vec<usize>,
    frame: Frame,
    proof: Proof,
    /// Tables of the acquisition for each part of G.
    acquisition: Vec<DeviceArray<f32>>,
}

/// The plan that a problem gets on a device, before anything is allocated.
///
/// # Errors
/// [`Error::Unsuitable`] with the reasons, [`Error::OverBudget`] when memory is the reason.
pub(crate) fn arrange(
    connected: &Connected,
    problem: &Problem,
    options: &PrepareOptions,
) -> Result<Arrangement, Error> {
    let geometry = problem.geometry();
    let [rows, cols] = geometry.scan_shape;
    let unsuitable = |reason: String| Error::Unsuitable {
        backend: connected.backend.into(),
        reason,
    };
    if rows < SHORTEST_AXIS || cols < SHORTEST_AXIS {
        return Err(unsuitable(format!(
            "a {rows} x {cols} scan: each axis needs at least {SHORTEST_AXIS} positions for the \
             half-spectrum transform; the oracle backend takes any scan from 2 x 2"
        )));
    }
    let request = Request {
        scan: Scan { rows, cols },
        stored: acquisition::stored_pixels(geometry).len(),
        sample_bytes: store::sample_of(problem.evidence().columns()).bits() as usize / 8,
        unequal: acquisition::unequal_steps(geometry),
        bf_block: options.bf_block,
    };
    let topology = options.topology.as_deref();
    plan::plan(&request, &connected.limits, topology).map_err(|why| {
        // With memory without end it would do: then memory is the reason.
        let endless = Limits {
            device_bytes: u64::MAX / 2,
            ..connected.limits.clone()
        };
        match plan::plan(&request, &endless, topology) {
            Ok(plan) => Error::OverBudget {
                backend: connected.backend.into(),
                needed_bytes: plan.least_bytes(),
                budget_bytes: connected.limits.device_bytes,
            },
            Err(_) => unsuitable(why.0),
        }
    })
}

/// Prepares an evaluator on the client of any CubeCL runtime: plans, allocates and transforms.
///
/// # Errors
/// [`Error::Unsuitable`] with the reasons, [`Error::OverBudget`] when memory is the reason, [`Error::Cancelled`],
/// [`Error::Internal`] when the device fails.
pub fn prepare<R: Runtime>(
    client: ComputeClient<R>,
    connected: Connected,
    problem: Problem,
    options: &PrepareOptions,
    control: &Control,
) -> Result<Box<dyn Evaluator>, Error> {
    let plan = arrange(&connected, &problem, options)?;
    let column_bytes = problem.evidence().columns().bytes();
    let summary = plan.summary(column_bytes);
    if let Some(budget_bytes) = connected.limits.host_bytes
        && summary.host_bytes > budget_bytes
    {
        return Err(Error::OverBudget {
            backend: connected.backend.into(),
            needed_bytes: summary.host_bytes,
            budget_bytes,
        });
    }
    tracing::info!("{plan}");
    let (geometry, evidence) = problem.into_parts();
    let device = Device { client, connected };
    let stored = acquisition::stored_pixels(&geometry);
    let frame = Frame::new(&geometry, &stored, geometry.rotation_deg);
    let buffers = Buffers::new(&device.client, &plan);
    let info = EvaluatorInfo {
        backend: device.connected.backend,
        device: device.connected.device.clone(),
        software_adapter: device.connected.software,
        precision: "float32",
        threads: device.connected.limits.threads,
        bf_pixels: geometry.bf_pixels(),
        bf_active: geometry.bf_active(),
        dc: evidence.dc(),
        band: geometry.agreement_band(),
        plan: summary,
    };
    let proof = proof(&stored, &evidence);
    let tables = [&buffers.column_table, &buffers.row_table];
    let store = Store::new(&device, &plan, stored.clone(), evidence, tables, control)?;
    let mut evaluator = KernelEvaluator {
        info,
        geometry,
        device,
        plan,
        buffers,
        store,
        stored,
        frame,
        proof,
        acquisition: Vec::new(),
    };
    evaluator.upload_frame();
    Ok(Box::new(evaluator))
}

/// The BF pixel of the self-test: the one in the middle of the list, whose counts vary.
fn proof(stored: &[usize], evidence: &Evidence) -> Proof {
    let [rows, cols] = evidence.scan_shape();
    let mut counts = vec![0.0; rows * cols];
    let middle = stored.len() / 2;
    let mut place = middle;
    for candidate in (middle..stored.len()).chain(0..middle) {
        evidence.read_f64(stored[candidate], &mut counts);
        place = candidate;
        if counts.iter().any(|v| *v != counts[0]) {
            break;
        }
    }
    Proof { place, counts }
}

impl<R: Runtime> KernelEvaluator<R> {
    /// Rotates the BF pixels into the frame that a candidate asks for.
    fn turn_to(&mut self, candidate: &Candidate) {
        let rotation_deg = self.geometry.rotation_of(candidate);
        if rotation_deg.to_bits() != self.frame.rotation_deg.to_bits() {
            self.frame = Frame::new(&self.geometry, &self.stored, rotation_deg);
            self.upload_frame();
        }
    }

    fn upload_frame(&mut self) {
        let scan = self.plan.request.scan;
        self.acquisition = (0..self.store.parts())
            .map(|part| {
                let table = self
                    .frame
                    .table(&self.geometry, scan, self.store.range(part));
                DeviceArray::uploaded(&self.device.client, &table)
            })
            .collect();
    }

    /// Candidates that one read of G can serve: the same code, the same rotation.
    fn batches<'c>(&self, candidates: &'c [Candidate]) -> Vec<&'c [Candidate]> {
        let alike = |a: &Candidate, b: &Candidate| {
            let rotation = |c| self.geometry.rotation_of(c).to_bits();
            candidate_lists::model(&self.geometry, a) == candidate_lists::model(&self.geometry, b)
                && rotation(a) == rotation(b)
        };
        candidates
            .chunk_by(alike)
            .flat_map(|run| run.chunks(MOST_CANDIDATES))
            .collect()
    }
}

impl<R: Runtime> Evaluator for KernelEvaluator<R> {
    fn info(&self) -> &EvaluatorInfo {
        &self.info
    }

    fn evaluate(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        let mut evaluations = Vec::with_capacity(candidates.len());
        for batch in self.batches(candidates) {
            evaluations.extend(self.losses(batch, control)?);
        }
        Ok(evaluations)
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        self.phase_image(candidate, control)
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        self.fourier_sum(candidate, upsample, control)
    }

    fn agreements(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        candidates
            .iter()
            .map(|c| self.agreement(c, control))
            .collect()
    }

    fn spectra(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        self.spectra_at(points, control)
    }
}
