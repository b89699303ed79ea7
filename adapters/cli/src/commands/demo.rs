//! `mcpwire demo`: starts the demo server, calls its tools, and shows each step. `mcpwire demo-server` is that server.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mcpwire_demo::{HttpServer, Log};
use mcpwire_tokio::ShutdownReport;
use mcpwire_tokio::protocol::{CallToolResult, Json, ServerInfo};
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::args::{Options, Target};
use crate::console::output;
use crate::failure::{Failure, SERVER_FAILED, TOOL_ERROR};
use crate::hub::CallMode;
use crate::session::{Direct, Server as _};
use crate::show;
use crate::text;

/// The tools that the demo calls, with their arguments. One returns text, one returns structured output, and one reports
/// progress.
const CALLS: [(&str, &str); 3] = [
    ("echo", r#"{"message":"Hello from the other end of a pipe!"}"#),
    ("weather", r#"{"city":"Porto"}"#),
    ("slow", r#"{"seconds":2}"#),
];

const NEXT: &str = "
Now you:
  mcpwire tools --demo
  mcpwire call add a=2 b=40 --demo
  mcpwire tools -- npx -y @modelcontextprotocol/server-everything
";

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let mut session = Direct::start(&Target::to_demo(), options, false)?;
    let done = if options.json { as_json(&mut session) } else { for_people(&mut session) };
    let exit = done.unwrap_or_else(|failure| failure.report(options.json));
    let ended = session.close();
    if exit == 0 && !options.json {
        print_end(ended.as_ref())?;
    }
    Ok(exit)
}

fn for_people(session: &mut Direct<'_>) -> Result<u8, Failure> {
    let started = Instant::now();
    let info = session.open()?;
    let connected = time(started.elapsed());
    let name = show::full_name(info.implementation.as_ref());
    step("started", "mcpwire demo-server, a small MCP server, as a child process")?;
    step("connected", &format!("to {name}: {} era, protocol {}, in {connected}", info.era, info.protocol_version))?;

    let tools = session.list_tools()?.tools;
    let names: Vec<String> = tools.iter().map(|tool| text::line(&tool.name)).collect();
    step("listed", &format!("{}: {}", text::counted(names.len(), "tool"), names.join(", ")))?;

    let mut failed = false;
    for (tool, arguments) in CALLS {
        output::page(|out| writeln!(out, "\n{} {} {arguments}", ">".dimmed(), tool.bold().cyan()))?;
        let started = Instant::now();
        let raw = session.call_raw(tool, &parsed(arguments), CallMode::Call)?;
        let result: CallToolResult =
            raw.decode().map_err(|error| Failure::unreadable("the result", &error.to_string()))?;
        let took = started.elapsed();
        let remark = format!("{}{}", time(took), notable(session.progress_reports(), &result));
        output::page(|out| {
            indented(out, &result)?;
            writeln!(out, "  {}", remark.dimmed())
        })?;
        failed |= result.is_error;
    }
    Ok(if failed { TOOL_ERROR } else { 0 })
}

/// Prints how the demo server ended, and suggests commands to try next.
fn print_end(ended: Option<&ShutdownReport>) -> Result<(), Failure> {
    let how = match ended.and_then(|report| report.exit) {
        Some(exit) => format!("the server, by closing its input: it {exit}"),
        None => "the server".to_owned(),
    };
    output::page(|out| writeln!(out))?;
    step("stopped", &how)?;
    output::page(|out| out.write_all(NEXT.as_bytes()))
}

fn step(what: &str, how: &str) -> Result<(), Failure> {
    output::page(|out| writeln!(out, "{} {:9} {how}", "✓".green(), what.bold()))
}

fn indented(out: &mut impl Write, result: &CallToolResult) -> io::Result<()> {
    let mut text = Vec::new();
    show::result(&mut text, result)?;
    text.split_inclusive(|byte| *byte == b'\n').try_for_each(|line| {
        out.write_all(b"  ")?;
        out.write_all(line)
    })
}

/// Returns a remark about a tool call: the number of progress reports, and the structured output of the result.
fn notable(reports: usize, result: &CallToolResult) -> String {
    let reports = if reports > 0 { format!(", {reports} progress reports on the way") } else { String::new() };
    match &result.structured_content {
        Some(value) => format!("{reports}, structured as well: {}", text::json_for_terminals(value.get())),
        None => reports,
    }
}

fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

fn parsed(arguments: &str) -> Json {
    Json::parse(arguments).unwrap_or_default()
}

fn as_json(session: &mut Direct<'_>) -> Result<u8, Failure> {
    let info = session.open()?;
    let mut calls = Vec::new();
    for (tool, arguments) in CALLS {
        let arguments = parsed(arguments);
        let result = session.call_raw(tool, &arguments, CallMode::Call)?;
        calls.push(Called { tool, arguments, result });
    }
    output::json(&Report { server: &info, calls })?;
    Ok(0)
}

#[derive(Serialize)]
struct Report<'a> {
    server: &'a ServerInfo,
    calls: Vec<Called>,
}

#[derive(Serialize)]
struct Called {
    tool: &'static str,
    arguments: Json,
    result: Json,
}

/// Runs the demo server until the end of standard input or, over HTTP, until the process is killed. Returns the exit status of
/// the process.
pub(super) fn serve(http: Option<SocketAddr>) -> u8 {
    let log = Log::new("mcpwire demo-server", io::stderr());
    let served = match http {
        Some(address) => serve_http(address, log),
        None => mcpwire_demo::serve_stdio(log).map_err(|error| error.to_string()),
    };
    match served {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("mcpwire demo-server: {error}");
            SERVER_FAILED
        }
    }
}

/// Runs the demo server over HTTP at `address`. Prints the URL of the server on the first line of standard output.
fn serve_http(address: SocketAddr, log: Log) -> Result<(), String> {
    let server = HttpServer::bind(address, log).map_err(|error| error.to_string())?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", server.url()).and_then(|()| stdout.flush()).map_err(|error| error.to_string())?;
    server.run().map_err(|error| error.to_string())
}
