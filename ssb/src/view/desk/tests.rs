//! Who is served when, and what is cancelled.

use super::*;

fn task(tab: TabId, id: u64, dragging: bool) -> Task {
    Task {
        tab,
        id,
        candidate: Candidate::default(),
        planes: vec![Plane::Phase],
        dragging,
        stage: Stage::Preview,
    }
}

fn drawn(desk: &Desk) -> (TabId, u64, Stage) {
    match desk.next() {
        Step::Draw(task) => (task.tab, task.id, task.stage),
        _ => panic!("something else came first"),
    }
}

#[test]
fn the_newest_wish_wins_and_pages_take_turns() {
    let desk = Desk::default();
    let boxes = [Arc::<Outbox>::default(), Arc::default()];
    let [a, b] = [0, 1].map(|i| desk.join(&boxes[i]));
    for id in 1..=50 {
        desk.want(task(a, id, true));
    }
    desk.want(task(b, 7, false));
    let first = drawn(&desk);
    assert_eq!(first, (a, 50, Stage::Preview));
    assert_eq!(drawn(&desk), (b, 7, Stage::Preview));
    let mut old = task(a, 49, true);
    desk.advance(&old, None);
    assert_eq!(
        drawn(&desk),
        (a, 50, Stage::Preview),
        "only its own wish ends"
    );
    old.id = 50;
    desk.advance(&old, None);
    desk.advance(&task(b, 7, false), Some(Stage::Loss));
    assert_eq!(drawn(&desk), (b, 7, Stage::Loss));
    desk.leave(b);
    assert!(desk.waiting_task().is_none());
}

#[test]
fn a_newer_wish_cancels_what_can_be_taken_up_again() {
    let desk = Desk::default();
    let tab = desk.join(&Arc::default());
    for work in [Work::Picture, Work::FitStep, Work::Gather] {
        let seen = desk.interruptible(work, Control::default(), |control| {
            desk.want(task(tab, 1, true));
            Ok::<_, Error>(control.is_cancelled())
        });
        assert_eq!(seen.unwrap(), work != Work::Gather, "{work:?}");
        // It does not even begin while a frame of a drag waits.
        let begun = desk.interruptible(work, Control::default(), |_| Ok::<_, Error>(()));
        assert_eq!(begun.is_err(), work != Work::Gather, "{work:?}");
        desk.advance(&task(tab, 1, true), None);
    }
}

#[test]
fn one_fit_at_a_time_and_it_can_be_stopped_before_it_begins() {
    let desk = Desk::default();
    let tab = desk.join(&Arc::default());
    let fit = || {
        let request = FitRequest {
            method: "tpe".into(),
            candidate: Candidate::default(),
            search: Vec::new(),
            trials: 1,
            seed: 1,
        };
        Order::Fit(request, Control::default())
    };
    desk.order(tab, fit()).unwrap();
    assert!(
        desk.order(tab, fit())
            .unwrap_err()
            .contains("stop it first")
    );
    desk.cancel_fit();
    let Step::Carry(_, Order::Fit(_, control)) = desk.next() else {
        panic!("the fit comes next");
    };
    assert!(control.is_cancelled());
    desk.fit_ended();
    let disk = |radius_px| Order::Disk {
        center_px: [1.0; 2],
        radius_px,
    };
    desk.order(tab, disk(1.0)).unwrap();
    desk.order(tab, disk(2.0)).unwrap();
    let Step::Carry(_, Order::Disk { radius_px, .. }) = desk.next() else {
        panic!("the disk comes next");
    };
    assert_eq!(radius_px, 2.0);
    desk.close();
    assert!(matches!(desk.next(), Step::Close));
}
