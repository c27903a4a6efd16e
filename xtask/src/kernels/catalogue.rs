//! What is recorded: scans, topologies and models for every target.

use ssb_core::{Control, Limits, PrepareOptions, agreement_band_points};
use ssb_kernels::device::{Connected, Faults, profiles};
use ssb_kernels::text::{CudaText, MetalText, RecordedKernel, Runtime, Target, TextDevice, record};
use ssb_testkit::candidates::of_every_model;
use ssb_testkit::synthetic::{PROBLEMS, benchmark_problem};

/// Kernels that hold a transform and the work fused with it; on sm_90 these must not spill registers at the sizes of
/// [`UNSPILLED`]. (Convolutions of long lines may, and on sm_120 the on-chip kernel spills a few bytes in three of its four
/// models: the report shows it.)
const FUSED: [&str; 3] = ["correct_columns", "row_moments", "plane_moments"];

/// Scan axes at which no fused kernel spills.
const UNSPILLED: [usize; 4] = [128, 256, 512, 1024];

/// Scan and topology.
type Case = ([usize; 2], &'static str);

/// Recorded for every target.
const CASES: [Case; 2] = [([512, 512], "two-pass"), ([128, 128], "on-chip")];

/// Problems of the suite that bring further sample types, odd lengths and unequal detector steps.
const PROBLEMS_BESIDES: [&str; 3] = ["9x8", "8x11", "16x31"];

/// Recorded for the targets of the report besides.
const MORE_CASES: [Case; 6] = [
    ([100, 117], "two-pass"),
    ([128, 128], "two-pass"),
    ([128, 128], "stepwise"),
    ([256, 256], "two-pass"),
    ([1024, 1024], "two-pass"),
    ([61, 2053], "two-pass"),
];

/// The texts of every kernel and plan.
///
/// # Errors
/// In words, when a problem cannot be planned or a kernel has no text.
pub fn catalogue() -> Result<Vec<RecordedKernel>, String> {
    let mut kernels = Vec::new();
    for target in Target::ALL {
        let more = matches!(target, Target::Sm90 | Target::AppleM);
        let cases = CASES.iter().chain(MORE_CASES.iter().filter(|_| more));
        for (scan, topology) in cases {
            // 32 KiB of threadgroup memory hold a smaller plane.
            let scan = match (target, *topology) {
                (Target::AppleM, "on-chip") => &[64, 48],
                _ => scan,
            };
            let problem = benchmark_problem(*scan, 3).map_err(|e| e.to_string())?;
            let name = format!("{topology} {}x{}", scan[0], scan[1]);
            kernels.extend(recorded(target, &name, problem, topology)?);
        }
        for recipe in PROBLEMS
            .iter()
            .filter(|p| more && PROBLEMS_BESIDES.contains(&p.name))
        {
            let problem = recipe.problem().map_err(|e| e.to_string())?;
            let name = format!("stepwise {}", recipe.name);
            kernels.extend(recorded(target, &name, problem, "stepwise")?);
        }
    }
    Ok(kernels)
}

fn recorded(
    target: Target,
    name: &str,
    problem: ssb_core::Problem,
    topology: &str,
) -> Result<Vec<RecordedKernel>, String> {
    if target.compute_capability().is_some() {
        on::<CudaText>(target, name, problem, topology)
    } else {
        on::<MetalText>(target, name, problem, topology)
    }
}

fn limits(target: Target) -> Limits {
    let device = TextDevice::new(target);
    let base = match target {
        Target::AppleM => profiles::apple_m_series(),
        _ => profiles::h200(),
    };
    Limits {
        shared_memory_bytes: device.shared_memory_bytes as u64,
        units_per_cube: device.units_per_cube,
        ..base
    }
}

fn on<R: Runtime<Device = TextDevice>>(
    target: Target,
    name: &str,
    problem: ssb_core::Problem,
    topology: &str,
) -> Result<Vec<RecordedKernel>, String> {
    let geometry = problem.geometry().clone();
    let scan = geometry.scan_shape;
    let recorder = record::<R>(&TextDevice::new(target), name);
    let connected = Connected {
        backend: "record",
        device: name.into(),
        software: false,
        limits: limits(target),
        faults: Faults::default(),
    };
    let options = PrepareOptions {
        topology: Some(topology.into()),
        ..PrepareOptions::default()
    };
    let control = Control::default();
    let candidates = of_every_model(problem.geometry());
    let client = recorder.client().clone();
    let mut evaluator = ssb_kernels::prepare(client, connected, problem, &options, &control)
        .map_err(|e| format!("{name} for {}: {e}", target.name()))?;
    let band = agreement_band_points(&geometry);
    if evaluator.spectra(&band, &control).is_ok() {
        return Err(format!("{name}: spectra that were never picked passed"));
    }
    for candidate in candidates {
        // Nothing runs, so the self-test fails after it has launched every kernel of the model.
        let failures = [
            evaluator
                .evaluate(std::slice::from_ref(&candidate), &control)
                .is_err(),
            evaluator.object(&candidate, 1, &control).is_err(),
            evaluator
                .agreements(std::slice::from_ref(&candidate), &control)
                .is_err(),
        ];
        if failures != [true; 3] {
            return Err(format!(
                "{name}: a kernel that never ran passed its self-test"
            ));
        }
    }
    let mut kernels = recorder.texts().map_err(|e| e.to_string())?;
    for kernel in &mut kernels {
        kernel.fused = target == Target::Sm90
            && scan.iter().all(|n| UNSPILLED.contains(n))
            && FUSED.iter().any(|fused| kernel.kernel.contains(fused));
    }
    Ok(kernels)
}
