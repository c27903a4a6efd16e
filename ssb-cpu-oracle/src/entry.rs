//! The registry entry `oracle`: one thread of the CPU, float64, taken by name only.

use ssb_core::{
    BackendEntry, BackendKind, Device, Error, EvaluatorInfo, Plan, PrepareOptions, Problem,
};

use crate::Oracle;

const NAME: &str = "oracle";

/// The float64 reference as a backend.
pub const ORACLE: BackendEntry = BackendEntry {
    name: NAME,
    about: "float64 reference, literal and slow, one thread",
    kind: BackendKind::Reference,
    devices: || {
        vec![Device {
            index: 0,
            name: "CPU".into(),
            memory_bytes: None,
            software: false,
            limits: None,
            unusable: None,
        }]
    },
    prepare: |problem, options, control| {
        control.check()?;
        options.only_topology(NAME, LITERAL)?;
        Ok(Box::new(Oracle::new(problem, options)?))
    },
    copy_bandwidth: |device, _| {
        check_device(device)?;
        let from = vec![1.0; COPIED_VALUES];
        let mut to = vec![0.0; COPIED_VALUES];
        ssb_core::copy_bandwidth((COPIED_VALUES * size_of::<f64>()) as u64, || {
            to.copy_from_slice(&from);
            Ok(())
        })
    },
};

/// Values of the arrays between which one thread measures its copy bandwidth: 256 MiB.
const COPIED_VALUES: usize = 1 << 25;

/// One thread of the host is the one device.
fn check_device(device: Option<usize>) -> Result<(), Error> {
    match device {
        None | Some(0) => Ok(()),
        Some(index) => Err(Error::BackendUnavailable {
            backend: NAME.into(),
            reason: format!("it has 1 device, not number {index}; leave the device out"),
        }),
    }
}

/// The one arrangement.
const LITERAL: &str = "literal";

/// Bytes of one complex128 value.
const COMPLEX_BYTES: u64 = 16;

/// What the oracle reports about itself: it always works on one thread, one BF pixel at a time.
pub(crate) fn info_of(
    problem: &Problem,
    bf_active: usize,
    options: &PrepareOptions,
) -> Result<EvaluatorInfo, Error> {
    check_device(options.device)?;
    let [rows, cols] = problem.geometry().scan_shape;
    let bf_pixels = problem.geometry().bf_pixels();
    let plane_bytes = COMPLEX_BYTES * (rows * cols) as u64;
    let all_planes_bytes = plane_bytes * bf_pixels as u64;
    // The counts, and at most six planes: counts, G, Gamma, C, O and the sums.
    let host_bytes = problem.evidence().columns().bytes() + 6 * plane_bytes;
    if let Some(budget_bytes) = options.max_memory_bytes
        && host_bytes > budget_bytes
    {
        return Err(Error::OverBudget {
            backend: NAME.into(),
            needed_bytes: host_bytes,
            budget_bytes,
        });
    }
    Ok(EvaluatorInfo {
        backend: NAME,
        device: "CPU".into(),
        software_adapter: false,
        precision: "float64",
        threads: 1,
        bf_pixels,
        bf_active,
        dc: problem.evidence().dc(),
        band: problem.geometry().agreement_band(),
        plan: Plan {
            topology: LITERAL,
            bf_block: 1,
            blocks: bf_pixels,
            host_bytes,
            device_bytes: 0,
            loss_bytes: 3 * all_planes_bytes,
            object_bytes: all_planes_bytes,
        },
    })
}
