//! `mcpwire server doctor`: tries all servers, and says what is wrong.

use std::io::Write as _;

use mcpwire_hub::secrets::FileSecrets;
use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::store::Store;
use mcpwire_hub::supervisor::State;
use mcpwire_hub::{HubError, McpService};
use owo_colors::OwoColorize as _;
use serde::Serialize;

use super::advice::{advice, start};
use super::args::Place;
use super::link::Link;
use super::requests::{Request, Row};
use super::{layout, link, of};
use crate::args::Options;
use crate::failure::Failure;
use crate::output;
use crate::text;

#[derive(Serialize)]
struct Finding {
    server: String,
    ok: bool,
    what: String,
    advice: String,
}

pub(super) fn run(place: &Place, options: &Options) -> Result<u8, Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load().map_err(of)?;
    let mut findings = Vec::new();
    for broken in &loaded.broken {
        let server = broken.name.clone().unwrap_or_else(|| format!("entry {}", broken.index));
        findings.push(wrong(server, &broken.error));
    }
    for problem in FileSecrets::new(layout.secrets()).audit() {
        findings.push(wrong("secrets".into(), &problem));
    }
    let mut link = link(place, options)?;
    if let Link::Own(own) = &link {
        let hub = &own.hub;
        own.wait(hub.boot()).map_err(of)?;
        // One that is lazy sleeps until it is called: here, everything is tried.
        for config in hub.list().into_iter().filter(|config| config.enabled && config.lazy) {
            let _ = own.wait(hub.start(config.id));
        }
    }
    // A running hub may have tried them long ago, or given up.
    let request = if link.is_running() { Request::Try } else { Request::Status };
    let rows: Vec<Row> = link.ask(request).map_err(of)?;
    link.close();
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
                    advice: "Let the hub read servers.json again: mcpwire hub reload".into(),
                }),
            }
        } else {
            findings.extend(problems.iter().map(|problem| wrong(name.clone(), problem)));
        }
    }
    if options.json {
        output::json(&findings)?;
    } else {
        output::page(|out| {
            for Finding { server, ok, what, advice } in &findings {
                let mark = if *ok { "ok".green().to_string() } else { "wrong".red().to_string() };
                writeln!(out, "{mark} {}: {}", text::line(server).bold(), text::line(what))?;
                if !advice.is_empty() {
                    writeln!(out, "   {}", text::line(advice))?;
                }
            }
            Ok(())
        })?;
    }
    Ok(if findings.iter().all(|finding| finding.ok) { 0 } else { 3 })
}

/// Only a server that runs, or that has run and sleeps, is fine: any other has failed, or nothing is known of it.
fn judged(server: String, detail: &StatusDetail) -> Finding {
    let (ok, what, advice) = match (detail.state, &detail.last_error) {
        _ if !detail.enabled => (true, "it is disabled".into(), String::new()),
        (State::Running | State::Sleeping, _) => {
            let version = detail.version.as_deref().unwrap_or("no version yet");
            (true, format!("{}, {} tools, {version}", detail.state, detail.tools), String::new())
        }
        (State::Stopped, error) => {
            let before = error.as_ref().map(|error| format!("; before, it failed: {error}")).unwrap_or_default();
            (false, format!("it is stopped, so it was not tried{before}"), start(&server))
        }
        (_, Some(error)) => return wrong(server, error),
        (state, None) => (false, format!("it is {state}, so it was not tried"), "Try again in a moment".into()),
    };
    Finding { server, ok, what, advice }
}

fn wrong(server: String, error: &HubError) -> Finding {
    let advice = advice(&server, error);
    Finding { server, ok: false, what: error.to_string(), advice }
}
