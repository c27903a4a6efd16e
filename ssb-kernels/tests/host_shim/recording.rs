//! Recording: texts of launches that do not run.
#![allow(unsafe_code, reason = "launches without bounds checks in the kernel")]

use cubecl::prelude::*;
use ssb_kernels::text::{RecordedKernel, TextDevice, record};

use crate::values::reverse_in_cube;
use crate::{array, download, fault};

fn launch<R: Runtime>(client: &ComputeClient<R>, cubes: u32, units: u32) {
    // More than any machine has: nothing is allocated.
    let huge = client.empty(1 << 44);
    // SAFETY: nothing runs.
    unsafe {
        reverse_in_cube::launch_unchecked::<R>(
            client,
            CubeCount::Static(cubes, 2, 1),
            CubeDim::new_1d(units),
            array(&huge, 1 << 42),
            array(&huge, 1 << 42),
            1.0,
            units as usize,
        );
    }
}

fn launches_are_kept_as_texts<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let recorder = record::<R>(device, "reversals");
    let other = record::<R>(device, "other");
    launch(recorder.client(), 60_000, 256);
    launch(&R::client(recorder.device()), 7, 64);
    let zeros: Vec<f32> = download(recorder.client(), recorder.client().empty(64)).unwrap();
    assert_eq!(zeros, [0.0; 16]);
    let texts: Vec<RecordedKernel> = recorder.texts().unwrap();
    assert_eq!(texts.len(), 2);
    let first = &texts[0];
    assert_eq!(
        (first.plan.as_str(), first.kernel.as_str()),
        ("reversals", "reverse_in_cube")
    );
    assert_eq!(
        (first.cube_count, first.cube_dim),
        ([60_000, 2, 1], [256, 1, 1])
    );
    assert_eq!(
        (first.shared_memory_bytes, first.target),
        (1024, device.target)
    );
    assert!(first.text.contains("reverse_in_cube") && !first.fused);
    first.check_on_host().unwrap();
    assert_eq!(texts[1].shared_memory_bytes, 256);
    assert_ne!(texts[0].text, texts[1].text);
    assert!(other.texts().unwrap().is_empty());
    launch(recorder.client(), 1, 2048);
    assert!(fault(recorder.texts()).contains("exceeds maximum"));
}
on_both!(launches_are_kept_as_texts);
