//! Configured servers in a directory of one test.

use std::path::Path;

use super::{Finished, mcpwire_with_input};

/// The program, which is also the demo server.
pub(crate) const MCPWIRE: &str = env!("CARGO_BIN_EXE_mcpwire");

/// Runs `mcpwire` with its configuration in this directory.
pub(crate) fn at(place: &Path, arguments: &[&str]) -> Finished {
    with_input(place, arguments, "")
}

/// Runs `mcpwire` as [`at`] does, with this input.
pub(crate) fn with_input(place: &Path, arguments: &[&str], input: &str) -> Finished {
    // The arguments after `--` are those of the server.
    let end = arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len());
    let (ours, theirs) = arguments.split_at(end);
    let place = place.to_str().expect("a plain path");
    mcpwire_with_input(&[ours, &["--config-dir", place], theirs].concat(), input)
}

/// Configures the demo server under this name.
pub(crate) fn add_demo(place: &Path, name: &str) {
    let added = at(place, &["server", "add", name, "--", MCPWIRE, "demo-server"]);
    assert_eq!((added.code(), added.stdout.as_str()), (0, ""), "{added:?}");
}
