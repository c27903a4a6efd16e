//! Two passes over one BF pixel at a time: the smallest intermediate that there can be.

use cubecl::prelude::*;
use ssb_core::{Error, Limits, Unsuitable};

use super::arrangement::Choice;
use super::{Arrangement, LineShape, Request, two_pass};
use crate::evaluator::Pack;

pub(super) const NAME: &str = "one-pixel";

pub(super) fn plan(request: &Request, limits: &Limits) -> Result<Arrangement, Unsuitable> {
    let intermediate = request.scan.intermediate();
    Arrangement::new(
        request,
        limits,
        Choice {
            topology: NAME,
            columns: LineShape::new("scan rows", request.scan.rows, limits, false)?,
            rows: LineShape::new("scan columns", request.scan.cols, limits, true)?,
            intermediate,
            images: 0,
            intermediate_bytes: 8 * intermediate as u64,
            cubes: 1,
        },
    )
}

pub(super) fn run<R: Runtime>(pack: &Pack<'_, R>) -> Result<(), Error> {
    two_pass::run(pack)
}
