//! The registry entry of the CPU backend, and preparing an evaluator.

use ssb_core::{
    BackendEntry, BackendKind, Control, Device, Error, Evaluator, EvaluatorInfo, Footprint, Limits,
    PrepareOptions, Problem,
};

use crate::bandwidth::copy_bandwidth;
use crate::evaluator::CpuEvaluator;
use crate::half_plane::HalfPlane;
use crate::lattice::Lattice;
use crate::plan::{HALF_PLANE, held_pixels, lane_length};
use crate::reuse::Reuse;
use crate::store::Store;
use crate::support::Frame;
use crate::vectors::Vectors;

/// Name in the registry.
pub const NAME: &str = "cpu";

/// The float32 CPU backend.
pub const CPU: BackendEntry = BackendEntry {
    name: NAME,
    about: "all cores of this machine, float32, half spectrum",
    kind: BackendKind::Cpu,
    devices,
    prepare,
    copy_bandwidth: |device, threads| {
        check_device(device)?;
        copy_bandwidth(&pool(threads.unwrap_or_else(cores).max(1))?)
    },
};

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Names the vectors to use instead of the widest: `avx2` or `baseline` (to measure one against the
/// other; some processors clock down under AVX-512).
const VECTORS: &str = "SSB_CPU_VECTORS";

fn vectors() -> Vectors {
    match std::env::var(VECTORS).as_deref() {
        Ok("avx2") => Vectors::avx2().unwrap_or_else(Vectors::widest),
        Ok("baseline") => Vectors::baseline(),
        _ => Vectors::widest(),
    }
}

fn devices() -> Vec<Device> {
    vec![Device {
        index: 0,
        name: format!("{} cores, {}", cores(), vectors().name),
        memory_bytes: None,
        software: false,
        limits: None,
        unusable: None,
    }]
}

/// The host is the one device.
fn check_device(device: Option<usize>) -> Result<(), Error> {
    match device {
        None | Some(0) => Ok(()),
        Some(index) => Err(Error::BackendUnavailable {
            backend: NAME.into(),
            reason: format!("it has 1 device, not number {index}; leave the device out"),
        }),
    }
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("ssb-cpu-{i}"))
        .build()
        .map_err(|e| Error::Internal(format!("the worker threads did not start: {e}")))
}

fn prepare(
    problem: Problem,
    options: &PrepareOptions,
    control: &Control,
) -> Result<Box<dyn Evaluator>, Error> {
    check_device(options.device)?;
    options.only_topology(NAME, HALF_PLANE.name)?;
    let threads = options.threads.unwrap_or_else(cores).max(1);
    let (geometry, evidence) = problem.into_parts();
    let limits = Limits::host(options.max_memory_bytes, threads);
    let footprint = Footprint {
        scan_shape: geometry.scan_shape,
        bf_pixels: geometry.bf_pixels(),
        bf_active: geometry.bf_active(),
        column_bytes: evidence.columns().bytes(),
    };
    let mut plan = (HALF_PLANE.plan)(&footprint, &limits).map_err(|why| Error::Unsuitable {
        backend: NAME.into(),
        reason: why.0,
    })?;
    if let Some(budget_bytes) = options.max_memory_bytes
        && plan.host_bytes > budget_bytes
    {
        let needed_bytes = plan.host_bytes;
        return Err(Error::OverBudget {
            backend: NAME.into(),
            needed_bytes,
            budget_bytes,
        });
    }
    let pool = pool(threads)?;
    let vectors = vectors();
    let lattice = Lattice::new(&geometry, vectors.lanes);
    let half_plane = HalfPlane::new(lattice.layout);
    // Unequal detector steps make the aperture depend on the rotation: keep what any rotation reaches.
    let reachable: Vec<usize> = geometry
        .k_per_a(0.0)
        .iter()
        .enumerate()
        .filter(|(_, k)| k[0].hypot(k[1]) < lattice.outer_per_a)
        .map(|(b, _)| b)
        .collect();
    let dc = evidence.dc();
    let (held, _) = held_pixels(&footprint, &limits);
    let held = if held < footprint.bf_active {
        held
    } else {
        reachable.len()
    };
    let store =
        pool.install(|| Store::new(&half_plane, vectors, evidence, reachable, held, control))?;
    let lane_length = options
        .bf_block
        .unwrap_or_else(|| lane_length(store.pixels.len()))
        .max(1);
    plan.bf_block = lane_length;
    plan.blocks = store.pixels.len().div_ceil(lane_length);
    let frame = pool.install(|| Frame::new(&geometry, geometry.rotation_deg, lattice.outer_per_a));
    let info = EvaluatorInfo {
        backend: NAME,
        device: devices().remove(0).name,
        software_adapter: false,
        precision: "float32",
        threads,
        bf_pixels: geometry.bf_pixels(),
        bf_active: footprint.bf_active,
        dc,
        band: geometry.agreement_band(),
        plan,
    };
    Ok(Box::new(CpuEvaluator {
        info,
        geometry,
        lattice,
        half_plane,
        store,
        frame,
        pool,
        vectors,
        lane_length,
        workspaces: Reuse::default(),
        images: Reuse::default(),
        overlaps: Reuse::default(),
        spectra: Reuse::default(),
    }))
}
