//! A server over a WebSocket, without a runtime, with `tungstenite`.
//!
//! ```text
//! cargo run --example websocket_blocking
//! ```
//!
//! WebSocket is not a transport of the specification: see the example `websocket`.

mod small_server;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mcpwire::ConnectOptions;
use mcpwire::blocking::{McpClient, MessageSender};
use serde_json::json;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::HeaderValue;
use tungstenite::protocol::Role;
use tungstenite::{ClientRequestBuilder, Message, WebSocket};

type BoxError = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let server = thread::spawn(move || serve(&listener));

    let mut client = connect(address)?;
    client.initialize()?;
    println!("{}", client.call_tool("reverse", json!({"text": "stressed"})).send()?.text());

    // This sends a close frame.
    client.shutdown()?;
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

pub(crate) fn connect(address: SocketAddr) -> Result<McpClient, BoxError> {
    let request = ClientRequestBuilder::new(format!("ws://{address}").parse()?).with_sub_protocol("mcp");
    let half = Half { stream: TcpStream::connect(address)?, writing: Arc::default() };
    let other_half = half.try_clone()?;
    let (mut receiver, _) = tungstenite::client(request, half)?;
    let sender = Sender(WebSocket::from_raw_socket(other_half, Role::Client, None));
    let options = ConnectOptions::default().name("small");
    Ok(McpClient::over_messages(move || receive(&mut receiver), sender, options)?)
}

/// A half of the socket: one thread receives, another sends.
struct Half {
    stream: TcpStream,
    /// The receiving half answers pings, so both halves write.
    writing: Arc<Mutex<()>>,
}

impl Half {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Half { stream: self.stream.try_clone()?, writing: Arc::clone(&self.writing) })
    }
}

impl Read for Half {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buf)
    }
}

impl Write for Half {
    /// Writes everything, because `tungstenite` passes whole frames, and no frame of the other half may be among them.
    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.write_all(frames)?;
        Ok(frames.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Sender(WebSocket<Half>);

impl MessageSender for Sender {
    fn send(&mut self, message: String) -> io::Result<()> {
        self.0.send(message.into()).map_err(io::Error::other)
    }

    fn close(&mut self) {
        // A server that has gone needs no close frame.
        let _ = self.0.close(None).and_then(|()| self.0.flush());
    }
}

fn receive(socket: &mut WebSocket<Half>) -> io::Result<Option<String>> {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => return Ok(Some(text.to_string())),
            Ok(Message::Binary(_)) => return Err(io::Error::other("the server sent a binary frame")),
            // Pings, which are answered already, and a close frame.
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        }
    }
}

fn serve(listener: &TcpListener) -> Result<(), BoxError> {
    let (stream, _) = listener.accept()?;
    let mut socket = tungstenite::accept_hdr(stream, choose_protocol).map_err(|error| error.to_string())?;
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                if let Some(answer) = small_server::answer(&text) {
                    socket.send(answer.into())?;
                }
            }
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

#[allow(clippy::result_large_err, clippy::unnecessary_wraps, reason = "tungstenite calls it")]
fn choose_protocol(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    const PROTOCOL: &str = "sec-websocket-protocol";
    if request.headers().get(PROTOCOL).is_some_and(|protocol| protocol == "mcp") {
        response.headers_mut().insert(PROTOCOL, HeaderValue::from_static("mcp"));
    }
    Ok(response)
}
