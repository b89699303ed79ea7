//! Ten common programs, on async-std.
//!
//! ```text
//! cargo run -p mcpwire --example ten_async_std
//! ```
//!
//! `examples/ten` has the same programs for each client. They differ in `await`, the import and `mut`, and in how `many_calls`
//! waits for a result.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpwire::async_std::open;
use mcpwire::http::{HttpOptions, TokenError};
use mcpwire::types::{ElicitForm, ElicitResult, printable};
use mcpwire::{Error, ErrorKind, HandlerContext, McpServerDef, Notification, RpcError};
use serde::Deserialize;

#[path = "../demo/mod.rs"]
mod demo;
mod http_server;

use http_server::HttpServer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    async_std::task::block_on(run())
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let def = demo::server();
    connect(&def).await?;
    call(&def).await?;
    progress(&def).await?;
    structured(&def).await?;
    resources(&def).await?;
    elicitation(&def).await?;
    notifications(&def).await?;
    many_calls(&def).await?;
    errors(&def).await?;
    let server = HttpServer::start(&def)?;
    http(&server.url).await?;
    Ok(())
}

/// Connects to a server, and lists its tools.
async fn connect(def: &McpServerDef) -> Result<(), Error> {
    // Starts the server, and negotiates the protocol version.
    let client = open(def).await?;
    if let Some(server) = client.server_info() {
        println!("{}, MCP {}", printable(server.name()), server.protocol_version);
    }
    for tool in &client.list_tools().await? {
        println!("  {}: {}", printable(&tool.name), printable(tool.description.as_deref().unwrap_or_default()));
    }
    // Ends the server step by step. A client that is dropped kills it.
    client.shutdown().await?;
    Ok(())
}

/// Calls a tool. Arguments are pairs, `json!`, or anything that serde writes as an object.
async fn call(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    let result = client.call_tool("echo", [("message", "hello")]).send().await?;
    println!("{}", result.text());

    // A tool that ran and failed has a result. `Err` is a call without a result.
    let result = client.call_tool("fail", ()).send().await?;
    if result.is_error {
        println!("the tool failed: {}", result.text());
    }
    client.shutdown().await?;
    Ok(())
}

/// Shows the progress of a call, and limits its time.
async fn progress(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    // Each progress notification restarts the timeout, and never the total timeout.
    let result = client
        .call_tool("slow", [("seconds", 0.5)])
        .timeout(Duration::from_secs(10))
        .total_timeout(Duration::from_secs(60))
        .on_progress(|progress| println!("{} of {:?}", progress.progress, progress.total))
        .send()
        .await?;
    println!("{}", result.text());

    // A call that times out is cancelled on the server.
    let result = client.call_tool("slow", [("seconds", 60)]).timeout(Duration::from_millis(100)).send().await;
    if let Err(error) = result {
        println!("{error}");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
    client.shutdown().await?;
    Ok(())
}

#[derive(Deserialize)]
struct Weather {
    temperature: i32,
    conditions: String,
}

/// Decodes the structured content of a result into a type.
async fn structured(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    // A tool that fails, and content that does not fit the type, are errors here.
    let weather: Weather = client.call_tool("weather", [("city", "Lisbon")]).structured().await?;
    println!("{} °C, {}", weather.temperature, weather.conditions);
    client.shutdown().await?;
    Ok(())
}

/// Reads a resource, and gets a prompt.
async fn resources(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    let capabilities = client.capabilities().cloned().unwrap_or_default();
    if capabilities.resources.is_some() {
        let resources = client.list_resources().await?;
        for resource in resources.items.iter().take(1) {
            let result = client.read_resource(&resource.uri).await?;
            for contents in &result.contents.items {
                // A resource is a text, or bytes in base64.
                println!("{}: {}", resource.uri, printable(contents.text.as_deref().unwrap_or("binary")));
            }
        }
    }
    if capabilities.prompts.is_some() {
        let prompt = client.get_prompt("greeting", [("name", "Ada")]).await?;
        for message in &prompt.messages.items {
            println!("{:?}: {}", message.role, printable(message.content.as_text().unwrap_or_default()));
        }
    }
    client.shutdown().await?;
    Ok(())
}

/// Answers a server that asks the user for input during a call.
async fn elicitation(def: &McpServerDef) -> Result<(), Error> {
    // The handler also declares to the server that the client supports elicitation.
    let client = open(def).on_elicitation(ask).await?;
    println!("{}", client.call_tool("greet", ()).send().await?.text());
    client.shutdown().await?;
    Ok(())
}

/// Handlers are `async` in every client. A real one shows the form to the user.
async fn ask(form: ElicitForm, context: HandlerContext) -> Result<ElicitResult, RpcError> {
    println!("{} asks: {}", context.server(), printable(&form.message));
    // Omitted fields take their defaults. An answer that does not fit the form is not sent.
    Ok(ElicitResult::accept(&[("first_name", "Ada")])?)
}

/// Receives notifications, and lists the tools again when the server has changed them.
async fn notifications(def: &McpServerDef) -> Result<(), Error> {
    let has_changed = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&has_changed);
    let client = open(def)
        .on_notification(move |notification| match notification {
            Notification::ToolsChanged => flag.store(true, Ordering::Relaxed),
            Notification::Log(message) => println!("{}: {}", message.level, printable(&message.text())),
            _ => {}
        })
        .await?;
    client.call_tool("echo", [("message", "hello")]).send().await?;
    if has_changed.swap(false, Ordering::Relaxed) {
        client.list_tools().await?;
    }
    println!("{} tools", client.tools().len());
    client.shutdown().await?;
    Ok(())
}

/// Sends ten calls at once, and takes their results.
async fn many_calls(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    let mut calls = Vec::new();
    for _ in 0..10 {
        // Sends the call without waiting for its result.
        calls.push(client.call_tool("slow", [("seconds", 0.2)]).begin()?);
    }
    for call in calls {
        println!("{}", call.await?.text());
    }
    client.shutdown().await?;
    Ok(())
}

/// Reacts to errors by their kind.
async fn errors(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    let unknown = client.call_tool("no-such-tool", ()).send().await;
    let late = client.call_tool("slow", [("seconds", 60)]).timeout(Duration::from_millis(100)).send().await;
    for error in [unknown, late].into_iter().filter_map(Result::err) {
        println!("{error}");
        println!("  {}", advice(&error));
    }
    client.shutdown().await?;
    Ok(())
}

fn advice(error: &Error) -> String {
    match error.kind() {
        ErrorKind::ToolNotFound => "list the tools again".into(),
        ErrorKind::Timeout => "allow more time; the tool may have run".into(),
        ErrorKind::Unauthorized => "log in, and connect again".into(),
        ErrorKind::Server => "correct the arguments".into(),
        ErrorKind::Start | ErrorKind::Connect | ErrorKind::Closed => {
            "read the server's stderr, and connect again".into()
        }
        _ if error.is_retryable() => {
            format!("try again in {:?}", error.retry_after().unwrap_or(Duration::from_secs(1)))
        }
        kind => format!("report this error ({kind})"),
    }
}

/// Connects to a server over HTTP, with a header and a token.
async fn http(url: &str) -> Result<(), Error> {
    let def = McpServerDef::http(url).header("X-Client", "example");
    let client = open(&def).http(HttpOptions::default().token(token)).await?;
    println!("{}", client.call_tool("echo", [("message", "hello over HTTP")]).send().await?.text());
    // Ends the session on the server.
    client.shutdown().await?;
    Ok(())
}

/// Returns the token for the next request. `async` in every client, because a real one may have to refresh the token.
async fn token() -> Result<Option<String>, TokenError> {
    Ok(env::var("EXAMPLE_TOKEN").ok())
}
