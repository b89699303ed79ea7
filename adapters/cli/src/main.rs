//! `mcpwire`: talk to MCP servers from the command line.

mod args;
mod arguments;
mod commands;
mod console;
mod failure;
mod hub;
mod input;
mod log;
mod login;
mod lost_logins;
mod process_end;
mod runtime;
mod save;
mod secrets;
mod session;
mod show;
mod text;
mod time;

use std::process::ExitCode;

use crate::args::Args;
use crate::console::Console;

fn main() -> ExitCode {
    let args = match Args::from_env() {
        Ok(args) => args,
        Err(failure) => {
            // This is reached with `--json` only. Otherwise, clap prints the error and ends the process.
            failure.report(true);
            return ExitCode::from(failure.exit());
        }
    };
    log::start();
    if args.options.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let status = commands::run(&args.command, &args.options);
    process_end::settle(&Console::new(&args.options));
    ExitCode::from(status)
}
