//! [`Options`]: the options that all commands have.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use mcpwire_blocking::protocol::Negotiate;

use super::values::{Variable, parse_bytes, parse_duration, parse_protocol, parse_variable};

/// The option for the directory in which to save binary content.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Saving {
    /// Save images, audio and other binary content as new files in DIR
    #[arg(long = "save", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// The kinds of items whose arguments `mcpwire complete` can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Completed {
    Prompt,
    Resource,
}

/// What `mcpwire task` does with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskAction {
    /// Show its status
    Get,
    /// Wait for its result
    Result,
    /// Ask the server to cancel it
    Cancel,
}

/// The options that all commands have. `-h` shows the most common options, and `--help` shows all of them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Options {
    /// Limit the time to connect and the time of each request: 30s, 500ms, 2m, or plain seconds
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Speak this protocol version: auto, modern, legacy, or a revision such as 2025-11-25
    #[arg(long, global = true, value_name = "PROTOCOL", default_value = "auto", value_parser = parse_protocol, hide_short_help = true)]
    pub(crate) protocol: Negotiate,
    /// Set an environment variable of the server, or pass on a variable of the current environment; can be repeated
    #[arg(long = "env", global = true, value_name = "NAME[=VALUE]", value_parser = parse_variable)]
    pub(crate) variables: Vec<Variable>,
    /// Start the server in this directory
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub(crate) cwd: Option<PathBuf>,
    /// Reject messages of the server that are longer than this size, such as 1000000 or 16MiB
    #[arg(long, global = true, value_name = "BYTES", value_parser = parse_bytes, hide_short_help = true)]
    pub(crate) max_message: Option<usize>,
    /// Show the server's stderr, hide it, or add its last lines to error messages
    #[arg(long, global = true, value_name = "WHEN", default_value = "tail", hide_short_help = true)]
    pub(crate) stderr: Stderr,
    /// Write every message to FILE, without secrets, as one JSON object per line; only you can read the file
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) trace: Option<PathBuf>,
    /// Answer requests of the server from FILE: a JSON object with answers for elicitation, sampling and roots
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) answers: Option<PathBuf>,
    /// Offer this folder to the server as a root; can be repeated
    #[arg(long = "root", global = true, value_name = "DIR", hide_short_help = true)]
    pub(crate) roots: Vec<String>,
    /// Print one JSON document on stdout, and an error as one JSON object on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print without colors
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_color: bool,
    /// Hide progress bars, notes and the server's log messages
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// What to do with the output of the server on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stderr {
    Show,
    Hide,
    Tail,
}
