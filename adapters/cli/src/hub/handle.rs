//! [`HubHandle`]: the hub that a command talks to.

use std::process;
use std::sync::Arc;

use mcpwire_blocking::protocol::Json;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::service::HubEvent;
use mcpwire_hub::{Hub, HubError, HubOptions, McpService, McpStatus};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::client::Client;
use super::options::{AddHandlers, hub_options, layout};
use super::protocol::{Request, Row};
use super::service::HubService;
use crate::args::{Options, Place};
use crate::console::{Console, Interrupt};
use crate::failure::Failure;

/// The hub that a command talks to.
pub(crate) enum HubHandle {
    /// A hub in this process, which ends with the command.
    InProcess(InProcess),
    /// The hub of `mcpwire hub run`.
    Remote(Remote),
}

/// A hub in this process. It ends with the command, also after a failure or an interrupt.
pub(crate) struct InProcess {
    pub(crate) service: HubService,
    runtime: Runtime,
    pressed: Arc<Notify>,
    json: bool,
}

/// A connection to the running hub.
pub(crate) struct Remote {
    client: Client,
    json: bool,
}

impl InProcess {
    fn open(options: HubOptions, json: bool) -> Result<Self, HubError> {
        let runtime = runtime()?;
        let pressed = Arc::new(Notify::new());
        let press = Arc::clone(&pressed);
        Interrupt::install().on_press(move |_| press.notify_one());
        // Ending what an earlier hub has left may take long.
        let opened = runtime.block_on(async {
            tokio::select! {
                biased;
                opened = Hub::open(options) => Some(opened),
                () = pressed.notified() => None,
            }
        });
        let hub = opened.unwrap_or_else(|| {
            // No server has been started yet.
            let interrupted = Failure::interrupted();
            interrupted.report(json);
            process::exit(interrupted.exit().into())
        })?;
        Ok(InProcess { service: HubService::new(hub), runtime, pressed, json })
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.service.hub
    }

    /// Waits for a future. An interrupt ends all servers and then the process.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.wait_and(future, || {})
    }

    /// Waits as [`InProcess::wait`] does. Calls `on_interrupt` first if there is an interrupt.
    fn wait_and<T>(&self, future: impl Future<Output = T>, on_interrupt: impl FnOnce()) -> T {
        let done = self.runtime.block_on(async {
            tokio::select! {
                biased;
                done = future => Some(done),
                () = self.pressed.notified() => None,
            }
        });
        done.unwrap_or_else(|| {
            on_interrupt();
            // The failure is reported first, because ending the servers may take time.
            let interrupted = Failure::interrupted();
            interrupted.report(self.json);
            // Dropping the future has cancelled its call. The shutdown has a deadline.
            let _ = self.runtime.block_on(self.hub().shutdown_all());
            process::exit(interrupted.exit().into())
        })
    }

    /// Runs a function until it returns. The function waits on the `Notify` for an interrupt, and decides what that does.
    pub(crate) fn wait_until_pressed<T>(&self, function: impl AsyncFnOnce(&Notify) -> T) -> T {
        self.runtime.block_on(function(&self.pressed))
    }

    /// Starts all enabled servers, and waits until each is running or has failed. Shows their numbers meanwhile.
    pub(crate) fn boot(&self, console: &Console) -> Result<(), HubError> {
        let hub = self.hub();
        let all = hub.list().iter().filter(|config| config.enabled).count();
        let what = if all == 1 { "starting 1 server".to_owned() } else { format!("starting {all} servers") };
        console.start(&what);
        let booted = self.wait_and(
            async {
                let mut events = hub.events();
                let mut boot = std::pin::pin!(hub.boot());
                loop {
                    tokio::select! {
                        booted = &mut boot => return booted,
                        Some(HubEvent::Status { .. }) = events.next() => {
                            let (mut running, mut failed) = (0, 0);
                            for config in hub.list() {
                                match hub.status(config.id) {
                                    McpStatus::Running { .. } => running += 1,
                                    McpStatus::Error { .. } => failed += 1,
                                    _ => {}
                                }
                            }
                            console.update(&format!("{what}: {running} running, {failed} failed"));
                        }
                    }
                }
            },
            || console.finish(),
        );
        console.finish();
        booted.map(drop)
    }
}

impl HubHandle {
    /// Connects to the running hub, or else opens a hub in this process. From then on, an interrupt ends the hub in this process.
    pub(crate) fn open(place: &Place, options: &Options) -> Result<HubHandle, Failure> {
        Self::open_with(place, options, None)
    }

    /// Opens a handle as [`HubHandle::open`] does. A hub in this process answers requests of servers with `handlers`.
    pub(crate) fn open_with(
        place: &Place,
        options: &Options,
        handlers: Option<AddHandlers>,
    ) -> Result<HubHandle, Failure> {
        let layout = layout(place)?;
        let json = options.json;
        let opened = match Client::connect(&layout) {
            Ok(Some(client)) => Ok(HubHandle::Remote(Remote { client, json })),
            Ok(None) => InProcess::open(hub_options(&layout, options, handlers), json).map(HubHandle::InProcess),
            Err(error) => Err(error),
        };
        opened.map_err(Failure::from_hub)
    }

    /// Returns whether `mcpwire hub run` is running for these directories.
    pub(crate) fn is_hub_running(layout: &Layout) -> bool {
        matches!(Client::connect(layout), Ok(Some(_)))
    }

    /// Sends a request, and decodes the answer.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, request: Request) -> Result<T, HubError> {
        let json = match self {
            HubHandle::InProcess(own) => own.wait(own.service.answer(request, &mut |_| {})),
            HubHandle::Remote(remote) => remote.client.ask(&request, &mut |_| {}),
        };
        json?.decode().map_err(|error| HubError::unavailable(format!("the hub's answer cannot be read: {error}")))
    }

    /// Returns the status of all servers. `request` is [`Request::Status`] or [`Request::Try`].
    pub(crate) fn rows(&mut self, request: Request) -> Result<Vec<Row>, Failure> {
        let rows: Vec<Row> = self.ask(request).map_err(Failure::from_hub)?;
        Ok(rows.into_iter().map(Row::with_error_kind).collect())
    }

    /// Calls a tool, and shows a progress bar. An interrupt cancels the call first, and then ends the servers.
    pub(crate) fn call(&mut self, request: Request, tool: &str, console: &Console) -> Result<Json, HubError> {
        let mut on_progress = console.watch_call(tool);
        let answered = match self {
            HubHandle::InProcess(own) => {
                own.wait_and(own.service.answer(request, &mut on_progress), || console.finish())
            }
            HubHandle::Remote(remote) => {
                let (console, json) = (console.clone(), remote.json);
                // The hub cancels the call when this process ends.
                Interrupt::install().on_press(move |_| {
                    console.finish();
                    let interrupted = Failure::interrupted();
                    interrupted.report(json);
                    process::exit(interrupted.exit().into())
                });
                remote.client.ask(&request, &mut on_progress)
            }
        };
        console.finish();
        answered
    }

    pub(crate) fn is_remote(&self) -> bool {
        matches!(self, HubHandle::Remote(_))
    }

    /// Ends the servers that this command has started.
    pub(crate) fn close(self) {
        if let HubHandle::InProcess(own) = self {
            // Errors are ignored: the result was shown, and servers that do not end in time are killed.
            let _ = own.wait(own.hub().shutdown_all());
        }
    }
}

/// Creates the tokio runtime of a hub.
pub(crate) fn runtime() -> Result<Runtime, HubError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| HubError::unavailable(format!("the system provides no runtime: {error}")))
}
