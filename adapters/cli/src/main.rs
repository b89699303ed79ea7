//! The command-line tool `mcpwire`: inspects MCP servers, calls their tools, and keeps configured servers running.

mod args;
mod arguments;
mod commands;
mod completion;
mod console;
mod failure;
mod form;
mod hub;
mod input;
mod login;
mod process_end;
mod save;
mod schema;
mod session;
mod show;
mod text;
mod time;

use std::process::ExitCode;
use std::{env, io};

use tracing_subscriber::EnvFilter;

use crate::args::Args;
use crate::console::Console;
use crate::time::LocalTime;

fn main() -> ExitCode {
    let args = match Args::from_env() {
        Ok(args) => args,
        Err(failure) => {
            // `from_env` returns errors only with `--json`. Otherwise, it prints the error and ends the process.
            return ExitCode::from(failure.report(true));
        }
    };
    start_log();
    if args.options.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let status = commands::run(&args.command, &args.options);
    process_end::settle(&Console::new(&args.options));
    ExitCode::from(status)
}

/// Environment variable that turns on the output of `tracing`. Its value is a filter with the syntax of `RUST_LOG`, such as
/// `debug` or `mcpwire::request=debug`.
const VARIABLE: &str = "MCPWIRE_LOG";

/// Starts writing `tracing` spans and events to standard error if the environment variable `MCPWIRE_LOG` is set. Invalid parts
/// of the filter in the variable are ignored.
fn start_log() {
    let Some(filter) = env::var(VARIABLE).ok().filter(|filter| !filter.is_empty()) else { return };
    let filter = EnvFilter::builder().parse_lossy(filter);
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_timer(LocalTime);
    subscriber.with_writer(io::stderr).with_ansi(false).init();
}
