//! `ssb eval`: scores of given candidates, and nothing else.

use std::path::Path;

use serde_json::{Value, json};
use ssb_core::Candidate;
use ssb_core::check_upsampling;
use ssb_core::ndarray::{Array3, Axis};
use ssb_core::num_complex::Complex32;
use ssb_io::npy;

use super::args::EvalArgs;
use super::console::{Console, peak_rss_bytes};
use super::{Ending, opening, writing};
use crate::{Error, Session};

fn candidates(path: &Path, console: &Console) -> Result<Vec<Candidate>, Error> {
    let bad = |problem: String, action: &str| Error::Candidates {
        path: path.to_owned(),
        problem,
        action: action.into(),
    };
    let text = std::fs::read_to_string(path)
        .map_err(|e| bad(format!("cannot be read: {e}"), "check the path"))?;
    let list: Vec<Candidate> = serde_json::from_str(&text).map_err(|e| {
        bad(
            format!("not a list of candidates: {e}"),
            r#"write [{"C10_nm": 15, "C12_nm": 6, "phi12_rad": 0.5}]"#,
        )
    })?;
    if list.is_empty() {
        return Err(bad(
            "the list is empty".into(),
            "give at least one candidate",
        ));
    }
    for candidate in &list {
        opening::warn_of_angles(candidate, console);
    }
    Ok(list)
}

fn score(a: &EvalArgs, session: &Session, batch: &[Candidate]) -> Result<Vec<Value>, Error> {
    if a.objective == "agreement" {
        let values = session.agreements(batch)?;
        return Ok(values
            .into_iter()
            .map(|s| json!({"agreement": s}))
            .collect());
    }
    let values = session.evaluate(batch)?;
    Ok(values.into_iter().map(|e| json!(e)).collect())
}

fn save(a: &EvalArgs, session: &Session, list: &[Candidate]) -> Result<(), Error> {
    let [rows, cols] = session.geometry().scan_shape;
    if let Some(path) = &a.save_phase {
        let mut phases = Array3::<f64>::zeros((list.len(), rows, cols));
        for (mut slot, c) in phases.axis_iter_mut(Axis(0)).zip(list) {
            slot.assign(&session.mean_phase(c)?.phase_rad);
        }
        npy::write_f64(path, phases.view())?;
    }
    if let Some(path) = &a.save_object {
        let (rows, cols) = (rows * a.upsample, cols * a.upsample);
        let mut objects = Array3::<Complex32>::zeros((list.len(), rows, cols));
        for (mut slot, c) in objects.axis_iter_mut(Axis(0)).zip(list) {
            let object = session.object(c, a.upsample)?;
            slot.assign(&object.mapv(|z| Complex32::new(z.re as f32, z.im as f32)));
        }
        npy::write_complex64(path, objects.view())?;
    }
    Ok(())
}

pub fn run(a: &EvalArgs, console: &Console) -> Result<Ending, Error> {
    let list = candidates(&a.candidates, console)?;
    for path in a.save_phase.iter().chain(&a.save_object) {
        writing::check_place(path)?;
        writing::check_not_data(path, &[&a.data.file, &a.candidates])?;
    }
    check_upsampling(a.upsample)?;
    let opening_stage = console.stage("open");
    let source = opening::source(&a.data, console)?;
    let acquisition = opening::acquisition(
        &source,
        &a.data,
        a.backend.threads,
        a.backend.max_memory,
        console,
    )?;
    let open = opening_stage.end();
    let preparing = console.stage("prepare");
    let session = opening::session(acquisition, &a.backend, console)?;
    let prepare = preparing.end();
    let mut results = Vec::with_capacity(list.len());
    let evaluating = console.stage("evaluate");
    for batch in list.chunks(a.batch.unwrap_or(list.len())) {
        results.extend(score(a, &session, batch)?);
    }
    let evaluate = evaluating.end();
    save(a, &session, &list)?;
    let info = session.info();
    let mut document = json!({
        "backend": info.backend,
        "device": info.device,
        "software_adapter": info.software_adapter,
        "precision": info.precision,
        "threads": info.threads,
        "bf_pixels": info.bf_pixels,
        "bf_active": info.bf_active,
        "bf_center_px": session.disk().center_px,
        "bf_radius_px": session.disk().radius_px,
        "dc": info.dc,
        "results": results,
        "seconds": {"open": open, "prepare": prepare, "evaluate": evaluate},
        "peak_rss_bytes": peak_rss_bytes(),
        "warnings": session.warnings(),
    });
    if a.objective == "agreement" {
        document["band_per_A"] = json!([info.band.lo_per_a, info.band.hi_per_a]);
    }
    let text: Vec<String> = results.iter().map(Value::to_string).collect();
    console.finish(&document, &text.join("\n"));
    Ok(Ending::Done)
}
