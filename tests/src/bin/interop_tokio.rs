//! A program on tokio, for trying servers that others wrote over HTTP: `tests/interop/run`.
//!
//! ```text
//! interop-tokio COMMAND [ARGUMENT]... --url URL --trace FILE [--protocol auto|modern|legacy]
//! ```
//!
//! It knows a few of the commands of the command-line tool (`info`, `tools`, `call`, `resources`, `read`), and prints what that
//! prints with `--json`, so that the same checks hold for both. The exit status is 1 for a tool that reports an error, and 4 if
//! anything fails.

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

use mcpwire_tokio::protocol::{Config, Json, ListTools, Negotiate, RequestOptions};
use mcpwire_tokio::{ConnectOptions, Direction, McpClient, McpServerDef};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(4)
        }
    }
}

/// What stands on the command line.
#[derive(Default)]
struct Line {
    words: Vec<String>,
    url: String,
    trace: Option<File>,
    negotiate: Negotiate,
}

impl Line {
    fn read() -> Result<Self, Box<dyn Error>> {
        let (mut line, mut words) = (Line::default(), env::args().skip(1));
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => {}
                "--url" => line.url = words.next().ok_or("--url has no value")?,
                "--trace" => line.trace = Some(File::create(words.next().ok_or("--trace has no value")?)?),
                "--protocol" => {
                    line.negotiate = match words.next().as_deref() {
                        Some("modern") => Negotiate::Modern,
                        Some("legacy") => Negotiate::Legacy,
                        _ => Negotiate::Auto,
                    };
                }
                _ => line.words.push(word),
            }
        }
        Ok(line)
    }
}

async fn run() -> Result<bool, Box<dyn Error>> {
    let Line { words, url, trace, negotiate } = Line::read()?;
    let mut config = Config::new("mcpwire-interop", env!("CARGO_PKG_VERSION"));
    config.negotiate = negotiate;
    let mut options = ConnectOptions::new(config);
    if let Some(mut file) = trace {
        options = options.trace(move |direction, message| {
            let direction = if direction == Direction::Sent { "sent" } else { "received" };
            let message: Value = serde_json::from_slice(message).unwrap_or_default();
            let _ = writeln!(file, "{}", json!({"direction": direction, "message": message}));
        });
    }
    let client = McpClient::connect_with(&McpServerDef::http(url), options)?;
    let done = exercise(&client, &words).await;
    client.shutdown().await?;
    let (printed, is_good) = done?;
    println!("{printed}");
    Ok(is_good)
}

/// What is to be printed, and whether it is a good result.
async fn exercise(client: &McpClient, words: &[String]) -> Result<(Value, bool), Box<dyn Error>> {
    let info = client.initialize().await?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let printed = match words[..] {
        ["info"] => json!({
            "era": info.era.to_string(),
            "protocolVersion": info.protocol_version.as_str(),
            "serverInfo": info.implementation,
            "capabilities": info.capabilities,
        }),
        ["tools"] => {
            let tools = client.list_tools().await?;
            let rejected: Vec<String> = tools.rejected().iter().map(ToString::to_string).collect();
            json!({"tools": &tools[..], "rejected": rejected})
        }
        ["call", tool, arguments] => {
            client.list_tools().await?;
            let arguments = Json::parse(arguments)?;
            let result: Value = client.call_tool(tool, &arguments).on_progress(|_| {}).raw().await?.decode()?;
            let is_good = result.get("isError") != Some(&Value::Bool(true));
            return Ok((result, is_good));
        }
        ["resources"] => {
            let resources = client.list_resources().await?.items;
            let templates = client.list_resource_templates().await?.items;
            json!({"resources": resources, "resourceTemplates": templates})
        }
        // The list three times, and once more by its server's own word.
        ["cached"] => {
            for _ in 0..3 {
                client.list_tools().await?;
            }
            client.list_all_with::<ListTools>(&RequestOptions::new().fresh()).await?;
            json!({"cached": client.stats().cached})
        }
        ["read", uri] => json!({"contents": client.read_resource(uri).await?.contents}),
        _ => return Err(format!("unknown: {words:?}").into()),
    };
    Ok((printed, true))
}
