//! The container of a server, which has to be ended by its name: it can outlive the client that started it.

use serde::{Deserialize, Serialize};

use super::{Instance, command};
use crate::config::McpConfig;

/// Variables that tell the client of a container engine where the engine is.
pub(super) const CLIENT_VARIABLES: &[&str] = &[
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "DOCKER_DEFAULT_PLATFORM",
    "CONTAINER_HOST",
];

/// A container, and how it is ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Its name, which no other container has.
    pub name: String,
    /// The program that started it: `docker`, or another that takes the same arguments.
    pub client: String,
}

impl Container {
    pub(super) fn of(config: &McpConfig, instance: &Instance) -> Self {
        let id = config.id.simple().to_string();
        let host: String = instance.host.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        let separator = if host.is_empty() { "" } else { "-" };
        let name = format!("mcp-{}{separator}{host}-{}", &id[..8], instance.generation);
        Container { name, client: command::program(&config.package) }
    }

    pub(super) fn options(&self, config: &McpConfig, instance: &Instance) -> Vec<String> {
        let mut options = vec!["--name".to_owned(), self.name.clone()];
        let mut label = |name: &str, value: &str| options.extend(["--label".to_owned(), format!("{name}={value}")]);
        label("app.mcp.id", &config.id.to_string());
        if !instance.host.is_empty() {
            label("app.mcp.host", &instance.host);
        }
        options
    }

    /// The command that asks it to end, and ends it a second later.
    pub fn stop_command(&self) -> Vec<String> {
        ["stop", "-t", "1", &self.name].iter().fold(vec![self.client.clone()], with)
    }

    /// The command that ends it at once, and removes what is left of it.
    pub fn remove_command(&self) -> Vec<String> {
        ["rm", "-f", &self.name].iter().fold(vec![self.client.clone()], with)
    }
}

fn with(mut command: Vec<String>, argument: &&str) -> Vec<String> {
    command.push((*argument).to_owned());
    command
}
