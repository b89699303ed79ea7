//! `mcpwire completions`: prints a completion script for a shell.

use clap_complete::Shell;

use crate::args::Args;
use crate::console::output;
use crate::failure::Failure;

pub(super) fn run(shell: Shell) -> Result<u8, Failure> {
    let definition = Args::definition();
    // The generator does not leave out hidden commands.
    let shown = definition.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown = clap::Command::new("mcpwire")
        .version(env!("CARGO_PKG_VERSION"))
        .args(definition.get_arguments())
        .subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown, "mcpwire", &mut script);
    output::bytes(&script).map(|()| 0)
}
