//! Which scan the frames belong to: the caller's word, then the file's, then a square that is said
//! to be guessed; never a silent reshape.

use ssb_core::Sourced;

use crate::IoError;
use crate::error::Fault;
use crate::format::Found;
use crate::frames::Scan;
use crate::options::OpenOptions;

/// The outcome.
pub(crate) struct Settled {
    /// The scan that is used.
    pub(crate) scan: Scan,
    /// The scan that was meant: more rows than the used one after a stop.
    pub(crate) wanted: Scan,
    pub(crate) warnings: Vec<String>,
}

/// Settles the scan and the warnings that go with it.
///
/// # Errors
/// [`IoError::NeedsScanShape`] or [`IoError::FrameCountMismatch`].
pub(crate) fn settle(
    found: &Found,
    options: &OpenOptions,
    fault: impl Fn() -> Box<Fault>,
) -> Result<Settled, IoError> {
    let frames = found.frames();
    let flyback = options.flyback_cols;
    let mut warnings = Vec::new();
    let scan = |shape| Scan {
        shape,
        whole: shape,
        origin: [0, 0],
        skip: options.skip_frames,
        flyback,
        order: options.scan_order,
    };
    let settled = |shape| Settled {
        scan: scan(shape),
        wanted: scan(shape),
        warnings: Vec::new(),
    };
    if let Some([rows, cols]) = found.stored_scan {
        let stack = rows == 1 || cols == 1 || options.skip_frames > 0;
        let Some(kept) = cols.checked_sub(flyback).filter(|n| *n > 0) else {
            return Err(IoError::BadOption(
                fault()
                    .expected(format!("fewer than {cols} flyback columns"))
                    .found(format!("{flyback}"))
                    .action("correct --flyback-cols"),
            ));
        };
        match options.scan_shape {
            None if options.skip_frames > 0 => {
                return Err(IoError::BadOption(
                    fault()
                        .expected("no frames to skip in data stored with a scan shape")
                        .found(format!("--skip-frames {}", options.skip_frames))
                        .action("give --scan-shape as well"),
                ));
            }
            None => return Ok(settled([rows, kept])),
            Some(shape) if shape == [rows, kept] && !stack => {
                return Ok(settled(shape));
            }
            Some(_) if stack => {}
            Some([r, c]) => {
                return Err(IoError::FrameCountMismatch(
                    fault()
                        .expected(format!("a scan of {r} x {c}"))
                        .found(format!(
                            "data stored as a scan of {rows} x {cols}{}",
                            if flyback > 0 {
                                format!(" with {flyback} flyback columns")
                            } else {
                                String::new()
                            }
                        ))
                        .action("leave --scan-shape out")
                        .frames(rows * cols, r.saturating_mul(c)),
                ));
            }
        }
    }
    let shape = choose(found, options, frames, &fault, &mut warnings)?;
    let wanted = scan(shape);
    let mut scan = wanted;
    let needed = wanted.frames_needed();
    if frames > needed {
        warnings.push(format!(
            "{} of {frames} frames come after the {} x {} scan and are dropped",
            frames - needed,
            shape[0],
            shape[1]
        ));
    }
    // The flyback frames of the last line are not needed.
    if frames < needed - flyback {
        let line = shape[1] + flyback;
        let rows = (frames.saturating_sub(options.skip_frames) + flyback) / line;
        if !options.complete_rows_only || rows == 0 {
            return Err(IoError::FrameCountMismatch(
                fault()
                    .expected(format!(
                        "{needed} frames for a scan of {} x {}",
                        shape[0], shape[1]
                    ))
                    .found(format!("{frames} frames, which fill {rows} complete rows"))
                    .action(if rows > 0 {
                        "correct --scan-shape, or keep the complete rows with --complete-rows-only"
                    } else {
                        "correct --scan-shape"
                    })
                    .frames(frames, needed),
            ));
        }
        warnings.push(format!(
            "only {rows} of {} rows are complete ({frames} of {needed} frames); the rest is left out",
            shape[0]
        ));
        scan.shape[0] = rows;
        scan.whole[0] = rows;
    }
    Ok(Settled {
        scan,
        wanted,
        warnings,
    })
}

/// The wanted scan shape of a stack of frames.
fn choose(
    found: &Found,
    options: &OpenOptions,
    frames: usize,
    fault: &impl Fn() -> Box<Fault>,
    warnings: &mut Vec<String>,
) -> Result<[usize; 2], IoError> {
    let line_frames = |[r, c]: [usize; 2]| {
        r.saturating_mul(c.saturating_add(options.flyback_cols))
            .saturating_add(options.skip_frames)
    };
    let expected = found.frames_expected.as_ref().map(|e| e.value);
    if let Some([rows, cols]) = options.scan_shape {
        if rows == 0 || cols == 0 {
            return Err(IoError::BadOption(
                fault()
                    .expected("a scan shape of at least 1 x 1")
                    .found(format!("{rows} x {cols}"))
                    .action("correct --scan-shape"),
            ));
        }
        let needed = line_frames([rows, cols]);
        // A few frames beyond the scan are extra triggers. A square number of frames, or a whole line
        // of them left over, speaks against the shape, unless the file states the same one.
        let extra = frames.saturating_sub(needed);
        let doubtful = square(frames, 0).is_some() || extra >= cols + options.flyback_cols;
        let stated = found
            .scan_hint
            .as_ref()
            .is_some_and(|h| h.value == [rows, cols]);
        if extra > 0 && doubtful && !stated && !options.complete_rows_only {
            return Err(IoError::FrameCountMismatch(
                fault()
                    .expected(format!("{needed} frames for a scan of {rows} x {cols}"))
                    .found(format!("{frames} frames"))
                    .action(
                        "correct --scan-shape, say what else the frames are with --skip-frames or \
                         --flyback-cols, or keep these rows and drop the rest with --complete-rows-only",
                    )
                    .frames(frames, needed),
            ));
        }
        if let Some(hint) = &found.scan_hint
            && hint.value != [rows, cols]
        {
            warnings.push(format!(
                "scan shape: using {rows} x {cols} (argument); the file says {} x {} ({})",
                hint.value[0], hint.value[1], hint.source
            ));
        }
        return Ok([rows, cols]);
    }
    if let Some(Sourced { value, source }) = &found.scan_hint {
        let [rows, cols] = *value;
        let kept = cols
            .checked_sub(options.flyback_cols)
            .filter(|n| *n > 0 && rows > 0);
        return kept.map(|cols| [rows, cols]).ok_or_else(|| {
            IoError::BadOption(
                fault()
                    .expected("a scan of at least 1 x 1")
                    .found(format!(
                        "{rows} x {cols} ({source}) with {} flyback columns",
                        options.flyback_cols
                    ))
                    .action("give --scan-shape"),
            )
        });
    }
    let all = expected.unwrap_or(frames).max(frames);
    let usable = all.saturating_sub(options.skip_frames);
    if let Some(n) = square(usable, options.flyback_cols) {
        warnings.push(format!(
            "the scan shape is not in the file: {n} x {n} was guessed from {usable} frames; \
             --scan-shape sets it"
        ));
        return Ok([n, n]);
    }
    let pairs = factor_pairs(usable);
    let offer = if pairs.is_empty() {
        "no shape fits this number exactly".into()
    } else {
        format!("shapes that fit: {}", pairs.join(", "))
    };
    Err(IoError::NeedsScanShape(
        fault()
            .expected("a scan shape in the file or as --scan-shape RxC")
            .found(format!("a stack of {usable} frames ({offer})"))
            .action("give --scan-shape RxC")
            .frames(frames, all),
    ))
}

/// `n` with `n (n + flyback) == frames`.
fn square(frames: usize, flyback: usize) -> Option<usize> {
    let mut n = frames.isqrt();
    while n > 0 && n.saturating_mul(n.saturating_add(flyback)) > frames {
        n -= 1;
    }
    (n > 0 && n * (n + flyback) == frames).then_some(n)
}

/// `R x C` with `R C == frames` and both above 1, the squarest first.
fn factor_pairs(frames: usize) -> Vec<String> {
    let mut pairs = Vec::new();
    for a in (2..=frames.isqrt().min(1 << 20)).rev() {
        if frames.is_multiple_of(a) {
            pairs.push(format!("{a}x{}", frames / a));
            pairs.push(format!("{}x{a}", frames / a));
        }
    }
    pairs.truncate(12);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_with_flyback_are_found() {
        assert_eq!(square(16, 0), Some(4));
        assert_eq!(square(24, 2), Some(4));
        assert_eq!(square(15, 0), None);
        assert_eq!(square(0, 0), None);
    }

    #[test]
    fn factor_pairs_are_offered_squarest_first() {
        assert_eq!(factor_pairs(12), ["3x4", "4x3", "2x6", "6x2"]);
        assert!(factor_pairs(113).is_empty());
    }
}
