//! A server over a WebSocket, on tokio with `tokio-tungstenite`.
//!
//! ```text
//! cargo run --example websocket
//! ```
//!
//! WebSocket is not a transport of the specification, so client and server must agree on it. Many servers expect the
//! subprotocol `mcp`, and one JSON-RPC message in each text frame. The server here does too; it is in the same program.

mod small_server;

use std::error::Error;
use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use mcpwire::ConnectOptions;
use mcpwire::tokio::McpClient;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{self, ClientRequestBuilder, Message, Utf8Bytes};
use tokio_tungstenite::{accept_hdr_async, connect_async};

type BoxError = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(serve(listener));

    let client = connect(address).await?;
    client.initialize().await?;
    println!("{}", client.call_tool("reverse", json!({"text": "stressed"})).await?.text());

    // This sends a close frame.
    client.shutdown().await?;
    server.await??;
    Ok(())
}

pub(crate) async fn connect(address: SocketAddr) -> Result<McpClient, BoxError> {
    let request = ClientRequestBuilder::new(format!("ws://{address}").parse()?).with_sub_protocol("mcp");
    let (socket, _) = connect_async(request).await?;
    let (sender, receiver) = socket.split();
    let options = ConnectOptions::default().name("small");
    Ok(McpClient::over_messages(receiver.filter_map(text), sender, options))
}

/// Returns the text of a message. `None` for pings and pongs, and for a close frame, after which the stream ends.
async fn text(message: Result<Message, tungstenite::Error>) -> Option<Result<Utf8Bytes, BoxError>> {
    match message {
        Ok(Message::Text(text)) => Some(Ok(text)),
        Ok(Message::Binary(_)) => Some(Err("the server sent a binary frame".into())),
        Ok(_) => None,
        Err(error) => Some(Err(error.into())),
    }
}

async fn serve(listener: TcpListener) -> Result<(), BoxError> {
    let (stream, _) = listener.accept().await?;
    let mut socket = accept_hdr_async(stream, choose_protocol).await?;
    while let Some(message) = socket.next().await {
        if let Message::Text(text) = message?
            && let Some(answer) = small_server::answer(&text)
        {
            socket.send(answer.into()).await?;
        }
    }
    Ok(())
}

#[allow(clippy::result_large_err, clippy::unnecessary_wraps, reason = "tungstenite calls it")]
fn choose_protocol(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    const PROTOCOL: &str = "sec-websocket-protocol";
    if request.headers().get(PROTOCOL).is_some_and(|protocol| protocol == "mcp") {
        response.headers_mut().insert(PROTOCOL, HeaderValue::from_static("mcp"));
    }
    Ok(response)
}
