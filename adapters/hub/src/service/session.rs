//! [`Session`]: the operations with a started server, which negotiate, list its tools, probe it, and listen to its notifications.

use std::future::{Future, poll_fn};
use std::sync::Arc;

use mcpwire_core::{Era, Event as ConnectionEvent, Notification, SubscriptionEvent, SubscriptionFilter, ToolList};
use mcpwire_driver::{Error, ErrorKind, Events};
use mcpwire_supervisor::{Event, Failure, Retry, Stage};

use super::attempt_task::AttemptTask;
use super::failures;
use super::servers::ManagedServer;
use crate::HubError;
use crate::logins::RequiredLogin;
use crate::redact::Redactor;
use crate::tasks::Client;

/// The operations with a started server during one attempt to run it. Their tasks are aborted when the attempt ends.
#[derive(Clone)]
pub(super) struct Session {
    task: AttemptTask,
    client: Client,
    redactor: Redactor,
}

impl AttemptTask {
    /// Begins `operation` with the client of the server, in a task, and reports the event that the operation returns. If the attempt
    /// has no client, reports the event that `failed` returns.
    pub(super) fn begin<F: Future<Output = Event> + Send + 'static>(
        self,
        server: &mut ManagedServer,
        operation: impl FnOnce(Session) -> F,
        failed: impl FnOnce(Failure) -> Event,
    ) {
        let tasks = self.tasks().clone();
        let attempt = server.attempts.get_mut(&self.generation);
        if let Some((connection, attempt)) = attempt.and_then(|attempt| Some((attempt.connection()?, attempt))) {
            let task = self.clone();
            let event = operation(Session { task: self, client: connection.client, redactor: connection.redactor });
            attempt.tasks.push(tasks.spawn_abortable(async move { task.report(event.await) }));
            return;
        }
        let event = failed(Failure::new(HubError::network("transport", "there is no connection"), Retry::Backoff));
        tasks.spawn(async move { self.report(event) });
    }
}

impl Session {
    /// Negotiates the protocol version with the server, and then begins to listen to its notifications.
    pub(super) async fn negotiate(self) -> Event {
        match self.initialize().await {
            Ok(()) => {
                let version = self.client.protocol_version().map(|version| version.to_string()).unwrap_or_default();
                let events = self.client.events();
                self.spawn(self.clone().listen(events));
                self.spawn(self.clone().subscribe());
                Event::Negotiated { version }
            }
            Err(error) => self.failed(&error, Stage::Negotiate),
        }
    }

    /// Opens the connection to the server. If the server exits when the client asks for its protocol version, the client starts
    /// it again. This function then records the id of the new process.
    async fn initialize(&self) -> Result<(), Error> {
        let mut pid = self.client.pid();
        let mut opening = Box::pin(self.client.initialize());
        let opened = poll_fn(|cx| {
            let opened = opening.as_mut().poll(cx);
            let current = self.client.pid();
            if pid != current {
                pid = current;
                // The attempt may have been removed meanwhile. Nothing is then left to record.
                if let Some(server) = self.task.with(|attempt| attempt.launched().cloned()).flatten() {
                    let logs = self.task.logs.clone();
                    self.task.tasks().block_detached(move || server.record.record(current, &logs));
                }
            }
            opened
        });
        opened.await.map(drop)
    }

    /// Runs a task until it completes, or until the attempt ends.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let handle = self.task.tasks().spawn_abortable(task);
        if self.task.with(|attempt| attempt.tasks.push(handle.clone())).is_none() {
            handle.abort();
        }
    }

    /// Listens to the events of the connection. Reports to the supervisor when the server's tools have changed, and when the
    /// connection has ended.
    async fn listen(self, mut events: Events) {
        while let Some(event) = events.next().await {
            if matches!(
                event,
                // A server may offer different tools to different logins.
                ConnectionEvent::Notification(Notification::ToolsChanged) | ConnectionEvent::AuthorizationChanged
            ) {
                self.task.report(Event::ListChanged);
            }
        }
        let Session { task, client, redactor } = self;
        let failure = failures::of_closed(&client, &task.config, &redactor);
        drop(client);
        task.report(Event::Closed(failure));
    }

    /// Subscribes to changes of the server's tools, and reports the changes to the supervisor. Only servers of the revision
    /// 2026-07-28 or later require a subscription. For other servers, this does nothing.
    async fn subscribe(self) {
        let is_modern = self.client.protocol_version().is_some_and(|version| version.era() == Era::Modern);
        if !is_modern || !self.notifies_of_tools() {
            return;
        }
        let Session { task, client, .. } = self;
        let Ok(mut changes) = client.subscribe(&SubscriptionFilter::new().tools()).await else { return };
        drop(client);
        while let Some(change) = changes.next().await {
            // A second acknowledgement means that the subscription was interrupted and renewed. The tools may have changed
            // meanwhile.
            if matches!(change, SubscriptionEvent::Acknowledged(_)) {
                task.report(Event::ListChanged);
            }
        }
    }

    /// Requests the tool list of the server for the first time. Returns the list, or the failure of the start.
    pub(super) async fn list(self) -> Event {
        self.list_tools().await.unwrap_or_else(|error| self.failed(&error, Stage::List))
    }

    /// Requests the tool list of the running server again. Returns the new list, or that the request has failed.
    pub(super) async fn refresh(self) -> Event {
        let listed = self.list_tools().await;
        listed.unwrap_or_else(|error| self.unless_login(&error, Event::RefreshFailed))
    }

    async fn list_tools(&self) -> Result<Event, Error> {
        let has_tools = self.client.capabilities().is_none_or(|capabilities| capabilities.tools.is_some());
        let tools: Arc<ToolList> =
            if has_tools { Arc::clone(self.client.list_tools().await?.list()) } else { Arc::default() };
        let (hub, config, list) = (Arc::clone(&self.task.hub), Arc::clone(&self.task.config), Arc::clone(&tools));
        let has_login = hub.lock().get(self.task.id).is_some_and(ManagedServer::has_login);
        // Errors are ignored: without a cached list, the next hub requests the list from the server.
        let _ = self.task.tasks().block(move || hub.tool_cache.write(&config, &list, has_login)).await;
        let ttl = tools.hints().stale_after(self.notifies_of_tools());
        Ok(Event::Listed { tools, ttl })
    }

    /// Checks that the server responds to a ping. An error response also counts as a response.
    pub(super) async fn probe(self) -> Event {
        match self.client.ping().await {
            Err(error) if error.kind() != ErrorKind::Server => self.unless_login(&error, Event::ProbeFailed),
            _ => Event::Probed,
        }
    }

    /// Returns the event that ends the attempt because of `error`. If the server asks for a login, stores which login it needs.
    fn failed(&self, error: &Error, stage: Stage) -> Event {
        let required = RequiredLogin::find(error).map(|required| required.redacted(&self.redactor));
        if let Some(login) = self.task.hub.lock().get_mut(self.task.id).and_then(|server| server.login.as_mut()) {
            login.required = required;
        }
        Event::Failed(failures::of_start(error, stage, &self.task.config, &self.redactor))
    }

    /// Returns `otherwise` unless the server asks for a login. In that case, returns the event that ends the attempt, because a
    /// repeated request would fail too.
    fn unless_login(&self, error: &Error, otherwise: Event) -> Event {
        if error.kind() == ErrorKind::LoginRequired { self.failed(error, Stage::Run) } else { otherwise }
    }

    fn notifies_of_tools(&self) -> bool {
        self.client.capabilities().and_then(|all| all.tools.as_ref()).is_some_and(|tools| tools.list_changed)
    }
}
