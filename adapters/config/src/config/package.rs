//! The source, the package and the transport of a server.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::url::shown_address;

/// The registry that a server configuration comes from, or [`McpSource::Manual`] if it comes from none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpSource {
    /// The configuration comes from the official MCP registry.
    Official {
        /// The name of the server in the official registry, such as `io.github.owner/server`.
        name: String,
        /// The version of the server's entry in the official registry.
        version: String,
    },
    /// The configuration comes from the server registry of Smithery.
    Smithery {
        /// The name of the server at Smithery, such as `@owner/server`.
        qualified_name: String,
    },
    /// The configuration comes from no registry: a person or another program wrote it.
    #[default]
    Manual,
}

/// The package, container image, local program or URL that provides a server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct McpPackage {
    /// The kind of the package, such as npm or HTTP.
    pub package_type: McpPackageType,
    /// The name of the package or image, the path of the program, or the URL. A package or image may contain a version, as in
    /// `@scope/package@1.2.3` or `image:tag`.
    pub identifier: String,
    /// The program that runs the package: `npx` or `bunx`, `uvx` or `pipx`, `docker` or `podman`. By default, the first of each
    /// pair. A path is allowed, unless the configuration comes from a registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_hint: Option<String>,
    /// The version of the package, if `identifier` contains none: an exact version for npm or `PyPI`, or the tag of a container
    /// image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl McpPackage {
    /// Creates a package of the kind `package_type` with the name `identifier`.
    pub fn new(package_type: McpPackageType, identifier: impl Into<String>) -> Self {
        McpPackage { package_type, identifier: identifier.into(), runtime_hint: None, version: None }
    }
}

impl fmt::Debug for McpPackage {
    /// Formats the package without the user, the password and the query of a URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpPackage")
            .field("package_type", &self.package_type)
            .field("identifier", &shown_address(&self.identifier))
            .field("runtime_hint", &self.runtime_hint)
            .field("version", &self.version)
            .finish()
    }
}

/// The kind of a package, which determines the program that runs the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpPackageType {
    /// An npm package, run by `npx -y`.
    Npm,
    /// A `PyPI` package, run by `uvx`.
    Pypi,
    /// A container image, run by `docker run`.
    Docker,
    /// A local program.
    Binary,
    /// A server that is reached over HTTP. No process is started.
    Http,
}

impl McpPackageType {
    /// Returns the name of the kind in configuration files: `npm`, `pypi`, `docker`, `binary`, or `http`.
    pub fn as_str(self) -> &'static str {
        match self {
            McpPackageType::Npm => "npm",
            McpPackageType::Pypi => "pypi",
            McpPackageType::Docker => "docker",
            McpPackageType::Binary => "binary",
            McpPackageType::Http => "http",
        }
    }

    /// Returns the programs that can run packages of this kind, the default program first. The list is empty for
    /// local programs and HTTP servers.
    pub fn runtimes(self) -> &'static [&'static str] {
        match self {
            McpPackageType::Npm => &["npx", "bunx"],
            McpPackageType::Pypi => &["uvx", "pipx"],
            McpPackageType::Docker => &["docker", "podman"],
            McpPackageType::Binary | McpPackageType::Http => &[],
        }
    }
}

/// The MCP transport over which the hub talks to a server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpTransport {
    /// Standard input and output of the server's process.
    Stdio,
    /// HTTP requests to the URL of the server.
    Http {
        /// The absolute URL of the server, with `http` or `https`, without user and password. `{name}` is replaced by the
        /// variable of that name in [`McpConfig::variables`](super::McpConfig::variables).
        url: String,
    },
}

impl fmt::Debug for McpTransport {
    /// Formats the transport without the user, the password and the query of a URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpTransport::Stdio => f.write_str("Stdio"),
            McpTransport::Http { url } => f.debug_struct("Http").field("url", &shown_address(url)).finish(),
        }
    }
}
