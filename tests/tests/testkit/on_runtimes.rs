//! The testkit's server under real runtimes, in real time.

use std::time::Duration;

use mcpwire_driver::protocol::Notification;
use mcpwire_driver::{ConnectOptions, ErrorKind, McpClient};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, duplex};
use mcpwire_tests::asynchronous::{AsyncStd, Host, Smol, TokioCurrent, TokioMulti};
use mcpwire_tests::watched;
use serde_json::json;

fn a_scripted_server_serves<H: Host>() {
    watched(|| {
        let host = H::start();
        let server = ScriptedServer::new()
            .tool("echo", |args| args.member::<String>("message").unwrap_or_default())
            .tool("slow", |_| ScriptedResponse::new().wait(Duration::from_millis(200)).text("at last"))
            .tool("never", |_| ScriptedResponse::new());
        let (ours, theirs) = duplex(1024);
        host.block_on(async {
            H::spawn(server.serve::<H::Runtime>(theirs.reader, theirs.writer));
            let client = McpClient::<H::Runtime>::over(ours.reader, ours.writer, ConnectOptions::default());
            client.initialize().await.expect("it opens");
            let message = "x".repeat(100_000);
            let result = client.call_tool("echo", json!({"message": message})).await.expect("it is answered");
            assert_eq!(result.text().as_str(), message);
            let never = client.call_tool("never", json!({})).timeout(Duration::from_millis(50));
            assert_eq!(never.await.expect_err("it has no answer").kind(), ErrorKind::Timeout);
            let result = client.call_tool("slow", json!({})).await.expect("it is answered");
            assert_eq!(result.text().as_str(), "at last");
            let mut notifications = client.notifications();
            server.notify("notifications/tools/list_changed", ());
            assert_eq!(notifications.next().await, Some(Notification::ToolsChanged));
            client.shutdown().await.expect("it ends");
            while server.connections() > 0 {
                H::sleep(Duration::from_millis(1)).await;
            }
        });
        assert_eq!(server.cancellations().len(), 1);
    });
}

#[test]
fn tokio_current() {
    a_scripted_server_serves::<TokioCurrent>();
}

#[test]
fn tokio_multi() {
    a_scripted_server_serves::<TokioMulti>();
}

#[test]
fn smol() {
    a_scripted_server_serves::<Smol>();
}

#[test]
fn async_std() {
    a_scripted_server_serves::<AsyncStd>();
}

#[test]
fn a_client_of_a_real_runtime_lives_in_virtual_time() {
    async fn program(client: &mcpwire_tokio::McpClient) -> Result<String, mcpwire_tokio::Error> {
        Ok(client.call_tool("slow", json!({})).timeout(Duration::from_secs(7200)).await?.text().into_string())
    }
    let server = ScriptedServer::new()
        .tool("slow", |_| ScriptedResponse::new().wait(Duration::from_secs(3_000)).text("at last"));
    let kit = mcpwire_testkit::Testkit::<mcpwire_tokio::Tokio>::for_runtime(server);
    let told = kit.run(async |client| program(&client).await);
    assert_eq!(told.expect("it is answered"), "at last");
    assert_eq!(kit.time().elapsed(), Duration::from_secs(3_000));
}
