//! A fit beside the steering: between its evaluations the pages are served, and every evaluation is told.

use serde_json::{Value, json};
use ssb_core::ndarray::Array2;
use ssb_core::num_complex::Complex64;
use ssb_core::{Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, MeanPhase, TERMS};

use super::desk::Work;
use super::drawing::Drawing;
use super::message::{FitRequest, Range};
use crate::{DEGENERATE_LIMIT, Fit, FitOptions, Quantity, SearchRange, Setting};

/// What a steered candidate has beyond its aberrations: a fit keeps it.
#[derive(Debug, Clone)]
pub struct Held {
    tilt_mrad: [f64; 2],
    depth_spread_nm: f64,
    rotation_deg: Option<f64>,
}

impl Held {
    /// Rotation, tilt and depth of the candidate that a fit starts at.
    pub fn of(candidate: &Candidate) -> Self {
        Self {
            tilt_mrad: candidate.tilt_mrad,
            depth_spread_nm: candidate.depth_spread_nm,
            rotation_deg: candidate.rotation_deg,
        }
    }

    /// The candidate with what is held, where the search gave it nothing of its own.
    fn with(&self, candidate: &Candidate) -> Candidate {
        let mut held = candidate.clone();
        held.rotation_deg = held.rotation_deg.or(self.rotation_deg);
        if held.tilt_mrad == [0.0; 2] && held.depth_spread_nm == 0.0 {
            held.tilt_mrad = self.tilt_mrad;
            held.depth_spread_nm = self.depth_spread_nm;
        }
        held
    }

    /// Writes what was held into what the search returned.
    pub fn complete(&self, fit: &mut Fit) {
        fit.best = self.with(&fit.best);
        fit.start = self.with(&fit.start);
        for trial in &mut fit.trials {
            trial.candidate = self.with(&trial.candidate);
        }
    }
}

/// A trial as the pages are told it.
pub fn trial(candidate: &Candidate, loss: f64, degenerate_fraction: f64, method: &str) -> Value {
    json!({
        "candidate": candidate,
        "loss": loss,
        "eligible": degenerate_fraction <= DEGENERATE_LIMIT,
        "method": method,
    })
}

/// The evaluator of a fit: what the search asks is evaluated when no page waits.
pub struct Watched<'a, 'b> {
    pub inner: &'a mut dyn Evaluator,
    pub drawing: &'a mut Drawing<'b>,
    pub held: &'a Held,
}

impl Watched<'_, '_> {
    fn held(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        candidates.iter().map(|c| self.held.with(c)).collect()
    }

    /// Serves the pages, then works; work that a page interrupted begins again.
    fn between<T>(
        &mut self,
        fit: &Control,
        work: impl Fn(&mut dyn Evaluator, &Control) -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            while let Some(task) = self.drawing.desk.waiting_task() {
                self.drawing.draw(&task, self.inner);
                fit.check()?;
            }
            fit.check()?;
            let inner = &mut *self.inner;
            let outcome =
                self.drawing
                    .desk
                    .interruptible(Work::FitStep, Control::default(), |control| {
                        work(inner, control)
                    });
            match outcome {
                Ok(done) => return Ok(done),
                Err(e) if e.is_cancelled() => {}
                Err(crate::Error::Core(e)) => return Err(e),
                Err(e) => return Err(Error::Internal(e.to_string())),
            }
        }
    }
}

impl Evaluator for Watched<'_, '_> {
    fn info(&self) -> &EvaluatorInfo {
        self.inner.info()
    }

    fn evaluate(
        &mut self,
        list: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        let list = self.held(list);
        let found = self.between(control, |inner, control| inner.evaluate(&list, control))?;
        for (c, e) in list.iter().zip(&found) {
            let told = trial(c, e.loss, e.degenerate_fraction, "");
            self.drawing
                .desk
                .publish(|standing, pages| standing.add_trial(told, pages));
        }
        Ok(found)
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        let candidate = self.held.with(candidate);
        self.between(control, |inner, control| {
            inner.mean_phase(&candidate, control)
        })
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        let candidate = self.held.with(candidate);
        self.between(control, |inner, control| {
            inner.object(&candidate, upsample, control)
        })
    }

    fn agreements(&mut self, list: &[Candidate], control: &Control) -> Result<Vec<f64>, Error> {
        let list = self.held(list);
        self.between(control, |inner, control| inner.agreements(&list, control))
    }
}

fn search(ranges: &[Range]) -> Result<Vec<SearchRange>, crate::Error> {
    ranges
        .iter()
        .map(|r| format!("{}={}nm:{}nm", r.name, r.low_nm, r.high_nm).parse())
        .collect()
}

/// The fit that a page asks for: it starts at the shown candidate, and every term that is not searched
/// keeps its value.
///
/// # Errors
/// A range that cannot be read.
pub fn options(request: &FitRequest) -> Result<FitOptions, crate::Error> {
    let search = search(&request.search)?;
    let aberrations = &request.candidate.aberrations;
    let (mut start, mut fix) = (Vec::new(), Vec::new());
    for (index, term) in TERMS.iter().enumerate() {
        let magnitude = Quantity::magnitude(index);
        let searched = search.iter().any(|r| r.quantity == magnitude);
        let angle = (term.m > 0).then(|| Quantity::angle(index));
        let quantities = std::iter::once(magnitude).chain(angle);
        let settings = quantities.map(|quantity| Setting {
            quantity,
            value: quantity.get(aberrations),
        });
        if searched {
            start.extend(settings);
        } else if index < 2 || aberrations.get(index).magnitude_a != 0.0 {
            fix.extend(settings);
        }
    }
    Ok(FitOptions {
        trials: request.trials,
        seed: request.seed,
        search,
        start,
        fix,
        ..FitOptions::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_starts_at_what_is_shown_and_holds_the_rest() {
        let candidate: Candidate = serde_json::from_str(
            r#"{"C10_nm":7,"C12_nm":3,"phi12_rad":0.4,"C30_nm":900,"rotation_deg":-5,
                "tilt_mrad":[1,2],"depth_spread_nm":4}"#,
        )
        .unwrap();
        let request = FitRequest {
            search: vec![Range {
                name: "C10".into(),
                low_nm: -20.0,
                high_nm: 20.0,
            }],
            trials: 30,
            seed: 5,
            candidate: candidate.clone(),
        };
        let made = options(&request).unwrap();
        made.check().unwrap();
        let named = |list: &[Setting]| -> Vec<(String, f64)> {
            list.iter().map(|s| (s.quantity.key(), s.value)).collect()
        };
        assert_eq!(named(&made.start), [("C10_nm".into(), 7.0)]);
        let fixed = named(&made.fix);
        assert_eq!(fixed[0], ("C12_nm".into(), 3.0));
        assert_eq!(fixed[2], ("C30_nm".into(), 900.0));
        let held = Held::of(&candidate).with(&Candidate::thin(candidate.aberrations.clone()));
        assert_eq!(held, candidate);
        let bad = FitRequest {
            search: vec![Range {
                name: "C11".into(),
                low_nm: 0.0,
                high_nm: 1.0,
            }],
            ..request
        };
        assert!(options(&bad).unwrap_err().to_string().contains("C11"));
    }
}
