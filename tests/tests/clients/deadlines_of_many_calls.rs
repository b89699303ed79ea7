//! A connection has one timer, and its calls have many deadlines. Each call ends by its own. The server says nothing at all,
//! so that nothing but the timer is there to end one.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use mcpwire_driver::ErrorKind;
use mcpwire_tests::asynchronous::{Async, Host, all, begun};
use mcpwire_tests::{on_every_async_adapter, server};

/// How much later a deadline may be noticed, on a machine that has other things to do.
const LATE: Duration = Duration::from_millis(500);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The deadline of a call that was answered has passed meanwhile.
fn after_a_rest<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        for timeout in [ms(300), ms(200)] {
            client.call_tool("tally", ()).timeout(timeout).await.expect("it answers");
            H::sleep(timeout + ms(20)).await;
            let begin = Instant::now();
            let error = client.call_tool("wait", ()).timeout(ms(100)).await.unwrap_err();
            let took = begin.elapsed();
            assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
            assert!(took >= ms(100) && took < ms(100) + LATE, "it took {took:?}");
        }
    });
}

fn a_short_one_behind_a_long_one<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        let mut long = client.call_tool("wait", ()).timeout(Duration::from_secs(20)).into_future();
        assert!(begun(&mut long).await.is_none());
        let begin = Instant::now();
        let error = client.call_tool("wait", ()).timeout(ms(100)).await.unwrap_err();
        let took = begin.elapsed();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(took < ms(100) + LATE, "it took {took:?}");
    });
}

fn many_at_once<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        // In an order that is not that of their ends.
        let calls = (0..100).map(async |number: u64| {
            let timeout = ms(50 + (number * 37 % 100) * 3);
            let begin = Instant::now();
            let error = client.call_tool("wait", ()).timeout(timeout).await.unwrap_err();
            let took = begin.elapsed();
            assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
            assert!(took >= timeout && took < timeout + LATE, "it took {took:?} in place of {timeout:?}");
        });
        all(calls).await;
        assert_eq!(client.in_flight(), 0);
        client.call_tool("echo", ()).await.expect("the connection goes on");
    });
}

on_every_async_adapter!(after_a_rest, a_short_one_behind_a_long_one, many_at_once);
