//! A client is shared: by tasks, and by threads that are not the runtime's.

use ::smol::{block_on, channel, unblock};
use mcpwire_driver::McpClient;
use mcpwire_tests::asynchronous::{Async, Host, all};
use mcpwire_tests::{on_every_async_adapter, server};
use serde_json::json;

const MANY: usize = 1_000;
const THREADS: usize = 4;

fn tasks_call_at_once<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        let (tell, told) = channel::unbounded();
        for number in 0..MANY {
            let (client, tell) = (client.clone(), tell.clone());
            H::spawn(async move {
                let text = wait(&client, number).await;
                tell.send((number, text)).await.expect("the test listens");
            });
        }
        client.call_tool("answer", json!({"waits": MANY})).await.expect("all come");
        for _ in 0..MANY {
            let (number, text) = told.recv().await.expect("each of them tells");
            assert_eq!(text, number.to_string());
        }
        assert_eq!(client.in_flight(), 0);
    });
}

fn threads_without_the_runtime_call_at_once<H: Host>() {
    let server = server!("gathers");
    server.open::<Async<H>>().run(async |client| {
        let threads = (0..THREADS).map(|thread| {
            let client = client.clone();
            unblock(move || block_on(calls_of(thread, &client)))
        });
        let threads: Vec<_> = threads.collect();
        client.call_tool("answer", json!({"waits": MANY})).await.expect("all come");
        for texts in all(threads).await {
            for (number, text) in texts {
                assert_eq!(text, number.to_string());
            }
        }
        assert_eq!(client.in_flight(), 0);
    });
}

/// What waits for room is not only the runtime's own tasks.
fn a_thread_without_the_runtime_fills_the_pipe<H: Host>() {
    let server = server!("well-behaved");
    server.open::<Async<H>>().run(async |client| {
        let client = client.clone();
        let message = "x".repeat(1 << 20);
        let call = move || block_on(async { client.call_tool("echo", json!({"message": message})).await });
        let result = unblock(call).await.expect("it is answered");
        assert_eq!(result.text().to_string().len(), 1 << 20);
    });
}

on_every_async_adapter!(
    tasks_call_at_once,
    threads_without_the_runtime_call_at_once,
    a_thread_without_the_runtime_fills_the_pipe,
);

/// As many calls as fall to one thread, at once.
async fn calls_of<R>(thread: usize, client: &McpClient<R>) -> Vec<(usize, String)> {
    let calls = (thread..MANY).step_by(THREADS).map(async |number| (number, wait(client, number).await));
    all(calls).await
}

async fn wait<R>(client: &McpClient<R>, number: usize) -> String {
    let result = client.call_tool("wait", json!({"message": number.to_string()})).await;
    result.expect("it is answered").text().to_string()
}
