//! What a page can ask for.

use serde::Deserialize;
use ssb_core::Candidate;

/// The largest message that is read.
pub const LONGEST_MESSAGE: usize = 64 << 10;

/// A picture that a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plane {
    /// `arg(mean_b O_b)`.
    Phase,
    /// `|mean_b O_b|`.
    Amplitude,
    /// Power spectrum of the phase.
    Spectrum,
    /// `mean_b arg O_b`; comes with the loss.
    MeanPhase,
}

/// A range to be searched.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Quantity, e.g. `C10` or `rotation`.
    pub name: String,
    /// Lower end in the quantity's unit.
    pub low: f64,
    /// Upper end in the quantity's unit.
    pub high: f64,
}

/// A fit that starts at a candidate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRequest {
    /// Search method, e.g. `guided`.
    pub method: String,
    pub candidate: Candidate,
    pub search: Vec<Range>,
    pub trials: usize,
    pub seed: u64,
}

/// A result to be written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaveRequest {
    /// Name of a new file in the folder that results go to.
    pub name: String,
    pub candidate: Candidate,
    pub upsample: usize,
}

/// One message of a page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Show this candidate; replaces an earlier wish of the same page.
    Image {
        /// Comes back with every answer.
        id: u64,
        candidate: Candidate,
        /// More will follow at once: no full picture and no loss yet.
        dragging: bool,
        planes: Vec<Plane>,
    },
    /// Start a fit.
    Fit(FitRequest),
    /// Stop the fit and keep its best.
    CancelFit {},
    /// Take this bright-field disk.
    Disk { center_px: [f64; 2], radius_px: f64 },
    /// Take this part of the pictures that are shown: half-open ranges of rows and columns.
    Region { rows: [usize; 2], cols: [usize; 2] },
    /// Take the whole scan again.
    WholeScan {},
    /// Write a result.
    Save(SaveRequest),
}

impl Request {
    /// Reads a message.
    ///
    /// # Errors
    /// A sentence for people.
    pub fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|e| format!("the message was not understood: {e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_or_refused_in_words() {
        let text = r#"{"kind":"image","id":3,"candidate":{"C10_nm":5,"rotation_deg":-3},
            "dragging":true,"planes":["phase","mean_phase"]}"#;
        let Ok(Request::Image {
            candidate, planes, ..
        }) = Request::read(text)
        else {
            panic!("{:?}", Request::read(text));
        };
        assert_eq!(candidate.rotation_deg, Some(-3.0));
        assert_eq!(planes, [Plane::Phase, Plane::MeanPhase]);
        assert_eq!(
            Request::read(r#"{"kind":"cancel_fit"}"#),
            Ok(Request::CancelFit {})
        );
        for (text, word) in [
            ("", "EOF"),
            ("[]", "understood"),
            (r#"{"kind":"format_disk"}"#, "format_disk"),
            (r#"{"kind":"disk","center_px":[1],"radius_px":2}"#, "length"),
            (
                r#"{"kind":"save","name":"x","candidate":{"C11_nm":1},"upsample":1}"#,
                "C11",
            ),
            (
                r#"{"kind":"fit","candidate":{},"search":[],"trials":-1,"seed":1}"#,
                "trials",
            ),
        ] {
            let message = Request::read(text).unwrap_err();
            assert!(
                message.contains(word) || message.contains("understood"),
                "{message}"
            );
        }
    }
}
