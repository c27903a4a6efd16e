//! `ssb devices`: every backend of this build and whether its devices are usable.

use serde_json::{Value, json};
use ssb_core::{Backend, Device};

use super::Ending;
use super::console::Console;
use crate::backends::ELSEWHERE;
use crate::{Error, REGISTRY};

pub fn run(console: &Console) -> Result<Ending, Error> {
    let chosen = REGISTRY.select(&Backend::Auto, None)?;
    let mut lines = Vec::new();
    let mut list: Vec<Value> = Vec::new();
    for entry in REGISTRY.entries {
        let devices = (entry.devices)();
        lines.push(format!("{:<8} {}", entry.name, entry.about));
        lines.extend(devices.iter().map(|d| format!("  {}", row(d))));
        if devices.is_empty() {
            lines.push("  no device was found".into());
        }
        list.push(json!({
            "name": entry.name,
            "about": entry.about,
            "kind": entry.kind,
            "devices": devices,
        }));
    }
    let elsewhere: Vec<Value> = ELSEWHERE
        .iter()
        .map(|(name, why)| json!({"name": name, "reason": why}))
        .collect();
    lines.extend(
        ELSEWHERE
            .iter()
            .map(|(name, why)| format!("{name:<8} {why}")),
    );
    lines.push(chosen.reason.clone());
    let document = json!({
        "backends": list,
        "elsewhere": elsewhere,
        "auto": {"backend": chosen.entry.name, "device": chosen.device.index, "reason": chosen.reason},
    });
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}

/// `0: name: usable, hardware, 24.0 GiB, 99 KiB shared memory, 1024 units a cube`.
fn row(device: &Device) -> String {
    let named = format!("{}: {}", device.index, device.name);
    if let Some(why) = &device.unusable {
        return format!("{named}: not usable: {why}");
    }
    let kind = if device.software {
        "software"
    } else {
        "hardware"
    };
    let mut facts = vec!["usable".to_owned(), kind.to_owned()];
    if let Some(bytes) = device.memory_bytes {
        facts.push(format!("{:.1} GiB", bytes as f64 / 2f64.powi(30)));
    }
    if let Some(limits) = &device.limits {
        facts.push(format!(
            "{} KiB shared memory",
            limits.shared_memory_bytes >> 10
        ));
        facts.push(format!("{} units a cube", limits.units_per_cube));
        if limits.processors > 0 {
            facts.push(format!("{} processors", limits.processors));
        }
        if limits.cache_bytes > 0 {
            facts.push(format!("{} MiB last cache", limits.cache_bytes >> 20));
        }
    }
    format!("{named}: {}", facts.join(", "))
}

#[cfg(test)]
mod tests {
    use ssb_core::Limits;

    use super::*;

    #[test]
    fn a_row_tells_what_is_known_or_what_is_missing() {
        let card = Device {
            index: 1,
            name: "card".into(),
            memory_bytes: Some(24 << 30),
            software: false,
            limits: Some(Limits {
                shared_memory_bytes: 99 << 10,
                units_per_cube: 1024,
                processors: 128,
                cache_bytes: 72 << 20,
                ..Limits::default()
            }),
            unusable: None,
        };
        assert_eq!(
            row(&card),
            "1: card: usable, hardware, 24.0 GiB, 99 KiB shared memory, 1024 units a cube, \
             128 processors, 72 MiB last cache"
        );
        let broken = Device {
            unusable: Some("no driver".into()),
            ..card
        };
        assert_eq!(row(&broken), "1: card: not usable: no driver");
    }
}
