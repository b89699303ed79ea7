//! What the server tells comes in the order in which it was told, to whoever listens, and a listener that does not listen
//! is in nobody's way.

use std::future::IntoFuture;

use mcpwire_driver::ErrorKind;
use mcpwire_driver::protocol::Notification;
use mcpwire_tests::asynchronous::{Async, Host, all};
use mcpwire_tests::{on_every_async_adapter, server};
use serde_json::json;

/// As many as may wait for their listener.
const KEPT: usize = 1_024;

fn each_listener_hears_all_of_them_in_order<H: Host>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("floods-notifications 500 {era}"));
        server.open::<Async<H>>().run(async |client| {
            let mut listeners = [client.notifications(), client.notifications()];
            drop(client.notifications());
            client.call_tool("echo", ()).await.expect("it answers");
            assert!(client.notifications().try_next().is_none(), "who comes late has missed them");
            for listener in &mut listeners {
                for number in 1..=500 {
                    assert_eq!(log_of(listener.next().await), format!("message {number}"));
                }
                assert!(listener.try_next().is_none());
                assert_eq!(listener.dropped(), 0);
            }
        });
    }
}

fn a_listener_is_woken<H: Host>() {
    let server = server!("floods-notifications 100");
    server.open::<Async<H>>().run(async |client| {
        let mut listener = client.notifications();
        let (tell, told) = ::smol::channel::bounded(1);
        H::spawn(async move {
            for number in 1..=100 {
                assert_eq!(log_of(listener.next().await), format!("message {number}"));
            }
            tell.send(()).await.expect("the test listens");
        });
        client.call_tool("echo", ()).await.expect("it answers");
        told.recv().await.expect("all of them are heard");
    });
}

/// The oldest go first. That a list has changed is kept.
fn a_hundred_thousand_that_nobody_takes_cost_little<H: Host>() {
    const MANY: usize = 100_000;
    let server = server!(&format!("floods-notifications {MANY}"));
    server.open::<Async<H>>().run(async |client| {
        let mut listener = client.notifications();
        let result = client.call_tool("change", ()).await.expect("the answer comes all the same");
        assert_eq!(result.text().as_str(), "changed");

        let dropped = usize::try_from(listener.dropped()).expect("they can be counted");
        let mut kept = Vec::new();
        while let Some(notification) = listener.try_next() {
            kept.push(notification);
        }
        assert!(kept.len() <= KEPT, "{} are kept", kept.len());
        assert_eq!(kept.len() + dropped, MANY + 1, "those that are not kept are counted");
        let mut kept = kept.into_iter();
        assert_eq!(kept.next(), Some(Notification::ToolsChanged));
        for (notification, number) in kept.zip(dropped + 1..) {
            assert_eq!(log_of(Some(notification)), format!("message {number}"));
        }
    });
}

fn answers_come_although_nobody_listens<H: Host>() {
    let server = server!("floods-notifications 500");
    server.open::<Async<H>>().run(async |client| {
        let listener = client.notifications();
        let calls =
            (0..10).map(|number| client.call_tool("echo", json!({"message": number.to_string()})).into_future());
        for (number, outcome) in all(calls).await.into_iter().enumerate() {
            assert_eq!(outcome.expect("it answers").text().to_string(), number.to_string());
        }
        assert!(usize::try_from(listener.dropped()).expect("they can be counted") >= 5_000 - KEPT);
    });
}

fn progress_goes_to_its_own_call<H: Host>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("floods-notifications 50 {era}"));
        server.open::<Async<H>>().run(async |client| {
            let calls = (0..20).map(async |_| {
                let mut seen = Vec::new();
                let call = client.call_tool("echo", ()).on_progress(|progress| seen.push(progress.progress.as_f64()));
                call.await.expect("it answers");
                seen
            });
            for seen in all(calls).await {
                assert_eq!(seen, (1..=50).map(f64::from).collect::<Vec<_>>());
            }
        });
    }
}

fn they_end_with_the_server<H: Host>() {
    let server = server!("floods-notifications 10");
    server.open::<Async<H>>().run(async |client| {
        let mut listener = client.notifications();
        client.call_tool("echo", ()).await.expect("it answers");
        server.kill(client.pid().expect("there is a process"));
        for number in 1..=10 {
            assert_eq!(log_of(listener.next().await), format!("message {number}"));
        }
        assert!(listener.next().await.is_none());
        assert!(client.notifications().next().await.is_none(), "there is nothing more to hear");
        let error = client.call_tool("echo", ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.to_string().contains("SIGKILL"), "{error}");
    });
}

on_every_async_adapter!(
    each_listener_hears_all_of_them_in_order,
    a_listener_is_woken,
    a_hundred_thousand_that_nobody_takes_cost_little,
    answers_come_although_nobody_listens,
    progress_goes_to_its_own_call,
    they_end_with_the_server,
);

fn log_of(notification: Option<Notification>) -> String {
    match notification {
        Some(Notification::Log(message)) => message.text(),
        other => panic!("it is no log message: {other:?}"),
    }
}
