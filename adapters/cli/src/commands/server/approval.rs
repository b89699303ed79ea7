//! Asks the user to approve the command that a configured server runs.

use mcpwire_hub::config::McpConfig;

use crate::args::Options;
use crate::console::{Interrupt, Prompt, is_at_terminal};
use crate::failure::Failure;
use crate::hub::Previewed;
use crate::text;

/// Shows the command that a server runs, and asks the user to approve it. Returns whether the user approves. Returns `false`
/// without asking if there is no terminal or if `--json` is given.
///
/// # Errors
/// If the user presses Ctrl-C.
pub(super) fn approves(config: &McpConfig, preview: &Previewed, options: &Options) -> Result<bool, Failure> {
    if options.json || !is_at_terminal() {
        return Ok(false);
    }
    let interrupt = Interrupt::install();
    let question = format!("{} starts:\n{}\nApprove?", text::name(&config.name), preview.text);
    let agreed = Prompt::new(interrupt.clone()).agrees(&question);
    if interrupt.was_pressed() { Err(Failure::interrupted()) } else { Ok(agreed) }
}
