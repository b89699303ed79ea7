//! `mcpwire listen`: prints notifications and log messages as they arrive.
//!
//! The exit status is 0 after Ctrl-C, and if the server ends the subscription gracefully. It is a failure if the server exits, or
//! if the subscription fails.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcpwire_blocking::protocol::{
    CallError, Json, LogMessage, Notification, RpcError, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter,
    printable,
};
use mcpwire_blocking::{Error, McpClient};
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::console::output;
use crate::failure::Failure;
use crate::session::Direct;
use crate::text;

/// Maximum length of a printed log message or notification, in characters. With `--json`, messages are not cut.
const LONGEST_MESSAGE: usize = 2_000;

/// Duration of one call of `McpClient::listen`. The call is repeated until the command ends.
const A_WHILE: Duration = Duration::from_secs(3600);

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

pub(super) fn run(session: &mut Direct<'_>, resources: &[String], printer: &Printer) -> Result<u8, Failure> {
    let wanted = SubscriptionFilter::new().tools().prompts().resources();
    let wanted = resources.iter().fold(wanted, SubscriptionFilter::resource);
    let mut subscription = match session.request(|client| Ok(client.subscribe(&wanted)))? {
        Err(error) if is_unknown_method(&error) => return logs_only(session, printer),
        subscribed => session.request(|_| subscribed)?,
    };
    tell_agreed(session, subscription.acknowledged(), resources);
    loop {
        match subscription.next(&mut session.client) {
            Ok(Some(SubscriptionEvent::Acknowledged(_))) => {
                session.console.note("listening again; some may have been missed");
            }
            // The listener of the connection has printed the notification.
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                subscription.close(&mut session.client);
                return stopped(session, printer).unwrap_or_else(|| Err(session.failure(&error)));
            }
        }
    }
    match subscription.end() {
        Some(SubscriptionEnd::Failed(error)) => {
            let error = Error::new(session.client.server_name(), (**error).clone());
            Err(session.failure(&error))
        }
        // The connection has ended. A ping fails with the reason.
        Some(SubscriptionEnd::Dropped(_)) => session.request(McpClient::ping).map(|()| 0),
        _ => {
            session.console.note("the server ended the subscription");
            Ok(0)
        }
    }
}

fn is_unknown_method(error: &Error) -> bool {
    matches!(error.call_error(), Some(CallError::Server { error, .. }) if error.code == RpcError::METHOD_NOT_FOUND)
}

/// Prints only the log messages of a server, because this server cannot report changes in a subscription.
fn logs_only(session: &mut Direct<'_>, printer: &Printer) -> Result<u8, Failure> {
    session.console.note("the server does not report changes; listening: log messages only (Ctrl-C ends it)");
    loop {
        let listened = session.client.listen(A_WHILE);
        if let Some(stopped) = stopped(session, printer) {
            return stopped;
        }
        listened.map_err(|error| session.failure(&error))?;
        if !session.client.is_running() {
            return session.request(McpClient::ping).map(|()| 0);
        }
    }
}

/// Returns the outcome of the command if an interrupt such as Ctrl-C or a closed standard output has stopped it. Returns `None`
/// if neither has happened.
fn stopped(session: &Direct<'_>, printer: &Printer) -> Option<Result<u8, Failure>> {
    match printer.broken() {
        Some(error) => Some(Err(Failure::output(&error))),
        None => session.was_interrupted().then_some(Ok(0)),
    }
}

/// Prints which changes the server has agreed to report, and which URIs in `resources` the server will not report.
fn tell_agreed(session: &Direct<'_>, agreed: &SubscriptionFilter, resources: &[String]) {
    let lists = [
        (agreed.tools_list_changed, "tools"),
        (agreed.prompts_list_changed, "prompts"),
        (agreed.resources_list_changed, "resources"),
    ];
    let mut told: Vec<String> = lists.iter().filter(|(told, _)| *told).map(|(_, list)| (*list).to_owned()).collect();
    told.extend(agreed.resource_subscriptions.iter().map(|uri| text::line(uri)));
    let told = if told.is_empty() { "log messages only".to_owned() } else { told.join(", ") };
    session.console.note(&format!("listening: {told} (Ctrl-C ends it)"));
    for uri in resources.iter().filter(|uri| !agreed.resource_subscriptions.contains(uri)) {
        session.console.note(&format!("the server does not report changes of {}", text::line(uri)));
    }
}

/// Prints notifications of the server, one per line: as text, or as JSON documents with `--json`.
#[derive(Clone)]
pub(super) struct Printer {
    json: bool,
    /// The error that occurred when a notification was printed, for example because the reader has closed the pipe.
    broken: Arc<Mutex<Option<io::Error>>>,
}

impl Printer {
    pub(super) fn new(json: bool) -> Self {
        Self { json, broken: Arc::default() }
    }

    /// Prints a notification of the server. Returns `false` if standard output cannot be written to, so that the command stops
    /// listening.
    pub(super) fn print(&self, notification: &Notification) -> bool {
        let printed =
            if self.json { json(notification) } else { line(notification).map_or(Ok(()), |line| output::line(&line)) };
        match printed {
            Ok(()) => true,
            Err(error) => {
                *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                false
            }
        }
    }

    fn broken(&self) -> Option<io::Error> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn json(notification: &Notification) -> io::Result<()> {
    #[derive(Serialize)]
    struct Told<'a> {
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<Json>,
    }
    let (method, params) = match notification {
        Notification::ToolsChanged => ("notifications/tools/list_changed", None),
        Notification::PromptsChanged => ("notifications/prompts/list_changed", None),
        Notification::ResourcesChanged => ("notifications/resources/list_changed", None),
        Notification::ResourceUpdated(updated) => ("notifications/resources/updated", Json::from_value(updated).ok()),
        Notification::Log(message) => ("notifications/message", Json::from_value(message).ok()),
        Notification::Other { method, params } if method != ACKNOWLEDGED => (method.as_str(), params.clone()),
        _ => return Ok(()),
    };
    let told = Json::from_value(&Told { method, params }).map_err(|error| io::Error::other(error.to_string()))?;
    output::line(&text::json_for_terminals(told.get()).to_string())
}

fn line(notification: &Notification) -> Option<String> {
    Some(match notification {
        Notification::ToolsChanged => "tools changed".to_owned(),
        Notification::PromptsChanged => "prompts changed".to_owned(),
        Notification::ResourcesChanged => "resources changed".to_owned(),
        Notification::ResourceUpdated(updated) => format!("updated {}", text::line(&updated.uri).cyan()),
        Notification::Log(message) => log(message),
        Notification::Other { method, params } if method != ACKNOWLEDGED => {
            let mut params = params.as_ref().map_or(String::new(), |params| text::line(params.get()));
            text::cut(&mut params, LONGEST_MESSAGE);
            format!("{} {params}", printable(method))
        }
        _ => return None,
    })
}

fn log(message: &LogMessage) -> String {
    let logger = message.logger.as_deref().map(|logger| format!("{}: ", text::line(logger))).unwrap_or_default();
    let mut said = text::line(&message.text());
    text::cut(&mut said, LONGEST_MESSAGE);
    format!("[{}] {logger}{said}", message.level)
}
