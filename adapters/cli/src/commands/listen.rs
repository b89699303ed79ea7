//! `mcpwire listen`: prints notifications and log messages as they arrive.
//!
//! The exit status is 0 after Ctrl-C, and if the server ends the subscription gracefully. It is a failure if the server exits, or
//! if the subscription fails.

use std::io;
use std::sync::Arc;

use mcpwire_tokio::Error;
use mcpwire_tokio::protocol::{
    CallError, Json, Notification, RpcError, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, printable,
};
use owo_colors::OwoColorize;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::console::output;
use crate::failure::Failure;
use crate::session::{Direct, Listener};
use crate::show::{self, LONGEST_MESSAGE};
use crate::text;

/// Receives the errors that occur while the listener prints notifications.
type Broken = UnboundedReceiver<io::Error>;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Prints notifications until the server ends the subscription, or until an interrupt such as Ctrl-C. `broken` receives the error
/// of standard output if a notification cannot be printed.
pub(super) fn run(session: &Direct<'_>, resources: &[String], broken: &mut Broken) -> Result<u8, Failure> {
    let wanted = SubscriptionFilter::new().tools().prompts().resources();
    let wanted = resources.iter().fold(wanted, SubscriptionFilter::resource);
    let subscribed = session.request(async { Ok(session.client.subscribe(&wanted).await) })?;
    let mut subscription = match subscribed {
        Err(error) if is_unknown_method(&error) => {
            session.console.note("the server does not report changes; listening: log messages only (Ctrl-C ends it)");
            let closed = until_stopped(session, broken, async { drop(session.client.closed().await) })?;
            return closed.map_or(Ok(0), |()| end_of_connection(session));
        }
        subscribed => subscribed.map_err(|error| session.failure(&error))?,
    };
    tell_agreed(session, subscription.acknowledged(), resources);
    let ended = until_stopped(session, broken, async {
        // The listener of the connection prints all other events.
        while let Some(event) = subscription.next().await {
            if let SubscriptionEvent::Acknowledged(_) = event {
                session.console.note("listening again; some may have been missed");
            }
        }
    })?;
    match subscription.end().filter(|_| ended.is_some()) {
        None => Ok(0),
        Some(SubscriptionEnd::Failed(error)) => {
            let error = Error::new(session.client.server_name(), (**error).clone());
            Err(session.failure(&error))
        }
        Some(SubscriptionEnd::Dropped(_)) => end_of_connection(session),
        _ => {
            session.console.note("the server ended the subscription");
            Ok(0)
        }
    }
}

/// Waits for a future. Returns `None` after an interrupt such as Ctrl-C, and an error if standard output is closed.
fn until_stopped<T>(
    session: &Direct<'_>,
    broken: &mut Broken,
    future: impl Future<Output = T>,
) -> Result<Option<T>, Failure> {
    let done = session.wait(async {
        tokio::select! {
            biased;
            Some(error) = broken.recv() => Err(Failure::output(&error)),
            done = future => Ok(done),
        }
    });
    done.transpose()
}

/// Sends a ping to find out why the connection has ended. The ping fails with the same error.
fn end_of_connection(session: &Direct<'_>) -> Result<u8, Failure> {
    session.request(session.client.ping()).map(|()| 0)
}

fn is_unknown_method(error: &Error) -> bool {
    matches!(error.call_error(), Some(CallError::Server { error, .. }) if error.code == RpcError::METHOD_NOT_FOUND)
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

/// Returns a listener that prints the notifications of a server, one per line: as text, or as JSON documents. Also returns the
/// receiver of errors of standard output, which occur for example after the reader has closed the pipe.
pub(super) fn printer(as_json: bool) -> (Listener, Broken) {
    let (sender, broken) = unbounded_channel();
    let print = move |notification: &Notification| {
        let printed = match line(notification) {
            None => return,
            Some(line) if !as_json => output::line(&line),
            Some(_) => Json::from_value(notification)
                .map_err(|error| io::Error::other(error.to_string()))
                .and_then(|json| output::line(&text::json_for_terminals(json.get()))),
        };
        if let Err(error) = printed {
            let _ = sender.send(error);
        }
    };
    (Arc::new(print), broken)
}

/// Returns a notification as one line of text, or `None` if users do not need to see it.
fn line(notification: &Notification) -> Option<String> {
    Some(match notification {
        Notification::ToolsChanged => "tools changed".to_owned(),
        Notification::PromptsChanged => "prompts changed".to_owned(),
        Notification::ResourcesChanged => "resources changed".to_owned(),
        Notification::ResourceUpdated(updated) => format!("updated {}", text::line(&updated.uri).cyan()),
        Notification::Log(message) => format!("[{}] {}", message.level, show::log_message(message)),
        Notification::Other { method, params } if method != ACKNOWLEDGED => {
            let params = params.as_ref().map_or(String::new(), |params| text::short(params.get(), LONGEST_MESSAGE));
            format!("{} {params}", printable(method))
        }
        _ => return None,
    })
}
