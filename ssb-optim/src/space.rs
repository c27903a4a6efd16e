//! The search space: named dimensions with bounds, periods and sign twins.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::error::OptimError;

/// A sign twin: the value `-x` here is the same candidate as `x` with another dimension shifted.
///
/// An astigmatism of -6 nm at angle phi is +6 nm at phi + pi/2: its `shift` is pi/2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignTwin {
    /// Index of the dimension that turns, which must have a period.
    pub angle: usize,
    /// Amount that it turns by, in its own unit.
    pub shift: f64,
}

/// One dimension of a search.
///
/// Units: whatever the caller counts in (nm, rad, ...), the same for all fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dim {
    /// Name, as it appears in messages and records.
    pub name: String,
    /// Lower bound, included.
    pub low: f64,
    /// Upper bound, included.
    pub high: f64,
    /// Period, when adding it changes nothing (an angle). The samplers search `low..=high` as a
    /// plain interval; folding, distances and Nelder-Mead use the period.
    pub period: Option<f64>,
    /// Sign twin, when the dimension is the amplitude of an angle.
    pub twin: Option<SignTwin>,
}

impl Dim {
    /// A plain bounded dimension.
    pub fn new(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self {
            name: name.into(),
            low,
            high,
            period: None,
            twin: None,
        }
    }

    /// The same dimension, periodic.
    pub fn with_period(mut self, period: f64) -> Self {
        self.period = Some(period);
        self
    }

    /// The same dimension, its sign exchangeable for a shift of dimension number `angle`.
    pub fn with_twin(mut self, angle: usize, shift: f64) -> Self {
        self.twin = Some(SignTwin { angle, shift });
        self
    }

    /// Upper minus lower bound.
    pub fn range(&self) -> f64 {
        self.high - self.low
    }
}

/// A checked, ordered set of dimensions.
///
/// ```
/// use ssb_optim::{Dim, Space};
/// use std::f64::consts::{FRAC_PI_2, PI};
/// let space = Space::new(vec![
///     Dim::new("C12_nm", 0.0, 20.0).with_twin(1, FRAC_PI_2),
///     Dim::new("phi12_rad", -FRAC_PI_2, FRAC_PI_2).with_period(PI),
/// ])?;
/// let mut point = [-6.0, -1.0];
/// space.fold(&mut point);
/// assert_eq!(point, [6.0, FRAC_PI_2 - 1.0]);
/// # Ok::<(), ssb_optim::OptimError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Dim>", into = "Vec<Dim>")]
pub struct Space(Vec<Dim>);

impl TryFrom<Vec<Dim>> for Space {
    type Error = OptimError;
    fn try_from(dims: Vec<Dim>) -> Result<Self, OptimError> {
        Self::new(dims)
    }
}

impl From<Space> for Vec<Dim> {
    fn from(space: Space) -> Self {
        space.0
    }
}

impl Space {
    /// Checks and keeps the dimensions.
    ///
    /// Errors: none given, a repeated name, bounds not finite or not rising, a period shorter than
    /// its range, a twin without a periodic partner or with a negative lower bound.
    pub fn new(dims: Vec<Dim>) -> Result<Self, OptimError> {
        if dims.is_empty() {
            return Err(OptimError::EmptySpace);
        }
        let mut names = HashSet::new();
        for dim in &dims {
            let (name, low, high) = (dim.name.clone(), dim.low, dim.high);
            if !names.insert(dim.name.as_str()) {
                return Err(OptimError::RepeatedName { name });
            }
            if !(low.is_finite() && high.is_finite() && (high - low).is_finite()) {
                return Err(OptimError::BoundsNotFinite { name, low, high });
            }
            if low >= high {
                return Err(OptimError::BoundsReversed { name, low, high });
            }
            // A range written as lo + period may exceed the period by rounding.
            if let Some(period) = dim.period
                && !(period.is_finite() && period * (1.0 + 1e-12) >= high - low)
            {
                return Err(OptimError::PeriodInvalid {
                    name,
                    range: high - low,
                    period,
                });
            }
            if let Some(SignTwin { angle, shift }) = dim.twin {
                let partner = dims
                    .get(angle)
                    .is_some_and(|partner| partner.period.is_some());
                if !partner || dim.period.is_some() || low < 0.0 || !shift.is_finite() {
                    return Err(OptimError::TwinInvalid {
                        name,
                        angle,
                        dims: dims.len(),
                        low,
                    });
                }
            }
        }
        Ok(Self(dims))
    }

    /// The dimensions, in order.
    pub fn dims(&self) -> &[Dim] {
        &self.0
    }

    /// Checks that a point has one finite coordinate a dimension.
    ///
    /// Errors: another length, a coordinate that is not finite.
    pub fn check(&self, point: &[f64]) -> Result<(), OptimError> {
        self.check_len("a point", point)?;
        match self.0.iter().zip(point).find(|(_, x)| !x.is_finite()) {
            Some((dim, &value)) => Err(OptimError::PointNotFinite {
                name: dim.name.clone(),
                value,
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn check_len(&self, object: &'static str, list: &[f64]) -> Result<(), OptimError> {
        let (expected, received) = (self.0.len(), list.len());
        if expected == received {
            return Ok(());
        }
        Err(OptimError::WrongDimension {
            object,
            expected,
            received,
        })
    }

    /// Maps a point to its representative: twins made positive, then periodic coordinates wrapped
    /// into the half-open period centred on their bounds.
    pub fn fold(&self, point: &mut [f64]) {
        for (i, dim) in self.0.iter().enumerate() {
            if let Some(twin) = dim.twin
                && point[i] < 0.0
            {
                point[i] = -point[i];
                point[twin.angle] += twin.shift;
            }
        }
        for (dim, x) in self.0.iter().zip(point) {
            if let Some(period) = dim.period {
                let start = 0.5 * (dim.low + dim.high - period);
                let turns = ((*x - start) / period).floor();
                if turns != 0.0 {
                    *x -= turns * period;
                    // A value just below the start rounds up to the end, which is the start.
                    if (*x - start) / period >= 1.0 {
                        *x = start;
                    }
                }
            }
        }
    }

    /// Root mean square over the dimensions of the difference of two folded points, in units of
    /// the ranges, periodic differences taken the short way round.
    pub fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let sum: f64 = (self.0.iter().zip(a.iter().zip(b)))
            .map(|(dim, (x, y))| {
                let mut d = (x - y).abs();
                if let Some(period) = dim.period {
                    d %= period;
                    d = d.min(period - d);
                }
                d /= dim.range();
                d * d
            })
            .sum();
        (sum / self.0.len() as f64).sqrt()
    }

    /// What makes two candidates the same: their folded coordinates, equal in float32.
    pub(crate) fn key(&self, point: &[f64]) -> Vec<u32> {
        let mut folded = point.to_vec();
        self.fold(&mut folded);
        // Adding zero makes -0 equal to 0.
        folded.iter().map(|&x| (x as f32 + 0.0).to_bits()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_spaces_are_refused() {
        assert_eq!(Space::new(vec![]), Err(OptimError::EmptySpace));
        let one = |dim: Dim| Space::new(vec![dim]).unwrap_err();
        let reversed = OptimError::BoundsReversed {
            name: "x".into(),
            low: 2.0,
            high: 1.0,
        };
        assert_eq!(one(Dim::new("x", 2.0, 1.0)), reversed);
        assert!(matches!(
            one(Dim::new("x", 1.0, 1.0)),
            OptimError::BoundsReversed { .. }
        ));
        for (low, high) in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
            assert!(matches!(
                one(Dim::new("x", low, high)),
                OptimError::BoundsNotFinite { .. }
            ));
        }
        let short = Dim::new("x", 0.0, 2.0).with_period(1.0);
        assert!(matches!(one(short), OptimError::PeriodInvalid { .. }));
        let lone = Dim::new("x", 0.0, 2.0).with_twin(3, 1.0);
        assert!(matches!(one(lone), OptimError::TwinInvalid { .. }));
        let twice = Space::new(vec![Dim::new("x", 0.0, 1.0), Dim::new("x", 0.0, 1.0)]);
        assert_eq!(twice, Err(OptimError::RepeatedName { name: "x".into() }));
        let json = r#"[{"name":"x","low":1.0,"high":0.0,"period":null,"twin":null}]"#;
        assert!(serde_json::from_str::<Space>(json).is_err());
    }

    #[test]
    fn folding_is_idempotent_and_keeps_the_candidate() {
        let pi = std::f64::consts::PI;
        let space = Space::new(vec![
            Dim::new("C21", 0.0, 9.0).with_twin(1, pi),
            Dim::new("phi21", -pi, pi).with_period(2.0 * pi),
        ])
        .unwrap();
        for i in -50..50 {
            let raw = [0.1 * f64::from(i), 0.37 * f64::from(i)];
            let mut folded = raw;
            space.fold(&mut folded);
            assert!(folded[0] >= 0.0 && (-pi..=pi).contains(&folded[1]));
            for (f, part) in [
                (f64::cos as fn(f64) -> f64, "real"),
                (f64::sin, "imaginary"),
            ] {
                let (a, b) = (raw[0] * f(raw[1]), folded[0] * f(folded[1]));
                assert!(
                    (a - b).abs() < 1e-12,
                    "{part} part of {raw:?} became {folded:?}"
                );
            }
            let mut again = folded;
            space.fold(&mut again);
            assert_eq!(again, folded);
            assert_eq!(space.key(&raw), space.key(&folded));
        }
        assert_eq!(space.key(&[-0.0, 0.0]), space.key(&[0.0, -0.0]));
        assert_eq!(space.key(&[1.0, 0.1]), space.key(&[1.0 + 1e-9, 0.1]));
        assert_ne!(space.key(&[1.0, 0.1]), space.key(&[1.0 + 1e-6, 0.1]));
    }

    #[test]
    fn distance_goes_the_short_way_round() {
        let space = Space::new(vec![
            Dim::new("x", 0.0, 10.0),
            Dim::new("angle", 0.0, 4.0).with_period(4.0),
        ])
        .unwrap();
        let d = space.distance(&[1.0, 0.1], &[4.0, 3.9]);
        assert!((d - ((0.09f64 + 0.0025) / 2.0).sqrt()).abs() < 1e-15);
    }
}
