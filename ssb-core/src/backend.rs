//! The backend registry: a backend is data, chosen at run time, never silently replaced.

use std::fmt;

use serde::Serialize;

use crate::{Control, Error, Evaluator, Limits, Problem};

/// What kind of machine a backend drives; decides whether `auto` may take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// A GPU interface: `auto` takes it on real hardware only.
    Gpu,
    /// The production CPU backend: `auto` takes it when no GPU is usable.
    Cpu,
    /// The float64 reference: only ever by name.
    Reference,
}

/// One device that a backend reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Device {
    /// Index for `--device`.
    pub index: usize,
    /// Name as the driver gives it.
    pub name: String,
    /// Memory in bytes, where known.
    pub memory_bytes: Option<u64>,
    /// A software emulation of a GPU: used only when asked for by name.
    pub software: bool,
    /// What it allows; `None` for the host and for what cannot be used.
    pub limits: Option<Limits>,
    /// Why it cannot be used, naming what is missing; `None` when usable.
    pub unusable: Option<String>,
}

/// What the caller asks of `prepare`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrepareOptions {
    /// Device index; `None` is the first usable one.
    pub device: Option<usize>,
    /// Host threads; `None` is one per core.
    pub threads: Option<usize>,
    /// Memory budget in bytes for host and device each; `None` is no stated budget.
    pub max_memory_bytes: Option<u64>,
    /// BF pixels in one block; `None` lets the plan choose. Results agree to 1e-7 in any case.
    pub bf_block: Option<usize>,
    /// Kernel arrangement by name; `None` lets the plan choose.
    pub topology: Option<String>,
}

impl PrepareOptions {
    /// For a backend with this one arrangement: whether another one is asked for.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`] when it is.
    pub fn only_topology(&self, backend: &str, only: &str) -> Result<(), Error> {
        match &self.topology {
            Some(name) if name != only => Err(Error::BackendUnavailable {
                backend: backend.into(),
                reason: format!(
                    "it has one arrangement, {only}, not {name}: leave the topology out"
                ),
            }),
            _ => Ok(()),
        }
    }
}

type DevicesFn = fn() -> Vec<Device>;
type CopyBandwidthFn = fn(Option<usize>, Option<usize>) -> Result<f64, Error>;
type PrepareFn = fn(Problem, &PrepareOptions, &Control) -> Result<Box<dyn Evaluator>, Error>;

/// One backend: a name and what it can do.
#[derive(Clone, Copy)]
pub struct BackendEntry {
    /// Name for `--backend`.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// What it drives.
    pub kind: BackendKind,
    /// Lists its devices; never panics, and reports what is missing.
    pub devices: DevicesFn,
    /// Prepares G on a device.
    pub prepare: PrepareFn,
    /// Measures the copy bandwidth of a device's memory in bytes a second, read and written ones together
    /// ([`crate::copy_bandwidth`]); the arguments are device index and host threads as in
    /// [`PrepareOptions`].
    pub copy_bandwidth: CopyBandwidthFn,
}

impl fmt::Debug for BackendEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendEntry")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What the user asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Backend {
    /// The first usable one in registry order, software and reference excluded.
    #[default]
    Auto,
    /// This one or an error.
    Named(String),
}

impl Backend {
    /// The first usable backend on real hardware, then the CPU.
    #[must_use]
    pub fn auto() -> Self {
        Self::Auto
    }

    /// The backend of this name, or an error when it cannot run.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self::Named(name.into())
    }
}

impl From<&str> for Backend {
    fn from(name: &str) -> Self {
        if name == "auto" {
            Self::Auto
        } else {
            Self::named(name)
        }
    }
}

/// A chosen backend and device, and why.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The registry entry.
    pub entry: BackendEntry,
    /// The device.
    pub device: Device,
    /// The reason in one sentence, for people.
    pub reason: String,
}

/// Backends in the order in which `auto` tries them.
#[derive(Debug, Clone, Copy)]
pub struct Registry {
    /// The entries.
    pub entries: &'static [BackendEntry],
}

impl Registry {
    /// Chooses a backend and a device, or says what is missing.
    ///
    /// # Errors
    /// [`Error::BackendUnavailable`] for an unknown name, an absent or unusable device, or when
    /// nothing is usable.
    pub fn select(&self, wanted: &Backend, device: Option<usize>) -> Result<Selection, Error> {
        match wanted {
            Backend::Named(name) => self.named(name, device),
            Backend::Auto => self.auto(device),
        }
    }

    fn named(&self, name: &str, device: Option<usize>) -> Result<Selection, Error> {
        let unavailable = |reason: String| Error::BackendUnavailable {
            backend: name.to_owned(),
            reason,
        };
        let names = || {
            self.entries
                .iter()
                .map(|e| e.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let entry = self
            .entries
            .iter()
            .find(|e| e.name == name)
            .ok_or_else(|| unavailable(format!("this build has {}", names())))?;
        let devices = (entry.devices)();
        let chosen = match device {
            Some(index) => devices.iter().find(|d| d.index == index).ok_or_else(|| {
                unavailable(format!(
                    "it has {} device(s), not number {index}",
                    devices.len()
                ))
            })?,
            None => devices
                .iter()
                .find(|d| d.unusable.is_none())
                .or(devices.first())
                .ok_or_else(|| unavailable("no device was found".into()))?,
        };
        if let Some(reason) = &chosen.unusable {
            return Err(unavailable(format!(
                "device {} ({}): {reason}",
                chosen.index, chosen.name
            )));
        }
        Ok(Selection {
            entry: *entry,
            device: chosen.clone(),
            reason: format!("{name} was asked for by name"),
        })
    }

    fn auto(&self, device: Option<usize>) -> Result<Selection, Error> {
        let mut passed = Vec::new();
        for entry in self
            .entries
            .iter()
            .filter(|e| e.kind != BackendKind::Reference)
        {
            let devices = (entry.devices)();
            let real = |d: &&Device| {
                d.unusable.is_none() && !d.software && device.is_none_or(|i| d.index == i)
            };
            if let Some(found) = devices.iter().find(real) {
                let because = if passed.is_empty() {
                    "it comes first in this build".to_owned()
                } else {
                    format!("passed over {}", passed.join("; "))
                };
                return Ok(Selection {
                    entry: *entry,
                    device: found.clone(),
                    reason: format!("auto chose {}: {because}", entry.name),
                });
            }
            let why = devices
                .first()
                .map_or("no device", |d| {
                    d.unusable.as_deref().unwrap_or(if d.software {
                        "only a software adapter"
                    } else {
                        "not the device asked for"
                    })
                })
                .to_owned();
            passed.push(format!("{} ({why})", entry.name));
        }
        Err(Error::BackendUnavailable {
            backend: "auto".into(),
            reason: format!("nothing is usable: {}", passed.join("; ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, software: bool, unusable: Option<&str>) -> Device {
        Device {
            index,
            name: format!("device {index}"),
            memory_bytes: None,
            software,
            limits: None,
            unusable: unusable.map(str::to_owned),
        }
    }

    fn never(_: Problem, _: &PrepareOptions, _: &Control) -> Result<Box<dyn Evaluator>, Error> {
        Err(Error::Internal("not prepared in this test".into()))
    }

    const fn entry(name: &'static str, kind: BackendKind, devices: DevicesFn) -> BackendEntry {
        BackendEntry {
            name,
            about: "",
            kind,
            devices,
            prepare: never,
            copy_bandwidth: |_, _| Ok(1e9),
        }
    }

    static ENTRIES: [BackendEntry; 5] = [
        entry("cuda", BackendKind::Gpu, || {
            vec![device(0, false, Some("driver library missing"))]
        }),
        entry("vulkan", BackendKind::Gpu, || vec![device(0, true, None)]),
        entry("webgpu", BackendKind::Gpu, Vec::new),
        entry("cpu", BackendKind::Cpu, || vec![device(0, false, None)]),
        entry("oracle", BackendKind::Reference, || {
            vec![device(0, false, None)]
        }),
    ];

    #[test]
    fn auto_passes_over_software_and_broken_adapters_and_says_so() {
        let registry = Registry { entries: &ENTRIES };
        let chosen = registry.select(&Backend::Auto, None).unwrap();
        assert_eq!(chosen.entry.name, "cpu");
        for word in [
            "driver library missing",
            "software adapter",
            "webgpu (no device)",
        ] {
            assert!(chosen.reason.contains(word), "{}", chosen.reason);
        }
    }

    #[test]
    fn auto_never_takes_the_reference() {
        let registry = Registry {
            entries: &ENTRIES[4..],
        };
        assert!(registry.select(&Backend::Auto, None).is_err());
    }

    #[test]
    fn a_named_backend_runs_or_names_what_is_missing() {
        let registry = Registry { entries: &ENTRIES };
        assert_eq!(
            registry.select(&"oracle".into(), None).unwrap().entry.name,
            "oracle"
        );
        assert!(
            registry
                .select(&"vulkan".into(), None)
                .unwrap()
                .device
                .software
        );
        for (name, index, word) in [
            ("cuda", None, "driver library missing"),
            ("webgpu", None, "no device"),
            ("cpu", Some(3), "not number 3"),
            ("metal", None, "this build has cuda, vulkan"),
        ] {
            let message = registry
                .select(&name.into(), index)
                .unwrap_err()
                .to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
