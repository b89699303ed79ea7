//! `mcpwire`: talk to MCP servers from the command line.

mod args;
mod arguments;
mod asks;
mod base64;
mod commands;
mod failure;
mod hub;
mod interrupt;
mod log;
mod notes;
mod output;
mod remote;
mod save;
mod schema;
mod session;
mod show;
mod signature;
mod text;
mod trace;

use std::process::ExitCode;

use crate::args::Args;

fn main() -> ExitCode {
    let args = match Args::from_env() {
        Ok(args) => args,
        Err(failure) => {
            // Only a caller that wants JSON comes here: people have been told by then.
            failure.report(true);
            return ExitCode::from(failure.exit());
        }
    };
    log::start();
    if args.options.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    ExitCode::from(commands::run(&args.command, &args.options))
}
