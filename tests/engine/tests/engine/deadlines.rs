//! Deadlines pass at their time, to the millisecond, whatever else goes on.

use core::time::Duration;

use mcpwire_core::{CallError, CallTool, Config, Deadline, Event, Notification, RequestOptions, Ticket};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, legacy};

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn silent() -> Pair {
    Pair::open(Config::default(), legacy(|_, _| {}))
}

#[track_caller]
fn assert_timeout(pair: &mut Pair, ticket: Ticket<CallTool>, at: Duration, expected: (Duration, Deadline)) {
    assert_eq!(pair.ended_at(ticket), Some(at));
    let error = pair.error(ticket);
    let CallError::Timeout { after, deadline, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*after, *deadline), expected);
}

#[test]
fn an_answer_that_does_not_come() {
    let mut pair = silent();
    pair.pass(secs(100));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(Duration::from_millis(29_999));
    assert!(pair.engine.session().is_waiting(ticket.key()));
    pair.pass(Duration::from_millis(1));
    assert_timeout(&mut pair, ticket, secs(130), (secs(30), Deadline::Idle));
    assert_eq!((pair.engine.session().in_flight(), pair.engine.poll_timeout()), (0, None));
}

#[test]
fn the_server_is_told() {
    let mut pair = silent();
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(30));
    assert_eq!(pair.methods(), ["tools/call", "notifications/cancelled"]);
    assert_eq!(pair.sent[1].params()["requestId"], pair.sent[0].id().expect("a request"));
    assert_eq!(pair.sent[1].id(), None);
    assert!(pair.take(ticket).is_some());
}

#[test]
fn each_request_has_its_own() {
    let mut pair = silent();
    let long = pair.call("long", &RequestOptions::new().timeout(secs(7200))).expect("it is sent");
    let short = pair.call("short", &RequestOptions::new().timeout(secs(1))).expect("it is sent");
    let usual = pair.call("usual", &RequestOptions::new()).expect("it is sent");
    let total = pair.call("total", &RequestOptions::new().total_timeout(secs(2))).expect("it is sent");
    let ever = pair.call("ever", &RequestOptions::new().timeout(Duration::MAX)).expect("it is sent");
    pair.pass(secs(10_000));
    assert_timeout(&mut pair, short, secs(1), (secs(1), Deadline::Idle));
    assert_timeout(&mut pair, total, secs(2), (secs(2), Deadline::Total));
    assert_timeout(&mut pair, usual, secs(30), (secs(30), Deadline::Idle));
    assert_timeout(&mut pair, long, secs(7200), (secs(7200), Deadline::Idle));
    assert!(pair.engine.session().is_waiting(ever.key()), "for ever is long");
}

/// A server that reports progress every twenty seconds, and never answers.
fn reporting(sent: &Sent, peer: &mut Peer) {
    let Some(id) = sent.id() else { return };
    for n in 1..1000 {
        peer.say_after(
            secs(20 * n),
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{n}}}}}"#),
        );
    }
}

#[test]
fn progress_puts_off_the_idle_deadline_and_not_the_total_one() {
    let mut pair = Pair::open(Config::default(), legacy(reporting));
    let ticket = pair.call("busy", &RequestOptions::new().progress()).expect("it is sent");
    pair.pass(secs(3599));
    assert!(pair.engine.session().is_waiting(ticket.key()));
    let reports = pair.happened().into_iter().filter(
        |event| matches!(event, Event::Notification(Notification::Progress { key, .. }) if *key == ticket.key()),
    );
    assert_eq!(reports.count(), 179);
    pair.pass(secs(1));
    assert_timeout(&mut pair, ticket, secs(3600), (secs(3600), Deadline::Total));
}

#[test]
fn progress_that_was_not_asked_for_puts_off_nothing() {
    let mut pair = Pair::open(Config::default(), legacy(reporting));
    let ticket = pair.call("busy", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(100));
    assert_timeout(&mut pair, ticket, secs(30), (secs(30), Deadline::Idle));
    assert!(pair.events.is_empty());
}

#[test]
fn the_deadline_counts_from_the_last_progress() {
    let mut pair = Pair::open(
        Config::default(),
        legacy(|sent, peer| {
            let Some(id) = sent.id() else { return };
            peer.say_after(
                secs(29),
                format!(r#"{{"method":"notifications/progress","params":{{"progressToken":"{id}","progress":1}}}}"#),
            );
        }),
    );
    let ticket = pair.call("busy", &RequestOptions::new().progress()).expect("it is sent");
    pair.pass(secs(100));
    assert_timeout(&mut pair, ticket, secs(59), (secs(30), Deadline::Idle));
}

#[test]
fn a_deadline_fires_while_the_server_does_not_read() {
    let mut pair = silent();
    pair.stuck = true;
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(60));
    assert_timeout(&mut pair, ticket, secs(30), (secs(30), Deadline::Idle));
    pair.stuck = false;
    pair.drive();
    assert_eq!(pair.methods(), ["tools/call", "notifications/cancelled"], "the cancel was queued behind it");
}

#[test]
fn an_answer_in_time_leaves_no_timer() {
    let mut pair = Pair::open(
        Config::default(),
        legacy(|sent, peer| {
            peer.answer_after(Duration::from_millis(29_999), sent, "{}");
        }),
    );
    for _ in 0..100 {
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.pass(secs(30));
        assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
        assert_eq!(pair.engine.poll_timeout(), None);
    }
}

#[test]
fn being_woken_early_does_no_harm() {
    let mut pair = silent();
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    for _ in 0..1000 {
        pair.pass(Duration::from_millis(29));
        assert!(pair.engine.session().is_waiting(ticket.key()));
    }
    pair.pass(secs(1));
    assert_timeout(&mut pair, ticket, secs(30), (secs(30), Deadline::Idle));
}
