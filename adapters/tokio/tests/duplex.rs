//! A duplex of tokio carries a connection and its end.

use mcpwire_testkit::ScriptedServer;
use mcpwire_tokio::{Compat, ConnectOptions, ErrorKind, McpClient, Tokio};
use serde_json::json;

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
