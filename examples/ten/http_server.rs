//! The demo server of this workspace over HTTP.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use mcpwire::McpServerDef;

/// The demo server over HTTP, killed when it is dropped.
pub(crate) struct HttpServer {
    pub(crate) url: String,
    process: Child,
}

impl HttpServer {
    /// Starts the server that `def` starts on standard input and output.
    pub(crate) fn start(def: &McpServerDef) -> io::Result<Self> {
        let mut command = Command::new(&def.command);
        command.args(&def.args).args(["--http", "127.0.0.1:0"]).env_clear().envs(&def.env);
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut server = HttpServer { url: String::new(), process };
        if let Some(stdout) = server.process.stdout.take() {
            // The server prints its URL as soon as it listens.
            BufReader::new(stdout).read_line(&mut server.url)?;
        }
        server.url.truncate(server.url.trim_end().len());
        Ok(server)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // The process may have exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
