//! [`HubHandle`]: the hub that a command uses, in its own process or in another process.

use std::sync::Arc;
use std::time::Duration;

use mcpwire_blocking::protocol::Json;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::service::HubEvent;
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{Hub, HubError, HubOptions, McpStatus};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::client::Client;
use super::options::{AddHandlers, hub_options, layout};
use super::protocol::{Request, Row, decoded};
use super::service::HubService;
use crate::args::{Options, Place};
use crate::console::{Console, Interrupt};
use crate::failure::{Failure, INTERRUPTED};
use crate::lost_logins::end_at_once;
use crate::process_end::{end, settle_during};

/// Maximum time to wait for servers that have failed to start and have not ended yet. Most servers end at once.
const STOPPING: Duration = Duration::from_secs(2);

/// The hub that a command uses: the running hub of `mcpwire hub run`, or else a hub in the process of the command.
pub(crate) enum HubHandle {
    /// A hub in the process of the command. The hub ends with the command.
    InProcess(InProcess),
    /// The running hub of `mcpwire hub run`, in another process.
    Remote(Remote),
}

/// A hub in the process of the command. The hub ends with the command, even after a failure or an interrupt such as Ctrl-C.
pub(crate) struct InProcess {
    pub(crate) service: HubService,
    runtime: Runtime,
    pressed: Arc<Notify>,
    console: Console,
    json: bool,
}

/// A connection to the running hub (`mcpwire hub run`), which is another process.
pub(crate) struct Remote {
    client: Client,
    json: bool,
}

impl InProcess {
    fn open(options: HubOptions, console: Console, json: bool) -> Result<Self, HubError> {
        let runtime = runtime()?;
        let pressed = Arc::new(Notify::new());
        let press = Arc::clone(&pressed);
        end_at_second_interrupt(move || press.notify_one());
        // Opening may take long, because it ends the processes that an earlier hub has left.
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
            end(interrupted.exit(), &console)
        })?;
        Ok(InProcess { service: HubService::new(hub), runtime, pressed, console, json })
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.service.hub
    }

    /// Waits for a future and returns its output. An interrupt such as Ctrl-C ends all servers, and then this process.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.wait_and(future, || {})
    }

    /// Waits for a future as [`InProcess::wait`] does. After an interrupt, calls `on_interrupt` before the servers are ended.
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
            let _ = settle_during(&self.console, || self.runtime.block_on(self.hub().shutdown_all()));
            end(interrupted.exit(), &self.console)
        })
    }

    /// Runs an async function until it returns. An interrupt such as Ctrl-C only notifies the `Notify`, so `function` decides
    /// what the interrupt does.
    pub(crate) fn wait_until_pressed<T>(&self, function: impl AsyncFnOnce(&Notify) -> T) -> T {
        self.runtime.block_on(function(&self.pressed))
    }

    /// Starts all enabled servers, and waits until each server is running or has failed. Meanwhile, shows how many servers are
    /// running and how many have failed.
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

    /// Waits until the servers that could not be started have ended, so that their status is the final one. A server that does not
    /// end is waited for [`STOPPING`].
    pub(crate) fn wait_until_stopped(&self) {
        let hub = self.hub();
        let is_stopping = || {
            let mut details = hub.list().into_iter().filter_map(|config| hub.status_detail(config.id));
            details.any(|detail| detail.state == State::Stopping)
        };
        let stopped = async {
            let mut events = hub.events();
            while is_stopping() && events.next().await.is_some() {}
        };
        let _ = self.wait(async { tokio::time::timeout(STOPPING, stopped).await });
    }
}

impl HubHandle {
    /// Connects to the running hub (`mcpwire hub run`). If no hub is running, opens a hub in this process.
    ///
    /// From then on, an interrupt such as Ctrl-C ends the hub in this process.
    pub(crate) fn open(place: &Place, options: &Options) -> Result<HubHandle, Failure> {
        Self::open_with(place, options, None)
    }

    /// Connects to a hub as [`HubHandle::open`] does. A hub in this process uses `handlers` to answer requests of servers, such
    /// as elicitation.
    pub(crate) fn open_with(
        place: &Place,
        options: &Options,
        handlers: Option<AddHandlers>,
    ) -> Result<HubHandle, Failure> {
        let layout = layout(place)?;
        let json = options.json;
        let opened = match Client::connect(&layout) {
            Ok(Some(client)) => Ok(HubHandle::Remote(Remote { client, json })),
            Ok(None) => InProcess::open(hub_options(&layout, options, handlers), Console::new(options), json)
                .map(HubHandle::InProcess),
            Err(error) => Err(error),
        };
        opened.map_err(Failure::from_hub)
    }

    /// Returns whether a hub (`mcpwire hub run`) is running for the directories in `layout`.
    pub(crate) fn is_hub_running(layout: &Layout) -> bool {
        matches!(Client::connect(layout), Ok(Some(_)))
    }

    /// Sends a request to the hub, and decodes the JSON of the response as a `T`.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, request: Request) -> Result<T, HubError> {
        let json = match self {
            HubHandle::InProcess(own) => own.wait(own.service.answer(request, &mut |_| {})),
            HubHandle::Remote(remote) => remote.client.ask(&request, &mut |_| {}),
        };
        decoded(&json?)
    }

    /// Requests the status of all servers. `request` is [`Request::Status`], or [`Request::Try`] to start servers first.
    pub(crate) fn rows(&mut self, request: Request) -> Result<Vec<Row>, Failure> {
        let rows: Vec<Row> = self.ask(request).map_err(Failure::from_hub)?;
        Ok(rows.into_iter().map(Row::with_error_kind).collect())
    }

    /// Calls a tool through the hub, and shows a progress bar. An interrupt such as Ctrl-C cancels the call and ends this
    /// process. A hub in this process ends its servers first.
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
                    end_at_once(interrupted.exit())
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

    /// Ends the servers that this command has started. The servers of the running hub (`mcpwire hub run`) continue to run.
    pub(crate) fn close(self) {
        if let HubHandle::InProcess(own) = self {
            // Errors are ignored: the result was shown, and servers that do not end in time are killed.
            let _ = settle_during(&own.console, || own.wait(own.hub().shutdown_all()));
        }
    }
}

/// Calls `function` at the first interrupt, such as Ctrl-C. The second one ends this process and its servers at once.
pub(super) fn end_at_second_interrupt(function: impl Fn() + Send + 'static) {
    Interrupt::install().on_press(move |again| {
        if again {
            mcpwire_process::kill_children();
            end_at_once(INTERRUPTED);
        }
        function();
    });
}

/// Creates the single-threaded tokio runtime on which a hub runs.
pub(crate) fn runtime() -> Result<Runtime, HubError> {
    crate::runtime::runtime().map_err(|error| HubError::unavailable(format!("the runtime cannot be started: {error}")))
}
