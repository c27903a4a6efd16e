//! `ssb show`: the figure of a result, one panel of it, or its trials as a list.

use serde_json::{Value, json};
use ssb_io::result::{ResultFile, Trial};

use super::args::ShowArgs;
use super::console::Console;
use super::values::TrialChoice;
use super::{Ending, writing};
use crate::Error;
use crate::figure::{Panel, render_figure, render_panel};
use crate::record::trial;
use crate::result_figure::figure_data;

fn chosen(trials: &[Trial], choice: TrialChoice) -> Vec<&Trial> {
    let mut list: Vec<&Trial> = trials.iter().collect();
    let n = match choice {
        TrialChoice::First(n) => n,
        TrialChoice::Last(n) => {
            list.reverse();
            n
        }
        TrialChoice::Best(n) => {
            list.retain(|t| t.eligible);
            list.sort_by(|a, b| a.loss.total_cmp(&b.loss));
            n
        }
    };
    list.truncate(n);
    list
}

pub fn run(a: &ShowArgs, console: &Console) -> Result<Ending, Error> {
    writing::check_kind(&a.output, writing::PNG)?;
    writing::check_not_data(&a.output, &[&a.result])?;
    let panel = a.panel.as_deref().map(str::parse::<Panel>).transpose()?;
    let result = ResultFile::read(&a.result)?;
    let data = figure_data(&result, None, a.log_pattern);
    let picture = match panel {
        Some(panel) => render_panel(&data, panel)?,
        None => render_figure(&data)?,
    };
    let listed: Vec<&Trial> = match a.trials {
        Some(_) if result.trials.is_empty() => {
            return Err(Error::request(
                "--trials",
                "the aberrations of this result were taken as given: it has no trials",
                "drop --trials",
            ));
        }
        Some(choice) => chosen(&result.trials, choice),
        None => Vec::new(),
    };
    writing::write_whole(&a.output, &picture.png()?)?;
    let mut lines: Vec<String> = listed
        .iter()
        .map(|t| {
            let [c10, c12] = [0, 1].map(|i| t.candidate.aberrations.get(i));
            format!(
                "{:>5} {:<12} loss {:.6e}  C10 {:>9.3} nm  C12 {:>8.3} nm  phi12 {:>8.4} rad",
                t.number,
                t.method,
                t.loss,
                c10.magnitude_a / 10.0,
                c12.magnitude_a / 10.0,
                c12.angle_rad
            )
        })
        .collect();
    lines.push(format!("figure: {}", a.output.display()));
    let mut document = json!({
        "output": a.output.display().to_string(),
        "width_px": picture.width,
        "height_px": picture.height,
        "phase_kind": result.outcome.estimator,
    });
    if a.trials.is_some() {
        document["trials"] = listed
            .iter()
            .map(|t| trial(t))
            .collect::<Vec<Value>>()
            .into();
    }
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}
