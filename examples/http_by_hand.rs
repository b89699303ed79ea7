//! Drives the HTTP engine without an adapter, as an adapter for another HTTP client would.
//!
//! ```text
//! cargo run --example http_by_hand
//! ```
//!
//! The HTTP client is a socket of the standard library, and runs one exchange at a time. A real client runs exchanges concurrently, reuses
//! connections, and wakes up at the engine's next deadline. The server is a thread of this program that responds once with JSON and
//! once with an event stream.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use mcpwire_core::http::{Command, Engine, Exchange, Failure, FailureKind, Settings};
use mcpwire_core::{
    CallTool, CallToolParams, CallToolResult, CloseReason, Config, Event, Json, Notification, RequestOptions, Ticket,
    Timestamp,
};

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || serve(&listener));

    println!("{}", greet(&format!("http://{address}/mcp"))?.text());
    Ok(())
}

/// Opens a connection and calls `greet`.
fn greet(uri: &str) -> Result<CallToolResult, Box<dyn Error>> {
    // The engine has no clock: the program passes the time, counted from any origin.
    let begin = Instant::now();
    let now = || Timestamp::from_origin(begin.elapsed());

    let mut settings = Settings::new(uri)?;
    settings.header("User-Agent", "http-by-hand/1.0")?;
    // Without the server's GET stream, which would need a second connection.
    settings.listen = false;
    let mut engine = Engine::new(Config::new("http-by-hand", "1.0"), settings);
    engine.calls().initialize(now())?;
    let mut ticket: Option<Ticket<CallTool>> = None;
    loop {
        // 1. Take the events, because handling them may queue requests.
        while let Some(event) = engine.poll_event() {
            match event {
                Event::Connected => {
                    let arguments = Json::parse(r#"{"name": "world"}"#)?;
                    let params = CallToolParams { name: "greet", arguments: &arguments };
                    let options = RequestOptions::new().progress();
                    ticket = Some(engine.calls().request::<CallTool>(&params, &options, now())?);
                }
                // The ticket knows the type of the reply.
                Event::Reply(reply) => return Ok(ticket.take().ok_or("no call was sent")?.decode(reply)?),
                Event::Notification(Notification::Progress { progress, .. }) => println!("… {}", progress.progress),
                Event::Closed(CloseReason::NotOpened(error)) => return Err(error.into()),
                other => eprintln!("{other:?}"),
            }
        }
        // 2. Run the next command. Aborts need no action, because only one exchange runs at a time.
        match engine.poll_exchange(now()) {
            Some(Command::Start(exchange)) => {
                if let Err(error) = run(&mut engine, &exchange, now) {
                    engine.failed(exchange.id, Failure::new(FailureKind::Broken, error.to_string()), now());
                }
            }
            Some(_) => {}
            // 3. Wait for the next deadline, and pass the time.
            None => {
                if let Some(deadline) = engine.poll_timeout() {
                    thread::sleep(deadline.duration_since(now()));
                }
                engine.handle_timeout(now());
            }
        }
    }
}

/// Sends one request, and passes the parts of the response to the engine.
fn run(engine: &mut Engine, exchange: &Exchange, now: impl Fn() -> Timestamp) -> Result<(), Box<dyn Error>> {
    let rest = exchange.uri.strip_prefix("http://").ok_or("this client knows no TLS")?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut stream = TcpStream::connect(host)?;

    let path = if path.is_empty() { "/" } else { path };
    let mut request = Vec::new();
    write!(request, "{} {path} HTTP/1.1\r\nHost: {host}\r\n", exchange.verb.as_str())?;
    for (name, value) in &exchange.headers {
        write!(request, "{name}: {value}\r\n")?;
    }
    write!(request, "Content-Length: {}\r\nConnection: close\r\n\r\n", exchange.body.len())?;
    request.extend_from_slice(&exchange.body);
    stream.write_all(&request)?;

    let mut stream = BufReader::new(stream);
    let status = line(&mut stream)?.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no status")?;
    let headers = headers(&mut stream)?;
    let header = |wanted: &str| {
        headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str())
    };
    engine.response(exchange.id, status, headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())), now());
    if header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        loop {
            let size = u64::from_str_radix(line(&mut stream)?.split(';').next().unwrap_or_default().trim(), 16)?;
            if size == 0 {
                break;
            }
            body(engine, exchange, &mut (&mut stream).take(size), &now)?;
            line(&mut stream)?;
        }
    } else {
        let length = header("content-length").map_or(Ok(u64::MAX), str::parse)?;
        body(engine, exchange, &mut stream.take(length), &now)?;
    }
    engine.ended(exchange.id, now());
    Ok(())
}

/// Passes the bytes of the body to the engine as they arrive, in pieces of any size.
fn body(
    engine: &mut Engine,
    exchange: &Exchange,
    from: &mut impl Read,
    now: impl Fn() -> Timestamp,
) -> Result<(), Box<dyn Error>> {
    let mut piece = [0; 4096];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(()),
            n => engine.body(exchange.id, &piece[..n], now()),
        }
    }
}

fn line(stream: &mut impl BufRead) -> Result<String, Box<dyn Error>> {
    let mut line = String::new();
    stream.take(16 << 10).read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err("the response is incomplete".into());
    }
    Ok(line.trim_end().to_owned())
}

fn headers(stream: &mut impl BufRead) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut headers = Vec::new();
    loop {
        let line = line(stream)?;
        match line.split_once(':') {
            Some((name, value)) if headers.len() < 100 => headers.push((name.to_owned(), value.trim().to_owned())),
            None if line.is_empty() => return Ok(headers),
            _ => return Err("invalid or too many headers".into()),
        }
    }
}

/// A server with one tool.
fn serve(listener: &TcpListener) {
    for stream in listener.incoming() {
        if let Err(error) = stream.map_err(Into::into).and_then(answer) {
            eprintln!("server: {error}");
        }
    }
}

fn answer(stream: TcpStream) -> Result<(), Box<dyn Error>> {
    let mut reader = BufReader::new(stream);
    line(&mut reader)?;
    let headers = headers(&mut reader)?;
    let header =
        |wanted: &str| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value);
    let length: u64 = header("content-length").ok_or("no length")?.parse()?;
    let mut request = String::new();
    (&mut reader).take(length).read_to_string(&mut request)?;
    let mut stream = reader.into_inner();

    // Modern requests repeat the method and other members in headers.
    let id = request.split_once("\"id\":").and_then(|(_, rest)| rest.split(',').next()).ok_or("no id")?;
    if header("mcp-method").is_some_and(|method| method == "server/discover") {
        let result = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let length = body.len();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")?;
        return Ok(());
    }
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":0.5}}}}"#
    );
    let result = r#"{"resultType":"complete","content":[{"type":"text","text":"Hello, world!"}]}"#;
    for message in [progress, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)] {
        let event = format!("data: {message}\n\n");
        write!(stream, "{:x}\r\n{event}\r\n", event.len())?;
        stream.flush()?;
    }
    write!(stream, "0\r\n\r\n")?;
    Ok(())
}
