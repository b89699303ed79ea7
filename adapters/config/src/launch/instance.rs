//! [`Instance`]: identifies one start of a server.

use std::collections::BTreeMap;

use crate::config::McpPackage;
use crate::secrets::Secret;

/// Name of the environment variable that marks the processes of a server, so that the next hub finds them after a crash. The
/// value is `<id>.<generation>.<host>`: the id of the server, the number of its start, and the token of the hub's process.
pub const MARK: &str = "MCPWIRE_SERVER";

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

pub(super) fn exposed(values: &BTreeMap<String, Secret>) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect()
}

/// Returns the program to start for `package`: the program that runs packages of this kind, such as `npx`, or a local program
/// itself.
pub(super) fn program(package: &McpPackage) -> String {
    let Some(usual) = package.package_type.runtimes().first() else { return package.identifier.clone() };
    let program = package.runtime_hint.as_deref().unwrap_or(usual);
    // On Windows, `npx` is a script, which is found only with its extension.
    if cfg!(windows) && program == "npx" { "npx.cmd".to_owned() } else { program.to_owned() }
}
