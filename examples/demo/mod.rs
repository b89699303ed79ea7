//! The server that the examples talk to: the one that the command-line tool brings along.

use std::time::Duration;

use mcpwire_process::{EnvPolicy, McpServerDef};

/// The demo server of this workspace. Another server takes less: `McpServerDef::new("npx").args(["-y", "my-server"])`.
pub(crate) fn server() -> McpServerDef {
    McpServerDef::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "mcpwire", "--", "demo-server"])
        // Cargo wants its whole environment, and may have to build the server first.
        .env_policy(EnvPolicy::Inherit)
        .connect_timeout(Duration::from_secs(600))
}
