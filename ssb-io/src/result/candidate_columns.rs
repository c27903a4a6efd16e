//! Candidates as columns, one a parameter, each with its unit.

use ssb_core::{Candidate, Length, TERMS};

/// The two places of a tilt.
const TILT: [&str; 2] = ["tilt_row_mrad", "tilt_col_mrad"];
const DEPTH: &str = "depth_spread_nm";
const ROTATION: &str = "rotation_deg";

/// One parameter over all candidates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) units: &'static str,
    pub(super) values: Vec<f64>,
}

/// `C10` and `C12` with its angle, and every other parameter that any candidate sets.
///
/// Lengths are stored in nm. A length in Å that is not ten times any float64 in nm has what is
/// missing in a second column, `<name>_remainder_A`, which is written only when it is needed. An
/// absent rotation is NaN.
pub(super) fn columns_of(candidates: &[&Candidate]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (index, term) in TERMS.iter().enumerate() {
        let values = || candidates.iter().map(|c| c.aberrations.get(index));
        if index > 1 && values().all(|v| v.magnitude_a == 0.0 && v.angle_rad == 0.0) {
            continue;
        }
        let magnitudes_nm = values().map(|v| Length::from_a(v.magnitude_a).nm());
        let remainders_a = values().map(|v| v.magnitude_a - restored_a(v.magnitude_a));
        put(
            &mut columns,
            format!("{}_nm", term.name),
            "nm",
            magnitudes_nm.collect(),
        );
        let remainders_a: Vec<f64> = remainders_a.collect();
        if remainders_a.iter().any(|r| *r != 0.0) {
            put(&mut columns, remainder(term.name), "A", remainders_a);
        }
        if term.m > 0 {
            let angles = values().map(|v| v.angle_rad).collect();
            put(
                &mut columns,
                format!("{}_rad", term.angle_name),
                "rad",
                angles,
            );
        }
    }
    let along = |axis: usize| candidates.iter().map(move |c| c.tilt_mrad[axis]).collect();
    if candidates.iter().any(|c| c.tilt_mrad != [0.0, 0.0]) {
        put(&mut columns, TILT[0].into(), "mrad", along(0));
        put(&mut columns, TILT[1].into(), "mrad", along(1));
    }
    if candidates.iter().any(|c| c.depth_spread_nm != 0.0) {
        let depths = candidates.iter().map(|c| c.depth_spread_nm).collect();
        put(&mut columns, DEPTH.into(), "nm", depths);
    }
    if candidates.iter().any(|c| c.rotation_deg.is_some()) {
        let rotations = candidates
            .iter()
            .map(|c| c.rotation_deg.unwrap_or(f64::NAN));
        put(&mut columns, ROTATION.into(), "deg", rotations.collect());
    }
    columns
}

fn put(columns: &mut Vec<Column>, name: String, units: &'static str, values: Vec<f64>) {
    columns.push(Column {
        name,
        units,
        values,
    });
}

fn remainder(term: &str) -> String {
    format!("{term}_remainder_A")
}

/// The length that is read back from its value in nm.
fn restored_a(a: f64) -> f64 {
    Length::from_nm(Length::from_a(a).nm()).a()
}

/// Candidates from columns looked up by name; absent parameters are 0.
pub(super) fn candidates_from<E>(
    count: usize,
    mut column: impl FnMut(&str) -> Result<Option<Vec<f64>>, E>,
) -> Result<Vec<Candidate>, E> {
    let mut candidates = vec![Candidate::default(); count];
    let mut fill = |name: &str, set: &mut dyn FnMut(&mut Candidate, f64)| -> Result<(), E> {
        if let Some(values) = column(name)? {
            for (candidate, value) in candidates.iter_mut().zip(values) {
                set(candidate, value);
            }
        }
        Ok(())
    };
    for (index, term) in TERMS.iter().enumerate() {
        fill(&format!("{}_nm", term.name), &mut |c, nm| {
            c.aberrations.get_mut(index).magnitude_a = Length::from_nm(nm).a();
        })?;
        fill(&remainder(term.name), &mut |c, a| {
            c.aberrations.get_mut(index).magnitude_a += a;
        })?;
        if term.m > 0 {
            fill(&format!("{}_rad", term.angle_name), &mut |c, rad| {
                c.aberrations.get_mut(index).angle_rad = rad;
            })?;
        }
    }
    fill(TILT[0], &mut |c, mrad| c.tilt_mrad[0] = mrad)?;
    fill(TILT[1], &mut |c, mrad| c.tilt_mrad[1] = mrad)?;
    fill(DEPTH, &mut |c, nm| c.depth_spread_nm = nm)?;
    fill(ROTATION, &mut |c, deg| {
        c.rotation_deg = (!deg.is_nan()).then_some(deg);
    })?;
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn any_length_comes_back_to_the_bit() {
        let mut a = 0.123_456_789_f64;
        let candidates: Vec<Candidate> = (0..1000)
            .map(|i| {
                a = (a * 97.31).fract();
                let mut c = Candidate::default();
                c.aberrations.get_mut(0).magnitude_a = (a - 0.5) * 800.0;
                c.aberrations.get_mut(4).magnitude_a = a * 1e7;
                c.aberrations.get_mut(4).angle_rad = 0.0;
                c.aberrations.get_mut(13).angle_rad = a;
                c.rotation_deg = (i % 3 == 0).then_some(a);
                c
            })
            .collect();
        let columns = columns_of(&candidates.iter().collect::<Vec<_>>());
        assert!(columns.iter().any(|c| c.name == "C30_remainder_A"));
        assert!(columns.iter().all(|c| c.name != DEPTH && c.name != TILT[0]));
        let back = candidates_from(1000, |name| {
            let found = columns.iter().find(|c| c.name == name);
            Ok::<_, Infallible>(found.map(|c| c.values.clone()))
        })
        .unwrap();
        assert_eq!(back, candidates);
    }

    #[test]
    fn lengths_born_in_nm_need_no_remainder() {
        let candidates: Vec<Candidate> = (0..1000)
            .map(|i| {
                let mut c = Candidate::default();
                c.aberrations.get_mut(0).magnitude_a = Length::from_nm(f64::from(i) / 7.0).a();
                c
            })
            .collect();
        let columns = columns_of(&candidates.iter().collect::<Vec<_>>());
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["C10_nm", "C12_nm", "phi12_rad"]);
    }
}
