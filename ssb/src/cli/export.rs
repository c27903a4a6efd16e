//! `ssb export`: the arrays of a result as NumPy, TIFF or PNG files.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use ssb_core::ndarray::Array2;
use ssb_io::npy;
use ssb_io::result::ResultFile;

use super::args::TalkArgs;
use super::console::Console;
use super::{Ending, tiff, writing};
use crate::Error;
use crate::figure::{GrayDepth, gray_png};

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Result file
    pub result: PathBuf,
    /// Folder to write to [default: beside the result]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Write the arrays as NumPy files
    #[arg(long)]
    pub npy: bool,
    /// Write the phase and amplitude as float32 TIFF
    #[arg(long)]
    pub tiff: bool,
    /// Write the phase and amplitude as grey PNG
    #[arg(long)]
    pub png: bool,
    #[command(flatten)]
    pub talk: TalkArgs,
}

fn place(folder: &Path, stem: &str, name: &str) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{stem}_{name}"));
    let kinds = [writing::NPY, writing::TIFF, writing::PNG];
    for kind in kinds.into_iter().filter(|kind| name.ends_with(kind.0)) {
        writing::check_kind(&path, kind)?;
    }
    Ok(path)
}

pub fn run(a: &ExportArgs, console: &Console) -> Result<Ending, Error> {
    if !(a.npy || a.tiff || a.png) {
        return Err(Error::request(
            "ssb export",
            "no format was chosen",
            "give --npy, --tiff or --png",
        ));
    }
    let result = ResultFile::read(&a.result)?;
    let folder = match &a.output {
        Some(folder) => folder.clone(),
        None => match a.result.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        },
    };
    let stem = a
        .result
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let o = &result.outcome;
    let step = |upsample: usize| {
        let scan = result.provenance.calibration.scan_step_a.value;
        scan.map(|s| s / upsample as f64)
    };
    let fine = step(o.upsample);
    let phase_step = if o.estimator == "mean-phase" {
        step(1)
    } else {
        fine
    };
    let mut images: Vec<(&str, &Array2<f32>, [f64; 2])> = vec![
        ("phase", &result.phase_rad, phase_step),
        ("amplitude", &result.amplitude, fine),
    ];
    if let Some(mean_phase) = &result.mean_phase_rad {
        images.push(("mean_phase", mean_phase, step(1)));
    }
    let mut written = Vec::new();
    if a.npy {
        let path = place(&folder, &stem, "object.npy")?;
        npy::write_complex64(&path, result.object.view())?;
        written.push(path);
        let path = place(&folder, &stem, "mean_pattern.npy")?;
        npy::write_f32(&path, result.mean_pattern.view())?;
        written.push(path);
    }
    for (name, image, step_a) in images {
        if a.npy {
            let path = place(&folder, &stem, &format!("{name}.npy"))?;
            npy::write_f32(&path, image.view())?;
            written.push(path);
        }
        if a.tiff {
            let path = place(&folder, &stem, &format!("{name}.tif"))?;
            let unit = if name == "amplitude" { "counts" } else { "rad" };
            writing::write_whole(&path, &tiff::float32(image.view(), step_a, name, unit)?)?;
            written.push(path);
        }
        if a.png {
            let path = place(&folder, &stem, &format!("{name}.png"))?;
            let picture = gray_png(image.view(), [0.5, 99.5], GrayDepth::Sixteen)?;
            console.note(&format!(
                "{}: black {} to white {}",
                path.display(),
                picture.black,
                picture.white
            ));
            writing::write_whole(&path, &picture.bytes)?;
            written.push(path);
        }
    }
    let names: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
    console.finish(&json!({"files": names}), &names.join("\n"));
    Ok(Ending::Done)
}
