//! `mcpwire server doctor`: tries all servers, and says what is wrong.

use std::io::Write as _;

use mcpwire_hub::secrets::FileSecrets;
use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::store::Store;
use mcpwire_hub::{ErrorCode, ErrorContract, McpService};
use owo_colors::OwoColorize as _;
use serde::Serialize;

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
    let rows: Vec<Row> = link.ask(Request::Status).map_err(of)?;
    link.close();
    for config in &loaded.configs {
        let name = config.name.trim().to_owned();
        let problems = config.problems();
        if problems.is_empty() {
            match rows.iter().find(|row| row.detail.id == config.id) {
                Some(row) => findings.push(judged(name, &row.detail)),
                None => findings.push(wrong(name, &ErrorContract::unavailable("the running hub does not know it"))),
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

fn judged(server: String, detail: &StatusDetail) -> Finding {
    match (&detail.last_error, detail.enabled) {
        (_, false) => Finding { server, ok: true, what: "it is disabled".into(), advice: String::new() },
        (Some(error), _) if detail.pid.is_none() => wrong(server, error),
        _ => {
            let what = format!(
                "{}, {} tools, {}",
                detail.state,
                detail.tools,
                detail.version.as_deref().unwrap_or("no version yet")
            );
            Finding { server, ok: true, what, advice: String::new() }
        }
    }
}

fn wrong(server: String, error: &ErrorContract) -> Finding {
    let advice = advice(&server, error);
    Finding { server, ok: false, what: error.to_string(), advice }
}

/// What to do about it.
fn advice(server: &str, error: &ErrorContract) -> String {
    let field = error.field.as_str();
    match (error.code, field) {
        (_, "consent") => format!("Look at what it starts and agree: mcpwire server enable {server}"),
        (_, "authorization") => "Give it a login: a header with a token, or a secret variable".into(),
        (ErrorCode::ValidationError, _) if field.starts_with("env_vars.") => {
            format!("Set it: mcpwire secret set {server} {}", &field["env_vars.".len()..])
        }
        (ErrorCode::NotFound, "package.package_type") => {
            "Install what runs such packages (Node.js for npx, uv for uvx, Docker), or put it on the PATH".into()
        }
        (ErrorCode::ServiceUnavailable, "package.package_type") => "Start Docker, and try again".into(),
        (ErrorCode::NotFound, "package.identifier") => format!("Check how it is spelled: mcpwire server show {server}"),
        (_, "timeout") => {
            "Try again: a first start may have to download much. Or allow it more time (timeouts.start_ms)".into()
        }
        (_, "secrets") => "Do as the message says: what others can read is no secret".into(),
        (ErrorCode::ValidationError | ErrorCode::Conflict, _) => "Correct it in servers.json".into(),
        _ => format!("Look at what it says: mcpwire server logs {server}"),
    }
}
