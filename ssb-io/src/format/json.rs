//! Numbers and texts in the JSON that some containers carry.

use serde_json::Value;

/// The value at a path of names with dots between them.
pub(super) fn at<'a>(document: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.')
        .try_fold(document, |here, name| here.get(name))
}

/// A finite number; a text that is a number counts.
pub(super) fn number(document: &Value, path: &str) -> Option<f64> {
    let value = at(document, path)?;
    value
        .as_f64()
        .or_else(|| value.as_str()?.trim().parse().ok())
        .filter(|n| n.is_finite())
}

/// A text.
pub(super) fn text<'a>(document: &'a Value, path: &str) -> Option<&'a str> {
    at(document, path)?.as_str()
}
