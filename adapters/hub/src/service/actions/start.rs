//! Starts servers: resolves the secrets and the command of a server, then starts the process or opens the connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_client::catch_panic;
use mcpwire_driver::ConnectOptions;
use mcpwire_driver::http::{
    AuthorizationContext, AuthorizeFuture, AuthorizedRequest, Authorizer, Refusal, RefusalFuture, ResponseHead,
};
use mcpwire_supervisor::{Event, Failure, Retry, ServerId, Stage};

use super::super::attempts::AttemptKey;
use super::super::available_tools::uuid;
use super::super::containers;
use super::super::failures;
use super::super::logs::Logs;
use super::super::process_record::ProcessRecord;
use super::super::state::Servers;
use super::Context;
use crate::config::McpConfig;
use crate::launch::{Container, Instance, Launch};
use crate::logins::{LoginKey, login_secrets};
use crate::process_registry::ServerProcess;
use crate::tasks::{Client, panicked};
use crate::{ErrorKind, HubError};

/// Extra time that a connection has to open, beyond the timeout of the supervisor. So the supervisor times out first,
/// and its error is more precise.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(5);

/// Resolves the secrets, the variables and the command of a server on a thread, and reports the outcome to the
/// supervisor.
pub(super) fn resolve(context: &Context, servers: &mut Servers, key: AttemptKey) {
    let (id, generation) = key;
    let Ok(config) = servers.config(id) else { return };
    context.attempts.begin(key);
    let compares = servers.take_comparison(id);
    let on_thread = context.clone();
    context.tasks().block_detached(move || {
        let context = on_thread;
        let settings = &context.settings;
        let instance = Instance {
            generation: generation.0,
            host: settings.host.clone(),
            is_first: !context.tool_cache.contains(&config),
        };
        let launch = catch_panic(|| Launch::compose(&config, &*settings.secrets, &instance))
            .unwrap_or_else(|message| Err(panicked("the store of secrets", &message)))
            .and_then(|launch| context.tool_cache.check(&config).map(|()| launch));
        let cached = if compares { context.tool_cache.read(&config) } else { None };
        context.state.update(|servers, now| {
            if let Some(cached) = cached {
                servers.set_known_tools(id, &cached.known());
            }
            let event = match launch {
                Ok(launch) => {
                    context.attempts.resolved(key, launch);
                    Event::Resolved
                }
                // The user must correct the configuration or the secrets before the server can start.
                Err(error) => Event::Failed(Failure::new(error, Retry::Input)),
            };
            servers.event(id, generation, event, now);
        });
    });
}

/// Starts the process of a server, or opens the connection to an HTTP server, on a thread. Reports the outcome to the
/// supervisor.
pub(super) fn launch(context: &Context, servers: &mut Servers, key: AttemptKey) {
    let (id, generation) = key;
    let (Ok(config), Some(logs)) = (servers.config(id), servers.logs(id).cloned()) else { return };
    let launch = context.attempts.take_launch(key);
    let on_thread = context.clone();
    context.tasks().block_detached(move || {
        let context = on_thread;
        let event = if let Some(launch) = launch {
            start_client(&context, key, launch, &config, &logs)
        } else {
            let error = HubError::new(ErrorKind::Conflict, "the command to start is not known");
            Event::Failed(Failure::new(error, Retry::Never))
        };
        context.state.event(id, generation, event);
    });
}

fn start_client(context: &Context, key: AttemptKey, mut launch: Launch, config: &McpConfig, logs: &Logs) -> Event {
    launch.def.connect_timeout = Some(launch.start_timeout.max(config.policy().first_start_timeout) + TIMEOUT_MARGIN);
    watch_login(context, key.0, &launch);
    let options = match connect_options(context, &launch, config, logs) {
        Ok(options) => options,
        Err(error) => {
            context.attempts.launch_failed(key);
            return Event::Failed(Failure::new(error, Retry::Never));
        }
    };
    let (id, generation) = key;
    let container = launch.container.clone();
    let child = ServerProcess { id: uuid(id), generation: generation.0, pid: 0, container: launch.container };
    let record = Arc::new(ProcessRecord::new(context.settings.process_registry.clone(), child));
    // The process is recorded before and after its start. A hub that is killed in between leaves no unrecorded process.
    if launch.def.url.is_none() {
        record_pid(&record, Some(0), logs);
    }
    let launched = catch_panic(|| context.tasks().connect(&launch.def, options)).unwrap_or_else(|message| {
        let error = io::Error::other(format!("the runtime panicked: {message}"));
        Err(mcpwire_driver::Error::new(launch.def.display_name(), error))
    });
    let client = match launched {
        Ok(client) => client,
        Err(error) => {
            record.remove();
            context.attempts.launch_failed(key);
            return Event::Failed(failures::of_start(&error, Stage::Launch, config, &launch.redactor));
        }
    };
    let pid = client.pid();
    record_pid(&record, pid, logs);
    store_client(context, key, &client, &record, container.as_ref());
    Event::Launched { pid }
}

/// Stores the client of a started server, and the record of its process, in the attempt `key`. If the attempt or the
/// hub has ended meanwhile, kills the process and the container of the server instead.
fn store_client(
    context: &Context,
    key: AttemptKey,
    client: &Client,
    record: &Arc<ProcessRecord>,
    container: Option<&Container>,
) {
    // The lock of the state is held here, because dropping the hub first ends the state and then kills all stored
    // clients.
    let is_stored = context.state.read(|servers| !servers.is_ended() && context.attempts.launched(key, client, record));
    if !is_stored {
        client.kill();
        if let Some(container) = container {
            containers::remove_detached(container);
        }
        record.remove();
    }
}

fn connect_options(
    context: &Context,
    launch: &Launch,
    config: &McpConfig,
    logs: &Logs,
) -> Result<ConnectOptions, HubError> {
    let connect = context.settings.connect.as_ref();
    let options = catch_panic(|| connect.map(|connect| connect(config)).unwrap_or_default())
        .map_err(|message| panicked("`HubOptions::connect`", &launch.redactor.redact(&message)))?;
    let options = authorized(context, launch, options)?;
    let options = options.on_panic(logs.panics(launch.redactor.clone()));
    let (mut to_logs, of_program) = (logs.follower(launch.redactor.clone()), options.stderr_callback());
    let redactor = launch.redactor.clone();
    Ok(options.follow_tasks().stderr(move |line| {
        to_logs(line);
        if let Some(of_program) = &of_program {
            of_program(&redactor.redact(line));
        }
    }))
}

/// Lets the client log in to the server, if the program has not set its own authorizer.
fn authorized(context: &Context, launch: &Launch, options: ConnectOptions) -> Result<ConnectOptions, HubError> {
    let Some(login) = launch.login.as_ref().filter(|_| !options.http_options().has_authorizer()) else {
        return Ok(options);
    };
    let client = options.http_options().own_client();
    let oauth = context.settings.logins.oauth(&launch.def, login, context.tasks().runtime(), client)?;
    launch.redactor.also(login_secrets(&oauth));
    let http = options.http_options().clone().authorizer(LoginOfServer(oauth));
    Ok(options.http(http))
}

/// The login of a server. The end of the server waits for no token refresh, because the hub goes on: the end of the hub waits.
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

/// Begins to watch the stored login of a server that is being started.
fn watch_login(context: &Context, id: ServerId, launch: &Launch) {
    // A program that logs in as itself does so whenever it has no token.
    let login = launch.login.as_ref().filter(|login| !login.config().client_credentials);
    let key = login.map(|login| LoginKey::new(&launch.def, login));
    // A revision that cannot be read counts as none. If a request needs the login, it reports the error.
    let login = key.map(|key| (key.clone(), context.settings.logins.revision(&key).unwrap_or_default()));
    let has_login = login.is_some();
    context.state.update(|servers, now| servers.watch_login(id, login, now));
    if has_login {
        context.state.login_alarm().ring();
    }
}

/// Records the process id of a server on disk, so that the next hub can end the process if this hub is killed. Does
/// nothing if `pid` is `None`.
pub(super) fn record_pid(record: &ProcessRecord, pid: Option<u32>, logs: &Logs) {
    if let Some(pid) = pid
        && let Err(error) = record.set_pid(pid)
    {
        logs.push(&format!("the process will not be found if the hub is killed: {error}"));
    }
}
