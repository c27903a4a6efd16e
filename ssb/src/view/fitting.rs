//! A fit beside the steering: between its evaluations the pages are served, and every evaluation is told.

use serde_json::{Value, json};
use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{
    BandPoint, Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, MeanPhase, TERMS,
};

use super::desk::Work;
use super::drawing::Drawing;
use super::message::{FitRequest, Range};
use crate::{DEGENERATE_LIMIT, FitOptions, Quantity, SearchRange, Setting};

/// A trial as the pages are told it.
pub fn trial(candidate: &Candidate, loss: f64, degenerate_fraction: f64, method: &str) -> Value {
    json!({
        "candidate": candidate,
        "loss": loss,
        "eligible": loss.is_finite() && degenerate_fraction <= DEGENERATE_LIMIT,
        "method": method,
    })
}

/// The evaluator of a fit: what the search asks is evaluated when no page waits.
pub struct Watched<'a, 'b> {
    pub inner: &'a mut dyn Evaluator,
    pub drawing: &'a mut Drawing<'b>,
}

impl Watched<'_, '_> {
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
        let found = self.between(control, |inner, control| inner.evaluate(list, control))?;
        for (c, e) in list.iter().zip(&found) {
            let told = trial(c, e.loss, e.degenerate_fraction, "");
            self.drawing
                .desk
                .publish(|standing, pages| standing.add_trial(told, pages));
        }
        Ok(found)
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        self.between(control, |inner, control| {
            inner.mean_phase(candidate, control)
        })
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        self.between(control, |inner, control| {
            inner.object(candidate, upsample, control)
        })
    }

    fn agreements(&mut self, list: &[Candidate], control: &Control) -> Result<Vec<f64>, Error> {
        self.between(control, |inner, control| inner.agreements(list, control))
    }

    fn spectra(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        self.between(control, |inner, control| inner.spectra(points, control))
    }
}

fn search(ranges: &[Range]) -> Result<Vec<SearchRange>, crate::Error> {
    ranges
        .iter()
        .map(|r| {
            let (quantity, _) = Quantity::by_name(&r.name)?;
            let unit = quantity.unit();
            format!("{}={}{unit}:{}{unit}", r.name, r.low, r.high).parse()
        })
        .collect()
}

/// The fit that a page asks for: it starts at the shown candidate, and what is not searched keeps its
/// value.
///
/// # Errors
/// A range that cannot be read.
pub fn options(request: &FitRequest) -> Result<FitOptions, crate::Error> {
    let search = search(&request.search)?;
    let shown = &request.candidate;
    let (mut start, mut fix) = (Vec::new(), Vec::new());
    let mut settle = |quantity: Quantity, searched: bool, is_set: bool| {
        let setting = Setting {
            quantity,
            value: quantity.get(shown),
        };
        match (searched, is_set) {
            (true, true) => start.push(setting),
            (false, true) => fix.push(setting),
            (_, false) => {}
        }
    };
    let is_searched = |quantity: Quantity| search.iter().any(|r| r.quantity == quantity);
    for (index, term) in TERMS.iter().enumerate() {
        let searched = is_searched(Quantity::Magnitude(index));
        // C10 and C12 are held even at 0, which is then said in so many words.
        let is_set = searched || index < 2 || shown.aberrations.get(index).magnitude_a != 0.0;
        settle(Quantity::Magnitude(index), searched, is_set);
        if term.m > 0 {
            settle(Quantity::Angle(index), searched, is_set);
        }
    }
    let rotated = shown.rotation_deg.is_some();
    settle(Quantity::Rotation, is_searched(Quantity::Rotation), rotated);
    let thick = shown.tilt_mrad != [0.0; 2] || shown.depth_spread_nm != 0.0;
    for quantity in [Quantity::TiltRow, Quantity::TiltCol, Quantity::DepthSpread] {
        settle(quantity, is_searched(quantity), thick);
    }
    Ok(FitOptions {
        method: request.method.clone(),
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
        let range = |name: &str, low, high| Range {
            name: name.into(),
            low,
            high,
        };
        let request = FitRequest {
            method: "tpe".into(),
            search: vec![range("C10", -20.0, 20.0), range("rotation", -9.0, 2.0)],
            trials: 30,
            seed: 5,
            candidate: candidate.clone(),
        };
        let made = options(&request).unwrap();
        made.check().unwrap();
        let named = |list: &[Setting]| -> Vec<(String, f64)> {
            list.iter().map(|s| (s.quantity.key(), s.value)).collect()
        };
        let expected = [("C10_nm".into(), 7.0), ("rotation_deg".into(), -5.0)];
        assert_eq!(named(&made.start), expected);
        let fixed = named(&made.fix);
        assert_eq!(fixed[0], ("C12_nm".into(), 3.0));
        assert_eq!(fixed[2], ("C30_nm".into(), 900.0));
        assert_eq!(fixed[5], ("depth_spread_nm".into(), 4.0));
        let bad = FitRequest {
            search: vec![range("C11", 0.0, 1.0)],
            ..request
        };
        assert!(options(&bad).unwrap_err().to_string().contains("C11"));
    }
}
