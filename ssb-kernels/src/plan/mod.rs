//! Kernel arrangements: pure plans of what is allocated, launched and moved, and the registry.
//!
//! A topology is one file with `NAME`, `plan` (pure, printable) and `run` (one pack of BF pixels on a
//! device), and one line below.

mod arrangement;
mod printed;
mod shape;

use cubecl::prelude::*;
use ssb_core::{Error, Limits, Unsuitable};

pub(crate) use arrangement::MOST_CANDIDATES;
pub use arrangement::{Arrangement, Request};

pub use crate::kernel::layout::Scan;
pub(crate) use shape::{LineShape, SUM_UNITS};

use crate::evaluator::Pack;

/// A named arrangement of kernels and its pure planning function.
#[derive(Debug, Clone, Copy)]
pub struct KernelTopology {
    /// Name as printed and asked for.
    pub name: &'static str,
    /// Plans the request within the limits, or says why it cannot.
    pub plan: fn(&Request, &Limits) -> Result<Arrangement, Unsuitable>,
}

macro_rules! topologies {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*

        /// Every topology, in the order in which they are tried.
        pub const TOPOLOGIES: &[KernelTopology] = &[
            $(KernelTopology { name: $module::NAME, plan: $module::plan },)*
        ];

        /// Phases of one pack by the arrangement's topology.
        pub(crate) fn run<R: Runtime>(pack: &Pack<'_, R>) -> Result<(), Error> {
            match pack.arrangement().topology {
                $($module::NAME => $module::run(pack),)*
                other => Err(Error::Internal(format!("no topology is called {other}"))),
            }
        }
    };
}

topologies!(on_chip, two_pass, stepwise);

/// The plan of the first topology that suits, or of the one asked for.
///
/// # Errors
/// [`Unsuitable`] with every reason.
pub fn plan(
    request: &Request,
    limits: &Limits,
    topology: Option<&str>,
) -> Result<Arrangement, Unsuitable> {
    let mut reasons = Vec::new();
    for entry in TOPOLOGIES
        .iter()
        .filter(|t| topology.is_none_or(|name| name == t.name))
    {
        match (entry.plan)(request, limits) {
            Ok(arrangement) => return Ok(arrangement),
            Err(Unsuitable(reason)) => reasons.push(format!("{}: {reason}", entry.name)),
        }
    }
    if reasons.is_empty() {
        let names: Vec<_> = TOPOLOGIES.iter().map(|t| t.name).collect();
        reasons.push(format!(
            "there is no topology {}; there are {}",
            topology.unwrap_or_default(),
            names.join(", ")
        ));
    }
    Err(Unsuitable(reasons.join("; ")))
}
