//! What waits to be sent to one page: in order, except that a newer frame of a drag replaces an older one.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tungstenite::Message;

/// A page that leaves this many messages unread is let go.
const MOST_WAITING: usize = 2048;

#[derive(Default)]
struct Waiting {
    messages: VecDeque<(Message, bool)>,
    closed: bool,
}

/// The messages that wait for one page.
#[derive(Default)]
pub struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Outbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // A queue is whole after every step.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, message: Message, replaceable: bool) {
        let mut waiting = self.waiting();
        if let Some(last) = waiting
            .messages
            .back_mut()
            .filter(|last| replaceable && last.1)
        {
            last.0 = message;
        } else if waiting.messages.len() < MOST_WAITING {
            waiting.messages.push_back((message, replaceable));
        } else {
            waiting.closed = true;
        }
        self.changed.notify_one();
    }

    /// Sends a document.
    pub fn tell(&self, document: &Value) {
        self.put(Message::text(document.to_string()), false);
    }

    /// Sends arrays; `passing` ones give way to newer ones.
    pub fn show(&self, frame: Vec<u8>, passing: bool) {
        self.put(Message::binary(frame), passing);
    }

    /// Lets the page go.
    pub fn close(&self) {
        self.waiting().closed = true;
        self.changed.notify_one();
    }

    /// Waits for the next message; `None` once closed.
    pub fn next(&self) -> Option<Message> {
        let mut waiting = self.waiting();
        loop {
            if waiting.closed {
                return None;
            }
            if let Some((message, _)) = waiting.messages.pop_front() {
                return Some(message);
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_frames_replace_only_passing_ones() {
        let outbox = Outbox::default();
        outbox.show(vec![1], true);
        outbox.show(vec![2], true);
        outbox.show(vec![3], false);
        outbox.show(vec![4], true);
        let bytes: Vec<Vec<u8>> = (0..3)
            .map(|_| outbox.next().unwrap().into_data().to_vec())
            .collect();
        assert_eq!(bytes, [[2], [3], [4]]);
    }

    #[test]
    fn a_page_that_does_not_read_is_let_go() {
        let outbox = Outbox::default();
        for _ in 0..=MOST_WAITING {
            outbox.tell(&Value::Null);
        }
        assert!(outbox.next().is_none());
    }
}
