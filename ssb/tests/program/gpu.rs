//! A fit on a GPU ends where the fit on the CPU does, on the counts of the reference data.

use crate::reference::{reference_file, vulkan_is_usable};
use crate::simulated::done;

#[test]
fn vulkan_fits_the_reference_data_as_the_cpu_does() {
    if !vulkan_is_usable() {
        return;
    }
    let (data, pixels) = reference_file("wpo64");
    let fit = |backend: &str| {
        let out = data.path(&format!("{backend}.h5"));
        done(
            "fit",
            &data.file,
            &["-o", out.to_str().unwrap(), "--backend", backend],
        )
    };
    let (cpu, gpu) = (fit("cpu"), fit("vulkan"));
    assert_eq!(cpu["bf_active"], pixels);
    let number = |v: &serde_json::Value, key: &str| v[key].as_f64().unwrap();
    let gap = number(&gpu, "loss") / number(&cpu, "loss") - 1.0;
    assert!(gap.abs() < 1e-5, "{gap:e}");
    for key in ["C10_nm", "C12_nm"] {
        let (a, b) = (number(&gpu["best"], key), number(&cpu["best"], key));
        assert!((a - b).abs() < 0.1, "{key}: {a} {b}");
    }
    // The truth is C10 15 nm, C12 6 nm.
    assert!((number(&gpu["best"], "C10_nm") - 15.0).abs() < 0.5, "{gpu}");
}
