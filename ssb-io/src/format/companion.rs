//! The companion that `ssb convert` writes: bright-field columns instead of frames.

use ssb_core::Sourced;

use super::{Candidate, Format, Found, plain};
use crate::IoError;
use crate::columns::{COLUMNS, Companion, is_companion};
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "ssb columns",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| is_companion(&root))
    },
    open,
};

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let companion = Companion::read(&root)?;
    let scan = companion.description.scan_shape;
    let plain_options = OpenOptions {
        scan_shape: options.scan_shape.filter(|shape| *shape != scan),
        complete_rows_only: false,
        ..options.clone()
    };
    if plain_options != OpenOptions::default() {
        return Err(IoError::BadOption(
            root.fault()
                .expected("no options of scan, orientation, mask or dataset")
                .found("a companion, in which they are settled already")
                .action("leave them out, or convert the data again with them"),
        ));
    }
    let mut found = Found::new("ssb-columns", &format!("/{COLUMNS}"), Vec::new());
    found.stored_scan = Some(scan);
    let mut hints = companion.description.calibration.clone();
    fn told<T>(hint: &mut Option<Sourced<T>>) {
        if let Some(hint) = hint {
            hint.source = format!("file:/description#calibration, from {}", hint.source);
        }
    }
    told(&mut hints.voltage_kv);
    told(&mut hints.semiangle_mrad);
    told(&mut hints.scan_step_a);
    told(&mut hints.det_step_mrad);
    told(&mut hints.det_step_per_a);
    told(&mut hints.rotation_deg);
    found.calibration = hints;
    if let Some(mask) = root.find("pixel_mask")? {
        found.mask = plain::pixel_mask(&mask, companion.det_shape(), &mut found.warnings)?;
    }
    found.companion = Some(companion);
    Ok(found)
}
