//! Starts `mcpwire demo-server --http`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;

use super::{WATCHDOG, command};

/// `mcpwire demo-server --http`, killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    /// The lines of the server's standard error.
    log: mpsc::Receiver<String>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut child = command(&["demo-server", "--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut url).expect("the URL is text");
        let (sender, log) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, url: url.trim_end().to_owned(), log }
    }

    pub(crate) fn authority(&self) -> &str {
        let rest = self.url.strip_prefix("http://").expect("the URL is of HTTP");
        rest.strip_suffix("/mcp").expect("the URL names the endpoint")
    }

    pub(crate) fn log_line(&self) -> String {
        self.log.recv_timeout(WATCHDOG).expect("a line in time")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
