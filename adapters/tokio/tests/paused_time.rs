//! Tests that client, scripted server and program share tokio's paused time.

use std::time::Duration;

use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
use mcpwire_tokio::{ConnectOptions, ErrorKind, Tokio};
use serde_json::json;
use tokio::time::{Instant, sleep};

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
