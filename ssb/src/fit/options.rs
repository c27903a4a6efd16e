//! What a fit is asked to do.

use super::{SearchRange, Setting};
use crate::Error;

/// How the best trials are refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refine {
    /// Nelder-Mead's simplex on the exact loss.
    #[default]
    NelderMead,
    /// The gradients of the agreement, every searched coefficient at once; then the exact loss (feature `burn`).
    Gradient,
    /// The best trial is returned as it is.
    None,
}

/// Options of [`crate::Session::fit`].
///
/// ```
/// let options = ssb::FitOptions {
///     search: vec!["C10=-60nm:60nm".parse()?, "C12=0nm:20nm".parse()?],
///     ..ssb::FitOptions::default()
/// };
/// assert_eq!((options.trials, options.seed), (200, 42));
/// # Ok::<(), ssb::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Search method: `guided`, `tpe`, `random` or `grid`.
    pub method: String,
    /// Trials of the search, the start included.
    pub trials: usize,
    /// Seed of the search.
    pub seed: u64,
    /// What is searched; empty means C10, C12 and phi12 over their default ranges. A searched
    /// C12, C21, … brings its angle over its full period unless the angle is held.
    pub search: Vec<SearchRange>,
    /// Where the search starts (default C10 0, C12 5 nm, phi12 0); a value of a quantity that is
    /// not searched is held.
    pub start: Vec<Setting>,
    /// Quantities held at a value.
    pub fix: Vec<Setting>,
    /// Whether specimen tilt and depth spread are searched with C10, C12 and phi12, by the agreement S.
    pub tilt: bool,
    /// Refinement of the best trials.
    pub refine: Refine,
    /// Whether the sign of the atom columns is scored.
    pub check_rotation: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            method: super::GUIDED.into(),
            trials: 200,
            seed: 42,
            search: Vec::new(),
            start: Vec::new(),
            fix: Vec::new(),
            tilt: false,
            refine: Refine::NelderMead,
            check_rotation: true,
        }
    }
}

impl FitOptions {
    /// Whether the thick model is searched.
    pub(crate) fn is_thick(&self) -> bool {
        self.tilt || self.search.iter().any(|r| r.quantity.is_thick())
    }

    /// Refuses options that contradict each other.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.method != super::GUIDED {
            ssb_optim::sampler(&self.method)?;
        }
        if self.refine == Refine::Gradient && self.is_thick() {
            return Err(Error::request(
                "--refine gradient",
                "tilt and depth spread have no gradient in it",
                "use --refine nelder-mead for a fit with --tilt",
            ));
        }
        if self.refine == Refine::Gradient && !cfg!(feature = "burn") {
            return Err(Error::request(
                "--refine gradient",
                "this program was built without gradients",
                "build it with `--features burn`, or use --refine nelder-mead",
            ));
        }
        if self.trials == 0 {
            return Err(Error::request(
                "--trials",
                "a fit needs at least the start",
                "give 1 or more",
            ));
        }
        for (i, range) in self.search.iter().enumerate() {
            let name = range.quantity.name();
            if self.search[..i]
                .iter()
                .any(|r| r.quantity == range.quantity)
            {
                return Err(Error::request(
                    format!("--search {name}"),
                    "it is searched twice",
                    "give one range",
                ));
            }
            if self.fix.iter().any(|f| f.quantity == range.quantity) {
                return Err(Error::request(
                    format!("--fix {name}"),
                    "it is searched and held at once",
                    "give --search or --fix",
                ));
            }
        }
        for (option, list) in [("--start", &self.start), ("--fix", &self.fix)] {
            for (i, setting) in list.iter().enumerate() {
                if list[..i].iter().any(|s| s.quantity == setting.quantity) {
                    return Err(Error::request(
                        format!("{option} {}", setting.quantity.name()),
                        "it is given twice",
                        "give one value",
                    ));
                }
            }
        }
        if let Some(fixed) = self.fix.iter().find(|f| {
            self.start
                .iter()
                .any(|s| s.quantity == f.quantity && s.value != f.value)
        }) {
            return Err(Error::request(
                format!("--start {}", fixed.quantity.name()),
                "it is also held at another value",
                "drop --start or --fix",
            ));
        }
        Ok(())
    }
}
