//! [`Previews`]: what configured servers start, as seen by the process that starts them.

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::launch::preview;
use mcpwire_hub::secrets::{SecretStore, Secrets};
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::options::layout;
use super::protocol::{Request, decoded};
use crate::args::Place;
use crate::failure::Failure;

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

    /// Records in the configuration that the user has approved this preview.
    pub(crate) fn approve(&self, config: &mut McpConfig) {
        config.consent = Some(self.hash.clone());
    }
}

/// Creates previews in the process that starts the servers: in the running hub if there is one, or else in this process.
/// Environment variables decide what is started, and those of the hub may differ from those of this process.
pub(crate) struct Previews(Origin);

enum Origin {
    RunningHub(Client),
    ThisProcess(Secrets),
}

impl Previews {
    /// Connects to the running hub, if there is one. Opens no hub.
    pub(crate) fn open(place: &Place) -> Result<Self, Failure> {
        let layout = layout(place)?;
        Ok(Previews(match Client::connect(&layout).map_err(Failure::from_hub)? {
            Some(client) => Origin::RunningHub(client),
            None => Origin::ThisProcess(Secrets::in_directory(layout.secrets())),
        }))
    }

    /// Returns what this server would start. The server need not be configured yet.
    pub(crate) fn preview(&mut self, config: &McpConfig) -> Result<Previewed, Failure> {
        match &mut self.0 {
            Origin::ThisProcess(secrets) => Ok(Previewed::new(config, secrets)),
            Origin::RunningHub(client) => {
                let request = Request::Preview { config: config.to_json() };
                let previewed = client.ask(&request, &mut |_| {}).and_then(|json| decoded(&json));
                previewed.map_err(Failure::from_hub)
            }
        }
    }
}
