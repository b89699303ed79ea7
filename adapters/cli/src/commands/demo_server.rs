//! `mcpwire demo-server`: runs the demo server, on stdin and stdout or over HTTP.

use std::io::{self, Write};
use std::net::SocketAddr;

use mcpwire_demo::{HttpServer, Log};

use crate::failure::SERVER_FAILED;

/// Runs the demo server until the end of standard input or, over HTTP, until the process is killed. Returns the exit status of
/// the process.
pub(super) fn run(http: Option<SocketAddr>) -> u8 {
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
