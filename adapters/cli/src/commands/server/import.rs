//! `mcpwire server import`: imports the servers of another client's configuration.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use mcpwire_hub::HubError;
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::import::{Dialect, ImportOptions, import, keep_all_secrets, read_file};
use mcpwire_hub::secrets::{SecretStore as _, Secrets};
use owo_colors::OwoColorize as _;

use super::approval::approves;
use crate::args::{Options, Place};
use crate::console::{Console, output};
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Previews, Request, enable_command, layout};
use crate::input;
use crate::text;

pub(super) fn run(
    file: &Path,
    dialect: Option<Dialect>,
    folder: Option<&Path>,
    trust: bool,
    place: &Place,
    options: &Options,
) -> Result<u8, Failure> {
    let console = Console::new(options);
    let content = input::read_file("file", file)?;
    let workspace = folder.map(|folder| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    let mut reading = ImportOptions::default().path(file).read_file(read_file);
    (reading.dialect, reading.workspace) = (dialect, workspace);
    let imported = import(&content, &reading).map_err(Failure::from_hub)?;
    for warning in &imported.warnings {
        let server = warning.server.as_deref().unwrap_or("the file");
        console.warn(&text::line(&format!("{server}: {} ({})", warning.message, warning.field)));
    }
    let mut refused: Vec<(String, String)> =
        imported.refused.into_iter().map(|refused| (refused.name, hub_message(&refused.error))).collect();
    let secrets = Secrets::in_directory(layout(place)?.secrets());
    // All questions are asked before the first change, so that Ctrl-C at a question changes nothing.
    let mut servers = imported.servers;
    let mut previews = Previews::open(place)?;
    for server in &mut servers {
        let preview = previews.preview(&server.config)?;
        if trust || approves(&server.config, &preview, options)? {
            preview.approve(&mut server.config);
        }
    }
    let mut handle = HubHandle::open(place, options)?;
    let kept = keep_all_secrets(&servers, &secrets);
    let with_secrets = servers.iter().zip(&kept).filter(|(_, kept)| kept.is_ok());
    let configs: Vec<_> = with_secrets.map(|(server, _)| server.config.to_json()).collect();
    let count = configs.len();
    let add = Request::AddAll { configs, start: handle.is_remote() };
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
    handle.close();
    if options.json {
        let refused: Vec<_> = refused.iter().map(|(name, why)| (name, why)).collect();
        let imported: Vec<_> = added.iter().map(McpConfig::without_secrets).collect();
        output::json(&serde_json::json!({ "imported": imported, "refused": refused }))?;
    } else {
        output::page(|out| {
            for config in &added {
                let mut remark = String::new();
                if config.consent.is_none() {
                    remark = format!(". Review and approve: {}", enable_command(config.name.trim()));
                }
                writeln!(out, "{} {}{remark}", "added".green(), text::name(&config.name))?;
            }
            for (name, why) in &refused {
                writeln!(out, "{} {}: {}", "left out".yellow(), text::name(name), text::line(why))?;
            }
            Ok(())
        })?;
    }
    Ok(if added.is_empty() && !refused.is_empty() { 2 } else { 0 })
}
