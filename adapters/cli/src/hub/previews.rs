//! [`Previews`]: what configured servers start, as seen by the process that starts them.

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::launch::preview;
use mcpwire_hub::secrets::{SecretStore, Secrets};
use serde::{Deserialize, Serialize};

use super::handle::HubHandle;
use super::layout;
use super::protocol::Request;
use crate::args::{Options, Place};
use crate::console::agrees;
use crate::failure::Failure;
use crate::text;

/// What a server would start, for the user to review. The JSON of this struct is a response of the running hub.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Previewed {
    /// The whole [`Preview`](mcpwire_hub::launch::Preview) as text.
    pub(crate) text: String,
    /// The URL of the server, or its command, without secrets.
    pub(crate) summary: String,
    /// The text to which an approval of this preview belongs.
    hash: String,
    /// Whether the user has written this configuration, or has approved this preview of it.
    pub(crate) is_approved: bool,
}

impl Previewed {
    /// Creates the preview of a server that this process would start. `secrets` contains the environment variables. Blocks while it
    /// reads files.
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

    /// Shows the command that the server `config` runs, and asks the user to approve it. Returns whether the user approves. Returns
    /// `false` without asking if there is no terminal or if `--json` is given.
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

/// Creates previews in the process that starts the servers: in the running hub if there is one, or else in this process.
/// Environment variables decide what is started, and those of the hub may differ from those of this process.
pub(crate) struct Previews {
    running_hub: Option<HubHandle>,
    secrets: Secrets,
}

impl Previews {
    /// Connects to the running hub, if there is one. Opens no hub.
    pub(crate) fn open(place: &Place, options: &Options) -> Result<Self, Failure> {
        let running_hub = HubHandle::connect(place, options)?;
        Ok(Previews { running_hub, secrets: Secrets::in_directory(layout(place)?.secrets()) })
    }

    /// Returns what this server would start. The server need not be configured yet.
    pub(crate) fn preview(&mut self, config: &McpConfig) -> Result<Previewed, Failure> {
        match &mut self.running_hub {
            Some(hub) => Ok(hub.ask(Request::Preview { config: config.to_json() })?),
            None => Ok(Previewed::new(config, &self.secrets)),
        }
    }
}
