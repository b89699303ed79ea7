//! `mcpwire secret`: sets, lists and removes the secrets of configured servers.

use std::io::{self, IsTerminal as _, Write as _};

use mcpwire_hub::config::EnvVarConfig;
use mcpwire_hub::launch::Launch;
use mcpwire_hub::secrets::{Secret, SecretRef, SecretStore as _, Secrets};

use crate::args::{Options, Place, SecretCommand, ServerName};
use crate::console::{Console, output, read_secret};
use crate::failure::Failure;
use crate::hub::{HubHandle, find_configured, layout, server_command};
use crate::input;
use crate::text;

pub(super) fn run(command: &SecretCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    let layout = layout(place)?;
    let secrets = Secrets::in_directory(layout.secrets());
    let (SecretCommand::Set { server, .. }
    | SecretCommand::List(ServerName { server })
    | SecretCommand::Remove { server, .. }) = command;
    let config = find_configured(&layout, server)?;
    match command {
        SecretCommand::Set { name, .. } => {
            let reference = SecretRef::stored(config.id, name)?;
            let value = read(name)?;
            secrets.set(&reference, &value)?;
            let console = Console::new(options);
            let shown = text::name(config.name.trim());
            if HubHandle::connect(place, options).is_ok_and(|hub| hub.is_some()) {
                let restart = server_command("restart", config.name.trim());
                console.warn(&format!("{shown} uses the secret after its next start: {restart}"));
            }
            let is_used = |value: &EnvVarConfig| value.secret_ref.as_deref() == Some(&reference.to_string());
            let all = [&config.env_vars, &config.headers, &config.variables];
            if !all.iter().any(|values| values.values().any(is_used)) {
                console.warn(&format!("{shown} does not use the secret yet: no variable refers to {reference}"));
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
        }
    }
    Ok(0)
}

/// Reads the value of a secret from a pipe, or from the terminal without showing what the user types. Removes the line break at
/// the end.
fn read(name: &str) -> Result<Secret, Failure> {
    let failed = |error: io::Error| Failure::usage("stdin", format!("could not read the value: {error}"));
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
        Err(Failure::usage("stdin", "the value is empty: type it, or pass it on stdin"))
    } else {
        Ok(Secret::new(value))
    }
}
