//! Sends a hundred concurrent calls over one connection, each in its own task, and cancels a call.
//!
//! ```text
//! cargo run --example many_calls
//! ```

mod demo;

use std::error::Error;
use std::time::{Duration, Instant};

use mcpwire::tokio::{McpClient, with_client};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

const CALLS: usize = 100;

// One thread is enough: a call takes microseconds of CPU time.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Ends the server also after an error.
    with_client(&demo::server(), async |client| {
        all_at_once(client).await?;
        given_up(client).await
    })
    .await?
}

async fn all_at_once(client: &McpClient) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        // A call does not borrow the client, so its future can be spawned.
        calls.spawn(client.call_tool("slow", json!({"seconds": 0.5})).send());
    }
    // Responses may arrive in any order. Each task gets its own.
    while let Some(result) = calls.join_next().await {
        result??;
    }
    println!("{CALLS} calls of half a second each took {:.1} s together", begin.elapsed().as_secs_f64());
    Ok(())
}

async fn given_up(client: &McpClient) -> Result<(), Box<dyn Error>> {
    let call = client.call_tool("slow", json!({"seconds": 3600}));
    if timeout(Duration::from_millis(200), call).await.is_err() {
        // Dropping the future has cancelled the call on the server.
        println!("a call of an hour was given up; now {} calls are in flight", client.in_flight());
    }
    let result = client.call_tool("echo", json!({"message": "the connection goes on"})).await?;
    println!("{}", result.text());
    Ok(())
}
