//! What a server asks for in the middle of a call is answered by the embedder.

use std::marker::PhantomData;
use std::time::Duration;

use mcpwire_driver::protocol::{Json, RpcError, ServerRequest};
use mcpwire_driver::{ConnectOptions, HandlerContext, McpClient, RequestHandler};
use mcpwire_tests::asynchronous::{AsyncStd, Host, Smol, TokioCurrent, TokioMulti};
use mcpwire_tests::{server, watched};
use serde_json::json;

const ANSWERED: &str = "ping: result; roots/list: result; vendor/never-heard-of: error -32601";

#[test]
fn blocking() {
    watched(|| {
        let server = server!("asks");
        let options =
            ConnectOptions::new(server.config.clone()).answer(["roots/list"], async |_, context: HandlerContext| {
                Ok(Json::parse(format!(r#"{{"roots":[],"to":"{}"}}"#, context.method())).unwrap())
            });
        let mut client = mcpwire_blocking::McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        assert_eq!(client.call_tool("ask", json!({})).send().expect("it answers").text().to_string(), ANSWERED);
        client.shutdown().expect("it ends");
    });
}

/// Answers after a while, from what it has.
struct Thoughtful<H>(Json, PhantomData<fn() -> H>);

impl<H: Host> RequestHandler for Thoughtful<H> {
    async fn handle(&self, request: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        H::sleep(Duration::from_millis(1)).await;
        assert_eq!(request.method, "roots/list");
        Ok(self.0.clone())
    }
}

fn answers<H: Host>() {
    let server = server!("asks");
    let host = H::start();
    let answer = Thoughtful::<H>(Json::parse(r#"{"roots":[]}"#).unwrap(), PhantomData);
    let options = ConnectOptions::new(server.config.clone()).answer(["roots/list"], answer);
    let client = host.enter(|| McpClient::<H::Runtime>::connect_with(&server.def, options)).expect("it starts");
    let text = host.block_on(async {
        client.initialize().await.expect("it answers");
        let result = client.call_tool("ask", json!({})).await.expect("it answers");
        client.shutdown().await.expect("it ends");
        result.text().to_string()
    });
    assert_eq!(text, ANSWERED);
}

#[test]
fn tokio_current() {
    watched(answers::<TokioCurrent>);
}

#[test]
fn tokio_multi() {
    watched(answers::<TokioMulti>);
}

#[test]
fn smol() {
    watched(answers::<Smol>);
}

#[test]
fn async_std() {
    watched(answers::<AsyncStd>);
}
