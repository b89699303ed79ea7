//! `mcpwire server`: lists, changes and controls the configured servers, and explains what is wrong with them.

mod add;
mod import;

use std::io::{self, Write as _};

use mcpwire_hub::HubError;
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::secrets::FileSecrets;
use mcpwire_hub::service::{StatusDetail, log_tail};
use mcpwire_hub::store::Store;
use mcpwire_hub::supervisor::State;
use owo_colors::OwoColorize as _;
use serde::Serialize;

use super::hub::of_running_hub;
use crate::args::{Options, Place, ServerCommand, ServerName};
use crate::console::{Foreground, output};
use crate::failure::{Failure, NOT_CONNECTED, hub_message};
use crate::hub::{
    HubHandle, Previews, Request, advice, are_accepted, configured, find_configured, find_in, is_starting, layout,
    not_started, server_command, start_advice, starting,
};
use crate::login::{LoginStore, ServerLogin};
use crate::show::{self, Layout, NO_SERVERS};
use crate::text;
use crate::time::local;

pub(super) fn run(command: &ServerCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    let send = |request| of_running_hub(request, place, options);
    match command {
        ServerCommand::Add(arguments) => add::run(arguments, place, options)?,
        ServerCommand::Import(arguments) => return import::run(arguments, place, options),
        ServerCommand::List => list(place, options)?,
        ServerCommand::Show(ServerName { server }) => show(server, place, options)?,
        ServerCommand::Enable { servers, all, trust } => enable(servers, *all, *trust, place, options)?,
        ServerCommand::Disable { servers } => disable(servers, place, options)?,
        ServerCommand::Start(ServerName { server }) => send(Request::Start { server: server.clone() })?,
        ServerCommand::Stop(ServerName { server }) => send(Request::Stop { server: server.clone() })?,
        ServerCommand::Restart(ServerName { server }) => send(Request::Restart { server: server.clone() })?,
        ServerCommand::Remove { servers } => remove(servers, place, options)?,
        ServerCommand::Logs { server, lines } => logs(server, *lines, place, options)?,
        ServerCommand::Doctor => return doctor(place, options),
    }
    Ok(0)
}

fn list(place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load()?;
    if options.json {
        return output::json(&loaded.configs.iter().map(McpConfig::without_secrets).collect::<Vec<_>>());
    }
    let mut previews = Previews::open(place, options)?;
    let mut configs = Vec::new();
    for config in &loaded.configs {
        let shown = previews.preview(config)?;
        let remark = match (config.enabled, shown.is_approved) {
            (false, _) => "disabled",
            (true, false) => "not approved yet",
            (true, true) => "",
        };
        configs.push([config.name.trim().to_owned(), shown.summary, remark.to_owned()]);
    }
    let broken = loaded.broken.iter().map(|broken| {
        let name = broken.name.clone().unwrap_or_else(|| "?".to_owned());
        [name, format!("cannot be read: {}", hub_message(&broken.error)), String::new()]
    });
    let lines = show::server_list(configs.into_iter().chain(broken), Layout::of_stdout());
    let lines = if lines.is_empty() { vec![NO_SERVERS.to_owned()] } else { lines };
    output::page(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn show(server: &str, place: &Place, options: &Options) -> Result<(), Failure> {
    let config = find_configured(&layout(place)?, server)?.without_secrets();
    if options.json {
        return output::json(&config);
    }
    let shown = Previews::open(place, options)?.preview(&config)?.text;
    output::page(|out| {
        writeln!(out, "{} ({})", text::name(config.name.trim()).bold(), config.id)?;
        writeln!(out, "{shown}")
    })
}

/// Enables and starts servers, after asking the user once to approve their commands. If a server fails, continues with the
/// others, and returns the first failure.
fn enable(servers: &[String], all: bool, trust: bool, place: &Place, options: &Options) -> Result<(), Failure> {
    let configs = configured(&layout(place)?)?;
    let mut previews = Previews::open(place, options)?;
    let mut chosen = if all { configs } else { chosen(&configs, servers)? };
    let mut to_approve = Vec::new();
    for config in &mut chosen {
        config.enabled = true;
        let preview = previews.preview(config)?;
        if !preview.is_approved {
            to_approve.push((config, preview));
        }
    }
    let shown: Vec<String> = to_approve.iter().map(|(config, preview)| preview.described(config)).collect();
    if trust || are_accepted(&shown, options)? {
        for (config, preview) in &mut to_approve {
            preview.approve(config);
        }
    } else if shown.len() > 1 {
        let words: Vec<String> = servers.iter().map(|server| text::word(server)).collect();
        let words = if all { "--all".to_owned() } else { words.join(" ") };
        let message = format!("{} servers need your approval, so nothing was changed", shown.len());
        let approve = format!("Approve all of them: mcpwire server enable {words} --yes");
        return Err(Failure::usage("consent", message).with_hint(format!("{}\n\n{approve}", shown.join("\n"))));
    }
    let enable = |handle: &mut HubHandle, config: &McpConfig| {
        let updated = handle.ask::<()>(Request::Update { config: config.to_json() });
        // The server may have been enabled already, and waiting for approval, so it is started in any case.
        let started = updated.and_then(|()| handle.ask::<()>(Request::Start { server: config.id.to_string() }));
        started.map_err(|error| not_started(config.name.trim(), &error))?;
        let name = config.name.trim();
        Ok(format!("enabled {}; next: mcpwire tools {}", text::name(name), text::word(name)))
    };
    for_each(&chosen, place, options, enable)
}

/// Disables configured servers. If a server cannot be disabled, continues with the other servers, and returns the first
/// failure.
fn disable(servers: &[String], place: &Place, options: &Options) -> Result<(), Failure> {
    let mut chosen = chosen(&configured(&layout(place)?)?, servers)?;
    for config in &mut chosen {
        config.enabled = false;
    }
    let disable = |handle: &mut HubHandle, config: &McpConfig| {
        handle.ask::<()>(Request::Update { config: config.to_json() })?;
        let name = config.name.trim();
        Ok(format!("disabled {}; to undo that: {}", text::name(name), server_command("enable", name)))
    };
    for_each(&chosen, place, options, disable)
}

/// Removes servers with their secrets and logs, and with their logins, unless another server has the same login. Names the
/// logins to the same URLs that remain.
fn remove(servers: &[String], place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let chosen = chosen(&configured(&layout)?, servers)?;
    let logins = LoginStore::new(layout, Foreground::start()?);
    let remove = |handle: &mut HubHandle, config: &McpConfig| {
        let own = logins.of_server(config)?;
        handle.ask::<()>(Request::Remove { server: config.id.to_string() })?;
        let mut done = format!("removed {} with its secrets and logs", text::name(config.name.trim()));
        let Some(own) = own else { return Ok(done) };
        let others: Vec<ServerLogin> = logins.all(|_| ())?.into_iter().filter(|other| other.is_to(&own)).collect();
        if !others.iter().any(|other| other.account() == own.account()) && own.log_out(false, None)?.had_token {
            done.push_str(", and logged out");
        }
        for other in others.iter().filter(|other| matches!(other.status(), Ok(Some(_)))) {
            done = format!("{done}. A login to {} remains; to remove it: {}", other.title(), other.logout_command());
        }
        Ok(done)
    };
    for_each(&chosen, place, options, remove)
}

/// Calls `change` for each server in `configs`, even after a failure, and notes what it has done. Then returns the first failure.
fn for_each(
    configs: &[McpConfig],
    place: &Place,
    options: &Options,
    change: impl Fn(&mut HubHandle, &McpConfig) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let mut handle = HubHandle::open(place, options)?;
    let mut failures = Vec::new();
    for config in configs {
        match change(&mut handle, config) {
            Ok(done) => handle.console.note(&done),
            Err(failure) => failures.push(failure),
        }
    }
    output::first_of(failures, options)
}

/// Returns the configurations of the servers whose names or ids are in `servers`. Returns an error if a server is not
/// configured.
fn chosen(configs: &[McpConfig], servers: &[String]) -> Result<Vec<McpConfig>, Failure> {
    servers.iter().map(|server| find_in(configs.to_vec(), server).map_err(Failure::from_hub)).collect()
}

fn logs(server: &str, lines: usize, place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let lines = log_tail(&layout.log(find_configured(&layout, server)?.id), lines);
    output::show(options, &lines, |out| lines.iter().try_for_each(|line| writeln!(out, "{}", with_local_time(line))))
}

/// Converts the time at the start of a server's log line to the local time zone. Returns other lines unchanged.
fn with_local_time(line: &str) -> String {
    let parts = line.split_once(' ').and_then(|(time, rest)| Some(format!("{} {rest}", local(time)?)));
    parts.unwrap_or_else(|| line.to_owned())
}

/// A finding of `mcpwire server doctor` about a server or a file, with advice for the user. With `--json`,
/// each finding is printed as one JSON object.
#[derive(Serialize)]
struct Finding {
    server: String,
    ok: bool,
    /// Whether the server is disabled, so that it was not tried.
    #[serde(skip)]
    is_off: bool,
    what: String,
    /// The code of the error that was found, such as `NOT_FOUND`, if there is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    advice: String,
}

/// Starts all enabled servers, and reports problems of servers and files with suggestions.
fn doctor(place: &Place, options: &Options) -> Result<u8, Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load()?;
    let (mut findings, mut all_ok) = (Vec::new(), true);
    for broken in &loaded.broken {
        let server = broken.name.clone().unwrap_or_else(|| format!("entry {}", broken.index));
        findings.push(failed(server, &broken.error));
    }
    for problem in FileSecrets::new(layout.secrets()).audit() {
        findings.push(failed("secrets".into(), &problem));
    }
    let mut handle = HubHandle::open(place, options)?;
    // For people, each server is shown as soon as it is settled, so that a slow one delays no other.
    let mut shown = Vec::new();
    handle.boot_with(&mut |detail| {
        // Lazy servers are tried below.
        let is_tried = |config: &McpConfig| config.id == detail.id && !config.lazy && config.problems().is_empty();
        if !options.json && loaded.configs.iter().any(is_tried) {
            // An error of standard output is ignored here: the output below reports it.
            let _ = output::page(|out| judged(detail.name.clone(), &detail).write(out));
            shown.push(detail.id);
        }
    })?;
    if let Some(hub) = handle.own_hub() {
        // Booting does not start lazy servers, which start with the first call. The doctor tries every server.
        for config in hub.list().into_iter().filter(|config| config.enabled && config.lazy) {
            let _ = handle.wait(hub.start(config.id));
        }
    }
    // The running hub may have given up starting a server, or may have started it long ago, so it is asked to try again.
    let request = if handle.is_remote() { Request::Try { timeout_ms: options.timeout_ms() } } else { Request::Status };
    let rows = handle.rows(request)?;
    for config in &loaded.configs {
        let name = config.name.trim().to_owned();
        let problems = config.problems();
        if problems.is_empty() {
            match rows.iter().find(|row| row.detail.id == config.id) {
                Some(row) if shown.contains(&config.id) => all_ok &= judged(name, &row.detail).ok,
                Some(row) => findings.push(judged(name, &row.detail)),
                None => findings.push(Finding {
                    server: name,
                    ok: false,
                    is_off: false,
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
        if findings.is_empty() && shown.is_empty() {
            writeln!(out, "{NO_SERVERS}")?;
        }
        findings.iter().try_for_each(|finding| finding.write(out))
    })?;
    Ok(if all_ok && findings.iter().all(|finding| finding.ok) { 0 } else { NOT_CONNECTED })
}

impl Finding {
    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let Finding { server, ok, is_off, what, advice, .. } = self;
        let mark = match (ok, is_off) {
            (_, true) => "off".dimmed().to_string(),
            (true, false) => "ok".green().to_string(),
            (false, false) => "failed".red().to_string(),
        };
        writeln!(out, "{mark} {}: {}", text::name(server).bold(), text::line(what))?;
        if !advice.is_empty() {
            writeln!(out, "   {}", text::line(advice))?;
        }
        Ok(())
    }
}

/// Judges the status of a server for `mcpwire server doctor`. Running, sleeping and disabled servers are ok. For other servers,
/// the finding contains advice for the user.
fn judged(server: String, detail: &StatusDetail) -> Finding {
    let (ok, what, advice) = match (detail.state, &detail.last_error) {
        _ if !detail.enabled => (true, "it is disabled".into(), String::new()),
        (State::Running | State::Sleeping, _) => {
            let version = detail.version.as_deref().unwrap_or("no version yet");
            (true, format!("{}, {}, {version}", detail.state, text::counted(detail.tools, "tool")), String::new())
        }
        (State::Stopped, error) => {
            let before = error.as_ref().map(|error| format!("; before, it failed: {}", hub_message(error)));
            let what = format!("it is stopped, so it was not tried{}", before.unwrap_or_default());
            (false, what, start_advice(&server))
        }
        (_, Some(error)) => return failed(server, error),
        (state, None) if is_starting(state) => {
            let (what, advice) = starting(detail);
            (false, format!("it {what}"), advice)
        }
        (state, None) => (false, format!("it is {state}, so it was not tried"), "Try again in a moment".into()),
    };
    Finding { server, ok, is_off: !detail.enabled, what, code: None, advice }
}

fn failed(server: String, error: &HubError) -> Finding {
    let advice = advice(&server, error);
    Finding { server, ok: false, is_off: false, what: hub_message(error), code: Some(error.code().as_str()), advice }
}
