//! `ssb devices`: every backend of this build and whether its devices are usable.

use serde_json::{Value, json};
use ssb_core::Backend;

use super::Ending;
use super::console::Console;
use crate::{Error, REGISTRY};

pub fn run(console: &Console) -> Result<Ending, Error> {
    let chosen = REGISTRY.select(&Backend::Auto, None)?;
    let mut lines = Vec::new();
    let mut list: Vec<Value> = Vec::new();
    for entry in REGISTRY.entries {
        let devices = (entry.devices)();
        lines.push(format!("{:<8} {}", entry.name, entry.about));
        for d in &devices {
            let state = d
                .unusable
                .as_ref()
                .map_or_else(|| "usable".to_owned(), |why| format!("not usable: {why}"));
            let kind = if d.software { "software" } else { "hardware" };
            let memory = d.memory_bytes.map_or(String::new(), |b| {
                format!(", {:.1} GiB", b as f64 / 2f64.powi(30))
            });
            lines.push(format!(
                "  {}: {} ({kind}{memory}): {state}",
                d.index, d.name
            ));
        }
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
    lines.push(chosen.reason.clone());
    let document = json!({
        "backends": list,
        "auto": {"backend": chosen.entry.name, "device": chosen.device.index, "reason": chosen.reason},
    });
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}
