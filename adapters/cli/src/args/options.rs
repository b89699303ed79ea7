//! [`Options`]: the options that all commands have, and the parsers of their values.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use mcpwire_tokio::protocol::{Negotiate, ProtocolVersion};
use serde::{Deserialize, Serialize};

/// The option `--save DIR` for the directory in which to save binary content.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Saving {
    /// Save images, audio and other binary content as new files in DIR
    #[arg(long = "save", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// The options of `mcpwire tools`: which tools to show, and what of them.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct ToolsView {
    /// Show only the tools that match these words best, in names, descriptions and arguments
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
    /// Show about how many tokens each tool costs in the context of a model, and the sum of each server
    #[arg(long, conflicts_with = "schema")]
    pub(crate) cost: bool,
    /// Show the JSON Schemas of arguments and results
    #[arg(long)]
    pub(crate) schema: bool,
    /// Show each tool with its description and all arguments, as for a single tool
    #[arg(long, conflicts_with_all = ["schema", "cost"])]
    pub(crate) long: bool,
}

/// The options of `mcpwire test`: what to try, and for how long.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(crate) struct TestPlan {
    /// Draw the arguments with this seed, to repeat a test [default: a new one, which the report shows]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Call each tool at most so many times
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) calls: usize,
    /// Send nothing new after this time
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_duration)]
    pub(crate) time: Duration,
    /// Also call tools that do not declare that they only read; they may change or delete something
    #[arg(long)]
    pub(crate) all: bool,
    /// Call only this tool, even if it does not declare that it only reads; can be repeated
    #[arg(long = "tool", value_name = "NAME", conflicts_with = "all")]
    pub(crate) tools: Vec<String>,
}

/// The kinds of items whose arguments `mcpwire complete` can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Completed {
    Prompt,
    Resource,
}

/// The action that `mcpwire task` performs on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskAction {
    /// Show the status of the task
    Get,
    /// Wait for the result of the task
    Result,
    /// Ask the server to cancel the task
    Cancel,
}

/// The options that all commands have. `-h` shows the most common options, and `--help` shows all of them.
#[derive(Clone, Debug, clap::Args)]
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
    ///
    /// An entry answers requests whose message contains its `message`, or any request without one; once, or with `repeat` always.
    /// `mcpwire --answers-template` prints an example.
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

impl Options {
    /// Returns `--timeout` in milliseconds, as requests to the hub have it.
    pub(crate) fn timeout_ms(&self) -> Option<u64> {
        self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Whether to show the server's stderr (`Show`), to hide it (`Hide`), or to add its last lines to error messages (`Tail`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stderr {
    Show,
    Hide,
    Tail,
}

/// An environment variable for the server process, from `--env NAME=VALUE` or `--env NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Set(String, String),
    Inherit(String),
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration; try 30s, 500ms or 2m");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds_in_unit = match unit.trim_start() {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    match Duration::try_from_secs_f64(number * seconds_in_unit) {
        Ok(Duration::ZERO) => Err("the time must be longer than 0; try 30s, 500ms or 2m".to_owned()),
        Ok(duration) => Ok(duration),
        Err(_) => Err(wrong()),
    }
}

pub(super) fn parse_protocol(text: &str) -> Result<Negotiate, String> {
    match text {
        "auto" => Ok(Negotiate::Auto),
        "modern" => Ok(Negotiate::Modern),
        "legacy" => Ok(Negotiate::Legacy),
        revision => revision.parse::<ProtocolVersion>().map(Negotiate::Version).map_err(|error| error.to_string()),
    }
}

/// Returns the text that [`parse_protocol`] reads as this choice.
pub(crate) fn protocol_name(protocol: Negotiate) -> String {
    match protocol {
        Negotiate::Modern => "modern".to_owned(),
        Negotiate::Legacy => "legacy".to_owned(),
        Negotiate::Version(version) => version.to_string(),
        _ => "auto".to_owned(),
    }
}

pub(super) fn parse_variable(text: &str) -> Result<Variable, String> {
    match text.split_once('=') {
        _ if text.is_empty() || text.starts_with('=') => Err("a variable must have a name".to_owned()),
        Some((name, value)) => Ok(Variable::Set(name.to_owned(), value.to_owned())),
        None if std::env::var_os(text).is_none() => Err(format!("{text} is not set here, so it cannot be passed on")),
        None => Ok(Variable::Inherit(text.to_owned())),
    }
}

/// Parses an argument `NAME=VALUE`, such as the value of `--context`.
pub(super) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not NAME=VALUE")),
    }
}

pub(super) fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "" | "B" => Some(1),
        "K" | "KiB" => Some(1 << 10),
        "M" | "MiB" => Some(1 << 20),
        "G" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let number: Option<usize> = number.parse().ok().filter(|number| *number > 0);
    let bytes = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| format!("{text:?} is not a size; try 1000000 or 16MiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
            ("7", 7_000),
            ("1.5", 1_500),
            ("0.5 s", 500),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1", "0", "0ms", "1d", "1e9", "1s2", "..", "inf", "NaN", "99999999999999999999999"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("1000"), Ok(1_000));
        assert_eq!(parse_bytes("16MiB"), Ok(16 << 20));
        for text in ["", "0", "-1", "MiB", "1.5MiB", "1TB", "99999999999GiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn variables() {
        assert_eq!(parse_variable("A=b=c"), Ok(Variable::Set("A".into(), "b=c".into())));
        assert_eq!(parse_variable("A="), Ok(Variable::Set("A".into(), String::new())));
        assert_eq!(parse_variable("PATH"), Ok(Variable::Inherit("PATH".into())));
    }
}
