//! A connection has one timer, and its calls have many deadlines. Each call ends by its own. The server says nothing at all,
//! so that nothing but the timer is there to end one.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use mcpwire_driver::{ErrorKind, McpClient};
use mcpwire_tests::asynchronous::{Async, Host, all, begun};
use mcpwire_tests::{Server, WATCHDOG, on_every_async_adapter, server};

/// A deadline that no call may have waited for: the watchdog would have ended the test.
const LATE: Duration = WATCHDOG.saturating_mul(5);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A server for which nothing sets the timer to a time before [`LATE`] but the calls of a test.
fn patient() -> Server {
    server!("gathers").configured(|config| {
        (config.probe_timeout, config.connect_timeout, config.request_timeout) = (LATE, LATE, LATE);
    })
}

/// The deadline of a call that was answered has passed meanwhile.
fn after_a_rest<H: Host>() {
    let server = patient();
    server.open::<Async<H>>().run(async |client| {
        for timeout in [ms(300), ms(200)] {
            client.call_tool("tally", ()).timeout(timeout).await.expect("it answers");
            H::sleep(timeout + ms(20)).await;
            assert_ends_by_itself(&client, ms(100)).await;
        }
    });
}

fn a_short_one_behind_a_long_one<H: Host>() {
    let server = patient();
    server.open::<Async<H>>().run(async |client| {
        let mut long = client.call_tool("wait", ()).timeout(LATE).into_future();
        assert!(begun(&mut long).await.is_none());
        assert_ends_by_itself(&client, ms(100)).await;
        assert!(begun(&mut long).await.is_none(), "the long one goes on");
    });
}

fn many_at_once<H: Host>() {
    let server = patient();
    server.open::<Async<H>>().run(async |client| {
        let mut long = client.call_tool("wait", ()).timeout(LATE).into_future();
        assert!(begun(&mut long).await.is_none());
        // In an order that is not that of their ends.
        let calls = (0..100).map(|number: u64| assert_ends_by_itself(&client, ms(50 + (number * 37 % 100) * 3)));
        all(calls).await;
        assert_eq!(client.in_flight(), 1, "the long one goes on");
        drop(long);
        client.call_tool("echo", ()).await.expect("the connection goes on");
    });
}

/// The error names the call's own timeout, which has passed. How soon after it the call ends is told in simulated time.
async fn assert_ends_by_itself<R>(client: &McpClient<R>, timeout: Duration) {
    let begin = Instant::now();
    let error = client.call_tool("wait", ()).timeout(timeout).await.unwrap_err();
    let took = begin.elapsed();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(error.to_string().contains(&format!("after {} ms", timeout.as_millis())), "{error}");
    assert!(took >= timeout, "it took {took:?} in place of {timeout:?}");
}

on_every_async_adapter!(after_a_rest, a_short_one_behind_a_long_one, many_at_once);
