//! The listing of CUDA devices, on a stand-in for the driver and NVRTC that has two of them.

use std::path::Path;
use std::process::Command;

use super::*;
use crate::device::profiles;

const CHILD: &str = "SSB_TEST_CUDA_CHILD";

/// An H200 and a card of a later architecture than the compiler knows.
const DRIVER: &str = r#"
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGet(int *d, int i) { *d = 40 + i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { strncpy(s, d == 40 ? "NVIDIA H200" : "Later", n); return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { *b = (size_t)143771 << 20; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
    switch (a) {
    case 1: *v = 1024; return 0;
    case 6: *v = 65535; return 0;
    case 10: *v = 32; return 0;
    case 16: *v = 132; return 0;
    case 38: *v = 50 << 20; return 0;
    case 75: *v = d == 40 ? 9 : 12; return 0;
    case 76: *v = 0; return 0;
    case 97: *v = 227 << 10; return 0;
    }
    return 1;
}
int cuGetErrorString(int e, const char **s) { *s = "invalid argument"; return 0; }
"#;

const COMPILER: &str = r"
int nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
int nvrtcGetSupportedArchs(int *a) { a[0] = 75; a[1] = 80; a[2] = 90; return 0; }
";

fn built(text: &str, folder: &Path, library: &str) {
    let source = folder.join(format!("{library}.c"));
    std::fs::write(&source, text).unwrap();
    let done = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(folder.join(format!("lib{library}.so")))
        .arg(&source)
        .status()
        .unwrap();
    assert!(done.success());
}

/// Runs a test of this file again in a process that finds these libraries only.
fn child(name: &str, libraries: &[(&str, &str)], header: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (library, text) in libraries {
        built(text, path, library);
    }
    std::fs::create_dir(path.join("include")).unwrap();
    if header {
        std::fs::write(path.join("include/cuda_runtime.h"), "").unwrap();
    }
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("device::cuda::tests::{name}")])
        .env(CHILD, "1")
        .env("LD_LIBRARY_PATH", path)
        .env("CUDA_PATH", path)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && told.contains("1 passed"), "{run:?}");
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn the_driver_answers_become_limits() {
    if !is_child() {
        let libraries = [("cuda", DRIVER), ("nvrtc", COMPILER)];
        return child("the_driver_answers_become_limits", &libraries, true);
    }
    let list = found();
    assert_eq!(list.len(), 2);
    assert_eq!(list[0].name, "NVIDIA H200, sm_90");
    assert_eq!(list[0].limits, profiles::h200());
    assert_eq!(list[0].memory_bytes, Some(143_771 << 20));
    assert_eq!(list[0].unusable, None);
    let reason = list[1].unusable.as_ref().unwrap();
    assert!(reason.contains("does not know sm_120"), "{reason}");
    assert_eq!(chosen("cuda", found(), None).unwrap().0, 0);
    assert!(chosen("cuda", found(), Some(1)).is_err());
}

#[test]
fn a_missing_header_is_named() {
    if !is_child() {
        let libraries = [("cuda", DRIVER), ("nvrtc", COMPILER)];
        return child("a_missing_header_is_named", &libraries, false);
    }
    let reason = found().remove(0).unusable.unwrap();
    assert!(reason.contains("cuda_runtime.h"), "{reason}");
}

#[test]
fn a_driver_without_a_device_or_without_functions_is_named() {
    if !is_child() {
        for driver in ["int cuInit(unsigned f) { return 100; }", "int nothing;"] {
            let libraries = [("cuda", driver), ("nvrtc", COMPILER)];
            let name = "a_driver_without_a_device_or_without_functions_is_named";
            child(name, &libraries, true);
        }
        return;
    }
    let reason = found().remove(0).unusable.unwrap();
    assert!(reason.contains("driver"), "{reason}");
}
