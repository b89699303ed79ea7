//! `mcpwire listen`: prints notifications and log messages as they arrive.
//!
//! The exit status is 0 after Ctrl-C, and if the server ends the subscription gracefully. It is a failure if the server exits, or
//! if the subscription fails.

use std::io;
use std::sync::OnceLock;

use mcpwire_tokio::protocol::{Json, LogMessage, Progress, ResourceUpdated, SubscriptionFilter, Task, printable};
use owo_colors::OwoColorize;

use crate::args::Options;
use crate::console::{Console, Interrupt, output};
use crate::failure::Failure;
use crate::hub::Notice;
use crate::session::Server;
use crate::show::{self, LONGEST_MESSAGE};
use crate::text;

/// Prints notifications until the server ends the subscription, or until an interrupt such as Ctrl-C.
pub(super) fn run(server: &mut dyn Server, resources: &[String], options: &Options) -> Result<u8, Failure> {
    let console = server.console().clone();
    let (is_listening, broken) = (OnceLock::new(), OnceLock::new());
    let has_ended = server.listen(resources, &|notice| {
        let told = match notice.params().filter(|_| notice.method == Notice::LISTENING) {
            Some(_) if is_listening.set(()).is_err() => {
                console.note("listening again; some may have been missed");
                Ok(())
            }
            Some(agreed) => {
                tell_agreed(&console, &agreed, resources);
                Ok(())
            }
            None if options.quiet && [Notice::PROGRESS, Notice::TASK].contains(&&*notice.method) => Ok(()),
            None => print(&notice, options.json),
        };
        // For example, the reader of the pipe has ended.
        if let Err(error) = told {
            let _ = broken.set(error);
            Interrupt::install().end_waits();
        }
    })?;
    if let Some(error) = broken.into_inner() {
        return Err(Failure::output(&error));
    }
    if has_ended {
        console.note("the server ended the subscription");
    }
    Ok(0)
}

/// Prints which changes the server has agreed to report, and which URIs in `resources` the server will not report.
fn tell_agreed(console: &Console, agreed: &SubscriptionFilter, resources: &[String]) {
    let lists = [
        (agreed.tools_list_changed, "tools"),
        (agreed.prompts_list_changed, "prompts"),
        (agreed.resources_list_changed, "resources"),
    ];
    let mut told: Vec<String> = lists.iter().filter(|(told, _)| *told).map(|(_, list)| (*list).to_owned()).collect();
    told.extend(agreed.resource_subscriptions.iter().map(|uri| text::line(uri)));
    let told = if told.is_empty() { "log messages only".to_owned() } else { told.join(", ") };
    console.note(&format!("listening: {told} (Ctrl-C ends it)"));
    for uri in resources.iter().filter(|uri| !agreed.resource_subscriptions.contains(uri)) {
        console.note(&format!("the server does not report changes of {}", text::line(uri)));
    }
}

/// Prints a notification as a line of text, or as a JSON document on a line.
fn print(notice: &Notice, as_json: bool) -> io::Result<()> {
    if !as_json {
        return output::line(&line(notice));
    }
    let json = Json::from_value(notice).map_err(|error| io::Error::other(error.to_string()))?;
    output::line(&text::json_for_terminals(json.get()))
}

fn line(notice: &Notice) -> String {
    let known = match &*notice.method {
        "notifications/tools/list_changed" => Some("tools changed".to_owned()),
        "notifications/prompts/list_changed" => Some("prompts changed".to_owned()),
        "notifications/resources/list_changed" => Some("resources changed".to_owned()),
        Notice::UPDATED => {
            notice.params().map(|updated: ResourceUpdated| format!("updated {}", text::line(&updated.uri).cyan()))
        }
        "notifications/message" => {
            notice.params().map(|message: LogMessage| format!("[{}] {}", message.level, show::log_message(&message)))
        }
        Notice::PROGRESS => notice.params().map(|progress| progress_line(&progress)),
        Notice::TASK => notice.params().map(|task: Task| show::task_line(&task)),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let params = notice.params.as_ref().map_or(String::new(), |params| text::short(params.get(), LONGEST_MESSAGE));
        format!("{} {params}", printable(&notice.method))
    })
}

/// Returns the progress of a call as a line of text. The call is one of another command that uses the same hub.
fn progress_line(progress: &Progress) -> String {
    let total = progress.total.as_ref().map(|total| format!("/{total}")).unwrap_or_default();
    let message = progress.message.as_deref().map(|message| format!(" {}", text::line(message))).unwrap_or_default();
    format!("progress {}{total}{message}", progress.progress)
}
