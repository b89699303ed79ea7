//! `mcpwire secret`: sets, lists and removes the secrets of configured servers.

use std::io::{self, IsTerminal as _, Write as _};

use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::launch::Launch;
use mcpwire_hub::secrets::{Secret, SecretRef, SecretStore as _, Secrets};

use crate::args::{Options, Place, SecretCommand, ServerName};
use crate::console::{Console, output, read_secret};
use crate::failure::Failure;
use crate::hub::{HubHandle, find_configured, layout, secret_command, server_command, update_approved};
use crate::input;
use crate::text;

pub(super) fn run(command: &SecretCommand, place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let secrets = Secrets::in_directory(layout.secrets());
    let (SecretCommand::Set { server, .. }
    | SecretCommand::List(ServerName { server })
    | SecretCommand::Remove { server, .. }) = command;
    let mut config = find_configured(&layout, server)?;
    match command {
        SecretCommand::Set { name, .. } => {
            let mut reference = SecretRef::stored(config.id, name)?;
            let secret = read(name)?;
            let before = config.clone();
            if let Some(value) = value_of(&mut config, name) {
                match value.secret_ref.as_deref().map(str::parse) {
                    Some(Ok(stored @ SecretRef::Stored { .. })) => reference = stored,
                    Some(Ok(SecretRef::Env { .. })) => value.secret_ref = Some(reference.to_string()),
                    _ => {}
                }
            }
            secrets.set(&reference, &secret)?;
            if config != before {
                update_approved(&before, &mut config, place, options)?;
            }
            let console = Console::new(options);
            let shown = text::name(config.name.trim());
            if HubHandle::connect(place, options).is_ok_and(|hub| hub.is_some()) {
                let restart = server_command("restart", config.name.trim());
                console.warn(&format!("{shown} uses the secret after its next start: {restart}"));
            }
            let is_used = |value: &EnvVarConfig| value.secret_ref.as_deref() == Some(&reference.to_string());
            let all = [&config.env_vars, &config.headers, &config.variables];
            if all.iter().any(|values| values.values().any(is_used)) || config.oauth.client_secret.iter().any(is_used) {
                let next = match Launch::missing(&config, &secrets)?.first() {
                    Some(path) => secret_command(&config.name, path),
                    None if !config.has_consent(&secrets) => server_command("enable", config.name.trim()),
                    None => format!("mcpwire info {}", text::word(config.name.trim())),
                };
                console.note(&format!("set the secret {} of {shown}; next: {next}", text::name(name)));
            } else {
                console.warn(&format!(
                    "{shown} does not use the secret yet: nothing in its configuration refers to {reference}"
                ));
            }
        }
        SecretCommand::List(_) => {
            let names = secrets.names(config.id)?;
            let missing = Launch::missing(&config, &secrets)?;
            output::show(options, &serde_json::json!({ "kept": names, "missing": missing }), |out| {
                names.iter().try_for_each(|name| writeln!(out, "{}", text::line(name)))?;
                missing.iter().try_for_each(|path| writeln!(out, "{}: missing", text::line(path)))
            })?;
        }
        SecretCommand::Remove { name, .. } => {
            let reference = SecretRef::stored(config.id, name)?;
            if !secrets.remove(&reference)? {
                let message = format!(
                    "server `{}` has no secret `{}`; see mcpwire secret list {}",
                    text::name(server),
                    text::line(name),
                    text::word(server)
                );
                return Err(Failure::usage("name", message));
            }
            Console::new(options).note(&format!("removed the secret {} of {}", text::name(name), text::name(server)));
        }
    }
    Ok(())
}

/// Returns the value of the configuration whose name is `name`, such as an environment variable. Errors and
/// `mcpwire secret list` use this name for a missing secret. Returns `None` if the configuration has no such value.
fn value_of<'c>(config: &'c mut McpConfig, name: &str) -> Option<&'c mut EnvVarConfig> {
    let McpConfig { env_vars, headers, variables, oauth, .. } = config;
    let named = [env_vars, headers, variables].into_iter().find_map(|values| values.get_mut(name));
    named.or_else(|| oauth.client_secret.as_mut().filter(|_| name == "client_secret"))
}

/// Reads a secret from a pipe, or from the terminal without showing what the user types. Removes the line break at
/// the end.
fn read(name: &str) -> Result<Secret, Failure> {
    let failed = |error: io::Error| Failure::usage("stdin", format!("could not read the secret: {error}"));
    let value = if io::stdin().is_terminal() {
        let mut stderr = anstream::stderr();
        let prompt = format!("{} (not shown): ", text::line(name));
        let _ = stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush());
        let typed = read_secret();
        let _ = stderr.write_all(b"\n");
        typed.map_err(failed)?.unwrap_or_default()
    } else {
        input::read_stdin("stdin")?
    };
    let line = value.strip_suffix('\n').unwrap_or(&value);
    let value = line.strip_suffix('\r').unwrap_or(line);
    if value.is_empty() {
        Err(Failure::usage("stdin", "the secret is empty: type it, or pass it on stdin"))
    } else {
        Ok(Secret::new(value))
    }
}
