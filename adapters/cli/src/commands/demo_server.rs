//! `mcpwire demo-server`: serves the demo's tools, on stdin and stdout or over HTTP.

use std::io::{self, Write};
use std::net::SocketAddr;

use mcpwire_demo::{HttpServer, Log};

use crate::failure::SERVER_FAILED;

/// Serves for as long as the process lives, or until the end of stdin. Returns the exit status.
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

/// Serves HTTP. The first line of standard output is the URL.
fn serve_http(address: SocketAddr, log: Log) -> Result<(), String> {
    let server = HttpServer::bind(address, log).map_err(|error| error.to_string())?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", server.url()).and_then(|()| stdout.flush()).map_err(|error| error.to_string())?;
    server.run().map_err(|error| error.to_string())
}
