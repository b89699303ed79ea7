//! Composes the command of each kind of package.

use super::container::Container;
use super::instance::{Instance, program};
use crate::config::{McpConfig, McpPackage, McpPackageType, runs};

/// Returns the command that starts the server: the program, followed by its arguments. `env` are the names of the environment
/// variables to pass into a container.
pub(super) fn argv<'a>(
    config: &McpConfig,
    runtime_args: &[String],
    args: &[String],
    container: Option<&Container>,
    env: impl Iterator<Item = &'a str>,
    instance: &Instance,
) -> Vec<String> {
    let package = &config.package;
    let mut command = vec![program(package)];
    match package.package_type {
        McpPackageType::Npm => {
            // Without `-y`, npx asks whether it may install the package, and nobody would answer.
            if runs(&command[0], &["npx"]).is_some() {
                command.push("-y".to_owned());
            }
            command.extend_from_slice(runtime_args);
            command.push(versioned(package, "@"));
        }
        McpPackageType::Pypi => {
            let is_pipx = runs(&command[0], &["pipx"]).is_some();
            if is_pipx {
                command.push("run".to_owned());
            }
            command.extend_from_slice(runtime_args);
            command.push(versioned(package, if is_pipx { "==" } else { "@" }));
        }
        McpPackageType::Docker => {
            command.extend(["run", "--rm", "-i", "--init"].map(str::to_owned));
            if let Some(container) = container {
                command.extend(container.options(config, instance));
            }
            for name in env {
                command.extend(["-e".to_owned(), name.to_owned()]);
            }
            command.extend_from_slice(runtime_args);
            let is_digest = package.version.as_ref().is_some_and(|version| version.starts_with("sha256:"));
            command.push(versioned(package, if is_digest { "@" } else { ":" }));
        }
        McpPackageType::Binary | McpPackageType::Http => {}
    }
    command.extend_from_slice(args);
    command
}

fn versioned(package: &McpPackage, separator: &str) -> String {
    match &package.version {
        Some(version) => format!("{}{separator}{version}", package.identifier),
        None => package.identifier.clone(),
    }
}
