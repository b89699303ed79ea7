//! [`AttemptTask`]: the operations of an attempt that resolve, start and stop a server.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_client::catch_panic;
use mcpwire_driver::ConnectOptions;
use mcpwire_driver::http::{
    AuthorizationContext, AuthorizeFuture, AuthorizedRequest, Authorizer, Refusal, RefusalFuture, ResponseHead,
};
use mcpwire_supervisor::{Event, Failure, Generation, Retry, ServerId, Stage};

use super::attempt::{Attempt, Launched, ProcessRecord, Remains};
use super::containers;
use super::failures;
use super::hub_state::HubState;
use super::login_state::LoginState;
use super::logs::Logs;
use super::servers::ManagedServer;
use super::tools::server_id;
use crate::config::McpConfig;
use crate::launch::{Instance, Launch};
use crate::logins::{LoginKey, login_secrets};
use crate::process_registry::ServerProcess;
use crate::tasks::{Client, Tasks, panicked};
use crate::{ErrorKind, HubError};

/// Maximum time to wait until a killed server process has ended: 1 s. The kernel ends a process within milliseconds.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// An operation of an attempt to run a server, which runs in a task or on a thread. [`Session`](super::session::Session) has the
/// operations that need a running server.
#[derive(Clone)]
pub(super) struct AttemptTask {
    pub(super) hub: Arc<HubState>,
    pub(super) id: ServerId,
    pub(super) generation: Generation,
    /// The configuration of the server when the operation began.
    pub(super) config: Arc<McpConfig>,
    pub(super) logs: Logs,
}

impl AttemptTask {
    pub(super) fn new(hub: &Arc<HubState>, server: &ManagedServer, generation: Generation) -> Self {
        let (config, logs) = (Arc::clone(&server.config), server.logs.clone());
        AttemptTask { hub: Arc::clone(hub), id: server.id(), generation, config, logs }
    }

    pub(super) fn tasks(&self) -> &Tasks {
        &self.hub.settings.tasks
    }

    /// Reports the outcome of the operation to the supervisor, which decides what follows.
    pub(super) fn report(&self, event: Event) {
        self.hub.event(self.id, self.generation, event);
    }

    /// Calls `f` with the attempt while the hub's state is locked. Returns `None` if the attempt was removed.
    pub(super) fn with<T>(&self, f: impl FnOnce(&mut Attempt) -> T) -> Option<T> {
        self.hub.lock().attempt(self.id, self.generation).map(f)
    }

    /// Resolves the secrets, the variables and the command of the server on a thread, and reports the outcome to the supervisor.
    /// If `compares` is set, also reads the tool definitions of an earlier run, to detect changed definitions.
    pub(super) fn resolve(self, compares: bool) {
        self.tasks().clone().block_detached(move || {
            let AttemptTask { hub, id, generation, config, .. } = self;
            let (settings, tool_cache) = (&hub.settings, &hub.tool_cache);
            let is_first = !tool_cache.contains(&config);
            let instance = Instance { generation: generation.0, host: settings.host.clone(), is_first };
            let launch = catch_panic(|| Launch::compose(&config, &*settings.secrets, &instance))
                .unwrap_or_else(|message| Err(panicked("the store of secrets", &message)))
                .and_then(|launch| tool_cache.check(&config).map(|()| launch));
            let cached = if compares { tool_cache.read(&config) } else { None };
            hub.update(|servers, now| {
                if let Some(cached) = cached {
                    servers.supervisor.set_known_tools(id, &cached.known());
                }
                let event = match launch {
                    Ok(launch) => {
                        if let Some(attempt) = servers.attempt(id, generation) {
                            attempt.resolved(launch);
                        }
                        Event::Resolved
                    }
                    // The user must correct the configuration or the secrets before the server can start.
                    Err(error) => Event::Failed(Failure::new(error, Retry::Input)),
                };
                servers.supervisor.event(id, generation, event, now);
            });
        });
    }

    /// Starts the process of the server, or opens the connection to an HTTP server, on a thread. Reports the outcome to the
    /// supervisor. `None` reports an error, because there is nothing to start.
    pub(super) fn launch(self, launch: Option<Launch>) {
        self.tasks().clone().block_detached(move || {
            let unknown = || HubError::new(ErrorKind::Conflict, "the command to start is not known");
            let started = match launch {
                Some(launch) => self.start_client(launch),
                None => Err(Failure::new(unknown(), Retry::Never)),
            };
            let event = started.map_or_else(Event::Failed, |pid| Event::Launched { pid });
            self.report(event);
        });
    }

    /// Starts the server and stores its client in the attempt. Returns the process id, or `None` if the server has no local
    /// process.
    fn start_client(&self, mut launch: Launch) -> Result<Option<u32>, Failure> {
        let start_timeout = self.hub.lock().get(server_id(self.config.id)).map(ManagedServer::start_timeout);
        launch.def.connect_timeout = Some(start_timeout.unwrap_or(launch.start_timeout));
        self.watch_login(&launch);
        let options = self.connect_options(&launch).map_err(|error| {
            drop(self.take_attempt());
            Failure::new(error, Retry::Never)
        })?;
        let (id, generation, container) = (self.config.id, self.generation.0, launch.container.clone());
        let child = ServerProcess { id, generation, pid: 0, container: launch.container };
        let record = ProcessRecord::new(self.hub.settings.process_registry.clone(), child);
        // The process is recorded before and after its start. If the hub is killed in between, the next hub can still find the
        // process.
        if launch.def.url.is_none() {
            record.record(Some(0), &self.logs);
        }
        let runtime = Arc::clone(self.tasks().runtime());
        let launched = catch_panic(|| Client::connect_on(runtime, &launch.def, options)).unwrap_or_else(|message| {
            let error = io::Error::other(format!("the runtime panicked: {message}"));
            Err(mcpwire_driver::Error::new(launch.def.display_name(), error))
        });
        let client = launched.map_err(|error| {
            record.remove();
            drop(self.take_attempt());
            failures::of_start(&error, Stage::Launch, &self.config, &launch.redactor)
        })?;
        let pid = client.pid();
        record.record(pid, &self.logs);
        let server = Launched::new(client, record);
        if self.with(|attempt| attempt.set_launched(&server)).is_none() {
            // The attempt or the hub has ended during the start, so nobody else would end this process.
            server.kill();
            if let Some(container) = container {
                containers::remove_detached(&container);
            }
            server.record.remove();
        }
        Ok(pid)
    }

    fn connect_options(&self, launch: &Launch) -> Result<ConnectOptions, HubError> {
        let options = self.hub.settings.connect_options(&self.config, &launch.redactor)?;
        let options = self.authorized(launch, options)?;
        let (logs, redactor, of_program) = (self.logs.clone(), launch.redactor.clone(), options.stderr_callback());
        let options = options.follow_tasks().stderr(move |line| {
            let line = redactor.redact(line);
            logs.push(&line);
            if let Some(of_program) = &of_program {
                of_program(&line);
            }
        });
        let (logs, redactor) = (self.logs.clone(), launch.redactor.clone());
        Ok(options.on_panic(move |panic| logs.push(&redactor.redact(&panic.to_string()))))
    }

    /// Adds the authorizer for the OAuth login of the server to the options. An authorizer that the program has set takes
    /// precedence.
    fn authorized(&self, launch: &Launch, options: ConnectOptions) -> Result<ConnectOptions, HubError> {
        let Some(login) = launch.login.as_ref().filter(|_| !options.http_options().has_authorizer()) else {
            return Ok(options);
        };
        let client = options.http_options().own_client();
        let oauth = self.hub.settings.logins.oauth(&launch.def, login, self.tasks().runtime(), client)?;
        launch.redactor.also(login_secrets(&oauth));
        let http = options.http_options().clone().authorizer(LoginOfServer(oauth));
        Ok(options.http(http))
    }

    /// Begins to watch the stored login of the server, so that the hub can react when the user logs in or out. Called before each
    /// start of the server.
    fn watch_login(&self, launch: &Launch) {
        // A program that logs in with its own credentials needs no stored login, so nothing is watched.
        let login = launch.login.as_ref().filter(|login| !login.config().client_credentials);
        let key = login.map(|login| LoginKey::new(&launch.def, login));
        // If the stored login cannot be read, it counts as missing. A request that needs the login reports the error.
        let login = key.map(|key| (self.hub.settings.logins.revision(&key).unwrap_or_default(), key));
        let has_login = login.is_some();
        let now = self.hub.now();
        if let Some(server) = self.hub.lock().get_mut(self.id) {
            let before = server.login.take();
            server.login = login.map(|(seen, key)| LoginState::new(key, seen, before, now));
        }
        if has_login {
            self.hub.login_alarm.ring();
        }
    }

    /// Stops the process and the container of the server gracefully in a background task. Reports to the supervisor when both
    /// have ended.
    pub(super) fn stop(self, Remains { server, container }: Remains) {
        self.tasks().clone().spawn(async move {
            if let Some(server) = server {
                // Errors are ignored: the supervisor needs to know only that the process has ended.
                let _ = server.client.shutdown().await;
            }
            if let Some(container) = container {
                containers::stop(container, self.tasks()).await;
            }
            if self.with(|attempt| attempt.is_killed) != Some(true) {
                self.removed().await;
            }
        });
    }

    /// Kills the process and the container of the server at once, in a background task. Reports to the supervisor when both have
    /// ended.
    ///
    /// The caller holds the lock of the hub's state. Killing the process may block, so another thread does it.
    pub(super) fn kill(self, Remains { server, container }: Remains) {
        self.tasks().clone().spawn(async move {
            if let Some(server) = server {
                let killed = Arc::clone(&server);
                let _ = self.tasks().block(move || killed.kill()).await;
                let _ = self.tasks().within(KILL_TIMEOUT, server.client.shutdown()).await;
            }
            if let Some(container) = container {
                containers::remove(container, self.tasks()).await;
            }
            self.removed().await;
        });
    }

    /// Removes the attempt and the record of its process, after the process has ended. Reports the end to the supervisor.
    async fn removed(self) {
        if let Some(attempt) = self.take_attempt() {
            let removing = self.tasks().block(move || {
                if let Some(server) = attempt.launched() {
                    server.record.remove();
                }
            });
            let _ = removing.await;
        }
        self.report(Event::Removed);
    }

    /// Removes the attempt from the server, and returns it. Returns `None` if it was already removed.
    fn take_attempt(&self) -> Option<Attempt> {
        self.hub.lock().get_mut(self.id)?.attempts.remove(&self.generation)
    }
}

/// The OAuth authorizer of one server's connection. Unlike [`OAuth`] itself, it does not delay the end of the connection until a
/// token refresh has ended. The end of the hub waits for token refreshes instead.
struct LoginOfServer(OAuth);

impl Authorizer for LoginOfServer {
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
        self.0.authorize(request)
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        self.0.refused(refusal)
    }

    fn responded(&self, request: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        self.0.responded(request, response);
    }

    fn context(&self) -> Option<AuthorizationContext> {
        self.0.context()
    }
}
