//! [`HubHandle`]: the hub that a command uses, in its own process or in another process.

use std::process;
use std::time::Duration;

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::secrets::Secrets;
use mcpwire_hub::service::{HubEvent, StatusDetail};
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{Hub, HubError, Uuid};
use mcpwire_tokio::protocol::Json;
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::advice::is_starting;
use super::notices::OnNotice;
use super::protocol::{Answerer, Previewed, Request, Row, decoded};
use super::service::HubService;
use super::socket::Client;
use super::{AddHandlers, hub_options, layout};
use crate::args::{Options, Place};
use crate::console::{Console, Foreground};
use crate::failure::Failure;
use crate::process_end::{settle, settle_during};
use crate::text;

/// Maximum time to wait until servers that failed to start have stopped. Most servers stop at once.
const STOPPING: Duration = Duration::from_secs(2);

/// Interval at which `mcpwire status --watch` requests the status again, even without an event of the hub. Memory usage and the
/// time until a restart change without events.
const TICK: Duration = Duration::from_secs(1);

/// The hub that a command uses: the running hub of `mcpwire hub run`, or else a hub in the process of the command.
///
/// An interrupt such as Ctrl-C during a wait for the hub ends the servers that the command has started, and then this process.
pub(crate) struct HubHandle {
    pub(crate) console: Console,
    json: bool,
    foreground: Foreground,
    backend: Backend,
}

enum Backend {
    /// A hub in the process of the command. The hub ends with the command, even after a failure or an interrupt.
    InProcess(HubService),
    /// A connection to the running hub of `mcpwire hub run`, in another process.
    Remote(Box<Client>),
}

impl Backend {
    async fn answer(&mut self, request: Request, tell: OnNotice<'_>) -> Result<Json, HubError> {
        match self {
            Backend::InProcess(service) => service.answer(request, tell).await,
            Backend::Remote(client) => client.ask(&request, tell).await,
        }
    }

    /// Requests the status of all servers. `request` is [`Request::Status`], or [`Request::Try`] to start servers first.
    async fn rows(&mut self, request: Request) -> Result<Vec<Row>, HubError> {
        let rows: Vec<Row> = decoded(&self.answer(request, &|_| {}).await?)?;
        Ok(rows.into_iter().map(Row::with_error_kind).collect())
    }
}

impl HubHandle {
    /// Connects to the running hub (`mcpwire hub run`). If no hub is running, opens a hub in this process.
    pub(crate) fn open(place: &Place, options: &Options) -> Result<HubHandle, Failure> {
        Self::open_with(place, options, Console::new(options), None, None)
    }

    /// Connects to a hub as [`HubHandle::open`] does. Requests of servers, such as elicitation, are answered by `handlers` in a hub
    /// in this process, and by `answerer` for calls in the running hub.
    pub(crate) fn open_with(
        place: &Place,
        options: &Options,
        console: Console,
        handlers: Option<AddHandlers>,
        answerer: Option<Answerer>,
    ) -> Result<HubHandle, Failure> {
        let layout = layout(place)?;
        let foreground = Foreground::start()?;
        let backend = if let Some(mut client) = foreground.finish(async || Client::connect(&layout))? {
            client.listen(answerer, &console);
            Backend::Remote(Box::new(client))
        } else {
            // Opening may take long, because it ends the processes that an earlier hub has left.
            let opened = foreground.wait(Hub::open(hub_options(&layout, options, handlers)));
            Backend::InProcess(HubService::new(opened.ok_or_else(Failure::interrupted)??))
        };
        Ok(HubHandle { console, json: options.json, foreground, backend })
    }

    /// Connects to the running hub (`mcpwire hub run`). Returns `None` if no hub is running.
    pub(crate) fn connect(place: &Place, options: &Options) -> Result<Option<HubHandle>, Failure> {
        let layout = layout(place)?;
        let foreground = Foreground::start()?;
        let client = foreground.finish(async || Client::connect(&layout))?;
        let handle = |client| HubHandle {
            console: Console::new(options),
            json: options.json,
            foreground,
            backend: Backend::Remote(Box::new(client)),
        };
        Ok(client.map(handle))
    }

    /// Waits until the running hub has closed the connection, which it does when its process ends. Returns false after `limit`.
    pub(crate) fn wait_until_closed(&mut self, limit: Duration) -> bool {
        let Backend::Remote(client) = &mut self.backend else { return true };
        self.foreground.wait(async { timeout(limit, client.closed()).await }).is_none_or(|closed| closed.is_ok())
    }

    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.backend, Backend::Remote(_))
    }

    /// Returns the hub in this process, or `None` if the command uses the running hub.
    pub(crate) fn own_hub(&self) -> Option<&Hub> {
        match &self.backend {
            Backend::InProcess(service) => Some(&service.hub),
            Backend::Remote(_) => None,
        }
    }

    /// Waits for a future, and returns its output. After an interrupt such as Ctrl-C, ends the servers and this process instead.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.foreground.wait(future).unwrap_or_else(|| self.end_interrupted())
    }

    /// Ends the servers that this command has started, and then this process, after an interrupt such as Ctrl-C.
    fn end_interrupted(&self) -> ! {
        self.console.finish();
        // The failure is reported first, because ending the servers may take time.
        let exit = Failure::interrupted().report(self.json);
        self.shut_down();
        settle(&self.console);
        process::exit(exit.into())
    }

    fn shut_down(&self) {
        if let Some(hub) = self.own_hub() {
            // Errors are ignored: the result was shown, and servers that do not end in time are killed.
            let _ = settle_during(&self.console, || self.foreground.finish(async || hub.shutdown_all().await));
        }
    }

    /// Sends a request to the hub, and decodes the JSON of the response as a `T`.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, request: Request) -> Result<T, HubError> {
        decoded(&self.answer(request, &|_| {})?)
    }

    fn answer(&mut self, request: Request, tell: OnNotice<'_>) -> Result<Json, HubError> {
        let answer = self.foreground.wait(self.backend.answer(request, tell));
        answer.unwrap_or_else(|| self.end_interrupted())
    }

    /// Requests the status of all servers. `request` is [`Request::Status`], or [`Request::Try`] to start servers first.
    pub(crate) fn rows(&mut self, request: Request) -> Result<Vec<Row>, HubError> {
        self.foreground.wait(self.backend.rows(request)).unwrap_or_else(|| self.end_interrupted())
    }

    /// Sends a request about a tool call, and shows a progress bar with the text `what`.
    pub(crate) fn call(&mut self, request: Request, what: &str) -> Result<Json, HubError> {
        let console = self.console.clone();
        console.start(what);
        let answer = self.answer(request, &|notice| notice.show(&console));
        console.finish();
        answer
    }

    /// Tells of the notifications of a server. Returns false after an interrupt such as Ctrl-C, and true if the server has ended the
    /// subscription.
    pub(crate) fn listen(&mut self, request: Request, tell: OnNotice<'_>) -> Result<bool, HubError> {
        let ended = self.foreground.wait(self.backend.answer(request, tell));
        ended.transpose().map(|ended| ended.is_some())
    }

    /// Calls `show` with the status of all servers, now and then at least every [`TICK`], for `mcpwire status --watch`. Ends
    /// after an interrupt such as Ctrl-C, or with the first error of the hub or of `show`.
    ///
    /// A hub in this process starts its servers meanwhile.
    pub(crate) fn follow(&mut self, mut show: impl FnMut(&[Row]) -> Result<(), Failure>) -> Result<(), Failure> {
        let hub = self.own_hub().cloned();
        let follow = async {
            let mut events = hub.as_ref().map(Hub::events);
            if let Some(hub) = hub {
                tokio::spawn(async move { hub.boot().await });
            }
            loop {
                show(&self.backend.rows(Request::Status).await?)?;
                match &mut events {
                    Some(events) => {
                        let _ = timeout(TICK, events.next()).await;
                        while events.try_next().is_some() {}
                    }
                    None => sleep(TICK).await,
                }
            }
        };
        self.foreground.wait(follow).unwrap_or(Ok(()))
    }

    /// Starts all enabled servers of a hub in this process, and waits until each server is running or has failed. The progress
    /// bar shows how many servers are running and how many have failed, and which ones are still starting.
    ///
    /// Does nothing for the running hub, because that hub has already started its servers.
    pub(crate) fn boot(&self) -> Result<(), HubError> {
        self.boot_with(&mut |_| ())
    }

    /// Starts the servers as [`HubHandle::boot`] does. Calls `settled` for each server as soon as it is running or has failed.
    pub(crate) fn boot_with(&self, settled: &mut dyn FnMut(StatusDetail)) -> Result<(), HubError> {
        let Some(hub) = self.own_hub() else { return Ok(()) };
        let mut pending: Vec<Uuid> =
            hub.list().iter().filter(|config| config.enabled).map(|config| config.id).collect();
        let what = if pending.len() == 1 {
            "starting 1 server".to_owned()
        } else {
            format!("starting {} servers", pending.len())
        };
        self.console.start(&what);
        let (mut running, mut failed) = (0, 0);
        let mut look = |pending: &mut Vec<Uuid>, is_booted: bool| {
            // A server that has failed may be starting again by the time that all others are settled.
            let done = |detail: &StatusDetail| {
                !is_starting(detail.state) && detail.state != State::Stopped || is_booted && detail.last_error.is_some()
            };
            let details: Vec<StatusDetail> =
                pending.iter().filter_map(|id| hub.status_detail(*id)).filter(done).collect();
            for detail in details {
                pending.retain(|id| *id != detail.id);
                if matches!(detail.state, State::Running | State::Sleeping) {
                    running += 1;
                } else {
                    failed += 1;
                }
                self.console.finish();
                settled(detail);
                self.console.start(&what);
            }
            let names: Vec<String> =
                pending.iter().filter_map(|id| hub.get(*id)).map(|config| text::name(config.name.trim())).collect();
            self.console
                .update(&format!("{what}: {running} running, {failed} failed; waiting for {}", names.join(", ")));
        };
        let booted = self.wait(async {
            let mut events = hub.events();
            let mut boot = std::pin::pin!(hub.boot());
            loop {
                tokio::select! {
                    booted = &mut boot => return booted,
                    Some(HubEvent::Status { .. }) = events.next() => look(&mut pending, false),
                }
            }
        });
        look(&mut pending, true);
        self.console.finish();
        booted.map(drop)
    }

    /// Waits until servers that failed to start have stopped, at most [`STOPPING`]. Until then, their status does not show the
    /// failure. Does nothing for the running hub.
    pub(crate) fn wait_until_stopped(&self) {
        let Some(hub) = self.own_hub() else { return };
        let is_stopping = || {
            let mut details = hub.list().into_iter().filter_map(|config| hub.status_detail(config.id));
            details.any(|detail| detail.state == State::Stopping)
        };
        let stopped = async {
            let mut events = hub.events();
            while is_stopping() && events.next().await.is_some() {}
        };
        let _ = self.wait(async { timeout(STOPPING, stopped).await });
    }
}

/// Ends the servers that this command has started. The servers of the running hub (`mcpwire hub run`) continue to run.
impl Drop for HubHandle {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Creates previews of the commands and URLs of servers, for the user to review. If a hub is running, the hub creates the
/// previews: it starts the servers, and its environment variables may differ from those of this process.
pub(crate) struct Previews {
    running_hub: Option<HubHandle>,
    secrets: Secrets,
}

impl Previews {
    /// Connects to the running hub. If no hub is running, this process creates the previews itself.
    pub(crate) fn open(place: &Place, options: &Options) -> Result<Self, Failure> {
        let running_hub = HubHandle::connect(place, options)?;
        Ok(Previews { running_hub, secrets: Secrets::in_directory(layout(place)?.secrets()) })
    }

    /// Returns the preview of a server. The server may be absent from `servers.json`.
    pub(crate) fn preview(&mut self, config: &McpConfig) -> Result<Previewed, Failure> {
        match &mut self.running_hub {
            Some(hub) => Ok(hub.ask(Request::Preview { config: config.to_json() })?),
            None => Ok(Previewed::new(config, &self.secrets)),
        }
    }
}

/// Saves a configuration that the user has just changed from `before`. If `before` was approved, the change is approved, too.
pub(crate) fn update_approved(
    before: &McpConfig,
    config: &mut McpConfig,
    place: &Place,
    options: &Options,
) -> Result<(), Failure> {
    let mut previews = Previews::open(place, options)?;
    let was_approved = previews.preview(before)?.is_approved;
    let preview = previews.preview(config)?;
    if was_approved && !preview.is_approved {
        preview.approve(config);
    }
    Ok(HubHandle::open(place, options)?.ask(Request::Update { config: config.to_json() })?)
}
