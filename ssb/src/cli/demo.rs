//! `ssb demo`: the whole job on simulated data in a new folder, truth beside fit.

use std::path::{Path, PathBuf};

use serde_json::json;
use ssb_core::ndarray::{Array2, Zip};
use ssb_core::{Aberrations, Candidate};
use ssb_io::write::AcquisitionLayout;
use ssb_testkit::simulate::Simulation;

use super::args::DemoArgs;
use super::console::Console;
use super::{Ending, opening, simulate, writing};
use crate::figure::render_figure;
use crate::result_figure::figure_data;
use crate::{Acquisition, AcquisitionOptions, Error, FitOptions, OpenOptions, open};

/// Makes the folder, or the first free numbered one beside it.
fn new_folder(wanted: &Path) -> Result<PathBuf, Error> {
    let numbered = |n: usize| {
        let mut name = wanted.as_os_str().to_owned();
        name.push(format!("-{n}"));
        PathBuf::from(name)
    };
    let candidates = std::iter::once(wanted.to_owned()).chain((2..1000).map(numbered));
    for folder in candidates {
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Error::output(folder, e, "choose another folder")),
        }
    }
    Err(Error::output(
        wanted,
        "it and its numbered neighbours exist",
        "choose another folder",
    ))
}

/// Pearson's correlation of two images of one shape.
fn correlation(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let mean = |x: &Array2<f64>| x.sum() / x.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    Zip::from(a).and(b).for_each(|x, y| {
        ab += (x - ma) * (y - mb);
        aa += (x - ma).powi(2);
        bb += (y - mb).powi(2);
    });
    ab / (aa * bb).sqrt()
}

/// C10, and C12 as the components `C12 cos 2 phi12` and `C12 sin 2 phi12`, in nm.
fn components(aberrations: &Aberrations) -> [f64; 3] {
    let [c10, c12] = [0, 1].map(|i| aberrations.get(i));
    let (sin, cos) = (2.0 * c12.angle_rad).sin_cos();
    [
        c10.magnitude_a,
        c12.magnitude_a * cos,
        c12.magnitude_a * sin,
    ]
    .map(|a| a / 10.0)
}

fn comparison(truth: &Candidate, fit: &Candidate) -> Vec<String> {
    let (t, f) = (components(&truth.aberrations), components(&fit.aberrations));
    let mut lines = vec![format!(
        "{:<18} {:>10} {:>10} {:>10}",
        "", "truth", "fit", "difference"
    )];
    for (i, name) in ["C10", "C12 cos 2phi12", "C12 sin 2phi12"]
        .iter()
        .enumerate()
    {
        lines.push(format!(
            "{name:<15} nm {:>10.3} {:>10.3} {:>10.3}",
            t[i],
            f[i],
            f[i] - t[i]
        ));
    }
    lines
}

pub fn run(a: &DemoArgs, console: &Console) -> Result<Ending, Error> {
    let folder = new_folder(&a.dir)?;
    let control = console.control();
    let simulating = console.stage("simulate");
    console.note("simulating a crystal with vacancies seen by a defocused, astigmatic beam");
    let simulation = Simulation {
        seed: a.seed,
        ..Simulation::demo()
    };
    let scan = simulation.run(control)?;
    let data = folder.join("scan.h5");
    let written = simulate::write(&scan, &data, AcquisitionLayout::Plain, control)?;
    let simulate_seconds = simulating.end();

    let opening_stage = console.stage("open");
    let source = open(&written.data, &OpenOptions::default())?;
    let options = AcquisitionOptions {
        threads: a.backend.threads,
        ..AcquisitionOptions::default()
    };
    let acquisition = Acquisition::gather(&source, &options, control)?;
    for warning in &acquisition.warnings {
        console.warn(warning);
    }
    let session = opening::session(acquisition, &a.backend, console)?;
    let open_seconds = opening_stage.end();
    let fitting = console.stage("fit");
    let fit = session.fit(&FitOptions {
        seed: a.seed,
        ..FitOptions::default()
    })?;
    let fit_seconds = fitting.end();
    if fit.cancelled {
        return Err(ssb_core::Error::Cancelled.into());
    }
    for warning in &fit.warnings {
        console.warn(warning);
    }
    let image = session.image(fit.best.clone(), 1, control)?;
    let seconds = json!({
        "simulate": simulate_seconds,
        "open_and_prepare": open_seconds,
        "fit": fit_seconds,
    });
    let request = json!({"verb": "demo", "seed": a.seed});
    let result = session.fit_file(&fit, &image, request, seconds.clone());
    let result_path = folder.join("result.h5");
    result.write(&result_path)?;
    let truth = &scan.truth.candidate;
    let figure = folder.join("figure.png");
    let picture = render_figure(&figure_data(&result, Some(truth), false))?;
    writing::write_whole(&figure, &picture.png()?)?;

    let correlation = correlation(&image.phase_rad(), &scan.truth.phase_rad);
    let differences: Vec<f64> = components(&fit.aberrations)
        .iter()
        .zip(components(&truth.aberrations))
        .map(|(f, t)| f - t)
        .collect();
    let mut lines = comparison(truth, &fit.best);
    lines.push(format!(
        "correlation of the phase with the simulated phase: {correlation:.4}"
    ));
    for path in [&written.data, &result_path, &figure] {
        lines.push(path.display().to_string());
    }
    let document = json!({
        "folder": folder.display().to_string(),
        "data": written.data.display().to_string(),
        "result": result_path.display().to_string(),
        "figure": figure.display().to_string(),
        "truth": truth,
        "best": fit.best,
        "difference_nm": {
            "C10": differences[0],
            "C12_cos_2phi12": differences[1],
            "C12_sin_2phi12": differences[2],
        },
        "phase_correlation": correlation,
        "loss": fit.loss,
        "evaluations": fit.evaluations,
        "seconds": seconds,
    });
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}
