//! Negotiates with a started server, lists its tools, probes it, and listens to its notifications.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::{Era, Event as ConnectionEvent, Notification, SubscriptionEvent, SubscriptionFilter, ToolList};
use mcpwire_driver::{Error, ErrorKind, Events};
use mcpwire_supervisor::{Event, Failure, Retry, Stage};

use super::super::attempts::AttemptKey;
use super::super::failures;
use super::super::state::Servers;
use super::Context;
use super::context::Target;
use super::start::record_pid;
use crate::HubError;
use crate::logins::RequiredLogin;
use crate::tasks::Client;

/// Begins `operation` with the client of a started server, in a task that is aborted when the attempt `key` to run the
/// server ends. If there is no client, reports the event that `failed` returns.
pub(super) fn begin<F: Future<Output = ()> + Send + 'static>(
    context: &Context,
    servers: &mut Servers,
    key: AttemptKey,
    operation: impl FnOnce(Context, Target, Client) -> F,
    failed: impl FnOnce(Failure) -> Event,
) {
    let (id, generation) = key;
    let Ok(config) = servers.config(id) else { return };
    let Some(connection) = context.attempts.connection(key) else {
        let event = failed(Failure::new(HubError::network("transport", "there is no connection"), Retry::Backoff));
        let state = Arc::clone(&context.state);
        context.tasks().spawn(async move { state.event(id, generation, event) });
        return;
    };
    let target = Target { id, generation, config, redactor: connection.redactor };
    let task = context.tasks().spawn_abortable(operation(context.clone(), target, connection.client));
    context.attempts.add_task(key, task);
}

/// Negotiates the protocol version with the server, then begins to listen to its notifications. Reports the outcome to
/// the supervisor.
pub(super) async fn negotiate(context: Context, target: Target, client: Client) {
    // If the attempt was removed meanwhile, there is no server left to negotiate with.
    let Some(record) = context.attempts.record(target.key()) else { return };
    let mut pid = client.pid();
    let mut opening = Box::pin(client.initialize());
    let opened = poll_fn(|cx| {
        let opened = opening.as_mut().poll(cx);
        // A server that exits when the client asks for its protocol version is started again as a new process. Its id
        // is recorded.
        let current = client.pid();
        if pid != current {
            pid = current;
            let (record, logs) = (Arc::clone(&record), context.state.read(|servers| servers.logs(target.id).cloned()));
            context.tasks().block_detached(move || {
                if let Some(logs) = logs {
                    record_pid(&record, current, &logs);
                }
            });
        }
        opened
    });
    let opened = opened.await.map(drop);
    drop(opening);
    let event = match opened {
        Ok(()) => {
            let events = client.events();
            let version = client.protocol_version().map(|version| version.to_string()).unwrap_or_default();
            let listener = listen(context.clone(), target.clone(), client.clone(), events);
            context.attempts.add_task(target.key(), context.tasks().spawn_abortable(listener));
            let subscriber = subscribe(context.clone(), target.clone(), client);
            context.attempts.add_task(target.key(), context.tasks().spawn_abortable(subscriber));
            Event::Negotiated { version }
        }
        Err(error) => failed(&context, &target, &error, Stage::Negotiate),
    };
    context.state.event(target.id, target.generation, event);
}

/// Listens to a server, and reports to the supervisor when its tools change and when the connection ends.
async fn listen(context: Context, target: Target, client: Client, mut events: Events) {
    while let Some(event) = events.next().await {
        if matches!(
            event,
            // The server may offer other tools to another login.
            ConnectionEvent::Notification(Notification::ToolsChanged) | ConnectionEvent::AuthorizationChanged
        ) {
            context.state.event(target.id, target.generation, Event::ListChanged);
        }
    }
    let failure = failures::of_closed(&client, &target.config, &target.redactor);
    drop(client);
    context.state.event(target.id, target.generation, Event::Closed(failure));
}

/// Subscribes to changes of the server's tools, and reports them to the supervisor. Only modern servers (from revision
/// 2026-07-28 on) require a subscription.
async fn subscribe(context: Context, target: Target, client: Client) {
    let is_modern = client.protocol_version().is_some_and(|version| version.era() == Era::Modern);
    if !is_modern || !notifies_of_tools(&client) {
        return;
    }
    let Ok(mut changes) = client.subscribe(&SubscriptionFilter::new().tools()).await else { return };
    drop(client);
    while let Some(change) = changes.next().await {
        // A later acknowledgement means that the subscription was interrupted and renewed. The tools may have changed
        // meanwhile.
        if matches!(change, SubscriptionEvent::Acknowledged(_)) {
            context.state.event(target.id, target.generation, Event::ListChanged);
        }
    }
}

/// Requests the tool list of a server for the first time, and reports the list or the failure to the supervisor.
pub(super) async fn list(context: Context, target: Target, client: Client) {
    let listed = list_tools(&context, &target, &client).await;
    let event = listed.unwrap_or_else(|error| failed(&context, &target, &error, Stage::List));
    context.state.event(target.id, target.generation, event);
}

/// Requests the tool list of a running server again, and reports the outcome to the supervisor.
pub(super) async fn refresh(context: Context, target: Target, client: Client) {
    let listed = list_tools(&context, &target, &client).await;
    let event = listed.unwrap_or_else(|error| unless_login(&context, &target, &error, Event::RefreshFailed));
    context.state.event(target.id, target.generation, event);
}

async fn list_tools(context: &Context, target: &Target, client: &Client) -> Result<Event, Error> {
    let has_tools = client.capabilities().is_none_or(|capabilities| capabilities.tools.is_some());
    let tools: Arc<ToolList> = if has_tools { Arc::clone(client.list_tools().await?.list()) } else { Arc::default() };
    let (cache, config, list) = (Arc::clone(&context.tool_cache), Arc::clone(&target.config), Arc::clone(&tools));
    let has_login = context.state.read(|servers| servers.has_login(target.id));
    // Errors are ignored: if the list cannot be cached, the next hub requests it again.
    let _ = context.tasks().block(move || cache.write(&config, &list, has_login)).await;
    let ttl: Option<Duration> = tools.hints().stale_after(notifies_of_tools(client));
    Ok(Event::Listed { tools, ttl })
}

/// Returns the event that ends the attempt because of `error`. If the server wants a login, stores which one.
fn failed(context: &Context, target: &Target, error: &Error, stage: Stage) -> Event {
    let required = RequiredLogin::find(error).map(|required| required.redacted(&target.redactor));
    context.state.update(|servers, _| {
        if let Some(login) = servers.login_state_mut(target.id) {
            login.required = required;
        }
    });
    Event::Failed(target.failure(error, stage))
}

/// Returns `otherwise`, or the event that ends the attempt if the server wants a login. Then repeating the request is of no use.
fn unless_login(context: &Context, target: &Target, error: &Error, otherwise: Event) -> Event {
    if error.kind() == ErrorKind::LoginRequired { failed(context, target, error, Stage::Run) } else { otherwise }
}

fn notifies_of_tools(client: &Client) -> bool {
    client.capabilities().and_then(|all| all.tools.as_ref()).is_some_and(|tools| tools.list_changed)
}

/// Checks that the server responds to a ping, and reports the outcome to the supervisor. An error is a response too.
pub(super) async fn probe(context: Context, target: Target, client: Client) {
    let event = match client.ping().await {
        Err(error) if error.kind() != ErrorKind::Server => unless_login(&context, &target, &error, Event::ProbeFailed),
        _ => Event::Probed,
    };
    context.state.event(target.id, target.generation, event);
}
