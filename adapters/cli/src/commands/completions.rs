//! `mcpwire completions` and the command that its scripts call: completes command lines.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap_complete::Shell;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::service::cached_tools;
use mcpwire_tokio::protocol::Tool;

use crate::args::{Args, Place};
use crate::completion::{self, Known};
use crate::console::output;
use crate::failure::Failure;
use crate::hub::{configured, find_in, layout};
use crate::text;

/// Prints the completion script of a shell.
pub(super) fn print_script(shell: Shell) -> Result<(), Failure> {
    if let Some(script) = completion::script(shell) {
        return output::bytes(script.as_bytes());
    }
    let definition = Args::definition();
    // The generator would also list hidden commands, so they are removed.
    let shown = definition.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown = clap::Command::new("mcpwire")
        .version(env!("CARGO_PKG_VERSION"))
        .args(definition.get_arguments())
        .subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown, "mcpwire", &mut script);
    output::bytes(&script)
}

/// Prints the candidates for the last word of a command line, one a line: the word, a tab, and its description.
pub(super) fn print_words(shell: Shell, words: &[String]) -> Result<(), Failure> {
    let mut words = words.to_vec();
    // PowerShell passes an empty word only in quotes.
    if let Some(last) = words.last_mut().filter(|last| shell == Shell::PowerShell && *last == "\"\"") {
        last.clear();
    }
    let directory = words.iter().position(|word| word == "--config-dir").and_then(|at| words.get(at + 1));
    let place = Place { config_dir: directory.map(Into::into) };
    let candidates = completion::candidates(Args::definition(), &words, &Stored { layout: layout(&place).ok() });
    let mut lines = String::new();
    // Shells insert words as they are, and the names of tools come from servers. A word that a shell could read as a command or a
    // variable is therefore left out.
    for candidate in candidates.iter().filter(|candidate| text::word(&candidate.word) == candidate.word) {
        // Writing to memory cannot fail.
        let _ = writeln!(lines, "{}\t{}", candidate.word, candidate.help);
    }
    output::bytes(lines.as_bytes())
}

/// Prints the manual page of this program, or writes a page for each command to a directory.
pub(super) fn manual(directory: Option<&Path>) -> Result<(), Failure> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        // Writing to memory cannot fail.
        let _ = clap_mangen::Man::new(Args::definition()).render(&mut page);
        return output::bytes(&page);
    };
    let written = fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(Args::definition(), directory));
    written.map_err(|error| Failure::not_saved("directory", directory, &error))
}

/// The configured servers, and the tools that the hub has stored. Whatever cannot be read is left out.
pub(super) struct Stored {
    pub(super) layout: Option<Layout>,
}

impl Known for Stored {
    fn servers(&self) -> Vec<(String, String)> {
        let configs = self.layout.as_ref().and_then(|layout| configured(layout).ok()).unwrap_or_default();
        let described = configs.iter().map(|config| {
            let state = if config.enabled { "" } else { "disabled" };
            (config.name.trim().to_owned(), state.to_owned())
        });
        described.collect()
    }

    fn tools(&self, server: &str) -> Vec<Tool> {
        let Some(layout) = &self.layout else { return Vec::new() };
        let config = configured(layout).and_then(|configs| find_in(configs, server));
        config.map(|config| cached_tools(layout, config.id)).unwrap_or_default()
    }
}
