//! Servers in memory: on a duplex of tokio, and in its paused time.

use std::time::Duration;

use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
use mcpwire_tokio::{Compat, ConnectOptions, ErrorKind, McpClient, Tokio};
use serde_json::json;
use tokio::time::{Instant, sleep};

#[tokio::test]
async fn a_duplex_of_tokio_carries_a_connection_and_its_end() {
    let (ours, theirs) = tokio::io::duplex(1024);
    let server = ScriptedServer::new()
        .server_info("inside", "1")
        .tool("echo", |arguments| arguments.member::<String>("message").unwrap_or_default());
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(server.serve::<Tokio>(Compat(reader), Compat(writer)));
    let (reader, writer) = tokio::io::split(ours);
    let client = McpClient::over(Compat(reader), Compat(writer), ConnectOptions::default().name("plugins"));
    assert_eq!(client.initialize().await.expect("it opens").name(), "inside");
    // More than the stream holds, in both directions.
    let big = "x".repeat(100_000);
    let result = client.call_tool("echo", json!({"message": big})).await.expect("it answers");
    assert_eq!(result.text().as_str(), big);
    client.shutdown().await.expect("it ends");
    serving.await.expect("it does not panic, and its stream has ended");
    let error = client.call_tool("echo", ()).await.expect_err("it has ended");
    assert_eq!((error.kind(), error.server()), (ErrorKind::Closed, "plugins"), "{error}");
}

// Client, scripted server and program share the paused time of tokio.

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn sleeps_answers_and_timeouts_share_one_virtual_time() {
    let start = Instant::now();
    let server = ScriptedServer::new()
        .tool("slow", |_| ScriptedResponse::new().wait(HOUR).text("at last"))
        .tool("never", |_| ScriptedResponse::new());
    let client = server.connect::<Tokio>(ConnectOptions::default());
    client.initialize().await.unwrap();
    sleep(HOUR).await;
    let result = client.call_tool("slow", json!({})).timeout(2 * HOUR).await.unwrap();
    assert_eq!(result.text().as_str(), "at last");
    let error = client.call_tool("never", json!({})).timeout(HOUR).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let passed = start.elapsed();
    assert!(passed >= 3 * HOUR && passed < 3 * HOUR + Duration::from_secs(1), "{passed:?}");
    client.shutdown().await.unwrap();
    assert_eq!(server.cancellations().len(), 1);
}
