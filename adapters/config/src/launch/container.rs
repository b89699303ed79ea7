//! [`Container`]: the container of a server. It is stopped by its name, because it can outlive the client that started it.

use serde::{Deserialize, Serialize};

use super::instance::{Instance, program};
use crate::config::McpConfig;

/// Environment variables with which the client of a container engine, such as `docker`, finds the engine.
pub(super) const CLIENT_VARIABLES: &[&str] = &[
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "DOCKER_DEFAULT_PLATFORM",
    "CONTAINER_HOST",
];

/// The container in which a server runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// The name of the container, which is unique on the machine.
    pub name: String,
    /// The client program that controls the container: `docker`, or a program with the same arguments, such as `podman`.
    pub client: String,
}

impl Container {
    pub(super) fn of(config: &McpConfig, instance: &Instance) -> Self {
        let id = config.id.simple().to_string();
        let host: String = instance.host.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        let separator = if host.is_empty() { "" } else { "-" };
        let name = format!("mcp-{}{separator}{host}-{}", &id[..8], instance.generation);
        Container { name, client: program(&config.package) }
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

    /// Returns the command that stops the container. If the container does not stop within a second, the command kills it.
    pub fn stop_command(&self) -> Vec<String> {
        ["stop", "-t", "1", &self.name].iter().fold(vec![self.client.clone()], with)
    }

    /// Returns the command that kills and removes the container.
    pub fn remove_command(&self) -> Vec<String> {
        ["rm", "-f", &self.name].iter().fold(vec![self.client.clone()], with)
    }
}

fn with(mut command: Vec<String>, argument: &&str) -> Vec<String> {
    command.push((*argument).to_owned());
    command
}
