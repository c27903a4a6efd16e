//! The one thread that computes: it owns the sessions and does what the desk hands out.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use ssb_core::{Control, Evaluator};
use ssb_io::result::Trial;
use ssb_io::{OpenOptions, Region};

use super::desk::{Desk, Order, Step, TabId, Task, Work};
use super::drawing::Drawing;
use super::fitting::{self, Watched, trial};
use super::message::FitRequest;
use super::prepare::{Place, Prepared};
use super::saving::{Folder, LastFit};
use super::session_document::{self, Beginning};
use crate::{Acquisition, AcquisitionOptions, Error, Source, open};

/// The data and how they are read anew when the disk changes.
pub struct Setup {
    pub source: Source,
    pub options: AcquisitionOptions,
    pub place: Place,
    pub folder: Folder,
    pub beginning: Beginning,
}

/// The state of the compute thread.
pub struct Compute {
    desk: Arc<Desk>,
    setup: Setup,
    prepared: Prepared,
    last_fit: Option<LastFit>,
}

impl Compute {
    /// Takes over a prepared data set and publishes it.
    pub fn new(desk: Arc<Desk>, setup: Setup, prepared: Prepared) -> Self {
        let trials: Vec<Value> = setup.beginning.trials.iter().map(told).collect();
        let compute = Self {
            desk,
            setup,
            prepared,
            last_fit: None,
        };
        compute.publish();
        compute
            .desk
            .publish(|standing, pages| standing.set_trials(trials, pages));
        compute
    }

    fn publish(&self) {
        let (document, pictures) = session_document::of(&self.setup, &self.prepared);
        self.desk
            .publish(|standing, pages| standing.set_session(document, pictures, pages));
    }

    /// Works until the desk closes.
    pub fn run(mut self) {
        loop {
            match self.desk.next() {
                Step::Close => return,
                Step::Draw(task) => self.draw(&task),
                Step::Carry(tab, order) => {
                    if let Err(e) = self.carry(tab, order)
                        && !e.is_cancelled()
                    {
                        let document = json!({"kind": "error", "message": e.to_string()});
                        self.desk.tell(tab, &document);
                    }
                }
            }
        }
    }

    /// Runs work on both evaluators.
    fn drawing<T>(
        &self,
        work: impl FnOnce(&mut Drawing<'_>, &mut dyn Evaluator) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut full = self.prepared.session.evaluator()?;
        let mut quick = match &self.prepared.quick {
            Some(quick) => Some(quick.evaluator()?),
            None => None,
        };
        let mut drawing = Drawing {
            desk: &self.desk,
            quick: quick.as_mut().map(|q| &mut ***q as &mut dyn Evaluator),
            pixel_step_a: self.prepared.session.geometry().scan_step_a,
        };
        work(&mut drawing, &mut **full)
    }

    fn draw(&self, task: &Task) {
        let drawn = self.drawing(|drawing, evaluator| {
            drawing.draw(task, evaluator);
            Ok(())
        });
        if let Err(e) = drawn {
            self.desk.advance(task, None);
            let document = json!({"kind": "error", "id": task.id, "message": e.to_string()});
            self.desk.tell(task.tab, &document);
        }
    }

    fn carry(&mut self, tab: TabId, order: Order) -> Result<(), Error> {
        match order {
            Order::Fit(request, control) => {
                let outcome = self.fit(&request, &control);
                self.desk.fit_ended();
                let state = match outcome {
                    Ok(state) => state,
                    Err(e) if e.is_cancelled() => json!({"kind": "fit", "state": "cancelled"}),
                    Err(e) => {
                        json!({"kind": "fit", "state": "failed", "message": e.to_string()})
                    }
                };
                self.desk
                    .publish(|standing, pages| standing.set_fit(state, pages));
                Ok(())
            }
            Order::Disk {
                center_px,
                radius_px,
            } => {
                let mut options = self.setup.options.clone();
                options.disk.center_px = Some(center_px);
                options.disk.radius_px = Some(radius_px);
                let source = self.setup.source.clone();
                self.take(source, options)
            }
            Order::Part(part) => {
                let part = part.map(|p| within(p, self.setup.source.options().region));
                let opened = OpenOptions {
                    region: part,
                    ..self.setup.source.options().clone()
                };
                let source = open(self.setup.source.path(), &opened);
                let options = self.setup.options.clone();
                source.and_then(|source| self.take(source, options))
            }
            Order::Save(request) => {
                let saved = self.setup.folder.save(
                    &request,
                    &self.prepared,
                    self.last_fit.as_ref(),
                    &self.setup.place,
                    self.desk.closing(),
                )?;
                self.desk.tell(tab, &saved);
                Ok(())
            }
        }
    }

    /// Gathers and prepares anew; the old session stays where that fails.
    fn take(&mut self, source: Source, options: AcquisitionOptions) -> Result<(), Error> {
        let outcome = self.prepare(&source, &options);
        let prepared = match outcome {
            Ok(prepared) => prepared,
            Err(e) => {
                self.desk.tell_all(&json!({"kind": "ready"}));
                return Err(e);
            }
        };
        self.setup.source = source;
        self.setup.options = options;
        self.setup.beginning.of_result = false;
        self.prepared = prepared;
        self.last_fit = None;
        self.publish();
        Ok(())
    }

    fn prepare(&self, source: &Source, options: &AcquisitionOptions) -> Result<Prepared, Error> {
        let control = {
            let desk = Arc::downgrade(&self.desk);
            Control::watched(move |p| {
                if let Some(desk) = desk.upgrade() {
                    desk.tell_all(&json!({
                        "kind": "progress", "task": p.task, "done": p.done, "total": p.total,
                    }));
                }
            })
        };
        let place = &self.setup.place;
        self.desk.interruptible(Work::Gather, control, |control| {
            let acquisition = Acquisition::gather(source, options, control)?;
            // Later evaluations have switches of their own.
            Prepared::new(acquisition, place, control)
        })
    }

    fn fit(&mut self, request: &FitRequest, control: &Control) -> Result<Value, Error> {
        let options = fitting::options(request)?;
        self.desk.publish(|standing, pages| {
            standing.set_trials(Vec::new(), pages);
            standing.set_fit(json!({"kind": "fit", "state": "running"}), pages);
        });
        let since = Instant::now();
        let fit = self.drawing(|drawing, evaluator| {
            let mut watched = Watched {
                inner: evaluator,
                drawing,
            };
            self.prepared
                .session
                .fit_on(&mut watched, &options, control)
        })?;
        let seconds = since.elapsed().as_secs_f64();
        let trials: Vec<Value> = fit
            .trials
            .iter()
            .map(|t| trial(&t.candidate, t.loss, t.degenerate_fraction, &t.method))
            .collect();
        self.desk
            .publish(|standing, pages| standing.set_trials(trials, pages));
        let state = json!({
            "kind": "fit",
            "state": if fit.cancelled { "cancelled" } else { "done" },
            "best": fit.best,
            "loss": fit.loss,
            "agreement": fit.agreement,
            "evaluations": fit.evaluations,
            "column_sign": fit.column_sign,
            "warnings": fit.warnings,
            "seconds": seconds,
        });
        self.setup.beginning.fitted = Some(fit.best.clone());
        self.last_fit = Some(LastFit {
            fit,
            options,
            seconds,
        });
        Ok(state)
    }
}

/// A trial of a result file as the pages are told it.
fn told(t: &Trial) -> Value {
    trial(&t.candidate, t.loss, t.degenerate_fraction, &t.method)
}

/// A part of a region in the coordinates of the whole scan.
fn within(part: Region, region: Option<Region>) -> Region {
    let [row, col] = region.map_or([0, 0], |r| [r.rows[0], r.cols[0]]);
    Region {
        rows: part.rows.map(|r| r.saturating_add(row)),
        cols: part.cols.map(|c| c.saturating_add(col)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_of_a_region_lies_within_it() {
        let outer: Region = "10:50,20:64".parse().unwrap();
        let inner: Region = "1:9,2:8".parse().unwrap();
        assert_eq!(within(inner, Some(outer)).to_string(), "11:19,22:28");
        assert_eq!(within(inner, None), inner);
    }
}
