//! [`Previewed`]: the command or URL of a server, for the user to review and approve before the server starts.

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::launch::preview;
use mcpwire_hub::secrets::SecretStore;
use serde::{Deserialize, Serialize};

use crate::args::Options;
use crate::console::agrees;
use crate::failure::Failure;
use crate::text;

/// A preview of the command or URL that a server uses, for the user to review. The running hub sends this struct as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Previewed {
    /// The whole [`Preview`](mcpwire_hub::launch::Preview) as text.
    pub(crate) text: String,
    /// The URL of the server, or its command, without secrets.
    pub(crate) summary: String,
    /// The hash of the preview. The configuration stores this hash when the user approves the preview.
    hash: String,
    /// Whether the user has written this configuration, or has approved this preview of it.
    pub(crate) is_approved: bool,
}

impl Previewed {
    /// Creates the preview of a server that this process would start. `secrets` supplies the secret environment variables. Blocks
    /// while it reads files.
    pub(super) fn new(config: &McpConfig, secrets: &dyn SecretStore) -> Self {
        let shown = preview(config, secrets);
        let listed = preview(&config.without_secrets(), secrets);
        Previewed {
            text: shown.to_string(),
            summary: listed.url.unwrap_or_else(|| listed.command.join(" ")),
            is_approved: config.has_consent(secrets),
            hash: shown.hash,
        }
    }

    /// Shows the command that the server `config` runs, and asks the user to approve it. Returns whether the user approves.
    /// Returns `false` without asking if there is no terminal or if `--json` is given.
    ///
    /// # Errors
    /// If the user presses Ctrl-C.
    pub(crate) fn is_accepted(&self, config: &McpConfig, options: &Options) -> Result<bool, Failure> {
        let question = format!("{} starts:\n{}\nApprove?", text::name(&config.name), self.text);
        agrees(&question, false, options)
    }

    /// Records in the configuration that the user has approved this preview.
    pub(crate) fn approve(&self, config: &mut McpConfig) {
        config.consent = Some(self.hash.clone());
    }
}
