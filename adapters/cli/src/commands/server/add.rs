//! `mcpwire server add` and `mcpwire server import`: adds servers to the configuration.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf, absolute};

use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::import::{Dialect, ImportOptions, import, keep_all_secrets, read_file};
use mcpwire_hub::secrets::{SecretRef, SecretStore as _, Secrets};
use mcpwire_hub::{ErrorKind, HubError};
use owo_colors::OwoColorize as _;

use crate::args::{AddServer, Options, Place, TlsArgs, Variable};
use crate::console::{Console, output};
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Previews, Request, advice, layout, sentence, server_command};
use crate::input;
use crate::text;

pub(super) fn run(arguments: &AddServer, place: &Place, options: &Options) -> Result<(), Failure> {
    let AddServer { name, secrets, .. } = arguments;
    let config = config(arguments, options)?;
    let mut handle = HubHandle::open(place, options)?;
    let add = Request::Add { configs: vec![config.to_json()], start: handle.is_remote() };
    let added: Result<Vec<Option<HubError>>, HubError> = handle.ask(add);
    if let Some(error) = added.map_or_else(Some, |errors| errors.into_iter().flatten().next()) {
        let failure = Failure::from_hub(&error);
        return Err(match error.kind() {
            ErrorKind::Conflict => failure.with_hint(format!(
                "Choose another name, or remove that server: mcpwire server remove {}",
                text::word(name)
            )),
            _ => failure,
        });
    }
    for secret in secrets {
        handle.console.warn(&format!("Set its secret: mcpwire secret set {} {}", text::word(name), text::word(secret)));
    }
    // A server that needs secrets cannot be started before they are set.
    if handle.is_remote() && secrets.is_empty() {
        let started = handle.ask::<()>(Request::Start { server: config.id.to_string() });
        let outcome = match started {
            Ok(()) => format!("{name}: started in the running hub"),
            Err(error) => {
                format!("{name}: added, but not started: {} {}", sentence(&hub_message(&error)), advice(name, &error))
            }
        };
        handle.console.warn(&text::line(&outcome));
    }
    if secrets.is_empty() && !handle.is_remote() {
        handle.console.note(&format!("added {}; next: mcpwire info {}", text::name(name), text::word(name)));
    }
    if options.json { output::json(&config.without_secrets()) } else { Ok(()) }
}

fn config(arguments: &AddServer, options: &Options) -> Result<McpConfig, Failure> {
    let AddServer { name, address, npm, pypi, docker, url, secrets, lazy, tls, command } = arguments;
    if let Some(address) = address.as_ref().filter(|address| !address.contains("://")) {
        return Err(Failure::url_without_scheme(address));
    }
    let mut words = command.iter();
    let mut config = match (npm, pypi, docker, url.as_ref().or(address.as_ref())) {
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
    let TlsArgs { ca, client_cert, client_key, proxy } = tls;
    let absolute = |path: &Option<PathBuf>| path.as_ref().and_then(|path| absolute(path).ok());
    config.ca_file = absolute(ca);
    config.client_certificate = absolute(client_cert);
    config.client_key = absolute(client_key);
    config.proxy.clone_from(proxy);
    for variable in &options.variables {
        match variable {
            Variable::Set(name, value) => config = config.env(EnvVarConfig::value(name, value)),
            Variable::Inherit(name) => config.inherit_env.push(name.clone()),
        }
    }
    for name in secrets {
        let secret = SecretRef::stored(config.id, name)?;
        config = config.env(EnvVarConfig::secret(name, secret));
    }
    Ok(config)
}

/// Imports the servers of another client's configuration.
pub(super) fn import_all(
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
    let imported = import(&content, &reading)?;
    for warning in &imported.warnings {
        let server = warning.server.as_deref().unwrap_or("the file");
        console.warn(&text::line(&format!("{server}: {} ({})", warning.message, warning.field)));
    }
    let mut refused: Vec<(String, String)> =
        imported.refused.into_iter().map(|refused| (refused.name, hub_message(&refused.error))).collect();
    let secrets = Secrets::in_directory(layout(place)?.secrets());
    // All questions are asked before the first change, so that Ctrl-C at a question changes nothing.
    let mut servers = imported.servers;
    let mut previews = Previews::open(place, options)?;
    for server in &mut servers {
        let preview = previews.preview(&server.config)?;
        if trust || preview.is_accepted(&server.config, options)? {
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
    output::show(options, &serde_json::json!({ "imported": imported, "refused": refused }), |out| {
        for config in &added {
            let mut remark = String::new();
            if config.consent.is_none() {
                remark = format!(". Review and approve: {}", server_command("enable", config.name.trim()));
            }
            writeln!(out, "{} {}{remark}", "added".green(), text::name(&config.name))?;
        }
        for (name, why) in &refused {
            writeln!(out, "{} {}: {}", "left out".yellow(), text::name(name), text::line(why))?;
        }
        Ok(())
    })?;
    Ok(if added.is_empty() && !refused.is_empty() { 2 } else { 0 })
}
