//! [`Instance`]: which start of a server it is, and what all parts of a launch need.

use std::collections::BTreeMap;

use crate::config::McpPackage;
use crate::secrets::Secret;

/// The environment variable that identifies the processes of a server after the hub has ended. Its value is
/// `<id>.<generation>.<host>`.
pub const MARK: &str = "MCPWIRE_SERVER";

/// The number of a start of a server, and the hub that starts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// The number of this start of the server by this hub.
    pub generation: u64,
    /// The token of the hub's process. See [`Host::token`](crate::process_registry::Host::token).
    pub host: String,
    /// Whether the server has never run with this configuration, so that its package may have to be downloaded.
    pub is_first: bool,
}

pub(super) fn exposed(values: &BTreeMap<String, Secret>) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect()
}

/// Returns the program that runs the package, or the program itself.
pub(super) fn program(package: &McpPackage) -> String {
    let Some(usual) = package.package_type.runtimes().first() else { return package.identifier.clone() };
    let program = package.runtime_hint.as_deref().unwrap_or(usual);
    // On Windows, `npx` is a script, which is found only with its extension.
    if cfg!(windows) && program == "npx" { "npx.cmd".to_owned() } else { program.to_owned() }
}
