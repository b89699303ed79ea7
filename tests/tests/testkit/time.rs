//! The testkit's virtual time: it passes when nothing else can happen, in order, and the same each time.

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_driver::{ConnectOptions, ErrorKind, McpClient};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit, VirtualTime, duplex};
use mcpwire_tests::watched;
use serde_json::json;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn sleepers_wake_in_order() {
    let time = VirtualTime::new();
    let woken = Arc::new(Mutex::new(Vec::new()));
    for (name, after) in [("c", 30), ("a", 10), ("d", 30), ("b", 20)] {
        let (sleep, clock, woken) = (time.sleep(secs(after)), time.clock(), Arc::clone(&woken));
        time.spawn(async move {
            sleep.await;
            woken.lock().unwrap().push((name, clock.now().since_origin()));
        });
    }
    time.advance(secs(25));
    assert_eq!(*woken.lock().unwrap(), [("a", secs(10)), ("b", secs(20))]);
    assert_eq!(time.elapsed(), secs(25));
    time.advance(secs(25));
    assert_eq!(woken.lock().unwrap()[2..], [("c", secs(30)), ("d", secs(30))]);
    assert_eq!(time.elapsed(), secs(50));
}

#[test]
fn time_stands_still_while_something_can_happen() {
    let time = VirtualTime::new();
    let sleep = time.sleep(secs(1));
    let mut polls = 0;
    let busy = poll_fn(|cx| {
        polls += 1;
        cx.waker().wake_by_ref();
        if polls == 1_000 { Poll::Ready(()) } else { Poll::Pending }
    });
    time.run(busy);
    assert_eq!(time.elapsed(), Duration::ZERO);
    drop(sleep);
}

#[test]
fn what_is_dropped_does_not_make_time_pass() {
    let time = VirtualTime::new();
    time.run(async {
        let mut given_up = Box::pin(time.sleep(secs(1_000)));
        poll_fn(|cx| {
            assert!(given_up.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        drop(given_up);
        time.sleep(secs(1)).await;
    });
    time.advance(secs(1));
    assert_eq!(time.elapsed(), secs(2));
}

#[test]
fn a_run_that_cannot_end_panics() {
    let time = VirtualTime::new();
    time.advance(secs(7));
    assert_panics(|| time.run(pending::<()>()), &["deadlock", "7s"]);
    assert_panics(|| time.advance(Duration::MAX), &["deadlock"]);
    // It is as good as before.
    time.advance(secs(1));
    assert_eq!(time.elapsed(), secs(8));
}

#[test]
fn tasks_that_wake_each_other_forever_panic() {
    let restless = poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    assert_panics(|| VirtualTime::new().run(restless), &["livelock"]);
}

#[test]
fn a_run_within_a_run_panics() {
    let time = VirtualTime::new();
    assert_panics(|| time.run(async { time.advance(secs(1)) }), &["`run` was called within `run`"]);
}

#[test]
fn what_a_future_leaves_behind_is_dropped_with_the_time() {
    let alive = Arc::new(());
    let time = VirtualTime::new();
    let held = Arc::clone(&alive);
    let sleep = time.sleep(secs(1));
    time.spawn(async move {
        sleep.await;
        drop(held);
    });
    time.run(async {});
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(time);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn nothing_of_a_kit_outlives_it() {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let server = ScriptedServer::new().tool("never", move |_| {
        let _ = &held;
        ScriptedResponse::new()
    });
    let kit = Testkit::new(server);
    let client = kit.connect();
    kit.time().run(client.initialize()).expect("it opens");
    let options = RequestOptions::new().timeout(secs(9));
    let params = CallToolParams { name: "never", arguments: &json!({}) };
    let pending = client.begin::<CallTool>(&params, &options).expect("it is sent");
    kit.time().advance(secs(1));
    drop(kit);
    assert!(!client.is_running());
    drop((pending, client));
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn a_program_that_is_given_its_runtime_can_be_given_this_one() {
    let (time, server) = (VirtualTime::new(), ScriptedServer::new());
    let (ours, theirs) = duplex(1024);
    time.spawn(server.serve_on(&*time.runtime(), theirs.reader, theirs.writer));
    let info = time.run(async {
        let client = McpClient::<VirtualTime>::over(ours.reader, ours.writer, ConnectOptions::default());
        client.initialize().await.cloned()
    });
    assert_eq!(info.expect("it opens").name(), "scripted");
    assert_eq!(server.connections(), 0, "the only client is gone");
}

#[test]
fn deadlines_pass_to_the_nanosecond() {
    let server = ScriptedServer::new()
        .tool("late", |_| ScriptedResponse::new().wait(secs(30)).text("too late"))
        .tool("busy", |_| {
            (0..1_000).fold(ScriptedResponse::new(), |answer, n| answer.wait(secs(9)).progress(n, 1_000))
        });
    let kit = Testkit::new(server);
    let begun = kit.time().clone();
    kit.run(async |client| {
        let nearly = Duration::from_nanos(29_999_999_999);
        let error = client.call_tool("late", json!({})).timeout(nearly).await.expect_err("it is late");
        assert_eq!((error.kind(), begun.elapsed()), (ErrorKind::Timeout, nearly));
        let call = client.call_tool("busy", json!({})).timeout(secs(10)).total_timeout(secs(95));
        let mut heard = 0;
        let error = call.on_progress(|_| heard += 1).await.expect_err("it never ends");
        assert_eq!((error.kind(), begun.elapsed(), heard), (ErrorKind::Timeout, nearly + secs(95), 10));
    });
    assert_eq!(kit.server().cancellations().len(), 2);
}

#[test]
fn the_same_happens_each_time() {
    fn day() -> Vec<String> {
        let server = ScriptedServer::new().latency(Duration::from_millis(3)).tool("tick", |_| {
            ScriptedResponse::new().wait(secs(4)).text("tock").notify("notifications/tools/list_changed", ())
        });
        let kit = Testkit::new(server).capacity(50);
        for begin in 0..5 {
            let client = kit.connect();
            let sleep = kit.time().sleep(secs(begin));
            kit.time().spawn(async move {
                client.initialize().await.expect("it opens");
                sleep.await;
                for _ in 0..20 {
                    drop(client.call_tool("tick", json!({})).timeout(secs(3 + begin)).await);
                }
            });
        }
        kit.time().advance(secs(24 * 3600));
        assert_eq!(kit.server().connections(), 0);
        kit.recorded().iter().map(|message| format!("{message:?}")).collect()
    }
    watched(|| {
        let first = day();
        assert!(first.len() > 100);
        assert_eq!(first, day());
    });
}

fn assert_panics<T>(f: impl FnOnce() -> T, words: &[&str]) {
    let panic = catch_unwind(AssertUnwindSafe(f)).err().expect("it panics");
    let text = panic
        .downcast_ref::<String>()
        .map_or_else(|| (*panic.downcast_ref::<&str>().expect("a panic has a text")).to_owned(), Clone::clone);
    for word in words {
        assert!(text.contains(word), "{text}");
    }
}
