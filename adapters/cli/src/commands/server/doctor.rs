//! `mcpwire server doctor`: starts all servers, and reports problems with suggestions.

use std::io::Write as _;

use mcpwire_hub::HubError;
use mcpwire_hub::secrets::FileSecrets;
use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::store::Store;
use mcpwire_hub::supervisor::State;
use owo_colors::OwoColorize as _;
use serde::Serialize;

use crate::args::{Options, Place};
use crate::console::output;
use crate::failure::{Failure, NOT_CONNECTED, hub_message};
use crate::hub::{HubHandle, Request, advice, layout, start_advice};
use crate::text;

/// A finding of `mcpwire server doctor` about a server or a file, with advice for the user. With `--json`,
/// each finding is printed as one JSON object.
#[derive(Serialize)]
struct Finding {
    server: String,
    ok: bool,
    what: String,
    /// The code of the error that was found, such as `NOT_FOUND`, if there is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    advice: String,
}

pub(super) fn run(place: &Place, options: &Options) -> Result<u8, Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load()?;
    let mut findings = Vec::new();
    for broken in &loaded.broken {
        let server = broken.name.clone().unwrap_or_else(|| format!("entry {}", broken.index));
        findings.push(failed(server, &broken.error));
    }
    for problem in FileSecrets::new(layout.secrets()).audit() {
        findings.push(failed("secrets".into(), &problem));
    }
    let mut handle = HubHandle::open(place, options)?;
    handle.boot()?;
    if let Some(hub) = handle.own_hub() {
        // Booting does not start lazy servers, which start with the first call. The doctor tries every server.
        for config in hub.list().into_iter().filter(|config| config.enabled && config.lazy) {
            let _ = handle.wait(hub.start(config.id));
        }
    }
    // The running hub may have given up starting a server, or may have started it long ago, so it is asked to try again.
    let request = if handle.is_remote() { Request::Try } else { Request::Status };
    let rows = handle.rows(request)?;
    for config in &loaded.configs {
        let name = config.name.trim().to_owned();
        let problems = config.problems();
        if problems.is_empty() {
            match rows.iter().find(|row| row.detail.id == config.id) {
                Some(row) => findings.push(judged(name, &row.detail)),
                None => findings.push(Finding {
                    server: name,
                    ok: false,
                    what: "the running hub does not know it".into(),
                    code: None,
                    advice: "Let the hub read servers.json again: mcpwire hub reload".into(),
                }),
            }
        } else {
            findings.extend(problems.iter().map(|problem| failed(name.clone(), problem)));
        }
    }
    output::show(options, &findings, |out| {
        for Finding { server, ok, what, advice, .. } in &findings {
            let mark = if *ok { "ok".green().to_string() } else { "failed".red().to_string() };
            writeln!(out, "{mark} {}: {}", text::name(server).bold(), text::line(what))?;
            if !advice.is_empty() {
                writeln!(out, "   {}", text::line(advice))?;
            }
        }
        Ok(())
    })?;
    Ok(if findings.iter().all(|finding| finding.ok) { 0 } else { NOT_CONNECTED })
}

/// Judges the status of a server for `mcpwire server doctor`. Running, sleeping and disabled servers are ok. For other servers,
/// the finding contains advice for the user.
fn judged(server: String, detail: &StatusDetail) -> Finding {
    let (ok, what, advice) = match (detail.state, &detail.last_error) {
        _ if !detail.enabled => (true, "it is disabled".into(), String::new()),
        (State::Running | State::Sleeping, _) => {
            let version = detail.version.as_deref().unwrap_or("no version yet");
            (true, format!("{}, {} tools, {version}", detail.state, detail.tools), String::new())
        }
        (State::Stopped, error) => {
            let before = error.as_ref().map(|error| format!("; before, it failed: {}", hub_message(error)));
            let what = format!("it is stopped, so it was not tried{}", before.unwrap_or_default());
            (false, what, start_advice(&server))
        }
        (_, Some(error)) => return failed(server, error),
        (state, None) => (false, format!("it is {state}, so it was not tried"), "Try again in a moment".into()),
    };
    Finding { server, ok, what, code: None, advice }
}

fn failed(server: String, error: &HubError) -> Finding {
    let advice = advice(&server, error);
    Finding { server, ok: false, what: hub_message(error), code: Some(error.code().as_str()), advice }
}
