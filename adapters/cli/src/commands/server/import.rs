//! `mcpwire server import`: adds the servers that other programs have configured.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mcpwire_hub::HubError;
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::import::{Dialect, ImportOptions, Imported, import, keep_all_secrets, read_file};
use mcpwire_hub::launch::Launch;
use mcpwire_hub::secrets::{SecretStore as _, Secrets};
use owo_colors::OwoColorize as _;
use serde_json::json;

use crate::args::{ImportServers, Options, Place};
use crate::console::{Console, output};
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Previews, Request, are_accepted, configured, layout, secret_command, server_command};
use crate::input;
use crate::text;

/// A configuration file of another program, with its servers.
struct Found {
    file: String,
    servers: Vec<Imported>,
    /// The names of the servers that cannot be imported, or of the file, with the reasons.
    refused: Vec<(String, String)>,
}

pub(super) fn run(arguments: &ImportServers, place: &Place, options: &Options) -> Result<u8, Failure> {
    let console = Console::new(options);
    let Some(file) = &arguments.file else {
        let found = find(arguments, place, &console)?;
        if !arguments.yes && !arguments.trust {
            return preview(&found, arguments, place, options);
        }
        return add(found, arguments.trust, false, place, options);
    };
    let content = input::read_file("file", "", file)?;
    let found = read(&content, file, arguments.from, arguments, &console).map_err(|error| {
        let option = if error.field() == "dialect" { " (with --from)" } else { "" };
        let file = text::line(&file.display().to_string());
        let message = format!("could not import {file}: {}{option}", hub_message(&error));
        Failure::from_hub(error.with_message(message))
    })?;
    add(vec![found], arguments.trust, true, place, options)
}

/// Reads the content of a configuration file of another program, and warns of settings that are not imported.
fn read(
    content: &str,
    file: &Path,
    from: Option<Dialect>,
    arguments: &ImportServers,
    console: &Console,
) -> Result<Found, HubError> {
    let mut reading = ImportOptions::default().path(file).read_file(read_file);
    reading.dialect = from;
    let real = |folder: &PathBuf| fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
    reading.workspace = arguments.folder.as_ref().map(real);
    let imported = import(content, &reading)?;
    for warning in &imported.warnings {
        let server = warning.server.as_deref().unwrap_or("the file");
        console.warn(&text::line(&format!("{server}: {} ({})", warning.message, warning.field)));
    }
    let refused = imported.refused.into_iter().map(|refused| (refused.name, hub_message(&refused.error)));
    Ok(Found { file: file.display().to_string(), servers: imported.servers, refused: refused.collect() })
}

/// Reads the files of all known programs. Leaves out the servers whose names are taken, and files that cannot be read.
fn find(arguments: &ImportServers, place: &Place, console: &Console) -> Result<Vec<Found>, Failure> {
    let folder = arguments.folder.as_deref().unwrap_or(Path::new(""));
    let is_meant = |dialect: &Dialect| arguments.from.is_none_or(|from| from == *dialect);
    // A `server.json` describes a server that the project publishes.
    let programs = Dialect::ALL.into_iter().filter(|dialect| is_meant(dialect) && *dialect != Dialect::ServerJson);
    let files = programs.flat_map(|dialect| dialect.paths_in(folder).into_iter().map(move |path| (dialect, path)));
    let mut taken: BTreeMap<String, String> = configured(&layout(place)?)?
        .iter()
        .map(|config| (config.folded_name(), "is configured already".to_owned()))
        .collect();
    let mut all = Vec::new();
    for (dialect, file) in files.filter(|(_, file)| file.exists()) {
        let content = input::read_file("file", "", &file);
        let found = content.and_then(|content| Ok(read(&content, &file, Some(dialect), arguments, console)?));
        let mut found = found.unwrap_or_else(|failure| {
            let file = file.display().to_string();
            Found { servers: Vec::new(), refused: vec![(file.clone(), failure.message().to_owned())], file }
        });
        for server in std::mem::take(&mut found.servers) {
            if let Some(place) = taken.get(&server.config.folded_name()) {
                found.refused.push((server.config.name, format!("a server of this name {place}")));
            } else {
                taken.insert(server.config.folded_name(), format!("is in {}, too", found.file));
                found.servers.push(server);
            }
        }
        all.push(found);
    }
    Ok(all)
}

/// Shows which servers `mcpwire server import --all` would import, and the command that imports them. Changes nothing.
fn preview(found: &[Found], arguments: &ImportServers, place: &Place, options: &Options) -> Result<u8, Failure> {
    let mut previews = Previews::open(place, options)?;
    let (mut lines, mut document) = (Vec::new(), Vec::new());
    for Found { file, servers, refused } in found {
        lines.push(text::line(file).bold().to_string());
        for server in servers {
            let shown = previews.preview(&server.config)?.summary;
            lines.push(format!(
                "  {} {}: {}",
                "would add".green(),
                text::name(&server.config.name),
                text::line(&shown)
            ));
        }
        lines.extend(refused.iter().map(|refused| format!("  {}", left_out(refused))));
        let configs: Vec<_> = servers.iter().map(|server| server.config.without_secrets()).collect();
        document.push(json!({ "file": file, "servers": configs, "refused": refused }));
    }
    lines.push(match found.iter().map(|found| found.servers.len()).sum() {
        0 => "There is nothing to import.".to_owned(),
        count => {
            let from = arguments.from.map(|from| format!(" --from {from}")).unwrap_or_default();
            let folder = arguments.folder.as_ref().map(|folder| text::word(&folder.display().to_string()));
            let folder = folder.map(|folder| format!(" --folder {folder}")).unwrap_or_default();
            format!("Import {}: mcpwire server import --all{from}{folder} --yes", text::counted(count, "server"))
        }
    });
    output::show(options, &document, |out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    Ok(0)
}

fn left_out((name, why): &(String, String)) -> String {
    format!("{} {}: {}", "left out".yellow(), text::name(name), text::line(why))
}

/// Adds the servers to the configuration, with their secrets. If `asks` is true, asks the user to approve each of them.
fn add(found: Vec<Found>, trust: bool, asks: bool, place: &Place, options: &Options) -> Result<u8, Failure> {
    let console = Console::new(options);
    let secrets = Secrets::in_directory(layout(place)?.secrets());
    let (mut servers, mut refused) = (Vec::new(), Vec::new());
    for found in found {
        servers.extend(found.servers);
        refused.extend(found.refused);
    }
    // All questions are asked before the first change, so that Ctrl-C at a question changes nothing.
    let mut previews = Previews::open(place, options)?;
    for server in &mut servers {
        let preview = previews.preview(&server.config)?;
        if trust || asks && are_accepted(&[preview.described(&server.config)], options)? {
            preview.approve(&mut server.config);
        }
    }
    let mut handle = HubHandle::open(place, options)?;
    let kept = keep_all_secrets(&servers, &secrets);
    let with_secrets = servers.iter().zip(&kept).filter(|(_, kept)| kept.is_ok());
    let configs: Vec<_> = with_secrets.map(|(server, _)| server.config.to_json()).collect();
    let count = configs.len();
    let add = Request::Add { configs, start: handle.is_remote() };
    let mut results = match handle.ask::<Vec<Option<HubError>>>(add) {
        Ok(results) => results,
        // The hub has added none of the servers, so all get the same error.
        Err(error) => vec![Some(error); count],
    }
    .into_iter();
    let mut added: Vec<McpConfig> = Vec::new();
    for (server, kept) in servers.into_iter().zip(kept) {
        match kept.err().or_else(|| results.next().flatten()) {
            None => added.push(server.config),
            Some(error) => {
                for (secret, _) in &server.secrets {
                    let _ = secrets.remove(secret);
                }
                refused.push((server.config.name, hub_message(&error)));
            }
        }
    }
    if handle.is_remote() && added.iter().any(|config| config.enabled && config.consent.is_some()) {
        console.warn("the running hub starts them; see mcpwire status");
    }
    let imported: Vec<_> = added.iter().map(McpConfig::without_secrets).collect();
    output::show(options, &json!({ "imported": imported, "refused": refused }), |out| {
        for config in &added {
            let missing = Launch::missing(config, &secrets).unwrap_or_default();
            let set = missing.iter().map(|path| format!(". Set its secret: {}", secret_command(&config.name, path)));
            let mut remark: String = set.collect();
            if config.consent.is_none() {
                remark = format!("{remark}. Review and approve: {}", server_command("enable", config.name.trim()));
            }
            writeln!(out, "{} {}{remark}", "added".green(), text::name(&config.name))?;
        }
        refused.iter().try_for_each(|refused| writeln!(out, "{}", left_out(refused)))
    })?;
    if added.iter().filter(|config| config.consent.is_none()).count() > 1 {
        console.note("Review and approve all of them: mcpwire server enable --all");
    }
    Ok(if added.is_empty() && !refused.is_empty() { 2 } else { 0 })
}
