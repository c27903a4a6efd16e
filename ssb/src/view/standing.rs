//! What every page is told when it opens: the session, its fixed pictures, and the fit.

use serde_json::{Value, json};

use super::outbox::Outbox;

/// What stands until it is replaced.
#[derive(Default)]
pub struct Standing {
    session: Value,
    pictures: Vec<u8>,
    trials: Vec<Value>,
    fit: Value,
}

fn all(trials: &[Value]) -> Value {
    json!({"kind": "trials", "from": 0, "trials": trials})
}

impl Standing {
    /// Tells a new page everything.
    pub fn greet(&self, page: &Outbox) {
        page.tell(&self.session);
        page.show(self.pictures.clone(), false);
        page.tell(&all(&self.trials));
        if !self.fit.is_null() {
            page.tell(&self.fit);
        }
    }

    /// A newly prepared session with its fixed pictures.
    pub fn set_session(&mut self, session: Value, pictures: Vec<u8>, pages: &[&Outbox]) {
        for page in pages {
            page.tell(&session);
            page.show(pictures.clone(), false);
        }
        (self.session, self.pictures) = (session, pictures);
    }

    /// One more trial; without `method`, as the fit names it only at its end.
    pub fn add_trial(&mut self, trial: Value, pages: &[&Outbox]) {
        let one = json!({"kind": "trials", "from": self.trials.len(), "trials": [trial]});
        for page in pages {
            page.tell(&one);
        }
        self.trials.push(trial);
    }

    /// All trials anew.
    pub fn set_trials(&mut self, trials: Vec<Value>, pages: &[&Outbox]) {
        self.trials = trials;
        let list = all(&self.trials);
        for page in pages {
            page.tell(&list);
        }
    }

    /// What the fit does or came to.
    pub fn set_fit(&mut self, fit: Value, pages: &[&Outbox]) {
        for page in pages {
            page.tell(&fit);
        }
        self.fit = fit;
    }
}
