//! Reads the members of a server's entry that several programs write in the same way.

use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::members::{present, scalar, text, text_at, texts_of, wrong};
use super::model::{Import, ImportOptions};
use super::{Dialect, command, env_file, login};
use crate::HubError;
use crate::config::{McpPackage, McpPackageType, McpTransport};
use crate::secrets::{is_secret, split_secret};

/// Imports the servers in the object `servers`, which is the member `field` of `file`. `entry` converts the entry of one server.
pub(super) fn read_servers(
    file: &Value,
    servers: Option<&Value>,
    field: &str,
    options: &ImportOptions,
    import: &mut Import,
    entry: impl Fn(&mut Builder<'_>, &Map<String, Value>) -> Result<(), HubError>,
) -> Result<(), HubError> {
    let kind = if import.dialect == Dialect::CodexToml { "a table" } else { "an object" };
    let servers = match servers {
        None => return Ok(()),
        Some(Value::Object(servers)) => servers,
        Some(_) => return wrong(field, format!("this must be {kind} of servers by name")),
    };
    for (name, server) in servers {
        let builder = Builder::new(import.dialect, options, file, name);
        import.add(name, builder.read(server, &entry));
    }
    Ok(())
}

impl Builder<'_> {
    /// Configures how the server is reached: by the command in `command`, or over HTTP with the first of the members `urls` that is
    /// present. `urls_name` names these members in an error.
    pub(super) fn connection(
        &mut self,
        members: &Map<String, Value>,
        urls: &[&str],
        urls_name: &str,
    ) -> Result<(), HubError> {
        match (present(members, "command"), urls.iter().find(|name| present(members, name))) {
            (true, Some(url)) => {
                wrong(url, format!("the server has both a `command` and a `{url}`. Remove one of them"))
            }
            (true, None) => self.command(members, "command"),
            (false, Some(url)) => self.http(members, url, "headers"),
            (false, None) => wrong("command", format!("the server needs a `command` or {urls_name}")),
        }
    }

    /// Configures the server to be started by the program in the member `program`, with `args` and `env`.
    pub(super) fn command(&mut self, members: &Map<String, Value>, program: &str) -> Result<(), HubError> {
        let (program, args) = (text(members, program)?, texts_of(members, "args")?);
        let env = self.pairs(members, "env")?;
        let command = command::recognize(program, &args);
        self.config.transport = McpTransport::Stdio;
        self.config.package = command.package;
        self.config.package.identifier = self.text("command", &self.config.package.identifier.clone())?;
        if let Some(message) = command.warning {
            self.warn("args", message);
        }
        self.config.runtime_args = self.args(&command.runtime_args)?;
        self.config.args = self.args(&command.args)?;
        let own_env = command.env.into_iter();
        for (name, value) in env.into_iter().map(|(name, value)| (name, Some(value))).chain(own_env) {
            match value {
                Some(value) => {
                    self.warn_if_dangerous(&name);
                    let value = self.value(&format!("env.{name}"), &name, &value)?;
                    self.config.env_vars.insert(name, value);
                }
                None => self.pass_on(&name),
            }
        }
        Ok(())
    }

    /// Configures the server to be reached over HTTP with the URL in the member `url`, and the headers in the member `headers`.
    pub(super) fn http(&mut self, members: &Map<String, Value>, url: &str, headers: &str) -> Result<(), HubError> {
        let (headers, url) = (self.pairs(members, headers)?, text(members, url)?);
        if url.starts_with("pipe:") {
            return wrong("url", "Windows pipes are not supported");
        }
        let url = match url.strip_prefix("unix://") {
            // The form of the URL is `unix:///path/of/socket#/path/of/requests`.
            Some(socket) => {
                let (socket, path) = socket.split_once('#').unwrap_or((socket, "/"));
                self.config.unix_socket = Some(self.text("url", socket)?.into());
                self.address(&format!("http://localhost/{}", path.trim_start_matches('/')))?
            }
            None => self.address(url)?,
        };
        self.config.package = McpPackage::new(McpPackageType::Http, url.clone());
        self.config.transport = McpTransport::Http { url };
        for (name, text) in headers {
            let value = self.value(&format!("headers.{name}"), &name, &text)?;
            self.config.headers.insert(name, value);
        }
        Ok(())
    }

    /// Imports a member that several programs have in common, such as `cwd` or `enabled`. Warns about any other member, and about
    /// a member that does not apply to the transport of the server.
    pub(super) fn setting(&mut self, name: &str, value: &Value) -> Result<(), HubError> {
        match name {
            "cwd" if !self.is_http() => self.config.cwd = Some(self.text(name, text_at(name, value)?)?.into()),
            "envFile" if !self.is_http() => env_file::read(self, name, value)?,
            "oauth" if self.is_http() => login::read(self, name, value)?,
            "enabled" => self.config.enabled &= value != &Value::Bool(false),
            "disabled" => self.config.enabled &= value != &Value::Bool(true),
            _ => self.warn_unsupported(name),
        }
        Ok(())
    }

    /// Converts the number `value` to a duration. `unit` is the unit of the number, in seconds. Returns `None` and warns if this is
    /// not a duration.
    pub(super) fn duration(&mut self, field: &str, value: &Value, unit: f64) -> Option<Duration> {
        let seconds = value.as_f64().map(|number| number * unit).filter(|seconds| *seconds > 0.0);
        let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if duration.is_none() {
            self.warn(field, "this is not a duration, and was omitted");
        }
        duration
    }

    pub(super) fn warn_unsupported(&mut self, field: &str) {
        self.warn(field, "this member is not supported, and was omitted");
    }

    /// Returns the names and texts in the object `name`, such as the environment variables in `env`. Returns an empty list
    /// if the member is missing, and an error if the member is not an object of texts.
    ///
    /// In some programs, `null` removes a variable that the server would inherit. Here, `null` is ignored, and a warning names such
    /// variables.
    pub(super) fn pairs(
        &mut self,
        members: &Map<String, Value>,
        name: &str,
    ) -> Result<Vec<(String, String)>, HubError> {
        let values = match members.get(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(values)) => values,
            Some(_) => return wrong(name, "this must be an object whose values are texts"),
        };
        let mut pairs = Vec::new();
        for (key, value) in values {
            let field = format!("{name}.{key}");
            match scalar(value) {
                Some(text) => pairs.push((key.clone(), text)),
                None if !value.is_null() => return wrong(&field, "this must be text"),
                None if mcpwire_client::inherited_env_names().contains(&key.as_str()) => {
                    self.warn(field, "the server inherits this variable: `null` does not remove it");
                }
                None => {}
            }
        }
        Ok(pairs)
    }

    /// Converts the arguments of an imported command, and moves secrets out of them into variables.
    fn args(&mut self, args: &[String]) -> Result<Vec<String>, HubError> {
        let mut all = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| args[before].as_str());
            let field = format!("args.{at}");
            let arg = match split_secret(before, arg) {
                Some((option, secret)) if !secret.contains("${") => {
                    let name = format!("argument.{at}");
                    option.to_owned() + &self.secret_variable(&name, &name, secret)?
                }
                _ => self.text(&field, arg)?,
            };
            if self.config.secret_variable_in(&arg).is_some() {
                if !self.options.secrets_in_args {
                    let message = "this argument is a secret, and everyone on this machine can read the arguments of a \
                                   command. Move it to `env` if the server supports that, or allow secrets in arguments";
                    return wrong(&field, message);
                }
                self.config.secrets_in_args = true;
            }
            all.push(arg);
        }
        Ok(all)
    }

    /// Converts the URL of an imported server, and moves secrets out of its query into variables.
    fn address(&mut self, url: &str) -> Result<String, HubError> {
        let Some((address, query)) = url.split_once('?') else { return self.text("url", url) };
        let mut all = self.text("url", address)?;
        for (at, member) in query.split('&').enumerate() {
            all.push(if at == 0 { '?' } else { '&' });
            match member.split_once('=') {
                Some((name, value)) if is_secret(name, value) && !value.contains("${") => {
                    all.extend([name, "=", &self.secret_variable(name, name, value)?]);
                }
                _ => all.push_str(&self.text("url", member)?),
            }
        }
        Ok(all)
    }
}
