//! abTEM's HDF5 output: `/array` with `/sampling`, `/units` and `/energy` (`formats.md` section 3.7).

use ssb_core::Sourced;

use super::emd_axes::take_det_step;
use super::hdf5_frames::rank;
use super::{Candidate, Format, Found, plain, units};
use crate::IoError;
use crate::hdf5::{Object, Value};
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "abTEM HDF5",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        let has = |root: &Object, name: &str| matches!(root.find(name), Ok(Some(_)));
        root.is_some_and(|r| ["array", "sampling", "units"].iter().all(|n| has(&r, n)))
    },
    open,
};

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let path = options.dataset.as_deref().unwrap_or("/array");
    let entry = plain::named(&root, path)?;
    let mut found = plain::describe("abtem-h5", &root, &entry)?;
    if entry.path != "/array" {
        return Ok(found);
    }
    if let (Some(Value::Numbers(steps)), Some(Value::Text(names))) =
        (root.value("sampling")?, root.value("units")?)
        && steps.len() == names.len()
        && let ([.., a, b, c, d], [.., ua, ub, uc, ud]) = (&steps[..], &names[..])
        && rank(&entry.dataset.shape()) == 4
    {
        let source = "file:/sampling,/units";
        found.calibration.scan_step_a = units::scan_step([*a, *b], [ua, ub], source);
        take_det_step(
            units::det_step([*c, *d], [uc, ud], source),
            &mut found.calibration,
        );
    }
    if let Some(ev) = root.number("energy").filter(|e| *e > 0.0) {
        found.calibration.voltage_kv = Some(Sourced::new(ev / 1e3, "file:/energy"));
    }
    Ok(found)
}
