//! Which server is talked to, and how: what is common to the commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use mcpwire_blocking::protocol::Negotiate;

use super::values::{Variable, parse_bytes, parse_duration, parse_protocol, parse_variable};
use crate::remote::Header;

/// Where to what is no text.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Saving {
    /// Save images, audio and other binary content as files in DIR; files that are there are left alone
    #[arg(long = "save", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// Whose arguments can be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Completed {
    Prompt,
    Resource,
}

/// What to do about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskAction {
    /// Show how it stands
    Get,
    /// Wait for its result
    Result,
    /// Ask the server to end it
    Cancel,
}

/// What stands for servers that have no address.
const NOT_AT_AN_ADDRESS: [&str; 2] = ["demo", "command"];

/// Which server to talk to.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("server").args(["demo", "url", "command"]).required(true))]
pub(crate) struct Connection {
    /// Talk to the built-in demo server
    #[arg(long)]
    pub(crate) demo: bool,
    /// Talk to the server at this address, by HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The command that starts the server, with its arguments
    #[arg(last = true, num_args = 1.., value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Send a header with each request to --url; can be repeated
    #[arg(long = "header", value_name = "NAME:VALUE", requires = "url", conflicts_with_all = NOT_AT_AN_ADDRESS)]
    pub(crate) headers: Vec<Header>,
    /// Send the token that this variable has with each request to --url, as `Authorization: Bearer`
    #[arg(long, value_name = "NAME", requires = "url", conflicts_with_all = NOT_AT_AN_ADDRESS)]
    pub(crate) bearer_env: Option<String>,
    /// Reach the server of --url through this Unix socket; the address says the rest
    #[arg(long, value_name = "PATH", requires = "url", conflicts_with_all = NOT_AT_AN_ADDRESS)]
    pub(crate) unix_socket: Option<PathBuf>,
}

impl Connection {
    /// Whether no server is named.
    pub(crate) fn is_none(&self) -> bool {
        !self.demo && self.url.is_none() && self.command.is_empty()
    }

    /// The connection of `--demo`.
    pub(crate) fn to_demo() -> Self {
        Self { demo: true, ..Self::default() }
    }
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Options {
    /// Give up on connecting, and on each request, after so long: 30s, 500ms, 2m, or plain seconds
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// The protocol to speak: auto, modern, legacy, or a revision such as 2025-11-25
    #[arg(long, global = true, value_name = "PROTOCOL", default_value = "auto", value_parser = parse_protocol)]
    pub(crate) protocol: Negotiate,
    /// Set a variable of the server's environment, or pass on one of ours; can be repeated
    #[arg(long = "env", global = true, value_name = "NAME[=VALUE]", value_parser = parse_variable)]
    pub(crate) variables: Vec<Variable>,
    /// Start the server in this directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Refuse longer messages from the server: 1000000, 16MiB
    #[arg(long, global = true, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_message: Option<usize>,
    /// What becomes of the server's standard error: shown, hidden, or its tail added to error messages
    #[arg(long, global = true, value_name = "WHEN", default_value = "tail")]
    pub(crate) stderr: Stderr,
    /// Write every message to FILE as JSON Lines, with its time and direction
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Answer what the server asks from FILE, not at the terminal (a JSON object of elicitation, sampling and roots)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Tell the server that this folder matters; can be repeated
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub(crate) roots: Vec<String>,
    /// Print one JSON document on stdout; an error is one JSON object on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not colour anything
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// No progress and no log messages of the server on stderr
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stderr {
    Show,
    Hide,
    Tail,
}
