//! What is to be measured, and what all clients under measurement have in common: the requests, and a look at the answers.

use std::env;
use std::error::Error;
use std::time::Duration;

use mcpwire_client::McpServerDef;
use mcpwire_core::{CallToolResult, Config, ContentBlock, Negotiate};
use serde::Serialize;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long the slow consumer of `floodslow` stands still.
pub(crate) const STANDSTILL: Duration = Duration::from_secs(2);

/// What is to be measured.
pub(crate) struct Task {
    pub(crate) mode: String,
    pub(crate) n: usize,
    pub(crate) size: usize,
    pub(crate) in_flight: usize,
    server: Vec<String>,
}

impl Task {
    /// From words of the command line, `MODE N SIZE -- SERVER [ARGUMENT...]`, and the number of calls in flight from
    /// `PEERS_INFLIGHT`.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mode = words.next()?;
        let n = words.next()?.parse().ok()?;
        let size = words.next()?.parse().ok()?;
        let in_flight = env::var("PEERS_INFLIGHT").map_or(Some(64), |n| n.parse().ok())?;
        (words.next()? == "--").then(|| Self { mode, n, size, in_flight, server: words.collect() })
    }

    /// How often a thing is done before the clock starts.
    pub(crate) fn warm_up(&self) -> usize {
        (self.n / 5).max(1)
    }

    pub(crate) fn server(&self) -> Outcome<McpServerDef> {
        let (program, arguments) = self.server.split_first().ok_or("no server is given")?;
        Ok(McpServerDef::new(program).args(arguments.iter().cloned()))
    }

    pub(crate) fn echo(&self) -> Echo {
        Echo { message: "a message of sixty-four bytes, that is as long as many arguments", bytes: self.size }
    }

    pub(crate) fn check_list(&self, tools: usize) -> Outcome {
        let size = self.size;
        if tools == size { Ok(()) } else { Err(format!("{tools} tools are listed, not {size}").into()) }
    }
}

pub(crate) fn config(name: &str) -> Config {
    let mut config = Config::new(name, env!("CARGO_PKG_VERSION"));
    // The other clients of a comparison do not ask for the era either.
    config.negotiate = Negotiate::Legacy;
    config
}

/// The arguments of `echo`, with a message that makes the request as long as usual ones are.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Echo {
    message: &'static str,
    bytes: usize,
}

impl Echo {
    /// A client that is fast because it is answered wrongly is not fast.
    pub(crate) fn check(self, result: &CallToolResult) -> Outcome {
        let len = result.content.first().and_then(ContentBlock::as_text).map(str::len);
        let bytes = self.bytes;
        if len == Some(bytes) { Ok(()) } else { Err(format!("the answer has {len:?} bytes, not {bytes}").into()) }
    }
}

#[derive(Serialize)]
pub(crate) struct Flood {
    pub(crate) count: usize,
}
