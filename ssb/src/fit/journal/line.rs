//! Lines of a journal: `checksum JSON`, where the checksum is the start of the SHA-256 of the JSON text.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use ssb_core::{AgreementBand, Candidate, Evaluation, TERMS};

use super::broken;
use crate::Error;

const MARK: &str = "ssb_fit_journal";
const VERSION: u64 = 1;
/// Hexadecimal digits of a checksum.
const CHECK: usize = 16;

/// What one call of the evaluator found.
#[derive(Debug, PartialEq)]
pub(super) enum Record {
    Losses(Losses),
    Agreements(Agreements),
}

/// Exact evaluations by the key of their candidate.
#[derive(Debug, PartialEq)]
pub(super) struct Losses(pub(super) Vec<(String, Evaluation)>);

/// Agreements by the key of band and candidate.
#[derive(Debug, PartialEq)]
pub(super) struct Agreements(pub(super) Vec<(String, f64)>);

fn bits(x: f64) -> String {
    format!("{:016x}", x.to_bits())
}

fn from_bits(value: &Value) -> Option<f64> {
    let digits = value.as_str().filter(|s| s.len() == 16)?;
    u64::from_str_radix(digits, 16).ok().map(f64::from_bits)
}

/// A candidate to the bit, as asked; what is exactly +0 is left out.
pub(super) fn candidate_key(candidate: &Candidate) -> String {
    let mut parts = Vec::new();
    let mut put = |name: &str, values: [f64; 2]| {
        if values.iter().any(|x| x.to_bits() != 0) {
            parts.push(format!("{name}={},{}", bits(values[0]), bits(values[1])));
        }
    };
    for (term, value) in TERMS.iter().zip(candidate.aberrations.values()) {
        put(term.name, [value.magnitude_a, value.angle_rad]);
    }
    put("tilt", candidate.tilt_mrad);
    put("depth", [candidate.depth_spread_nm, 0.0]);
    if let Some(rotation_deg) = candidate.rotation_deg {
        parts.push(format!("rotation={}", bits(rotation_deg)));
    }
    parts.join(" ")
}

/// As [`candidate_key`], for a sum over this band.
pub(super) fn agreement_key(band: &AgreementBand, candidate: &Candidate) -> String {
    let [lo, hi] = [band.lo_per_a, band.hi_per_a].map(bits);
    format!("band={lo},{hi} {}", candidate_key(candidate))
}

fn sealed(value: &Value) -> String {
    let text = value.to_string();
    format!("{} {text}\n", check(text.as_bytes()))
}

fn check(text: &[u8]) -> String {
    let digest = Sha256::digest(text);
    let digits: String = digest.iter().map(|b| format!("{b:02x}")).collect();
    digits[..CHECK].to_owned()
}

/// The first line of a journal.
pub(super) fn header(identity: &Value) -> String {
    sealed(&json!({MARK: VERSION, "identity": identity}))
}

/// Whether a file begins as a journal does.
pub(super) fn is_journal(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    std::fs::File::open(path)?
        .take(256)
        .read_to_end(&mut start)?;
    let digits = start.iter().take(CHECK).all(u8::is_ascii_hexdigit);
    let begun = start.get(CHECK..CHECK + 2) == Some(b" {");
    Ok(start.is_empty() || (digits && begun))
}

impl Record {
    /// Its line.
    pub(super) fn line(&self) -> String {
        let mut found = Map::new();
        let kind = match self {
            Self::Losses(Losses(list)) => {
                for (key, e) in list {
                    found.insert(
                        key.clone(),
                        json!([bits(e.loss), bits(e.degenerate_fraction)]),
                    );
                }
                "loss"
            }
            Self::Agreements(Agreements(list)) => {
                found.extend(list.iter().map(|(key, s)| (key.clone(), bits(*s).into())));
                "agreement"
            }
        };
        sealed(&json!({"kind": kind, "found": found}))
    }

    fn of(value: &Value) -> Option<Self> {
        let found = value.get("found")?.as_object()?.iter();
        match value.get("kind")?.as_str()? {
            "loss" => found
                .map(|(key, pair)| {
                    let evaluation = Evaluation {
                        loss: from_bits(pair.get(0)?)?,
                        degenerate_fraction: from_bits(pair.get(1)?)?,
                    };
                    Some((key.clone(), evaluation))
                })
                .collect::<Option<_>>()
                .map(|list| Self::Losses(Losses(list))),
            "agreement" => found
                .map(|(key, s)| Some((key.clone(), from_bits(s)?)))
                .collect::<Option<_>>()
                .map(|list| Self::Agreements(Agreements(list))),
            _ => None,
        }
    }
}

/// A line whose checksum is right.
#[derive(Debug)]
pub(super) struct Line {
    value: Value,
    /// `line 3, byte 1234`.
    place: String,
}

impl Line {
    /// What the first line says the journal belongs to.
    pub(super) fn identity(self, path: &Path) -> Result<Value, Error> {
        let Self { mut value, place } = self;
        match value.get(MARK).map(Value::as_u64) {
            Some(Some(VERSION)) => Ok(value["identity"].take()),
            found => Err(broken(
                path,
                place,
                format!(
                    "expected a journal of version {VERSION}, found {}",
                    found.map_or("another file".into(), |v| format!("version {v:?}"))
                ),
            )),
        }
    }

    pub(super) fn answers(self, path: &Path) -> Result<Record, Error> {
        Record::of(&self.value)
            .ok_or_else(|| broken(path, self.place, "its content is none of this version"))
    }
}

/// The lines of a journal in order. The last may be torn: it ends the iteration.
pub(super) struct Lines<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self {
            path,
            bytes,
            at: 0,
            number: 0,
        }
    }

    /// Bytes of the lines so far.
    pub(super) fn whole_bytes(&self) -> usize {
        self.at
    }
}

fn value_of(line: &[u8]) -> Option<Value> {
    let (sum, text) = (line.get(..CHECK)?, line.get(CHECK + 1..)?);
    (line[CHECK] == b' ' && check(text).as_bytes() == sum)
        .then(|| serde_json::from_slice(text).ok())?
}

impl Iterator for Lines<'_> {
    type Item = Result<Line, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| *b == b'\n')?;
        self.number += 1;
        let place = format!("line {}, byte {}", self.number, self.at);
        if let Some(value) = value_of(&rest[..end]) {
            self.at += end + 1;
            return Some(Ok(Line { value, place }));
        }
        // What a power cut leaves of the last line may also hold its end.
        let last = end + 1 == rest.len() && self.number > 1;
        (!last).then(|| {
            let problem = "the record is damaged (its checksum does not fit)";
            Err(broken(self.path, place, problem))
        })
    }
}
