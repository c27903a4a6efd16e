//! Pictures of a candidate: quick ones while it is dragged, then all pixels, then mean phase and loss.

use std::time::Instant;

use serde_json::{Value, json};
use ssb_core::ndarray::Array2;
use ssb_core::num_complex::Complex64;
use ssb_core::{Control, Evaluator};

use super::desk::{Desk, Stage, Task, Work};
use super::frame::{NamedPlane, frame, single};
use super::message::Plane;
use crate::figure::power_spectrum;
use crate::{DEGENERATE_LIMIT, Error};

/// Draws for the pages; `quick` stands in for dragging where the full session is too slow.
pub struct Drawing<'a> {
    pub desk: &'a Desk,
    pub quick: Option<&'a mut dyn Evaluator>,
    pub pixel_step_a: [f64; 2],
}

/// The planes of an object that a page shows; the phase always.
fn planes(task: &Task, object: &Array2<Complex64>, step_a: [f64; 2]) -> (Vec<NamedPlane>, Value) {
    let phase = object.mapv(|z| z.arg() as f32);
    let mut list = Vec::new();
    let mut frequency_step = Value::Null;
    if task.planes.contains(&Plane::Amplitude) {
        list.push(("amplitude", object.mapv(|z| z.norm() as f32)));
    }
    if task.planes.contains(&Plane::Spectrum) {
        let spectrum = power_spectrum(phase.view(), step_a);
        frequency_step = json!(spectrum.step_per_a);
        list.push(("spectrum", spectrum.log10_power));
    }
    list.push(("phase", phase));
    (list, frequency_step)
}

impl Drawing<'_> {
    /// Does the next stage of a task. What was cancelled stays to be done; what failed is told.
    pub fn draw(&mut self, task: &Task, evaluator: &mut dyn Evaluator) {
        let outcome = match task.stage {
            Stage::Preview => self.preview(task, evaluator),
            Stage::Full => self.full(task, evaluator),
            Stage::Loss => self.loss(task, evaluator),
        };
        match outcome {
            Ok(next) => self.desk.advance(task, next),
            Err(e) if e.is_cancelled() => {}
            Err(e) => {
                self.desk.advance(task, None);
                let document = json!({"kind": "error", "id": task.id, "message": e.to_string()});
                self.desk.tell(task.tab, &document);
            }
        }
    }

    fn send(
        &self,
        task: &Task,
        object: &Array2<Complex64>,
        on: &dyn Evaluator,
        all: usize,
        seconds: f64,
    ) {
        let (planes, frequency_step) = planes(task, object, self.pixel_step_a);
        let header = json!({
            "kind": "image",
            "id": task.id,
            "dragging": task.dragging,
            "bf_used": on.info().bf_pixels,
            "bf_pixels": all,
            "seconds": seconds,
            "spectrum_step_per_a": frequency_step,
        });
        self.desk.show(task, frame(header, &planes));
    }

    fn preview(
        &mut self,
        task: &Task,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Option<Stage>, Error> {
        let closing: Control = self.desk.closing().clone();
        let since = Instant::now();
        let all = evaluator.info().bf_pixels;
        let whole = self.quick.is_none();
        let on: &mut dyn Evaluator = match &mut self.quick {
            Some(quick) => &mut **quick,
            None => evaluator,
        };
        let object = on.object(&task.candidate, 1, &closing)?;
        let seconds = since.elapsed().as_secs_f64();
        let on: &dyn Evaluator = match &self.quick {
            Some(quick) => &**quick,
            None => evaluator,
        };
        self.send(task, &object, on, all, seconds);
        Ok(match (task.dragging, whole) {
            (true, _) => None,
            (false, true) => Some(Stage::Loss),
            (false, false) => Some(Stage::Full),
        })
    }

    fn full(&self, task: &Task, evaluator: &mut dyn Evaluator) -> Result<Option<Stage>, Error> {
        let since = Instant::now();
        let object = self
            .desk
            .interruptible(Work::Picture, Control::default(), |control| {
                evaluator.object(&task.candidate, 1, control)
            })?;
        let all = evaluator.info().bf_pixels;
        self.send(task, &object, evaluator, all, since.elapsed().as_secs_f64());
        Ok(Some(Stage::Loss))
    }

    fn loss(&self, task: &Task, evaluator: &mut dyn Evaluator) -> Result<Option<Stage>, Error> {
        let since = Instant::now();
        let mean = self
            .desk
            .interruptible(Work::Picture, Control::default(), |control| {
                evaluator.mean_phase(&task.candidate, control)
            })?;
        let pixels = evaluator.info().bf_pixels;
        if task.planes.contains(&Plane::MeanPhase) {
            let header = json!({
                "kind": "image", "id": task.id, "dragging": false, "bf_used": pixels,
                "bf_pixels": pixels, "seconds": since.elapsed().as_secs_f64(),
                "spectrum_step_per_a": null,
            });
            let planes = [("mean_phase", single(mean.phase_rad.view()))];
            self.desk.show(task, frame(header, &planes));
        }
        let e = mean.evaluation;
        self.desk.tell(
            task.tab,
            &json!({
                "kind": "loss",
                "id": task.id,
                "loss": e.loss,
                "degenerate_fraction": e.degenerate_fraction,
                "comparable": e.degenerate_fraction <= DEGENERATE_LIMIT,
                "bf_pixels": pixels,
                "seconds": since.elapsed().as_secs_f64(),
            }),
        );
        Ok(None)
    }
}
