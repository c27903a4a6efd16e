//! The counts of a data set: mean pattern, bright-field disk and columns, read in one pass where a guess
//! of the disk proves right.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use ssb_core::ndarray::Array2;
use ssb_core::{BfDisk, BfOptions, Columns, Control, Evidence, SourceRecord, select_bf};
use ssb_io::{LoadPlan, MeanPattern};

use crate::{AcquisitionOptions, Error, HotPixels, Source};

/// What was read of a data set.
#[derive(Debug)]
pub struct Counts {
    /// The mean pattern and what stood out in it.
    pub pattern: MeanPattern,
    /// The bright-field disk.
    pub disk: BfDisk,
    /// The counts of its pixels over the scan.
    pub evidence: Evidence,
    /// Sentences for people.
    pub warnings: Vec<String>,
}

fn update<'a, T: Copy + 'a, const N: usize>(
    hash: &mut Sha256,
    values: impl IntoIterator<Item = &'a T>,
    bytes: impl Fn(T) -> [u8; N],
) {
    let mut buffer = [[0; N]; 4096];
    let mut filled = 0;
    for value in values {
        buffer[filled] = bytes(*value);
        filled += 1;
        if filled == buffer.len() {
            hash.update(buffer.as_flattened());
            filled = 0;
        }
    }
    hash.update(buffer[..filled].as_flattened());
}

/// SHA-256 of the mean pattern and of every column, little-endian.
fn content_hash(mean: &Array2<f64>, columns: &Columns) -> Result<String, Error> {
    let mut hash = Sha256::new();
    update(&mut hash, mean, f64::to_le_bytes);
    let h = &mut hash;
    match columns {
        Columns::U8(a) => update(h, a, u8::to_le_bytes),
        Columns::U16(a) => update(h, a, u16::to_le_bytes),
        Columns::U32(a) => update(h, a, u32::to_le_bytes),
        Columns::I8(a) => update(h, a, i8::to_le_bytes),
        Columns::I16(a) => update(h, a, i16::to_le_bytes),
        Columns::I32(a) => update(h, a, i32::to_le_bytes),
        Columns::F32(a) => update(h, a, f32::to_le_bytes),
        Columns::F64(a) => update(h, a, f64::to_le_bytes),
        other => {
            return Err(ssb_core::Error::Internal(format!(
                "columns of {} cannot be hashed",
                other.dtype()
            ))
            .into());
        }
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn mask_record(source: &Source) -> Value {
    source.mask().map_or(Value::Null, |mask| {
        let bytes: Vec<u8> = mask.iter().map(|good| u8::from(!good)).collect();
        json!({
            "source": source.mask_source(),
            "masked_pixels": source.masked_pixels(),
            "sha256": hex(&Sha256::digest(&bytes)),
        })
    })
}

/// Pixels around a guessed disk that are gathered with it.
const MARGIN_PX: f64 = 1.5;

/// Pixels of a guessed disk, and those around it.
struct Guess {
    disk: Vec<[u32; 2]>,
    around: Vec<[u32; 2]>,
}

/// A disk guessed from a sample of the frames; `None` when there is nothing to guess from.
fn guess(
    source: &Source,
    options: &AcquisitionOptions,
    control: &Control,
) -> Result<Option<Guess>, Error> {
    let Some(sample) = source.sampled_mean_pattern(control)? else {
        return Ok(None);
    };
    let Ok(BfDisk {
        center_px,
        radius_px,
        pixels: disk,
    }) = select_bf(sample.mean.view(), source.mask(), &options.disk)
    else {
        return Ok(None);
    };
    let wider = BfDisk {
        center_px,
        radius_px: radius_px + MARGIN_PX,
        pixels: Vec::new(),
    };
    let [_, _, rows, cols] = source.shape().map(|n| n as u32);
    let all = (0..rows).flat_map(|r| (0..cols).map(move |c| [r, c]));
    let good = |p: &[u32; 2]| {
        source
            .mask()
            .is_none_or(|m| m[(p[0] as usize, p[1] as usize)])
    };
    let around = all.filter(|p| wider.contains(*p) && good(p) && disk.binary_search(p).is_err());
    let around = around.collect();
    Ok(Some(Guess { disk, around }))
}

/// What is said of pixels that reach the largest value.
pub(crate) fn hot_warning(source: &Source, hot: &[[u32; 2]], choice: HotPixels) -> String {
    let mut list: Vec<String> = hot
        .iter()
        .take(8)
        .map(|[r, c]| format!("({r}, {c})"))
        .collect();
    if hot.len() > list.len() {
        list.push("…".into());
    }
    let level = match source.saturation() {
        Some(s) => format!("{} counts ({}) or ", s.value, s.source),
        None => String::new(),
    };
    let what = match choice {
        HotPixels::Exclude => "and are left out",
        _ => "dead, hot or saturated (--hot-pixels exclude or --mask leaves them out)",
    };
    format!(
        "{} pixels that are not masked reach {level}the largest value of {}: {what}: {}",
        hot.len(),
        source.dtype(),
        list.join(", ")
    )
}

/// Runs work on so many threads; `None` is one per core.
pub(crate) fn on_threads<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let Some(threads) = threads else {
        return work();
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| ssb_core::Error::Internal(format!("no threads: {e}")))?
        .install(work)
}

impl Counts {
    /// Reads mean pattern and columns; `tell` is called with the plan before anything large is
    /// reserved.
    ///
    /// # Errors
    /// A disk that cannot be found, samples that do not read, NaN among the counts, a plan over
    /// the budget, or cancelled.
    pub fn gather(
        source: &Source,
        options: &AcquisitionOptions,
        control: &Control,
        tell: &(dyn Fn(&LoadPlan) + Sync),
    ) -> Result<Self, Error> {
        on_threads(options.threads, || {
            Self::read(source, options, control, tell)
        })
    }

    pub(crate) fn read(
        source: &Source,
        options: &AcquisitionOptions,
        control: &Control,
        tell: &(dyn Fn(&LoadPlan) + Sync),
    ) -> Result<Self, Error> {
        let mut warnings = Vec::new();
        let guess = guess(source, options, control)?;
        let (pattern, guessed) = match &guess {
            Some(Guess { disk, around }) => {
                let plan = source.load_plan(disk.len() + around.len(), 1);
                tell(&plan);
                plan.check(options.max_memory_bytes)?;
                let (pattern, guessed) = source.mean_pattern_and_guess(disk, around, control)?;
                (pattern, Some(guessed))
            }
            None => (source.mean_pattern(control)?, None),
        };
        let mut pattern = pattern;
        let hot = pattern.saturated_pixels.clone();
        let mut good = source.mask().cloned();
        if options.hot_pixels == HotPixels::Exclude && !hot.is_empty() {
            let all = || Array2::from_elem(pattern.mean.dim(), true);
            let mask = good.get_or_insert_with(all);
            for [r, c] in &hot {
                mask[(*r as usize, *c as usize)] = false;
                pattern.mean[(*r as usize, *c as usize)] = 0.0;
            }
        }
        if !hot.is_empty() && options.hot_pixels != HotPixels::Off {
            warnings.push(hot_warning(source, &hot, options.hot_pixels));
        }
        let disk = match source.stored_disk() {
            // A companion holds the columns of one disk.
            Some(disk) if options.disk == BfOptions::default() => disk.clone(),
            _ => select_bf(pattern.mean.view(), good.as_ref(), &options.disk)?,
        };
        // A pixel whose samples are all NaN has a mean of 0 and is not selected, but lies in the disk.
        let mut wanted = pattern.non_finite_pixels.clone();
        wanted.retain(|p| disk.contains(*p) && !disk.pixels.contains(p));
        if !wanted.is_empty() {
            source.gather(&wanted, control)?;
        }
        let kept = match guessed {
            Some(guessed) => source.evidence_of_guess(guessed, &disk.pixels)?,
            None => None,
        };
        let evidence = match kept {
            Some(evidence) => evidence,
            None => {
                let passes = if source.stored_disk().is_some() { 1 } else { 2 };
                let plan = source.load_plan(disk.pixels.len(), passes);
                tell(&plan);
                plan.check(options.max_memory_bytes)?;
                source.gather(&disk.pixels, control)?
            }
        };
        if pattern.non_finite > 0 {
            warnings.push(format!(
                "{} samples outside the bright-field disk are NaN or infinite and count as 0 in \
                 the mean pattern",
                pattern.non_finite
            ));
        }
        Ok(Self {
            pattern,
            disk,
            evidence,
            warnings,
        })
    }

    /// Where the counts come from, with their hash.
    ///
    /// # Errors
    /// A companion whose columns are not those that were written.
    pub fn record(
        &self,
        source: &Source,
        options: &AcquisitionOptions,
    ) -> Result<SourceRecord, Error> {
        let content_sha256 = content_hash(&self.pattern.mean, self.evidence.columns())?;
        let mut opened = json!({"open": source.options_record(), "disk": options.disk});
        if options.hot_pixels == HotPixels::Exclude {
            opened["hot_pixels_excluded"] = json!(self.pattern.saturated_pixels);
        }
        if let Some((origin, stated)) = source.origin() {
            let whole = source
                .stored_disk()
                .is_some_and(|d| d.pixels == self.disk.pixels);
            if whole && stated != content_sha256 {
                return Err(ssb_io::IoError::corrupt_columns(source.path(), stated).into());
            }
            opened["converted_from"] = origin.clone();
        }
        Ok(SourceRecord {
            path: source.path().display().to_string(),
            layout: source.layout().to_owned(),
            dataset: source.dataset().to_owned(),
            shape: source.shape(),
            dtype: source.dtype().to_owned(),
            content_sha256,
            options: opened,
            mask: mask_record(source),
        })
    }
}
