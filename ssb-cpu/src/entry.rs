//! The registry entry of the CPU backend, and preparing an evaluator.

use ssb_core::{
    BackendEntry, BackendKind, Control, Device, Error, Evaluator, EvaluatorInfo, Footprint, Limits,
    PrepareOptions, Problem,
};

use crate::bandwidth::copy_bandwidth;
use crate::candidate_tables::Lattice;
use crate::evaluator::CpuEvaluator;
use crate::plan::{HALF_PLANE, lane_length};
use crate::prepare;
use crate::support::Frame;
use crate::transform::Transforms;

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

/// The vectors that the kernels are compiled for on this machine.
fn vectors() -> &'static str {
    let arch = format!("{:?}", pulp::Arch::new());
    let name = arch.split(['(', ' ']).next().unwrap_or_default();
    match name {
        "V4" => "AVX-512",
        "V3" => "AVX2",
        "Neon" => "NEON",
        _ => "baseline vectors",
    }
}

fn devices() -> Vec<Device> {
    vec![Device {
        index: 0,
        name: format!("{} cores, {}", cores(), vectors()),
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
    let lattice = Lattice::new(&geometry);
    let transforms = Transforms::new(geometry.scan_shape);
    let spectra = prepare::spectra(&geometry, &evidence, &lattice, &transforms, &pool, control)?;
    let lane_length = options
        .bf_block
        .unwrap_or_else(|| lane_length(spectra.len()))
        .max(1);
    plan.bf_block = lane_length;
    plan.blocks = spectra.len().div_ceil(lane_length);
    let frame = pool.install(|| Frame::new(&geometry, geometry.rotation_deg, lattice.outer_per_a));
    let info = EvaluatorInfo {
        backend: NAME,
        device: devices().remove(0).name,
        software_adapter: false,
        precision: "float32",
        threads,
        bf_pixels: geometry.bf_pixels(),
        bf_active: footprint.bf_active,
        dc: evidence.dc(),
        band: geometry.agreement_band(),
        plan,
    };
    Ok(Box::new(CpuEvaluator {
        info,
        geometry,
        lattice,
        transforms,
        spectra,
        frame,
        pool,
        lane_length,
    }))
}
