//! The program `mcpwire-demo`, which runs the demo server over stdio or HTTP.

use std::env;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use mcpwire_demo::{HttpServer, Log, serve_stdio};

const PROGRAM: &str = env!("CARGO_PKG_NAME");

const HELP: &str = "\
Run a small MCP server to try clients on

Usage: mcpwire-demo [--http ADDRESS]

Options:
      --http ADDRESS  Serve Streamable HTTP at this loopback address (path /mcp) and HTTP+SSE (path /sse)
                      instead of standard input and output. Port 0 stands for any free port
  -h, --help          Print help
  -V, --version       Print version
";

/// The exit code for an invalid command line, as in clap and GNU programs.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args_os().skip(1).map(|argument| argument.to_string_lossy().into()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let served = match arguments.as_slice() {
        [] => serve_stdio(Log::new(PROGRAM, io::stderr())).map_err(|error| error.to_string()),
        ["-h" | "--help"] => write(HELP),
        ["-V" | "--version"] => write(concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"), "\n")),
        ["--http", address] => match address.parse() {
            Ok(address) => serve_http(address),
            Err(_) => return wrong(&format!("`{address}` is not an address with a port, such as 127.0.0.1:8000")),
        },
        ["--http"] => return wrong("--http needs an address, such as 127.0.0.1:8000"),
        [other, ..] => return wrong(&format!("unexpected argument `{other}`")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{PROGRAM}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves HTTP clients at this address. Prints the URL of the server first, because port 0 selects a free port.
fn serve_http(address: SocketAddr) -> Result<(), String> {
    let server = HttpServer::bind(address, Log::new(PROGRAM, io::stderr())).map_err(|error| error.to_string())?;
    write(&format!("{}\n", server.url()))?;
    server.run().map_err(|error| error.to_string())
}

fn write(text: &str) -> Result<(), String> {
    let mut stdout = io::stdout();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| error.to_string())
}

fn wrong(message: &str) -> ExitCode {
    eprintln!("{PROGRAM}: {message}. See --help");
    ExitCode::from(WRONG_USAGE)
}
