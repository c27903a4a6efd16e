//! `ssb show`: the figure of a result, one panel of it, or its trials: a list, and their phase images side by
//! side.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use ssb_io::LoadPlan;
use ssb_io::result::{ResultFile, Trial};

use super::args::{BackendArgs, TalkArgs};
use super::console::Console;
use super::values::{self, TrialChoice};
use super::{Ending, opening, writing};
use crate::figure::{
    Display, Panel, RgbImage, TrialPicture, render_figure, render_panel, render_trials,
};
use crate::record::trial;
use crate::result_figure::figure_data;
use crate::{Acquisition, Error, ReplayOptions};

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Result file
    pub result: PathBuf,
    /// Picture to write
    #[arg(
        short,
        long,
        value_name = "fig.png",
        required_unless_present = "trials"
    )]
    pub output: Option<PathBuf>,
    /// One panel alone
    #[arg(long, value_name = "NAME")]
    pub panel: Option<String>,
    /// List trials, best=5, first=5 or last=5; with -o their phase images, made again of the data
    #[arg(long, value_name = "best=N", value_parser = values::trial_choice, conflicts_with = "panel")]
    pub trials: Option<TrialChoice>,
    /// The data of the trials, when they are no longer where the result says
    #[arg(long, value_name = "FILE", requires = "trials")]
    pub source: Option<PathBuf>,
    /// Draw the mean pattern in log10
    #[arg(long)]
    pub log_pattern: bool,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub talk: TalkArgs,
}

fn chosen(trials: &[Trial], choice: TrialChoice) -> Vec<&Trial> {
    let mut list: Vec<&Trial> = trials.iter().collect();
    let n = match choice {
        TrialChoice::First(n) => n,
        TrialChoice::Last(n) => {
            list.reverse();
            n
        }
        TrialChoice::Best(n) => {
            list.retain(|t| t.eligible && !t.loss.is_nan());
            list.sort_by(|a, b| a.loss.total_cmp(&b.loss));
            n
        }
    };
    list.truncate(n);
    list
}

/// The value that the search went by.
fn score(t: &Trial) -> String {
    match (t.objective(), t.agreement) {
        ("agreement", Some(s)) => format!("S {s:.6e} counts²"),
        _ => format!("loss {:.6e} rad²", t.loss),
    }
}

fn line(t: &Trial, rotation_deg: f64) -> String {
    let [c10, c12] = [0, 1].map(|i| t.candidate.aberrations.get(i));
    format!(
        "{:>5} {:<12} {:<24}  C10 {:>9.3} nm  C12 {:>8.3} nm  phi12 {:>8.4} rad  rotation {:>8.3} deg",
        t.number,
        t.method,
        score(t),
        c10.magnitude_a / 10.0,
        c12.magnitude_a / 10.0,
        c12.angle_rad,
        t.candidate.rotation_deg.unwrap_or(rotation_deg),
    )
}

/// The phase images of some trials, made again of the data of the result.
fn picture(
    a: &ShowArgs,
    result: &ResultFile,
    listed: &[&Trial],
    console: &Console,
) -> Result<RgbImage, Error> {
    let options = ReplayOptions {
        source: a.source.clone(),
        threads: a.backend.threads,
        max_memory_bytes: a.backend.max_memory,
    };
    let tell = |plan: &LoadPlan| console.note(&format!("plan: {plan}"));
    let opening_stage = console.stage("open");
    let acquisition = Acquisition::again(&result.provenance, &options, console.control(), &tell)?;
    opening_stage.end();
    let session = opening::session(acquisition, &a.backend, console)?;
    let imaging = console.stage("reconstruct");
    let mut pictures = Vec::with_capacity(listed.len());
    for t in listed {
        let image = session.image(t.candidate.clone(), 1, console.control())?;
        let [c10, c12] = [0, 1].map(|i| t.candidate.aberrations.get(i));
        pictures.push(TrialPicture {
            title: format!("trial {}, {}", t.number, t.method),
            lines: vec![
                score(t),
                format!(
                    "C10 {:.2} nm, C12 {:.2} nm at {:.1}°",
                    c10.magnitude_a / 10.0,
                    c12.magnitude_a / 10.0,
                    c12.angle_rad.to_degrees()
                ),
            ],
            phase: image.phase_rad().mapv(|x| x as f32),
        });
    }
    imaging.end();
    let info = session.info();
    let subtitle = format!(
        "phase of the mean object, backend {} ({})",
        info.backend, info.device
    );
    let path = Path::new(&result.provenance.source.path);
    let title = path.file_name().unwrap_or_default().to_string_lossy();
    let step_a = session.geometry().scan_step_a;
    let display = Display::default();
    Ok(render_trials(
        &title, &subtitle, &pictures, step_a, &display,
    )?)
}

fn trials(a: &ShowArgs, choice: TrialChoice, console: &Console) -> Result<Ending, Error> {
    let result = ResultFile::read(&a.result)?;
    if result.trials.is_empty() {
        return Err(Error::request(
            "--trials",
            "the aberrations of this result were taken as given: it has no trials",
            "drop --trials",
        ));
    }
    let listed = chosen(&result.trials, choice);
    let rotation_deg = result.provenance.calibration.rotation_deg.value;
    let list: Vec<Value> = listed.iter().map(|t| trial(t, rotation_deg)).collect();
    let mut document = json!({"trials": list});
    let mut lines: Vec<String> = listed.iter().map(|t| line(t, rotation_deg)).collect();
    if let Some(output) = &a.output {
        let picture = picture(a, &result, &listed, console)?;
        writing::write_whole(output, &picture.png()?)?;
        lines.push(format!("figure: {}", output.display()));
        document["output"] = output.display().to_string().into();
        document["width_px"] = picture.width.into();
        document["height_px"] = picture.height.into();
        document["phase_kind"] = "phase-of-mean".into();
    }
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}

pub fn run(a: &ShowArgs, console: &Console) -> Result<Ending, Error> {
    if let Some(output) = &a.output {
        writing::check_kind(output, writing::PNG)?;
        writing::check_not_data(output, &[&a.result])?;
    }
    let output = match (a.trials, &a.output) {
        (Some(choice), _) => return trials(a, choice, console),
        (None, Some(output)) => output,
        (None, None) => {
            return Err(Error::request(
                "--output",
                "it names the picture to write",
                "give -o fig.png",
            ));
        }
    };
    let panel = a.panel.as_deref().map(str::parse::<Panel>).transpose()?;
    let result = ResultFile::read(&a.result)?;
    let data = figure_data(&result, None, a.log_pattern);
    let picture = match panel {
        Some(panel) => render_panel(&data, panel)?,
        None => render_figure(&data)?,
    };
    writing::write_whole(output, &picture.png()?)?;
    let document = json!({
        "output": output.display().to_string(),
        "width_px": picture.width,
        "height_px": picture.height,
        "phase_kind": result.outcome.estimator,
    });
    console.finish(&document, &format!("figure: {}", output.display()));
    Ok(Ending::Done)
}
