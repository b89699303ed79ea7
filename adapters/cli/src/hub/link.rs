//! [`Link`]: the hub that a command talks to.

use mcpwire_blocking::core::Json;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::{ErrorContract, Hub, HubOptions, McpService};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

use super::requests::{Request, answer};
#[cfg(unix)]
use super::serve::Client;

/// The hub that a command talks to.
pub(super) enum Link {
    /// One of its own, which ends with the command.
    Own { hub: Hub, runtime: Runtime },
    /// The one that `mcpwire hub run` runs.
    #[cfg(unix)]
    Running(Client),
}

impl Link {
    pub(super) fn open(layout: &Layout, options: impl FnOnce() -> HubOptions) -> Result<Link, ErrorContract> {
        #[cfg(unix)]
        if let Some(client) = Client::connect(layout)? {
            return Ok(Link::Running(client));
        }
        let _ = layout;
        let runtime = runtime()?;
        let hub = runtime.block_on(Hub::open(options()))?;
        Ok(Link::Own { hub, runtime })
    }

    pub(super) fn ask<T: DeserializeOwned>(&mut self, request: Request) -> Result<T, ErrorContract> {
        let json = self.ask_json(request)?;
        json.decode().map_err(|error| ErrorContract::unavailable(format!("the hub's answer cannot be read: {error}")))
    }

    pub(super) fn ask_json(&mut self, request: Request) -> Result<Json, ErrorContract> {
        match self {
            Link::Own { hub, runtime } => runtime.block_on(answer(hub, request)),
            #[cfg(unix)]
            Link::Running(client) => client.ask(&request),
        }
    }

    pub(super) fn is_running(&self) -> bool {
        !matches!(self, Link::Own { .. })
    }

    /// Ends all that this command has started.
    pub(super) fn close(self) {
        if let Link::Own { hub, runtime } = self {
            // The result has been told; what does not end politely is killed with the hub.
            let _ = runtime.block_on(hub.shutdown_all());
        }
    }
}

pub(super) fn runtime() -> Result<Runtime, ErrorContract> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| ErrorContract::unavailable(format!("this system gives no runtime: {error}")))
}
