//! The source, the package and the transport of a server.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::shown_address;

/// The source of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpSource {
    /// The official registry.
    Official {
        /// The name in the registry, such as `io.github.owner/server`.
        name: String,
        /// The version of the registry's entry.
        version: String,
    },
    /// The registry of Smithery.
    Smithery {
        /// The name in the registry, such as `@owner/server`.
        qualified_name: String,
    },
    /// A person or another program wrote the configuration.
    #[default]
    Manual,
}

/// The package, program or address of a server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpPackage {
    /// The kind of the package.
    pub package_type: McpPackageType,
    /// The name of the package or image, the path of the program, or the address. It may contain a version, as in
    /// `@scope/package@1.2.3` or `image:tag`.
    pub identifier: String,
    /// The program that runs the package, if it is not the usual one: `npx` or `bunx`, `uvx` or `pipx`, `docker` or `podman`.
    /// A path is allowed, unless the configuration comes from a registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_hint: Option<String>,
    /// The version, if the identifier contains none: an exact version of npm or `PyPI`, or the tag of an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl McpPackage {
    /// Creates a package of this kind and name.
    pub fn new(package_type: McpPackageType, identifier: impl Into<String>) -> Self {
        McpPackage { package_type, identifier: identifier.into(), runtime_hint: None, version: None }
    }
}

impl fmt::Debug for McpPackage {
    /// Omits the user, the password and the query of an address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpPackage")
            .field("package_type", &self.package_type)
            .field("identifier", &shown_address(&self.identifier))
            .field("runtime_hint", &self.runtime_hint)
            .field("version", &self.version)
            .finish()
    }
}

/// The kind of a package.
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
    /// Returns the name in files: `npm`, `pypi`, `docker`, `binary`, `http`.
    pub fn as_str(self) -> &'static str {
        match self {
            McpPackageType::Npm => "npm",
            McpPackageType::Pypi => "pypi",
            McpPackageType::Docker => "docker",
            McpPackageType::Binary => "binary",
            McpPackageType::Http => "http",
        }
    }

    /// Returns the programs that can run the package, the usual one first. Empty for local programs and HTTP servers.
    pub fn runtimes(self) -> &'static [&'static str] {
        match self {
            McpPackageType::Npm => &["npx", "bunx"],
            McpPackageType::Pypi => &["uvx", "pipx"],
            McpPackageType::Docker => &["docker", "podman"],
            McpPackageType::Binary | McpPackageType::Http => &[],
        }
    }
}

/// The transport of a server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpTransport {
    /// Standard input and output of the process.
    Stdio,
    /// HTTP.
    Http {
        /// The address: absolute, `http` or `https`, without user and password. `{name}` is replaced by a variable of
        /// [`McpConfig::variables`](super::McpConfig::variables).
        url: String,
    },
}

impl fmt::Debug for McpTransport {
    /// Omits the user, the password and the query of an address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpTransport::Stdio => f.write_str("Stdio"),
            McpTransport::Http { url } => f.debug_struct("Http").field("url", &shown_address(url)).finish(),
        }
    }
}
