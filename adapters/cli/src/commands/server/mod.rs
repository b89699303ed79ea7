//! `mcpwire server`: what is configured, and changes of it.

use std::fs;
use std::io::Write as _;

use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::import::{Dialect, ImportOptions, import};
use mcpwire_hub::launch::preview;
use mcpwire_hub::secrets::{SecretRef, Secrets};
use mcpwire_hub::service::log_tail;
use mcpwire_hub::store::Store;
use owo_colors::OwoColorize as _;

use super::advice::{advice, enable, not_started, word};
use super::args::{Place, ServerCommand};
use super::call::note;
use super::requests::{Request, find_in};
use super::{doctor, layout, link, of};
use crate::args::{Options, Variable};
use crate::failure::Failure;
use crate::output;
use crate::text;

pub(super) fn run(command: &ServerCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    match command {
        ServerCommand::Add { .. } => add(command, place, options)?,
        ServerCommand::Import { file, from, trust } => return take_over(file, from.as_deref(), *trust, place, options),
        ServerCommand::List => list(place, options)?,
        ServerCommand::Show { server } => show(server, place, options)?,
        ServerCommand::Enable { server, trust } => switch(server, true, *trust, place, options)?,
        ServerCommand::Disable { server } => switch(server, false, false, place, options)?,
        ServerCommand::Start { server } => of_hub(Request::Start { server: server.clone() }, place, options)?,
        ServerCommand::Stop { server } => of_hub(Request::Stop { server: server.clone() }, place, options)?,
        ServerCommand::Restart { server } => of_hub(Request::Restart { server: server.clone() }, place, options)?,
        ServerCommand::Remove { server } => {
            let mut link = link(place, options)?;
            link.ask::<()>(Request::Remove { server: server.clone() }).map_err(of)?;
            link.close();
        }
        ServerCommand::Logs { server, lines } => logs(server, *lines, place, options)?,
        ServerCommand::Doctor => return doctor::run(place, options),
    }
    Ok(0)
}

fn add(command: &ServerCommand, place: &Place, options: &Options) -> Result<(), Failure> {
    let ServerCommand::Add { name, npm, pypi, docker, url, secrets, lazy, command } = command else { return Ok(()) };
    let mut words = command.iter();
    let mut config = match (npm, pypi, docker, url) {
        (Some(package), ..) => McpConfig::npm(name, package),
        (_, Some(package), ..) => McpConfig::pypi(name, package),
        (_, _, Some(image), _) => McpConfig::docker(name, image),
        (_, _, _, Some(url)) => McpConfig::http(name, url),
        _ => McpConfig::binary(name, words.next().map_or("", String::as_str)),
    };
    config = config.args(words.cloned());
    config.lazy = *lazy;
    config.cwd.clone_from(&options.cwd);
    config.timeouts.call = options.timeout;
    for variable in &options.variables {
        match variable {
            Variable::Set(name, value) => config = config.env(EnvVarConfig::value(name, value)),
            Variable::Inherit(name) => config.inherit_env.push(name.clone()),
        }
    }
    for name in secrets {
        let secret = SecretRef::stored(config.id, name).map_err(of)?;
        config = config.env(EnvVarConfig::secret(name, secret));
    }
    let mut link = link(place, options)?;
    link.ask::<()>(Request::Add { config: config.to_json(), start: link.is_running() }).map_err(of)?;
    for secret in secrets {
        note(options, &format!("its secret is still to be set: mcpwire secret set {} {}", word(name), word(secret)));
    }
    // Without its secrets it cannot be started; nobody need be told twice.
    if link.is_running() && secrets.is_empty() {
        let started = link.ask::<()>(Request::Start { server: config.id.to_string() });
        let outcome = match started {
            Ok(()) => format!("{name}: started in the running hub"),
            Err(error) => format!("{name}: added, but not started: {error}. {}", advice(name, &error)),
        };
        note(options, &text::line(&outcome));
    }
    link.close();
    if options.json { output::json(&config) } else { Ok(()) }
}

fn take_over(
    file: &std::path::Path,
    from: Option<&str>,
    trust: bool,
    place: &Place,
    options: &Options,
) -> Result<u8, Failure> {
    let content = fs::read_to_string(file)
        .map_err(|error| Failure::usage("file", format!("could not read {}: {error}", file.display())))?;
    let dialect = from.map(str::parse::<Dialect>).transpose();
    let dialect = dialect.map_err(|error| Failure::usage("from", error.to_string()))?;
    let mut reading = ImportOptions { dialect, path: Some(file.to_owned()), ..ImportOptions::default() };
    reading.read_file = Some(|path| fs::read_to_string(path));
    let imported = import(&content, &reading).map_err(of)?;
    for warning in &imported.warnings {
        let text =
            format!("{}: {} ({})", warning.server.as_deref().unwrap_or("the file"), warning.message, warning.field);
        note(options, &text::line(&text));
    }
    let mut refused: Vec<(String, String)> =
        imported.refused.iter().map(|refused| (refused.name.clone(), refused.error.to_string())).collect();
    let secrets = Secrets::in_directory(layout(place)?.secrets());
    let mut link = link(place, options)?;
    let mut taken = Vec::new();
    for server in imported.servers {
        let agreed = trust || agrees(&server.config, options);
        let mut config = server.config.clone();
        if agreed {
            config.give_consent();
        }
        let add = Request::Add { config: config.to_json(), start: link.is_running() };
        let kept = server.keep_secrets(&secrets).and_then(|()| link.ask::<()>(add));
        match kept {
            Ok(()) => taken.push(config),
            Err(error) => {
                for (secret, _) in &server.secrets {
                    let _ = mcpwire_hub::secrets::SecretStore::remove(&secrets, secret);
                }
                refused.push((config.name, error.to_string()));
            }
        }
    }
    if link.is_running() && taken.iter().any(|config| config.enabled && config.has_consent()) {
        note(options, "the running hub starts them; see how they are: mcpwire status");
    }
    link.close();
    if options.json {
        output::json(&serde_json::json!({ "imported": taken, "refused": refused }))?;
    } else {
        output::page(|out| {
            for config in &taken {
                let mut note = String::new();
                if !config.has_consent() {
                    note = format!(" (not started before you agree: {})", enable(&config.name));
                }
                writeln!(out, "{} {}{note}", "added".green(), text::line(&config.name))?;
            }
            for (name, error) in &refused {
                writeln!(out, "{} {}: {}", "left out".yellow(), text::line(name), text::line(error))?;
            }
            Ok(())
        })?;
    }
    Ok(if taken.is_empty() && !refused.is_empty() { 2 } else { 0 })
}

/// Shows what a server starts, and asks whether that is wanted; where nobody can be asked, it is not.
pub(super) fn agrees(config: &McpConfig, options: &Options) -> bool {
    use std::io::IsTerminal as _;
    if options.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    let question = format!("{} starts:\n{}\nAgree? [y/N] ", text::line(&config.name), preview(config));
    let mut stderr = anstream::stderr();
    let _ = stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush());
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

fn list(place: &Place, options: &Options) -> Result<(), Failure> {
    let loaded = Store::new(layout(place)?.servers()).load().map_err(of)?;
    if options.json {
        return output::json(&loaded.configs);
    }
    output::page(|out| {
        let width = loaded.configs.iter().map(|config| config.name.trim().chars().count()).max().unwrap_or(0);
        for config in &loaded.configs {
            let name = text::line(config.name.trim());
            let shown = preview(config);
            let what = shown.url.clone().unwrap_or_else(|| shown.command.join(" "));
            let state = if !config.enabled {
                " (disabled)"
            } else if !config.has_consent() {
                " (not agreed to yet)"
            } else {
                ""
            };
            writeln!(out, "{name:width$}  {}{state}", text::line(&what))?;
        }
        for broken in &loaded.broken {
            let name = broken.name.as_deref().unwrap_or("?");
            writeln!(out, "{}  cannot be read: {}", text::line(name), text::line(&broken.error.to_string()))?;
        }
        Ok(())
    })
}

fn show(server: &str, place: &Place, options: &Options) -> Result<(), Failure> {
    let loaded = Store::new(layout(place)?.servers()).load().map_err(of)?;
    let config = find_in(loaded.configs, server).map_err(of)?;
    if options.json {
        return output::json(&config);
    }
    output::page(|out| {
        writeln!(out, "{} ({})", text::line(config.name.trim()).bold(), config.id)?;
        writeln!(out, "{}", preview(&config))
    })
}

fn switch(server: &str, enabled: bool, trust: bool, place: &Place, options: &Options) -> Result<(), Failure> {
    let loaded = Store::new(layout(place)?.servers()).load().map_err(of)?;
    let mut config = find_in(loaded.configs, server).map_err(of)?;
    config.enabled = enabled;
    if enabled && !config.has_consent() && (trust || agrees(&config, options)) {
        config.give_consent();
    }
    let mut link = link(place, options)?;
    let mut done = link.ask::<()>(Request::Update { config: config.to_json() });
    if enabled && done.is_ok() {
        // It may have been enabled before, and waited for the user to agree.
        done = link.ask(Request::Start { server: config.id.to_string() });
    }
    link.close();
    done.map_err(|error| if enabled { not_started(config.name.trim(), &error) } else { of(error) })
}

/// What makes sense only where servers go on when the command has ended.
pub(super) fn of_hub(request: Request, place: &Place, options: &Options) -> Result<(), Failure> {
    let mut link = link(place, options)?;
    if !link.is_running() {
        let failure = Failure::no_hub();
        return Err(failure.with_hint("Start one in another terminal: mcpwire hub run"));
    }
    link.ask::<()>(request).map_err(of)
}

fn logs(server: &str, lines: usize, place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let loaded = Store::new(layout.servers()).load().map_err(of)?;
    let config = find_in(loaded.configs, server).map_err(of)?;
    let lines = log_tail(&layout.log(config.id), lines);
    if options.json {
        return output::json(&lines);
    }
    output::page(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}
