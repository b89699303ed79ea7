//! A call that nobody waits for any more is cancelled: the server is told, and the connection goes on.

use std::future::IntoFuture;
use std::time::Duration;

use ::smol::future::zip;
use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_driver::{ErrorKind, McpClient};
use mcpwire_tests::asynchronous::{Async, Host, all, begun};
use mcpwire_tests::{on_every_async_adapter, server};
use serde_json::json;

fn a_call_that_was_never_polled_was_never_sent<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        drop(client.call_tool("wait", ()));
        drop(client.call_tool("wait", ()).into_future());
        assert_eq!(tally(&client).await, "0 waits, 0 cancelled");
    });
}

fn a_call_that_was_sent_is_cancelled<H: Host>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("gathers {era}"));
        server.open::<Async<H>>().run(async |client| {
            let mut call = client.call_tool("wait", ()).into_future();
            assert!(begun(&mut call).await.is_none());
            assert_eq!(tally(&client).await, "1 waits, 0 cancelled");
            drop(call);
            assert_eq!(tally(&client).await, "1 waits, 1 cancelled");

            let pending = client.begin::<CallTool>(&no_arguments("wait"), &RequestOptions::new()).expect("it is sent");
            assert_eq!(tally(&client).await, "2 waits, 1 cancelled");
            pending.cancel("no longer needed");
            assert_eq!(tally(&client).await, "2 waits, 2 cancelled");
            assert_eq!(client.in_flight(), 0);
        });
    }
}

/// It was answered before it was dropped: there is nothing left to cancel.
fn a_call_that_was_answered_is_not_cancelled<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        let wait = client.begin::<CallTool>(&no_arguments("wait"), &RequestOptions::new()).expect("it is sent");
        client.call_tool("answer", ()).await.expect("it comes after the others");
        assert_eq!(client.in_flight(), 0);
        let sent = client.stats();
        drop(wait);
        assert_eq!(client.stats(), sent);
        assert_eq!(tally(&client).await, "1 waits, 0 cancelled");
    });
}

fn a_call_that_timed_out_is_cancelled_once<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        let call = client.call_tool("wait", ()).timeout(Duration::from_millis(50));
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Timeout);
        assert_eq!(tally(&client).await, "1 waits, 1 cancelled");
    });
}

fn tasks_drop_half_of_a_thousand<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        let calls = (0..1_000).map(|number| {
            let client = client.clone();
            async move {
                let message = json!({"message": number.to_string()});
                let mut call = client.call_tool("wait", message).into_future();
                if number % 2 == 0 {
                    assert!(begun(&mut call).await.is_none());
                } else {
                    assert_eq!(call.await.expect("it is answered").text().to_string(), number.to_string());
                }
            }
        });
        let answer = client.call_tool("answer", json!({"waits": 1_000, "cancelled": 500}));
        let (_, answered) = zip(all(calls), answer.into_future()).await;
        answered.expect("all come");
        assert_eq!(tally(&client).await, "1000 waits, 500 cancelled");
        assert_eq!(client.in_flight(), 0);
    });
}

on_every_async_adapter!(
    a_call_that_was_never_polled_was_never_sent,
    a_call_that_was_sent_is_cancelled,
    a_call_that_was_answered_is_not_cancelled,
    a_call_that_timed_out_is_cancelled_once,
    tasks_drop_half_of_a_thousand,
);

async fn tally<R>(client: &McpClient<R>) -> String {
    client.call_tool("tally", ()).await.expect("it counts").text().to_string()
}

fn no_arguments(name: &str) -> CallToolParams<'_, ()> {
    CallToolParams { name, arguments: &() }
}
