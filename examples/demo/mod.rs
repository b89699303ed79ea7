//! The server that the examples talk to: `mcpwire-demo`.

use std::env;
use std::ffi::OsString;
use std::time::Duration;

use mcpwire::McpServerDef;

/// The demo server of this workspace. Another server takes less: `McpServerDef::new("npx").args(["-y", "my-server"])`.
pub(crate) fn server() -> McpServerDef {
    let def = McpServerDef::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "mcpwire-demo", "--"])
        // Cargo may have to build the server first.
        .connect_timeout(Duration::from_secs(600));
    // It wants its whole environment, but for what it has itself told this program of its package: by that, crates with a
    // build script would be built anew for each example.
    let is_told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let ours = env::vars_os().filter_map(text).filter(|(name, _)| !is_told(name));
    ours.fold(def, |def, (name, value)| def.env(name, value))
}
