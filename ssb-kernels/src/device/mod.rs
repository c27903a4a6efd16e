//! Devices: which there are, what they allow, how to reach one and how to see that a launch failed.
//!
//! Knows no ptychography. Nothing here panics: what is missing becomes a reason in words.

mod adapters;
mod bandwidth;
mod buffer;
mod connection;
#[cfg(not(target_os = "macos"))]
pub mod cuda;
mod faults;
mod hardware;
pub mod profiles;
#[cfg(test)]
mod tests;

use ssb_core::{Device, Limits};

pub use adapters::Api;
pub use bandwidth::copy_bandwidth;
pub use buffer::DeviceArray;
pub use connection::{Connected, Connection, connect};
pub use faults::Faults;

/// One device as discovery sees it, before anything is allocated on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Name and driver.
    pub name: String,
    /// Memory in bytes, where the interface tells.
    pub memory_bytes: Option<u64>,
    /// What it allows.
    pub limits: Limits,
    /// Why it cannot be used.
    pub unusable: Option<String>,
}

impl Found {
    /// A device that stands for a whole interface that is missing.
    #[must_use]
    pub fn missing(name: &str, reason: String) -> Self {
        Self {
            name: name.to_owned(),
            memory_bytes: None,
            limits: Limits::default(),
            unusable: Some(reason),
        }
    }

    /// The row of `ssb devices`.
    #[must_use]
    pub fn row(self, index: usize) -> Device {
        Device {
            index,
            name: self.name,
            memory_bytes: self.memory_bytes,
            software: self.limits.software,
            limits: self.unusable.is_none().then_some(self.limits),
            unusable: self.unusable,
        }
    }
}

/// Memory that a plan may use of a device with this much: all but a reserve for the driver and for
/// other programs. Memory shared with the host counts half.
#[must_use]
pub fn budget_bytes(memory_bytes: u64, shared_with_host: bool) -> u64 {
    if shared_with_host {
        memory_bytes / 2
    } else {
        memory_bytes - memory_bytes / 10
    }
}
