//! [`Link`]: the hub that a command talks to.

use std::process;
use std::sync::Arc;

use mcpwire_blocking::protocol::Json;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::{Hub, HubError, HubOptions, McpService};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::requests::{Request, answer};
use super::serve::Client;
use crate::failure::Failure;
use crate::notes::Notes;

/// The hub that a command talks to.
pub(super) enum Link {
    /// One of its own, which ends with the command.
    Own(Own),
    /// The one that `mcpwire hub run` runs.
    Running(Client),
}

/// A hub that ends with the command, however that ends: finished, failed or interrupted.
pub(super) struct Own {
    pub(super) hub: Hub,
    runtime: Runtime,
    pressed: Arc<Notify>,
    /// An interrupt is told as JSON.
    json: bool,
}

impl Own {
    /// Waits for something. An interrupt ends all servers, and the program.
    pub(super) fn wait<T>(&self, something: impl Future<Output = T>) -> T {
        self.wait_and(something, || {})
    }

    /// The same, and something is done at once when an interrupt comes.
    fn wait_and<T>(&self, something: impl Future<Output = T>, on_interrupt: impl FnOnce()) -> T {
        let done = self.runtime.block_on(async {
            tokio::select! {
                biased;
                done = something => Some(done),
                () = self.pressed.notified() => None,
            }
        });
        done.unwrap_or_else(|| {
            on_interrupt();
            // It is told before the servers are ended: one that does not want to end takes its time.
            let interrupted = Failure::interrupted();
            interrupted.report(self.json);
            // What was under way has been dropped, so its server is told. The end has a deadline.
            let _ = self.runtime.block_on(self.hub.shutdown_all());
            process::exit(interrupted.exit().into())
        })
    }

    /// Waits for something that an interrupt is meant to end.
    pub(super) fn wait_until_pressed<T>(&self, something: impl AsyncFnOnce(&Notify) -> T) -> T {
        self.runtime.block_on(something(&self.pressed))
    }
}

impl Link {
    pub(super) fn open(layout: &Layout, json: bool, options: impl FnOnce() -> HubOptions) -> Result<Link, HubError> {
        if let Some(client) = Client::connect(layout)? {
            return Ok(Link::Running(client));
        }
        let runtime = runtime()?;
        let pressed = Arc::new(Notify::new());
        let press = Arc::clone(&pressed);
        let _ = ctrlc::set_handler(move || press.notify_one());
        let hub = runtime.block_on(Hub::open(options()))?;
        Ok(Link::Own(Own { hub, runtime, pressed, json }))
    }

    /// Whether `mcpwire hub run` runs here.
    pub(super) fn is_hub_running(layout: &Layout) -> bool {
        #[cfg(unix)]
        let is_running = matches!(Client::connect(layout), Ok(Some(_)));
        #[cfg(not(unix))]
        let (is_running, _) = (false, layout);
        is_running
    }

    pub(super) fn ask<T: DeserializeOwned>(&mut self, request: Request) -> Result<T, HubError> {
        let json = self.ask_json(request)?;
        json.decode().map_err(|error| HubError::unavailable(format!("the hub's answer cannot be read: {error}")))
    }

    pub(super) fn ask_json(&mut self, request: Request) -> Result<Json, HubError> {
        match self {
            Link::Own(own) => own.wait(answer(&own.hub, request, &mut |_| {})),
            Link::Running(client) => client.ask(&request, &mut |_| {}),
        }
    }

    /// Calls a tool, with a progress bar. An interrupt cancels the call: the server is told before anything is ended.
    pub(super) fn call(&mut self, request: Request, tool: &str, notes: &Notes, json: bool) -> Result<Json, HubError> {
        let mut on_progress = notes.watch_call(tool);
        let answered = match self {
            Link::Own(own) => own.wait_and(answer(&own.hub, request, &mut on_progress), || notes.finish()),
            Link::Running(client) => {
                let notes = notes.clone();
                // The hub cancels what nobody waits for any more.
                let _ = ctrlc::set_handler(move || {
                    notes.finish();
                    let interrupted = Failure::interrupted();
                    interrupted.report(json);
                    process::exit(interrupted.exit().into())
                });
                client.ask(&request, &mut on_progress)
            }
        };
        notes.finish();
        answered
    }

    pub(super) fn is_running(&self) -> bool {
        !matches!(self, Link::Own(_))
    }

    /// Ends all that this command has started.
    pub(super) fn close(self) {
        if let Link::Own(own) = self {
            // The result has been told; what does not end politely is killed with the hub.
            let _ = own.wait(own.hub.shutdown_all());
        }
    }
}

pub(super) fn runtime() -> Result<Runtime, HubError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| HubError::unavailable(format!("this system gives no runtime: {error}")))
}
