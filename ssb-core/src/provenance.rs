//! Where a result came from: enough to repeat it, and to recognise an identical request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BfDisk, Calibration};

/// Version of the numerical definition; a result of another version is never reused.
pub const NUMERICS_VERSION: &str = "1";

/// The data that went in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// Path as opened.
    pub path: String,
    /// Name of the container layout.
    pub layout: String,
    /// Object inside the container.
    pub dataset: String,
    /// Shape (scan rows, scan cols, detector rows, detector cols) after the transforms.
    pub shape: [usize; 4],
    /// NumPy name of the sample type.
    pub dtype: String,
    /// SHA-256 of the mean pattern and of every BF column as read.
    pub content_sha256: String,
    /// Selection and orientation options as given.
    pub options: Value,
    /// Where the pixel mask came from and the hash of its pixels.
    pub mask: Value,
}

/// How a result was made. Two results with equal `source`, `calibration`, `disk`, `request` and
/// `numerics_version` are the same result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Program and version.
    pub program: String,
    /// Version of the numerics.
    pub numerics_version: String,
    /// The data.
    pub source: SourceRecord,
    /// Calibration with the origin of each value.
    pub calibration: Calibration,
    /// The bright-field disk.
    pub disk: BfDisk,
    /// Everything asked for: verb, method, seed, search ranges, start, fixed terms, backend.
    pub request: Value,
    /// What ran: backend, device, adapter kind, precision, threads, plan.
    pub evaluator: Value,
    /// Seconds of each stage.
    pub seconds: Value,
    /// Warnings given.
    pub warnings: Vec<String>,
}

impl Provenance {
    /// Whether a request with this provenance would compute the same result.
    #[must_use]
    pub fn answers(&self, other: &Self) -> bool {
        self.numerics_version == other.numerics_version
            && self.program == other.program
            && self.source == other.source
            && self.calibration == other.calibration
            && self.disk == other.disk
            && self.request == other.request
    }
}
