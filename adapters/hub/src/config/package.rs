//! Where a server comes from, what is started, and how it is spoken to.

use serde::{Deserialize, Serialize};

/// Where a configuration comes from.
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
        /// The name there, such as `@owner/server`.
        qualified_name: String,
    },
    /// Written by hand, or by another program.
    #[default]
    Manual,
}

/// What is started, or spoken to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpPackage {
    /// What kind of thing the identifier names.
    pub package_type: McpPackageType,
    /// The name of the package, the image, the path of the program, or the address. It may hold a version, as in
    /// `@scope/package@1.2.3` or `image:tag`.
    pub identifier: String,
    /// The program that runs the package, where there is a choice: `npx` or `bunx`, `uvx` or `pipx`, `docker` or `podman`. It
    /// may be a path, unless the configuration comes from a registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_hint: Option<String>,
    /// The version, unless the identifier holds one: an exact one of npm or `PyPI`, a tag of an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl McpPackage {
    /// A package of this kind and name.
    pub fn new(package_type: McpPackageType, identifier: impl Into<String>) -> Self {
        McpPackage { package_type, identifier: identifier.into(), runtime_hint: None, version: None }
    }
}

/// What kind of package a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpPackageType {
    /// A package of npm, run by `npx -y`.
    Npm,
    /// A package of `PyPI`, run by `uvx`.
    Pypi,
    /// An image of a container, run by `docker run`.
    Docker,
    /// A program of this machine.
    Binary,
    /// A server that is reached by HTTP; no process is started.
    Http,
}

impl McpPackageType {
    /// The name in files: `npm`, `pypi`, `docker`, `binary`, `http`.
    pub fn as_str(self) -> &'static str {
        match self {
            McpPackageType::Npm => "npm",
            McpPackageType::Pypi => "pypi",
            McpPackageType::Docker => "docker",
            McpPackageType::Binary => "binary",
            McpPackageType::Http => "http",
        }
    }

    /// The programs that can run it, the usual one first; none for what needs none.
    pub fn runtimes(self) -> &'static [&'static str] {
        match self {
            McpPackageType::Npm => &["npx", "bunx"],
            McpPackageType::Pypi => &["uvx", "pipx"],
            McpPackageType::Docker => &["docker", "podman"],
            McpPackageType::Binary | McpPackageType::Http => &[],
        }
    }
}

/// How a server is spoken to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpTransport {
    /// By the standard streams of its process.
    Stdio,
    /// By HTTP.
    Http {
        /// The address: absolute, `http` or `https`, without user and password. `{name}` stands for a variable of
        /// [`McpConfig::variables`](super::McpConfig::variables).
        url: String,
    },
}
