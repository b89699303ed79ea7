//! A client belongs to the runtime that it was connected on, whatever thread uses it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ::smol::block_on;
use mcpwire_driver::{ConnectOptions, CurrentRuntime, Error, ErrorKind, McpClient};
use mcpwire_tests::asynchronous::{Host, Threads};
use mcpwire_tests::{on_every_async_adapter, server, watched};

/// Servers that die on the probe are started again by the thread that opens the connection.
const HABITS: [&str; 3] = ["well-behaved", "well-behaved --modern", "dies-on-probe"];

fn a_thread_without_a_runtime_opens_the_connection<H: Host>() {
    for habit in HABITS {
        let server = server!(habit);
        let host = H::start();
        let client = host.enter(|| McpClient::<H::Runtime>::connect(&server.def)).expect("it starts");
        let user = thread::spawn(move || block_on(use_it(&client)));
        // A runtime without threads runs its tasks only while the program waits for it.
        host.block_on(::smol::unblock(|| user.join())).expect("it does not panic").expect("it works");
        server.assert_gone();
    }
}

fn a_thread_without_a_runtime_starts_the_server<H: Host>() {
    for habit in HABITS {
        let server = server!(habit);
        let host = H::start();
        let (runtime, def) = (host.enter(H::Runtime::current), server.def.clone());
        let user = thread::spawn(move || {
            let client = McpClient::<H::Runtime>::connect_on(runtime, &def, ConnectOptions::default())?;
            block_on(use_it(&client))
        });
        host.block_on(::smol::unblock(|| user.join())).expect("it does not panic").expect("it works");
        server.assert_gone();
    }
}

on_every_async_adapter!(a_thread_without_a_runtime_opens_the_connection, a_thread_without_a_runtime_starts_the_server);

#[test]
fn a_runtime_that_is_written_by_hand_is_enough() {
    watched(|| {
        for habit in HABITS {
            let server = server!(habit);
            let client = McpClient::<()>::connect_on(Arc::new(Threads), &server.def, ConnectOptions::default());
            block_on(use_it(&client.expect("it starts"))).expect("it works");
            server.assert_gone();
        }
    });
}

async fn use_it<R>(client: &McpClient<R>) -> Result<(), Error> {
    client.initialize().await?;
    client.call_tool("echo", ()).await?;
    let late = client.call_tool("ponder", ()).timeout(Duration::from_millis(50)).await;
    assert_eq!(late.expect_err("it has no answer").kind(), ErrorKind::Timeout);
    client.shutdown().await.map(drop)
}
