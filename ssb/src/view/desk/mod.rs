//! The desk between the pages and the one compute thread: what is wanted, what comes next, what can be
//! stopped.
//!
//! Every page has one wish, and a newer one replaces it, so that nothing queues up. Short work (a frame of
//! a drag) runs to its end; longer work (the full picture, the exact loss, a step of a fit) is cancelled
//! by a newer wish and taken up again when nothing else waits.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use ssb_core::{Candidate, Control};
use ssb_io::Region;

use super::message::{FitRequest, Plane, SaveRequest};
use super::outbox::Outbox;
use super::standing::Standing;
use crate::Error;

/// A page that is open.
pub type TabId = u64;

/// Orders that may wait.
const MOST_ORDERS: usize = 16;

/// How far a wish is fulfilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A picture in the time of a frame.
    Preview,
    /// The picture of all bright-field pixels.
    Full,
    /// Mean phase and exact loss.
    Loss,
}

/// What one page wants to see.
#[derive(Debug, Clone)]
pub struct Task {
    pub tab: TabId,
    pub id: u64,
    pub candidate: Candidate,
    pub planes: Vec<Plane>,
    /// More will follow at once.
    pub dragging: bool,
    pub stage: Stage,
}

/// Work that is done once, in order.
#[derive(Debug)]
pub enum Order {
    Fit(FitRequest, Control),
    Disk {
        center_px: [f64; 2],
        radius_px: f64,
    },
    /// A part of the pictures that are shown, or the whole scan.
    Part(Option<Region>),
    Save(SaveRequest),
}

/// What the compute thread does next.
pub enum Step {
    Draw(Task),
    Carry(TabId, Order),
    Close,
}

/// Work in flight that can be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A full picture or its loss.
    Picture,
    /// An evaluation of a fit.
    FitStep,
    /// Reading and preparing counts.
    Gather,
}

struct Tab {
    outbox: Arc<Outbox>,
    wish: Option<Task>,
}

#[derive(Default)]
struct Inner {
    tabs: BTreeMap<TabId, Tab>,
    opened: TabId,
    served: TabId,
    orders: VecDeque<(TabId, Order)>,
    in_flight: Option<(Work, Control)>,
    fit: Option<Control>,
    standing: Standing,
    closed: bool,
}

impl Inner {
    /// The wish to be served next: frames of drags first, pages in turn.
    fn task(&mut self) -> Option<Task> {
        for stage in [Stage::Preview, Stage::Full, Stage::Loss] {
            let of_stage = |tab: &Tab| tab.wish.as_ref().filter(|t| t.stage == stage).cloned();
            let later = self.tabs.range(self.served + 1..);
            let earlier = self.tabs.range(..=self.served);
            let found = later.chain(earlier).find_map(|(_, tab)| of_stage(tab));
            if let Some(task) = found {
                self.served = task.tab;
                return Some(task);
            }
        }
        None
    }

    fn waits(&self, stage: Option<Stage>) -> bool {
        let wishes = self.tabs.values().filter_map(|t| t.wish.as_ref());
        wishes
            .into_iter()
            .any(|w| stage.is_none_or(|s| w.stage == s))
    }

    fn interrupt(&self, kinds: &[Work]) {
        if let Some((work, control)) = &self.in_flight
            && kinds.contains(work)
        {
            control.cancel();
        }
    }
}

/// The desk.
#[derive(Default)]
pub struct Desk {
    inner: Mutex<Inner>,
    changed: Condvar,
    closing: Control,
}

impl Desk {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Every step leaves the desk whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page opened: it is told all that stands.
    pub fn join(&self, outbox: &Arc<Outbox>) -> TabId {
        let mut inner = self.inner();
        inner.opened += 1;
        let id = inner.opened;
        inner.standing.greet(outbox);
        let outbox = Arc::clone(outbox);
        inner.tabs.insert(id, Tab { outbox, wish: None });
        if inner.closed
            && let Some(tab) = inner.tabs.get(&id)
        {
            tab.outbox.close();
        }
        id
    }

    /// A page closed.
    pub fn leave(&self, tab: TabId) {
        if let Some(tab) = self.inner().tabs.remove(&tab) {
            tab.outbox.close();
        }
    }

    /// A page wants to see something else.
    pub fn want(&self, task: Task) {
        let mut inner = self.inner();
        if let Some(tab) = inner.tabs.get_mut(&task.tab) {
            tab.wish = Some(task);
            inner.interrupt(&[Work::Picture, Work::FitStep]);
            self.changed.notify_all();
        }
    }

    /// Takes an order, or says why not.
    ///
    /// # Errors
    /// A sentence for people.
    pub fn order(&self, tab: TabId, order: Order) -> Result<(), String> {
        let mut inner = self.inner();
        if inner.fit.is_some() {
            return Err("a fit is running; stop it first".into());
        }
        if inner.orders.len() >= MOST_ORDERS {
            return Err("too many orders wait; wait for the earlier ones".into());
        }
        match &order {
            Order::Fit(_, control) => inner.fit = Some(control.clone()),
            Order::Disk { .. } | Order::Part(_) => {
                inner
                    .orders
                    .retain(|(_, o)| !matches!(o, Order::Disk { .. } | Order::Part(_)));
                inner.interrupt(&[Work::Picture, Work::Gather]);
            }
            Order::Save(_) => {}
        }
        inner.orders.push_back((tab, order));
        self.changed.notify_all();
        Ok(())
    }

    /// Asks the fit to stop with its best.
    pub fn cancel_fit(&self) {
        let inner = self.inner();
        if let Some(control) = &inner.fit {
            control.cancel();
            inner.interrupt(&[Work::FitStep]);
        }
    }

    /// No fit runs any more.
    pub fn fit_ended(&self) {
        self.inner().fit = None;
    }

    /// Ends everything.
    pub fn close(&self) {
        let mut inner = self.inner();
        inner.closed = true;
        self.closing.cancel();
        if let Some(control) = &inner.fit {
            control.cancel();
        }
        inner.interrupt(&[Work::Picture, Work::FitStep, Work::Gather]);
        for tab in inner.tabs.values() {
            tab.outbox.close();
        }
        self.changed.notify_all();
    }

    /// A switch that only the end of the program flips.
    pub fn closing(&self) -> &Control {
        &self.closing
    }

    /// Waits for work.
    pub fn next(&self) -> Step {
        let mut inner = self.inner();
        loop {
            if inner.closed {
                return Step::Close;
            }
            if let Some((tab, order)) = inner.orders.pop_front() {
                return Step::Carry(tab, order);
            }
            if let Some(task) = inner.task() {
                return Step::Draw(task);
            }
            inner = self
                .changed
                .wait(inner)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A wish that waits, without waiting for one.
    pub fn waiting_task(&self) -> Option<Task> {
        self.inner().task()
    }

    /// Runs work that a newer wish may cancel; `control` is its switch, watched or not.
    ///
    /// # Errors
    /// Those of the work; cancelled when something more urgent waits.
    pub fn interruptible<T, E: Into<Error>>(
        &self,
        work: Work,
        control: Control,
        run: impl FnOnce(&Control) -> Result<T, E>,
    ) -> Result<T, Error> {
        {
            let mut inner = self.inner();
            let urgent = match work {
                Work::Picture => inner.waits(Some(Stage::Preview)),
                Work::FitStep => {
                    inner.waits(None) || inner.fit.as_ref().is_some_and(Control::is_cancelled)
                }
                Work::Gather => false,
            };
            if urgent || inner.closed {
                return Err(ssb_core::Error::Cancelled.into());
            }
            inner.in_flight = Some((work, control.clone()));
        }
        let outcome = run(&control).map_err(Into::into);
        self.inner().in_flight = None;
        outcome
    }

    /// A stage of a task is done; nothing happens when the page wants something else by now.
    pub fn advance(&self, task: &Task, next: Option<Stage>) {
        let mut inner = self.inner();
        if let Some(tab) = inner.tabs.get_mut(&task.tab)
            && let Some(wish) = tab.wish.as_mut().filter(|w| w.id == task.id)
        {
            match next {
                Some(stage) => wish.stage = stage,
                None => tab.wish = None,
            }
        }
    }

    /// Sends a document to one page.
    pub fn tell(&self, tab: TabId, document: &Value) {
        if let Some(tab) = self.inner().tabs.get(&tab) {
            tab.outbox.tell(document);
        }
    }

    /// Sends a document to every page.
    pub fn tell_all(&self, document: &Value) {
        for tab in self.inner().tabs.values() {
            tab.outbox.tell(document);
        }
    }

    /// Sends arrays to the page that asked.
    pub fn show(&self, task: &Task, frame: Vec<u8>) {
        if let Some(tab) = self.inner().tabs.get(&task.tab) {
            tab.outbox.show(frame, task.dragging);
        }
    }

    /// Changes what stands; every page is told the same.
    pub fn publish(&self, change: impl FnOnce(&mut Standing, &[&Outbox])) {
        let mut guard = self.inner();
        let inner = &mut *guard;
        let outboxes: Vec<&Outbox> = inner.tabs.values().map(|t| &*t.outbox).collect();
        change(&mut inner.standing, &outboxes);
    }
}
