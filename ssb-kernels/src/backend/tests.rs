//! The table of backends.

use ssb_core::BackendKind;

use super::*;

#[test]
fn every_backend_is_listed_in_the_order_of_auto_and_lists_its_devices() {
    let names: Vec<&str> = ENTRIES.iter().map(|e| e.name).collect();
    if cfg!(target_os = "macos") {
        assert_eq!(names, ["metal", "webgpu"]);
    } else {
        assert_eq!(names, ["cuda", "vulkan", "webgpu"]);
    }
    for entry in ENTRIES {
        assert_eq!(entry.kind, BackendKind::Gpu);
        assert!(ELSEWHERE.iter().all(|(name, _)| *name != entry.name));
        let devices = (entry.devices)();
        for (index, device) in devices.iter().enumerate() {
            assert_eq!(device.index, index);
            assert_ne!(
                device.limits.is_some(),
                device.unusable.is_some(),
                "{device:?}"
            );
        }
        assert!(!devices.is_empty(), "{}", entry.name);
    }
}

#[test]
fn a_device_that_does_not_exist_is_refused_by_every_entry() {
    for entry in ENTRIES {
        let error = (entry.copy_bandwidth)(Some(99), None).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(entry.name), "{message}");
        assert!(message.contains("not number 99"), "{message}");
    }
}
