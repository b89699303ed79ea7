//! Doing what the supervisor wants done: each effect leads to exactly one event.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_client::catch_panic;
use mcpwire_core::{Era, Notification, SubscriptionEvent, SubscriptionFilter, ToolList};
use mcpwire_supervisor::{Effect, Event, Failure, Generation, Retry, ServerId, Stage, State};

use super::attempt::Attempt;
use super::events::HubEvent;
use super::noted::Noted;
use super::shared::{Core, Shared};
use super::snapshot::uuid;
use super::{containers, failures, freshness, kept};
use crate::HubError;
use crate::launch::{Instance, Launch};
use crate::ledger::Child;
use crate::tasks::Client;
use crate::tasks::panicked;

/// How much longer than the supervisor the connection itself waits: it is the supervisor who knows what to say.
const LEEWAY: Duration = Duration::from_secs(5);

/// How long a killed server is waited for. The kernel takes milliseconds.
const AFTER_KILL: Duration = Duration::from_secs(1);

impl Shared {
    pub(super) fn perform_effect(self: &Arc<Self>, core: &mut Core, id: ServerId, effect: Effect) {
        match effect {
            Effect::Resolve { generation } => self.resolve(core, id, generation),
            Effect::Launch { generation } => self.launch(core, id, generation),
            Effect::Negotiate { generation, .. } => {
                self.with_client(core, id, generation, Shared::negotiate, Event::Failed);
            }
            Effect::List { generation } => self.with_client(core, id, generation, Shared::list, Event::Failed),
            Effect::Refresh { generation } => {
                self.with_client(core, id, generation, Shared::refresh, |_| Event::RefreshFailed);
            }
            Effect::Probe { generation } => {
                self.with_client(core, id, generation, Shared::probe, |_| Event::ProbeFailed);
            }
            Effect::FailCalls { generation, error } => {
                if let Some(attempt) = core.attempt(id, generation) {
                    attempt.fail_calls(error);
                }
            }
            Effect::Stop { generation } => self.stop(core, id, generation),
            Effect::Kill { generation } => self.kill(core, id, generation),
            Effect::StopFailed { .. } => {
                if let Some(managed) = core.managed.get(&id) {
                    managed.logs.push("the process could not be ended; it may still run");
                }
                self.listeners.tell(&HubEvent::Abandoned { id: uuid(id) });
            }
            Effect::Changed { state } => {
                let (Some(managed), Some(detail)) = (core.managed.get(&id), core.supervisor.detail(id)) else { return };
                let error = detail.last_error.filter(|_| !matches!(state, State::Running));
                let name = managed.config.name.trim().to_owned();
                self.listeners.tell(&HubEvent::Status { id: uuid(id), name, state, error });
            }
            _ => {}
        }
    }

    /// Secrets, variables, the command.
    fn resolve(self: &Arc<Self>, core: &mut Core, id: ServerId, generation: Generation) {
        let Some(managed) = core.managed.get_mut(&id) else { return };
        // What was resolved before and never started never will be.
        managed.attempts.retain(|_, attempt| attempt.is_alive());
        managed.attempts.insert(generation, Attempt::new());
        let is_compared = std::mem::replace(&mut managed.is_compared, true);
        let (shared, config) = (Arc::clone(self), Arc::clone(&managed.config));
        self.tasks.block_detached(move || {
            let settings = &shared.settings;
            let instance = Instance {
                generation: generation.0,
                host: settings.host.clone(),
                is_first: !settings.layout.catalog(config.id).exists(),
            };
            let launch = catch_panic(|| Launch::compose(&config, &*settings.secrets, &instance))
                .unwrap_or_else(|message| Err(panicked("the store of secrets", &message)));
            let before = if is_compared { None } else { kept::read(&settings.layout, &config) };
            shared.act(|core, now| {
                if let Some(tools) = before {
                    core.supervisor.set_known_tools(id, &tools);
                }
                let event = match launch {
                    Ok(launch) => {
                        if let Some(attempt) = core.attempt(id, generation) {
                            attempt.resolved(launch);
                        }
                        Event::Resolved
                    }
                    // All that can be wrong here is for the user to put right.
                    Err(error) => Event::Failed(Failure::new(error, Retry::Input)),
                };
                core.supervisor.event(id, generation, event, now);
            });
        });
    }

    fn launch(self: &Arc<Self>, core: &mut Core, id: ServerId, generation: Generation) {
        let Some(managed) = core.managed.get_mut(&id) else { return };
        let (config, logs) = (Arc::clone(&managed.config), managed.logs.clone());
        let launch = managed.attempts.get_mut(&generation).and_then(Attempt::begin_launch);
        let shared = Arc::clone(self);
        self.tasks.block_detached(move || {
            let Some(mut launch) = launch else {
                let error = HubError::unavailable("what to start is not known");
                return shared.event(id, generation, Event::Failed(Failure::new(error, Retry::Never)));
            };
            launch.def.connect_timeout =
                Some(launch.start_timeout.max(super::plan::policy(&config).first_start_timeout) + LEEWAY);
            let connect = shared.settings.connect.as_ref();
            let options = catch_panic(|| connect.map(|connect| connect(&config)).unwrap_or_default());
            let options = match options {
                Ok(options) => options.on_panic(logs.panics(launch.redactor.clone())),
                Err(message) => {
                    let error = panicked("`HubOptions::connect`", &launch.redactor.redact(&message));
                    return shared.event(id, generation, Event::Failed(Failure::new(error, Retry::Never)));
                }
            };
            let (mut ours, theirs) = (logs.follower(launch.redactor.clone()), options.stderr_callback());
            let redactor = launch.redactor.clone();
            let options = options.follow_tasks().stderr(move |line| {
                ours(line);
                if let Some(theirs) = &theirs {
                    theirs(&redactor.redact(line));
                }
            });
            let launched = catch_panic(|| shared.tasks.connect(&launch.def, options)).unwrap_or_else(|message| {
                let error = io::Error::other(format!("the runtime panicked: {message}"));
                Err(mcpwire_driver::Error::new(launch.def.display_name(), error))
            });
            let child = Child { id: uuid(id), generation: generation.0, pid: 0, container: launch.container.clone() };
            let noted = Arc::new(Noted::new(Arc::clone(&shared.settings.ledger), child));
            if let Ok(client) = &launched {
                shared.note(id, &noted, client.pid());
            }
            shared.act(|core, now| {
                let ended = core.ended;
                let attempt = core.attempt(id, generation).filter(|_| !ended);
                let event = match launched {
                    Ok(client) => {
                        let pid = client.pid();
                        if let Some(attempt) = attempt {
                            attempt.launched(Some(client), Some(noted));
                        } else {
                            client.kill();
                            shared.tasks.block_detached(move || noted.strike_out());
                        }
                        Event::Launched { pid }
                    }
                    Err(error) => {
                        if let Some(attempt) = attempt {
                            attempt.launched(None, None);
                        }
                        Event::Failed(failures::of(&error, Stage::Launch, &config, &launch.redactor))
                    }
                };
                core.supervisor.event(id, generation, event, now);
            });
        });
    }

    /// Notes who runs, for the next start to find if this process does not come to end it.
    fn note(&self, id: ServerId, noted: &Noted, pid: Option<u32>) {
        if let Some(pid) = pid
            && let Err(error) = noted.note(pid)
            && let Some(managed) = self.lock().managed.get(&id)
        {
            managed.logs.push(&format!("it will not be found if the hub is killed: {error}"));
        }
    }

    /// Does something with the client of an attempt, in a task of its own that ends with the attempt.
    fn with_client<F>(
        self: &Arc<Self>,
        core: &mut Core,
        id: ServerId,
        generation: Generation,
        f: impl FnOnce(Arc<Self>, Target, Client) -> F,
        failed: impl FnOnce(Failure) -> Event,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(managed) = core.managed.get_mut(&id) else { return };
        let Some(attempt) = managed.attempts.get_mut(&generation) else { return };
        let Some(client) = attempt.client.clone() else {
            let failure = Failure::new(HubError::unavailable("there is no connection"), Retry::Backoff);
            let (shared, event) = (Arc::clone(self), failed(failure));
            self.tasks.spawn(async move { shared.event(id, generation, event) });
            return;
        };
        let config = Arc::clone(&managed.config);
        let target = Target { id, generation, config, redactor: attempt.redactor.clone() };
        attempt.keep(self.tasks.spawn_abortable(f(Arc::clone(self), target, client)));
    }

    async fn negotiate(self: Arc<Self>, target: Target, client: Client) {
        let noted = self.lock().attempt(target.id, target.generation).map(|attempt| attempt.noted.clone());
        // Without the attempt there is nothing left to open.
        let Some(noted) = noted else { return };
        let mut pid = client.pid();
        let mut opening = Box::pin(client.initialize());
        let opened = poll_fn(|cx| {
            let opened = opening.as_mut().poll(cx);
            // One that ends when it is asked for its era has been started once more.
            let now = client.pid();
            if pid != now
                && let Some(noted) = noted.clone()
            {
                pid = now;
                let (shared, id) = (Arc::clone(&self), target.id);
                self.tasks.block_detached(move || shared.note(id, &noted, now));
            }
            opened
        });
        let opened = opened.await.map(drop);
        drop(opening);
        let event = match opened {
            Ok(()) => {
                let version = client.protocol_version();
                Event::Negotiated { version: version.map(|version| version.to_string()).unwrap_or_default() }
            }
            Err(error) => Event::Failed(target.failure(&error, Stage::Negotiate)),
        };
        if matches!(event, Event::Negotiated { .. }) {
            let told = client.notifications();
            let task = self.tasks.spawn_abortable(Arc::clone(&self).listen(target.clone(), client.clone(), told));
            let subscription = self.tasks.spawn_abortable(Arc::clone(&self).subscribe(target.clone(), client));
            if let Some(attempt) = self.lock().attempt(target.id, target.generation) {
                attempt.keep(task);
                attempt.keep(subscription);
            } else {
                task.abort();
                subscription.abort();
            }
        }
        self.event(target.id, target.generation, event);
    }

    /// Hears what the server tells, until the connection ends.
    async fn listen(self: Arc<Self>, target: Target, client: Client, mut told: mcpwire_driver::Notifications) {
        while let Some(notification) = told.next().await {
            if notification == Notification::ToolsChanged {
                self.event(target.id, target.generation, Event::ListChanged);
            }
        }
        let failure = failures::of_closed(&client, &target.config, &target.redactor);
        drop(client);
        self.event(target.id, target.generation, Event::Closed(failure));
    }

    /// Asks a server of the modern era to tell when its tools change; older ones tell unasked.
    async fn subscribe(self: Arc<Self>, target: Target, client: Client) {
        let modern = client.protocol_version().is_some_and(|version| version.era() == Era::Modern);
        let tells = client.capabilities().and_then(|all| all.tools.as_ref()).is_some_and(|tools| tools.list_changed);
        if !modern || !tells {
            return;
        }
        let Ok(mut changes) = client.subscribe(&SubscriptionFilter::new().tools()).await else { return };
        drop(client);
        while let Some(change) = changes.next().await {
            // It had been interrupted: what has changed meanwhile was not told.
            if matches!(change, SubscriptionEvent::Acknowledged(_)) {
                self.event(target.id, target.generation, Event::ListChanged);
            }
        }
    }

    async fn list(self: Arc<Self>, target: Target, client: Client) {
        let event = match self.ask_for_tools(&target, &client).await {
            Ok(listed) => listed,
            Err(error) => Event::Failed(target.failure(&error, Stage::List)),
        };
        self.listed(&target, event);
    }

    async fn refresh(self: Arc<Self>, target: Target, client: Client) {
        let event = self.ask_for_tools(&target, &client).await;
        self.listed(&target, event.unwrap_or(Event::RefreshFailed));
    }

    async fn ask_for_tools(&self, target: &Target, client: &Client) -> Result<Event, mcpwire_driver::Error> {
        let tools = tools(client).await?;
        let ttl = freshness::ttl(client, &tools);
        self.keep_tools(target, &tools).await;
        Ok(Event::Listed { tools, ttl })
    }

    fn listed(self: &Arc<Self>, target: &Target, event: Event) {
        self.act(|core, now| {
            core.supervisor.event(target.id, target.generation, event, now);
            self.note_stale(core);
        });
    }

    async fn probe(self: Arc<Self>, target: Target, client: Client) {
        // An error is an answer, too.
        let event = match client.ping().await {
            Err(error) if error.kind() != mcpwire_driver::ErrorKind::Server => Event::ProbeFailed,
            _ => Event::Probed,
        };
        self.event(target.id, target.generation, event);
    }

    fn stop(self: &Arc<Self>, core: &mut Core, id: ServerId, generation: Generation) {
        let Some(attempt) = core.attempt(id, generation) else { return self.gone_later(id, generation) };
        attempt.deafen();
        let (client, container) = (attempt.client.clone(), attempt.container.clone());
        let shared = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Some(client) = client {
                // How it ended does not matter here.
                let _ = client.shutdown().await;
            }
            if let Some(container) = container {
                containers::stop(container, &shared.tasks).await;
            }
            shared.gone(id, generation).await;
        });
    }

    fn kill(self: &Arc<Self>, core: &mut Core, id: ServerId, generation: Generation) {
        let Some(attempt) = core.attempt(id, generation) else { return self.gone_later(id, generation) };
        attempt.kill();
        let (client, container) = (attempt.client.clone(), attempt.container.clone());
        let shared = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Some(client) = client {
                let _ = shared.tasks.within(AFTER_KILL, client.shutdown()).await;
            }
            if let Some(container) = container {
                containers::remove(container, &shared.tasks).await;
            }
            shared.gone(id, generation).await;
        });
    }

    fn gone_later(self: &Arc<Self>, id: ServerId, generation: Generation) {
        let shared = Arc::clone(self);
        self.tasks.spawn(async move { shared.gone(id, generation).await });
    }

    async fn gone(self: Arc<Self>, id: ServerId, generation: Generation) {
        let noted = self.lock().attempt(id, generation).and_then(|attempt| attempt.noted.clone());
        if let Some(noted) = noted {
            let _ = self.tasks.block(move || noted.strike_out()).await;
        }
        self.act(|core, now| {
            if let Some(managed) = core.managed.get_mut(&id) {
                managed.attempts.remove(&generation);
            }
            core.supervisor.event(id, generation, Event::Removed, now);
        });
    }
}

/// Which attempt something is about.
#[derive(Clone)]
pub(super) struct Target {
    id: ServerId,
    generation: Generation,
    pub(super) config: Arc<crate::config::McpConfig>,
    redactor: crate::redact::Redactor,
}

impl Target {
    fn failure(&self, error: &mcpwire_driver::Error, phase: Stage) -> Failure {
        failures::of(error, phase, &self.config, &self.redactor)
    }
}

/// All tools of the server; none of one that says that it has none.
async fn tools(client: &Client) -> Result<Arc<ToolList>, mcpwire_driver::Error> {
    if client.capabilities().is_some_and(|capabilities| capabilities.tools.is_none()) {
        return Ok(Arc::default());
    }
    Ok(Arc::clone(client.list_tools().await?.list()))
}
