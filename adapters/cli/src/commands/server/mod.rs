//! `mcpwire server`: lists, changes and controls the configured servers.

mod add;
mod approval;
mod doctor;
mod import;

use std::io::Write as _;

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::service::log_tail;
use mcpwire_hub::store::Store;
use owo_colors::OwoColorize as _;

use self::approval::approves;
use super::hub::of_running_hub;
use crate::args::{Options, Place, ServerCommand, ServerName};
use crate::console::output;
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Previews, Request, find_in, layout, not_started};
use crate::show::{self, Layout};
use crate::text;
use crate::time::local;

pub(super) fn run(command: &ServerCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    match command {
        ServerCommand::Add(arguments) => add::run(arguments, place, options)?,
        ServerCommand::Import { file, from, folder, trust } => {
            return import::run(file, *from, folder.as_deref(), *trust, place, options);
        }
        ServerCommand::List => list(place, options)?,
        ServerCommand::Show(ServerName { server }) => show(server, place, options)?,
        ServerCommand::Enable { servers, all, trust } => enable(servers, *all, *trust, place, options)?,
        ServerCommand::Disable { servers } => disable(servers, place, options)?,
        ServerCommand::Start(ServerName { server }) => {
            of_running_hub(Request::Start { server: server.clone() }, place, options)?
        }
        ServerCommand::Stop(ServerName { server }) => {
            of_running_hub(Request::Stop { server: server.clone() }, place, options)?
        }
        ServerCommand::Restart(ServerName { server }) => {
            of_running_hub(Request::Restart { server: server.clone() }, place, options)?;
        }
        ServerCommand::Remove(ServerName { server }) => {
            let mut handle = HubHandle::open(place, options)?;
            let removed = handle.ask::<()>(Request::Remove { server: server.clone() });
            handle.close();
            removed.map_err(Failure::from_hub)?;
        }
        ServerCommand::Logs { server, lines } => logs(server, *lines, place, options)?,
        ServerCommand::Doctor => return doctor::run(place, options),
    }
    Ok(0)
}

fn list(place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load().map_err(Failure::from_hub)?;
    if options.json {
        return output::json(&loaded.configs.iter().map(McpConfig::without_secrets).collect::<Vec<_>>());
    }
    let mut previews = Previews::open(place)?;
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
    output::page(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn show(server: &str, place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load().map_err(Failure::from_hub)?;
    let config = find_in(loaded.configs, server).map_err(Failure::from_hub)?.without_secrets();
    if options.json {
        return output::json(&config);
    }
    let shown = Previews::open(place)?.preview(&config)?.text;
    output::page(|out| {
        writeln!(out, "{} ({})", text::name(config.name.trim()).bold(), config.id)?;
        writeln!(out, "{shown}")
    })
}

/// Enables and starts servers, after asking the user to approve their commands. If a server fails, continues with the others,
/// and returns the first failure.
fn enable(servers: &[String], all: bool, trust: bool, place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let configs = Store::new(layout.servers()).load().map_err(Failure::from_hub)?.configs;
    let mut previews = Previews::open(place)?;
    let chosen = if all { Ok(configs) } else { chosen(&configs, servers) };
    let mut chosen = chosen?;
    for config in &mut chosen {
        config.enabled = true;
        let preview = previews.preview(config)?;
        if !preview.is_approved && (trust || approves(config, &preview, options)?) {
            preview.approve(config);
        }
    }
    let mut handle = HubHandle::open(place, options)?;
    let mut failures = Vec::new();
    for config in chosen {
        let updated = handle.ask::<()>(Request::Update { config: config.to_json() });
        // The server may have been enabled already, and waiting for approval, so it is started in any case.
        let started = updated.and_then(|()| handle.ask::<()>(Request::Start { server: config.id.to_string() }));
        failures.extend(started.err().map(|error| not_started(config.name.trim(), &error)));
    }
    handle.close();
    first_of(failures, options)
}

/// Disables configured servers. If a server cannot be disabled, continues with the other servers, and returns the first
/// failure.
fn disable(servers: &[String], place: &Place, options: &Options) -> Result<(), Failure> {
    let configs = Store::new(layout(place)?.servers()).load().map_err(Failure::from_hub)?.configs;
    let chosen = chosen(&configs, servers)?;
    let mut handle = HubHandle::open(place, options)?;
    let mut failures = Vec::new();
    for mut config in chosen {
        config.enabled = false;
        failures.extend(handle.ask::<()>(Request::Update { config: config.to_json() }).err().map(Failure::from_hub));
    }
    handle.close();
    first_of(failures, options)
}

/// Returns the configurations of the servers whose names or ids are in `servers`. Returns an error if a server is not
/// configured.
fn chosen(configs: &[McpConfig], servers: &[String]) -> Result<Vec<McpConfig>, Failure> {
    servers.iter().map(|server| find_in(configs.to_vec(), server).map_err(Failure::from_hub)).collect()
}

/// Returns the first of the failures as an error, if there are any. Prints the other failures, unless `--json` is given.
fn first_of(failures: Vec<Failure>, options: &Options) -> Result<(), Failure> {
    let mut failures = failures.into_iter();
    let first = failures.next();
    failures.filter(|_| !options.json).for_each(|failure| failure.report(false));
    first.map_or(Ok(()), Err)
}

fn logs(server: &str, lines: usize, place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load().map_err(Failure::from_hub)?;
    let config = find_in(loaded.configs, server).map_err(Failure::from_hub)?;
    let lines = log_tail(&layout.log(config.id), lines);
    if options.json {
        return output::json(&lines);
    }
    output::page(|out| lines.iter().try_for_each(|line| writeln!(out, "{}", with_local_time(line))))
}

/// Converts the time at the start of a server's log line to the local time zone. Returns other lines unchanged.
fn with_local_time(line: &str) -> String {
    let parts = line.split_once(' ').and_then(|(time, rest)| Some(format!("{} {rest}", local(time)?)));
    parts.unwrap_or_else(|| line.to_owned())
}
