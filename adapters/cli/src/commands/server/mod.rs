//! `mcpwire server`: lists, changes and controls the configured servers.

mod add;
mod doctor;

use std::io::Write as _;

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::service::log_tail;
use mcpwire_hub::store::Store;
use owo_colors::OwoColorize as _;

use super::hub::of_running_hub;
use super::report::first_of;
use crate::args::{Options, Place, ServerCommand, ServerName};
use crate::console::output;
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Previews, Request, configured, find_configured, find_in, layout, not_started};
use crate::show::{self, Layout};
use crate::text;
use crate::time::local;

pub(super) fn run(command: &ServerCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    match command {
        ServerCommand::Add(arguments) => add::run(arguments, place, options)?,
        ServerCommand::Import { file, from, folder, trust } => {
            return add::import_all(file, *from, folder.as_deref(), *trust, place, options);
        }
        ServerCommand::List => list(place, options)?,
        ServerCommand::Show(ServerName { server }) => show(server, place, options)?,
        ServerCommand::Enable { servers, all, trust } => enable(servers, *all, *trust, place, options)?,
        ServerCommand::Disable { servers } => disable(servers, place, options)?,
        ServerCommand::Start(ServerName { server }) => {
            of_running_hub(Request::Start { server: server.clone() }, place, options)?;
        }
        ServerCommand::Stop(ServerName { server }) => {
            of_running_hub(Request::Stop { server: server.clone() }, place, options)?;
        }
        ServerCommand::Restart(ServerName { server }) => {
            of_running_hub(Request::Restart { server: server.clone() }, place, options)?;
        }
        ServerCommand::Remove(ServerName { server }) => {
            let mut handle = HubHandle::open(place, options)?;
            handle.ask::<()>(Request::Remove { server: server.clone() })?;
        }
        ServerCommand::Logs { server, lines } => logs(server, *lines, place, options)?,
        ServerCommand::Doctor => return doctor::run(place, options),
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

/// Enables and starts servers, after asking the user to approve their commands. If a server fails, continues with the others,
/// and returns the first failure.
fn enable(servers: &[String], all: bool, trust: bool, place: &Place, options: &Options) -> Result<(), Failure> {
    let configs = configured(&layout(place)?)?;
    let mut previews = Previews::open(place, options)?;
    let mut chosen = if all { configs } else { chosen(&configs, servers)? };
    for config in &mut chosen {
        config.enabled = true;
        let preview = previews.preview(config)?;
        if !preview.is_approved && (trust || preview.is_accepted(config, options)?) {
            preview.approve(config);
        }
    }
    let enable = |handle: &mut HubHandle, config: &McpConfig| {
        let updated = handle.ask::<()>(Request::Update { config: config.to_json() });
        // The server may have been enabled already, and waiting for approval, so it is started in any case.
        let started = updated.and_then(|()| handle.ask(Request::Start { server: config.id.to_string() }));
        started.map_err(|error| not_started(config.name.trim(), &error))
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
    let disable =
        |handle: &mut HubHandle, config: &McpConfig| Ok(handle.ask(Request::Update { config: config.to_json() })?);
    for_each(&chosen, place, options, disable)
}

/// Calls `change` for each server in `configs`, even after a failure. Then returns the first failure.
fn for_each(
    configs: &[McpConfig],
    place: &Place,
    options: &Options,
    change: impl Fn(&mut HubHandle, &McpConfig) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut handle = HubHandle::open(place, options)?;
    let failures = configs.iter().filter_map(|config| change(&mut handle, config).err()).collect();
    first_of(failures, options)
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
