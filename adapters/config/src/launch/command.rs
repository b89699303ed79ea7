//! Composes the command of each kind of package for one start, an [`Instance`]. [`Container`]: the container that a command starts.

use serde::{Deserialize, Serialize};

use crate::config::{McpConfig, McpPackage, McpPackageType, runs};

/// Identifies one start of a server: the number of the start, and the hub that starts the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// Number of this attempt to start the server. Each later attempt by the same hub has a higher number.
    pub generation: u64,
    /// A text that identifies the process of the hub on this machine: `Host::token` of the hub.
    pub host: String,
    /// Whether the server has never run with this configuration. If so, its package may have to be downloaded, which takes
    /// longer.
    pub is_first: bool,
}

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

/// The container in which a server runs. It is stopped by its name, because it can outlive the client that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// The name of the container, which is unique on the machine.
    pub name: String,
    /// The client program that controls the container: `docker`, or a program with the same arguments, such as `podman`.
    pub client: String,
}

impl Container {
    /// Returns the container of one start of a server, or `None` if the server does not run in a container.
    pub(super) fn of(config: &McpConfig, instance: &Instance) -> Option<Self> {
        if config.package.package_type != McpPackageType::Docker {
            return None;
        }
        let id = config.id.simple().to_string();
        let host: String = instance.host.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        let separator = if host.is_empty() { "" } else { "-" };
        let name = format!("mcp-{}{separator}{host}-{}", &id[..8], instance.generation);
        Some(Container { name, client: program(&config.package) })
    }

    /// Returns the options with which the container is created.
    pub(super) fn options(&self, config: &McpConfig, instance: &Instance) -> Vec<String> {
        let id = format!("app.mcp.id={}", config.id);
        let mut options = ["--name", &self.name, "--label", &id].map(str::to_owned).to_vec();
        if !instance.host.is_empty() {
            options.extend(["--label".to_owned(), format!("app.mcp.host={}", instance.host)]);
        }
        options
    }

    /// Returns the command that stops the container. If the container does not stop within a second, the command kills it.
    pub fn stop_command(&self) -> Vec<String> {
        [&self.client, "stop", "-t", "1", &self.name].map(str::to_owned).to_vec()
    }

    /// Returns the command that kills and removes the container.
    pub fn remove_command(&self) -> Vec<String> {
        [&self.client, "rm", "-f", &self.name].map(str::to_owned).to_vec()
    }
}

/// Returns the program to start for `package`: the program that runs packages of this kind, such as `npx`, or a local program
/// itself.
fn program(package: &McpPackage) -> String {
    let Some(usual) = package.package_type.runtimes().first() else { return package.identifier.clone() };
    package.runtime_hint.as_deref().unwrap_or(usual).to_owned()
}

/// Returns the command that starts the server: the program, followed by its arguments. `env` are the names of the environment
/// variables to pass into a container, and `container_options` the options with which the container is created.
pub(crate) fn argv<'a>(
    config: &McpConfig,
    runtime_args: &[String],
    args: &[String],
    env: impl IntoIterator<Item = &'a String>,
    container_options: Vec<String>,
) -> Vec<String> {
    let package = &config.package;
    let mut command = vec![program(package)];
    let separator = match package.package_type {
        McpPackageType::Npm => {
            // Without `-y`, npx asks whether it may install the package, and nobody would answer.
            if runs(&command[0], &["npx"]).is_some() {
                command.push("-y".to_owned());
            }
            "@"
        }
        McpPackageType::Pypi if runs(&command[0], &["pipx"]).is_some() => {
            command.push("run".to_owned());
            "=="
        }
        McpPackageType::Pypi => "@",
        McpPackageType::Docker => {
            command.extend(["run", "--rm", "-i", "--init"].map(str::to_owned));
            command.extend(container_options);
            command.extend(env.into_iter().flat_map(|name| ["-e".to_owned(), name.clone()]));
            if package.version.as_ref().is_some_and(|version| version.starts_with("sha256:")) { "@" } else { ":" }
        }
        McpPackageType::Binary | McpPackageType::Http => {
            command.extend_from_slice(args);
            return command;
        }
    };
    command.extend_from_slice(runtime_args);
    command.push(match &package.version {
        Some(version) => format!("{}{separator}{version}", package.identifier),
        None => package.identifier.clone(),
    });
    command.extend_from_slice(args);
    command
}
