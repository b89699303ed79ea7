//! [`Builder`]: builds the configuration of one server of an imported file.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::members::{present, scalar, text, text_at, texts_of, wrong};
use super::model::{Import, ImportOptions, Imported, Warning};
use super::references::{Part, parts};
use super::{Dialect, command, env_file, login};
use crate::config::{
    EnvVarConfig, EnvVarSpec, McpConfig, McpPackage, McpPackageType, McpTransport, Origin, is_dangerous,
    is_variable_name,
};
use crate::secrets::{Secret, SecretRef, is_placeholder, is_secret, is_secret_name, scheme, split_secret};
use crate::{ErrorKind, HubError};

/// An entry of `inputs` in a file of VS Code: a value that the user has to enter.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    pub(super) is_secret: bool,
    pub(super) spec: EnvVarSpec,
}

/// Builds the configuration of one imported server, and collects the secrets and warnings of the server.
pub(super) struct Builder<'a> {
    pub(super) config: McpConfig,
    pub(super) options: &'a ImportOptions,
    pub(super) dialect: Dialect,
    inputs: &'a BTreeMap<String, Input>,
    secrets: Vec<(SecretRef, Secret)>,
    warnings: Vec<Warning>,
}

/// Imports each of `servers`, the object in the member `field` of a file. `entry` reads the entry of one server.
pub(super) fn read_servers(
    servers: Option<&Value>,
    field: &str,
    inputs: &BTreeMap<String, Input>,
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
        let builder = Builder::new(import.dialect, options, inputs, name);
        import.add(name, builder.read(server, &entry));
    }
    Ok(())
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        dialect: Dialect,
        options: &'a ImportOptions,
        inputs: &'a BTreeMap<String, Input>,
        name: &str,
    ) -> Self {
        let mut config = McpConfig::binary(name, "");
        config.origin = Origin::Imported { from: dialect.name().to_owned() };
        Builder { config, options, dialect, inputs, secrets: Vec::new(), warnings: Vec::new() }
    }

    /// Reads the entry `server` with `entry`. Returns the server and its warnings, or the reason why the server cannot be imported.
    pub(super) fn read(
        mut self,
        server: &Value,
        entry: impl FnOnce(&mut Self, &Map<String, Value>) -> Result<(), HubError>,
    ) -> Result<(Imported, Vec<Warning>), HubError> {
        let Some(members) = server.as_object() else { return wrong("", "this must be an object") };
        entry(&mut self, members)?;
        let (missing, problems): (Vec<_>, Vec<_>) =
            self.config.problems().into_iter().partition(|problem| problem.kind() == ErrorKind::MissingValue);
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem);
        }
        let missing = missing.into_iter().next();
        Ok((Imported { config: self.config, secrets: self.secrets, missing }, self.warnings))
    }

    pub(super) fn warn(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.warnings.push(Warning::new(Some(&self.config.name), field, message));
    }

    pub(super) fn is_http(&self) -> bool {
        self.config.package.package_type == McpPackageType::Http
    }

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

    /// Imports the member `name` of an entry, if several programs have such a member. Warns if it is another one, or if it has no
    /// meaning for the transport of the server.
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

    pub(super) fn warn_unsupported(&mut self, field: &str) {
        self.warn(field, "this member is not supported, and was omitted");
    }

    /// Returns the names and texts in the object `name`, such as the environment variables in `env`. Empty if the member is
    /// missing. Returns an error if the member is not an object of texts.
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

    fn warn_if_dangerous(&mut self, name: &str) {
        if is_dangerous(name) {
            let message = "this variable can make programs load other code. Check it before you approve";
            self.warn(format!("env.{name}"), message);
        }
    }

    /// Adds an environment variable whose value is literal: references such as `${NAME}` in `text` are not replaced.
    pub(super) fn literal_env(&mut self, name: &str, text: &str) -> Result<(), HubError> {
        self.warn_if_dangerous(name);
        // The user must see a value that loads code, so it is never taken for a secret.
        let value = if is_secret(name, text) && !is_dangerous(name) {
            EnvVarConfig::secret(name, self.keep(name, Secret::new(text))?)
        } else {
            EnvVarConfig::value(name, text)
        };
        self.config.env_vars.insert(name.to_owned(), value);
        Ok(())
    }

    /// Converts `text` to the path of a file to read during the import, and replaces references such as `${userHome}`. A
    /// relative path starts at the project folder. Returns an error if a reference cannot be replaced during the import.
    pub(super) fn literal_path(&self, field: &str, text: &str) -> Result<PathBuf, HubError> {
        let mut path = String::new();
        for part in parts(self.dialect, text) {
            match part {
                Part::Text(_) | Part::Home | Part::Workspace => path.push_str(&self.known(field, part)?),
                _ => {
                    return wrong(
                        field,
                        "the path of the file contains a reference that is not known during the import",
                    );
                }
            }
        }
        Ok(workspace(self.options).unwrap_or_default().join(path))
    }

    /// Adds an environment variable whose value the server gets from the environment of the hub, if the variable is set there. Does
    /// nothing if the server has a variable of this name.
    pub(super) fn pass_on(&mut self, name: &str) {
        let value = || {
            let value = EnvVarConfig::secret(name, format!("env:{name}")).spec(EnvVarSpec::default());
            value.is_secret(is_secret_name(name))
        };
        self.config.env_vars.entry(name.to_owned()).or_insert_with(value);
    }

    /// Adds `value` to the secrets that the import returns. Returns the secret reference that the configuration contains in
    /// place of the value.
    pub(super) fn keep(&mut self, name: &str, value: Secret) -> Result<String, HubError> {
        let mut name = name.to_owned();
        // An environment variable and a header may have the same name, but different secrets.
        loop {
            let secret = SecretRef::stored(self.config.id, name.as_str())?;
            let text = secret.to_string();
            match self.secrets.iter().find(|(kept, _)| *kept == secret) {
                Some((_, other)) if *other != value => name.push('_'),
                Some(_) => return Ok(text),
                None => {
                    self.secrets.push((secret, value));
                    return Ok(text);
                }
            }
        }
    }

    /// Moves the secret `secret` of the configuration into a variable whose name begins with `secret.`. Returns the placeholder of
    /// the variable.
    fn secret_variable(&mut self, name: &str, variable: &str, secret: &str) -> Result<String, HubError> {
        let kept = self.keep(name, Secret::new(secret))?;
        Ok(self.variable(&format!("secret.{variable}"), &EnvVarConfig::secret("", kept)))
    }

    /// Converts `text`, which is secret whatever its form, and moves it out of the configuration.
    pub(super) fn secret(&mut self, field: &str, name: &str, text: &str) -> Result<EnvVarConfig, HubError> {
        if is_literal(&parts(self.dialect, text)) {
            return Ok(EnvVarConfig::secret(name, self.keep(name, Secret::new(text))?));
        }
        Ok(self.value(field, name, text)?.is_secret(true))
    }

    /// Adds a variable to [`McpConfig::variables`]. Returns its placeholder `{name}` for arguments, URLs and headers.
    pub(super) fn variable(&mut self, name: &str, value: &EnvVarConfig) -> String {
        let is_allowed = |c: char| is_variable_name(c.encode_utf8(&mut [0; 4]));
        let mut name: String = name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
        loop {
            let value = EnvVarConfig { name: name.clone(), ..value.clone() };
            match self.config.variables.get(&name) {
                Some(other) if *other != value => name.push('_'),
                _ => {
                    self.config.variables.insert(name.clone(), value);
                    return format!("{{{name}}}");
                }
            }
        }
    }

    /// Converts the value `text` of the environment variable or header `name` to the hub's form. Moves a secret out of it.
    fn value(&mut self, field: &str, name: &str, text: &str) -> Result<EnvVarConfig, HubError> {
        if is_placeholder(text) && is_secret_name(name) {
            self.warn(field, "this looks like a placeholder. Replace it by the value");
        }
        let parts = parts(self.dialect, text);
        if let [Part::Env { name: variable, unset }] = parts.as_slice() {
            let is_secret = is_secret_name(name) || is_secret_name(variable);
            return Ok(EnvVarConfig { name: name.to_owned(), ..from_environment(variable, unset.clone(), is_secret) });
        }
        if !is_literal(&parts) || !is_secret(name, text) || is_dangerous(name) {
            return Ok(EnvVarConfig::value(name, self.joined(field, parts)?));
        }
        // Only the token is secret, not the authentication scheme before it.
        if let Some((scheme, token)) = scheme(text) {
            let token = self.secret_variable(name, name, token)?;
            return Ok(EnvVarConfig::value(name, format!("{scheme} {token}")));
        }
        Ok(EnvVarConfig::secret(name, self.keep(name, Secret::new(text))?))
    }

    /// Converts a text of the imported file: references such as `${NAME}` become variables `{name}` of the configuration.
    pub(super) fn text(&mut self, field: &str, text: &str) -> Result<String, HubError> {
        self.joined(field, parts(self.dialect, text))
    }

    fn joined(&mut self, field: &str, parts: Vec<Part>) -> Result<String, HubError> {
        let mut joined = String::new();
        for part in parts {
            joined += &match part {
                Part::Env { name, unset } => {
                    let value = from_environment(&name, unset, is_secret_name(&name));
                    self.variable(&format!("env.{name}"), &value)
                }
                Part::Input(id) => self.input(field, &id)?,
                part => self.known(field, part)?,
            };
        }
        Ok(joined)
    }

    /// Returns the text of a part that is known during the import. Returns an error for other references.
    fn known(&self, field: &str, part: Part) -> Result<String, HubError> {
        const UNKNOWN_FOLDER: &str = "the project folder of this file is not known. Give it with `--folder`";
        let (path, unknown) = match part {
            Part::Text(text) => return Ok(text),
            Part::Home => (self.options.home.clone().or_else(env::home_dir), "the home directory is not known"),
            Part::Workspace => (workspace(self.options), UNKNOWN_FOLDER),
            Part::WorkspaceName => {
                (workspace(self.options).and_then(|folder| Some(folder.file_name()?.into())), UNKNOWN_FOLDER)
            }
            Part::Env { name: reference, .. } | Part::Input(reference) | Part::Unknown(reference) => {
                let message = format!("the reference `{reference}` works only in the program that the file belongs to");
                return wrong(field, message);
            }
        };
        let text = path.and_then(|path| path.to_str().map(str::to_owned));
        text.ok_or_else(|| HubError::validation(field, unknown))
    }

    /// Converts a reference to the VS Code input `id` to a variable of the configuration. If the user has not entered a value,
    /// the variable refers to a secret that the user can set later.
    fn input(&mut self, field: &str, id: &str) -> Result<String, HubError> {
        let Some(input) = self.inputs.get(id).cloned() else {
            return wrong(field, format!("the file does not define the input `{id}`"));
        };
        let mut value = EnvVarConfig::unset("").is_secret(input.is_secret).spec(input.spec);
        match self.options.answers.get(id).cloned() {
            Some(answer) if input.is_secret => value.secret_ref = Some(self.keep(id, answer)?),
            Some(answer) => value.value = Some(answer.expose().to_owned()),
            None if value.fallback().is_some() => {}
            None => {
                // The user can set this secret later.
                value.secret_ref = Some(SecretRef::stored(self.config.id, id)?.to_string());
                self.warn(field, format!("the server needs a value for the input `{id}`. Set its secret `{id}`"));
            }
        }
        Ok(self.variable(&format!("input.{id}"), &value))
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

fn is_literal(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part, Part::Text(_)))
}

fn from_environment(name: &str, unset: Option<String>, is_secret: bool) -> EnvVarConfig {
    let spec = unset.map(|default| EnvVarSpec { default: Some(default), ..EnvVarSpec::default() });
    EnvVarConfig { is_secret, spec, ..EnvVarConfig::secret("", format!("env:{name}")) }
}

/// Returns the project folder that contains the imported file: the directory of the file, or its parent if the directory is
/// hidden, such as `.vscode`. Returns `None` if the path of the file is not known.
fn workspace(options: &ImportOptions) -> Option<PathBuf> {
    if let Some(workspace) = &options.workspace {
        return Some(workspace.clone());
    }
    let folder = std::path::absolute(options.path.as_ref()?).ok()?.parent()?.to_path_buf();
    let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    if is_hidden { folder.parent().map(Into::into) } else { Some(folder) }
}
