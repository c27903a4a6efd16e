//! Values of arguments: shapes, pairs, sizes in bytes.

const MAX_THREADS: usize = 1024;

/// `RxC` or `R,C`.
pub fn shape(text: &str) -> Result<[usize; 2], String> {
    let parts: Vec<&str> = text.split(['x', 'X', ',', '×']).collect();
    match parts.as_slice() {
        [r, c] => match (r.trim().parse(), c.trim().parse()) {
            (Ok(r), Ok(c)) if r > 0 && c > 0 => Ok([r, c]),
            _ => Err(format!(
                "expected two positive numbers as in 64x48, found `{text}`"
            )),
        },
        _ => Err(format!("expected RxC as in 64x48, found `{text}`")),
    }
}

fn finite(text: &str) -> Result<f64, String> {
    text.trim()
        .parse::<f64>()
        .ok()
        .filter(|x| x.is_finite())
        .ok_or_else(|| format!("expected a number, found `{text}`"))
}

/// `R,C`.
pub fn pair(text: &str) -> Result<[f64; 2], String> {
    let (row, col) = text
        .split_once(',')
        .ok_or_else(|| format!("expected row,col as in 12.5,13, found `{text}`"))?;
    Ok([finite(row)?, finite(col)?])
}

/// `S` for both axes, or `R,C`.
pub fn pair_or_one(text: &str) -> Result<[f64; 2], String> {
    if text.contains(',') {
        pair(text)
    } else {
        finite(text).map(|x| [x, x])
    }
}

/// A count of 1 or more.
pub fn positive(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| format!("expected a whole number of 1 or more, found `{text}`"))
}

/// A number of threads; far more than the cores only wait for each other.
pub fn threads(text: &str) -> Result<usize, String> {
    match positive(text) {
        Ok(n) if n <= MAX_THREADS => Ok(n),
        _ => Err(format!(
            "expected a whole number from 1 to {MAX_THREADS}, found `{text}`"
        )),
    }
}

/// Bytes: `16GiB`, `500MB`, `1.5G` (GiB), or a plain number.
pub fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number = finite(&text[..end])?;
    let scale: u64 = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => {
            return Err(format!(
                "expected a size as in 16GiB or 500MB, found `{text}`"
            ));
        }
    };
    let bytes = number * scale as f64;
    if bytes >= 1.0 && bytes < 2f64.powi(63) {
        Ok(bytes as u64)
    } else {
        Err(format!("expected a positive size, found `{text}`"))
    }
}

/// Which trials of a fit to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialChoice {
    /// The lowest losses.
    Best(usize),
    /// The first asked.
    First(usize),
    /// The last asked.
    Last(usize),
}

/// `best=N`, `first=N` or `last=N`.
pub fn trial_choice(text: &str) -> Result<TrialChoice, String> {
    let (which, n) = text
        .split_once('=')
        .ok_or_else(|| format!("expected best=5, first=5 or last=5, found `{text}`"))?;
    let n = positive(n)?;
    match which {
        "best" => Ok(TrialChoice::Best(n)),
        "first" => Ok(TrialChoice::First(n)),
        "last" => Ok(TrialChoice::Last(n)),
        _ => Err(format!("expected best, first or last, found `{which}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        assert_eq!(shape("64x48"), Ok([64, 48]));
        assert_eq!(pair("-3,4.5"), Ok([-3.0, 4.5]));
        assert_eq!(pair_or_one("0.25"), Ok([0.25, 0.25]));
        assert_eq!(bytes("16GiB"), Ok(16 << 30));
        assert_eq!(bytes("500MB"), Ok(500_000_000));
        assert_eq!(bytes("1.5g"), Ok(3 << 29));
        assert_eq!(trial_choice("best=5"), Ok(TrialChoice::Best(5)));
    }

    #[test]
    fn wrong_values_are_refused() {
        for text in ["64", "64x", "0x4", "4x4x4", "ax4"] {
            assert!(shape(text).is_err(), "{text}");
        }
        assert!(pair("3").is_err() && pair_or_one("nan").is_err());
        for text in ["", "0", "GiB", "12 parsecs", "-3"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(trial_choice("worst=5").is_err() && positive("0").is_err());
        assert!(threads("0").is_err() && threads("1025").is_err() && threads("64") == Ok(64));
    }
}
