//! `mcpwire listen`: what the server tells, as it tells it, until Ctrl-C.
//!
//! Being interrupted is the only way to end it, so that is no failure: the exit status is 0 then, as it is when the server
//! ends the subscription gracefully. A server that ends, or breaks the subscription off, is one.

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

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::session::Session;
use crate::text;

/// Longer messages are cut for people.
const LONGEST_MESSAGE: usize = 2_000;

/// For ever, an hour at a time.
const A_WHILE: Duration = Duration::from_secs(3600);

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

pub(super) fn run(session: &mut Session<'_>, resources: &[String], printer: &Printer) -> Result<u8, Failure> {
    session.open()?;
    let wanted = SubscriptionFilter::new().tools().prompts().resources();
    let wanted = resources.iter().fold(wanted, SubscriptionFilter::resource);
    let mut subscription = match session.request(|client| Ok(client.subscribe(&wanted)))? {
        Err(error) if is_unknown_method(&error) => return logs_only(session, printer),
        subscribed => session.request(|_| subscribed)?,
    };
    tell_agreed(session, subscription.acknowledged(), resources);
    loop {
        match subscription.next(&mut session.client) {
            Ok(Some(SubscriptionEvent::Acknowledged(_))) => session.note("listening again; some may have been missed"),
            // It was printed when it came.
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                subscription.close(&mut session.client);
                return stopped(session, printer).unwrap_or_else(|| Err(Failure::of(&error, session.options.stderr)));
            }
        }
    }
    match subscription.end() {
        Some(SubscriptionEnd::Failed(error)) => {
            let server = session.client.definition().map(|def| def.display_name().to_owned()).unwrap_or_default();
            let error = Error::new(&server, (**error).clone());
            Err(Failure::of(&error, session.options.stderr))
        }
        // What is known of its end, the next request is told.
        Some(SubscriptionEnd::Dropped(_)) => session.request(McpClient::ping).map(|()| 0),
        _ => {
            session.note("the server ended the subscription");
            Ok(0)
        }
    }
}

fn is_unknown_method(error: &Error) -> bool {
    matches!(error.call_error(), Some(CallError::Server { error, .. }) if error.code == RpcError::METHOD_NOT_FOUND)
}

/// A modern server that knows of no subscriptions may still log.
fn logs_only(session: &mut Session<'_>, printer: &Printer) -> Result<u8, Failure> {
    session.note("the server tells of no changes; listening: log messages only (Ctrl-C ends it)");
    loop {
        let listened = session.client.listen(A_WHILE);
        if let Some(stopped) = stopped(session, printer) {
            return stopped;
        }
        listened.map_err(|error| Failure::of(&error, session.options.stderr))?;
        if !session.client.is_running() {
            return session.request(McpClient::ping).map(|()| 0);
        }
    }
}

/// Why nothing is waited for any more, if it was this side that ended it.
fn stopped(session: &Session<'_>, printer: &Printer) -> Option<Result<u8, Failure>> {
    match printer.broken() {
        Some(error) => Some(Err(Failure::output(&error))),
        None => session.was_interrupted().then_some(Ok(0)),
    }
}

/// What will be told, and what was asked for in vain.
fn tell_agreed(session: &Session<'_>, agreed: &SubscriptionFilter, resources: &[String]) {
    let lists = [
        (agreed.tools_list_changed, "tools"),
        (agreed.prompts_list_changed, "prompts"),
        (agreed.resources_list_changed, "resources"),
    ];
    let mut told: Vec<String> = lists.iter().filter(|(told, _)| *told).map(|(_, list)| (*list).to_owned()).collect();
    told.extend(agreed.resource_subscriptions.iter().map(|uri| text::line(uri)));
    let told = if told.is_empty() { "log messages only".to_owned() } else { told.join(", ") };
    session.note(&format!("listening: {told} (Ctrl-C ends it)"));
    for uri in resources.iter().filter(|uri| !agreed.resource_subscriptions.contains(uri)) {
        session.note(&format!("the server does not tell of changes of {}", text::line(uri)));
    }
}

/// Prints what the server tells: for people a line each, with `--json` a JSON document a line.
#[derive(Clone)]
pub(crate) struct Printer {
    json: bool,
    /// Why nothing can be printed any more.
    broken: Arc<Mutex<Option<io::Error>>>,
}

impl Printer {
    pub(super) fn new(json: bool) -> Self {
        Self { json, broken: Arc::default() }
    }

    /// Prints a notification. If that fails, ends the wait for more.
    pub(crate) fn print(&self, notification: &Notification, interrupt: &Interrupt) {
        let printed =
            if self.json { json(notification) } else { line(notification).map_or(Ok(()), |line| output::line(&line)) };
        if let Err(error) = printed {
            *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            interrupt.cancel();
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
