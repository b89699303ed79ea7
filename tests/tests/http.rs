//! Servers that are spoken to by HTTP, over real sockets: the same client, the same calls.

use mcpwire_driver::McpClient;
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::on_every_async_adapter;
use mcpwire_tests::web::{Web, said};

fn a_tool_is_called_by_http<H: Host>() {
    let web = Web::modern(|request, reply| {
        let text = request.body["params"]["arguments"]["message"].as_str().unwrap_or_default();
        reply.json(200, &request.answer(said(text)));
    });
    let host = H::start();
    host.block_on(async {
        let client = McpClient::<H::Runtime>::connect_and_initialize(&web.def()).await.unwrap();
        let arguments = serde_json::json!({"message": "hello"});
        assert_eq!(client.call_tool("echo", &arguments).await.unwrap().text().into_string(), "hello");
        client.shutdown().await.unwrap();
    });
    assert_eq!(web.requests().last().unwrap().header("mcp-name"), Some("echo"));
}

on_every_async_adapter!(a_tool_is_called_by_http);
