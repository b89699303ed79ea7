//! `mcpwire secret`: values that are kept apart.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use mcpwire_hub::launch::Launch;
use mcpwire_hub::secrets::{Secret, SecretRef, SecretStore as _, Secrets};
use mcpwire_hub::store::Store;

use super::advice::restart;
use super::args::{Place, SecretCommand};
use super::call::note;
use super::link::Link;
use super::requests::find_in;
use super::{layout, of};
use crate::args::Options;
use crate::failure::Failure;
use crate::output;
use crate::text;

pub(super) fn run(command: &SecretCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    let layout = layout(place)?;
    let secrets = Secrets::in_directory(layout.secrets());
    let configs = Store::new(layout.servers()).load().map_err(of)?.configs;
    match command {
        SecretCommand::Set { server, name } => {
            let config = find_in(configs, server).map_err(of)?;
            let reference = SecretRef::stored(config.id, name).map_err(of)?;
            let value = read(name)?;
            secrets.set(&reference, &value).map_err(of)?;
            let is_used =
                |value: &mcpwire_hub::config::EnvVarConfig| value.secret_ref.as_deref() == Some(&reference.to_string());
            if Link::is_hub_running(&layout) {
                let name = config.name.trim();
                note(options, &format!("the running hub uses it from the next start on: {}", restart(name)));
            }
            let all = [&config.env_vars, &config.headers, &config.variables];
            if !all.iter().any(|values| values.values().any(is_used)) {
                note(
                    options,
                    &format!("{} does not use it yet: no variable refers to {reference}", text::line(server)),
                );
            }
        }
        SecretCommand::List { server } => {
            let config = find_in(configs, server).map_err(of)?;
            let names = secrets.names(config.id).map_err(of)?;
            let missing = Launch::missing(&config, &secrets).map_err(of)?;
            if options.json {
                output::json(&serde_json::json!({ "kept": names, "missing": missing }))?;
            } else {
                output::page(|out| {
                    names.iter().try_for_each(|name| writeln!(out, "{}", text::line(name)))?;
                    missing.iter().try_for_each(|path| writeln!(out, "{}: missing", text::line(path)))
                })?;
            }
        }
        SecretCommand::Remove { server, name } => {
            let config = find_in(configs, server).map_err(of)?;
            let reference = SecretRef::stored(config.id, name).map_err(of)?;
            if !secrets.remove(&reference).map_err(of)? {
                return Err(Failure::usage(
                    "name",
                    format!("{} has no secret {}", text::line(server), text::line(name)),
                ));
            }
        }
    }
    Ok(0)
}

/// A value from a person, who does not see it, or from a pipe; without the line break at its end.
fn read(name: &str) -> Result<Secret, Failure> {
    let failed = |error: io::Error| Failure::usage("stdin", format!("could not read the value: {error}"));
    let mut value = String::new();
    if io::stdin().is_terminal() {
        let mut stderr = anstream::stderr();
        let _ =
            stderr.write_all(format!("{} (not shown): ", text::line(name)).as_bytes()).and_then(|()| stderr.flush());
        let read = {
            let _hidden = Hidden::begin();
            io::stdin().lock().read_line(&mut value)
        };
        let _ = stderr.write_all(b"\n");
        read.map_err(failed)?;
    } else {
        io::Read::read_to_string(&mut io::stdin().lock(), &mut value).map_err(failed)?;
    }
    let line = value.strip_suffix('\n').unwrap_or(&value);
    let value = line.strip_suffix('\r').unwrap_or(line);
    if value.is_empty() { Err(Failure::usage("stdin", "there is no value")) } else { Ok(Secret::new(value)) }
}

/// While this is there, the terminal does not show what is typed.
struct Hidden {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl Hidden {
    fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut hidden = before.clone();
            hidden.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &hidden);
        }
        Hidden { before }
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Flush, before);
        }
    }
}

#[cfg(not(unix))]
impl Hidden {
    fn begin() -> Self {
        Hidden {}
    }
}
