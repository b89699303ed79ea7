//! The server of the examples: the demo server of the command-line tool.

use std::env;
use std::ffi::OsString;
use std::time::Duration;

use mcpwire_client::McpServerDef;

/// Returns the definition of the demo server. That of another server is shorter: `McpServerDef::new("npx").args(["-y", "my-server"])`.
pub(crate) fn server() -> McpServerDef {
    let def = McpServerDef::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "mcpwire", "--", "demo-server"])
        // Cargo may have to build the server first.
        .connect_timeout(Duration::from_secs(600));
    // Cargo needs the whole environment, except for the variables that it has set for this program: with those, it would rebuild crates
    // with a build script for each example.
    let is_told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let ours = env::vars_os().filter_map(text).filter(|(name, _)| !is_told(name));
    ours.fold(def, |def, (name, value)| def.env(name, value))
}
