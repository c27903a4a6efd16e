//! Berkeley EMD 0.1 and 0.2: groups with `emd_group_type` 1 that hold `data` and `dim1`..`dim4`
//! (`formats.md` section 3.4).

use super::emd_axes::{Axis, axes, take_steps};
use super::keys::Keys;
use super::plain::{self, Catalogue};
use super::{Candidate, Format, Found};
use crate::IoError;
use crate::hdf5::Object;
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "Berkeley EMD",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| {
            let version = ["version_major", "version_minor"].map(|v| root.attribute_number(v));
            matches!(version, [Some(0.0), Some(1.0 | 2.0)])
        })
    },
    open,
};

/// What an axis counts, told by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    ScanRow,
    ScanCol,
    DetRow,
    DetCol,
}

fn kind(axis: &Axis) -> Option<Kind> {
    Some(match axis.name.to_lowercase().as_str() {
        "y" | "ry" | "r_y" | "scan_y" => Kind::ScanRow,
        "x" | "rx" | "r_x" | "scan_x" => Kind::ScanCol,
        "ky" | "qy" | "k_y" | "q_y" => Kind::DetRow,
        "kx" | "qx" | "k_x" | "q_x" => Kind::DetCol,
        _ => return None,
    })
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let entry = match &options.dataset {
        Some(path) => plain::named(&root, path)?,
        None => match plain::only(&root, Catalogue::below(&root).datasets)? {
            Some(entry) => entry,
            None => return Err(plain::nothing(&root)),
        },
    };
    let mut found = plain::describe("berkeley-emd-0.2", &root, &entry)?;
    if let Some(microscope) = root.find("microscope")? {
        let mut keys = Keys::default();
        keys.add_attributes(&microscope);
        found.calibration.voltage_kv = keys.voltage_kv();
        found.calibration.semiangle_mrad = keys.semiangle_mrad();
        found.calibration.rotation_deg = keys.rotation_deg();
    }
    let group = match entry.path.rsplit_once('/') {
        Some((group, _)) => root.find(group)?,
        None => None,
    };
    if let Some(group) = group
        && let Some(list) = axes(&group, 1)
        && found.stored_scan.is_some()
    {
        order(&group, &list, &mut found)?;
    }
    Ok(found)
}

/// Follows the names of the axes: as stored, or all four the other way round as HyperSpy writes.
fn order(group: &Object, list: &[Axis], found: &mut Found) -> Result<(), IoError> {
    use Kind::{DetCol, DetRow, ScanCol, ScanRow};
    let [a, b, c, d] = list else {
        return Ok(());
    };
    let kinds = [a, b, c, d].map(kind);
    if kinds == [Some(DetCol), Some(DetRow), Some(ScanCol), Some(ScanRow)] {
        for piece in &mut found.pieces {
            piece.reverse_axes();
        }
        found.stored_scan = found.pieces.first().map(|p| p.scan_extent());
        found.warnings.push(
            "the axes are stored as (detector col, detector row, scan col, scan row); their names were \
             followed"
                .into(),
        );
        take_steps(group, 1, [d, c, b, a], [3, 2, 1, 0], &mut found.calibration);
        return Ok(());
    }
    let scan_first = kinds
        .iter()
        .take(2)
        .all(|k| !matches!(k, Some(DetRow | DetCol)))
        && kinds
            .iter()
            .skip(2)
            .all(|k| !matches!(k, Some(ScanRow | ScanCol)));
    if !scan_first {
        let names: Vec<&str> = list.iter().map(|a| a.name.as_str()).collect();
        return Err(IoError::UnsupportedLayout(
            group
                .fault()
                .expected("axes in the order scan, scan, detector, detector")
                .found(names.join(", "))
                .action("transpose the data"),
        ));
    }
    take_steps(group, 1, [a, b, c, d], [0, 1, 2, 3], &mut found.calibration);
    Ok(())
}
