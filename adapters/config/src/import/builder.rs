//! [`Builder`]: builds the configuration of one server of an imported file.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use super::model::{Import, ImportOptions, Imported, Refused, Warning};
use super::references::{Part, parts};
use super::{Dialect, command};
use crate::config::{
    EnvVarConfig, EnvVarSpec, McpConfig, McpPackage, McpPackageType, McpTransport, Origin, is_dangerous,
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
    dialect: Dialect,
    inputs: &'a BTreeMap<String, Input>,
    secrets: Vec<(SecretRef, Secret)>,
    warnings: Vec<Warning>,
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

    /// Calls `read` to read the entry of a server, and adds the result to `import`: the imported server, or the reason why it
    /// was refused.
    pub(super) fn read(mut self, import: &mut Import, read: impl FnOnce(&mut Self) -> Result<(), HubError>) {
        let name = self.config.name.clone();
        let read = read(&mut self);
        let (missing, mut wrong): (Vec<_>, Vec<_>) =
            self.config.problems().into_iter().partition(|problem| problem.kind() == ErrorKind::MissingValue);
        match (read, wrong.is_empty()) {
            (Ok(()), true) => {
                import.warnings.append(&mut self.warnings);
                let missing = missing.into_iter().next();
                import.servers.push(Imported { config: self.config, secrets: self.secrets, missing });
            }
            (Err(error), _) => import.refused.push(Refused { name, error }),
            (Ok(()), false) => import.refused.push(Refused { name, error: wrong.swap_remove(0) }),
        }
    }

    pub(super) fn warn(&mut self, field: impl Into<String>, message: impl Into<String>) {
        let server = Some(self.config.name.clone());
        self.warnings.push(Warning { server, field: field.into(), message: message.into() });
    }

    /// Configures the server to be started by the command `program` with `args` and the environment variables `env`.
    pub(super) fn command(&mut self, program: &str, args: &[String], env: &[(String, String)]) -> Result<(), HubError> {
        let recognised = command::recognise(program, args);
        self.config.transport = McpTransport::Stdio;
        self.config.package = recognised.package;
        self.config.package.identifier = self.text("command", &self.config.package.identifier.clone())?;
        if let Some(message) = recognised.warning {
            self.warn("args", message);
        }
        self.config.runtime_args = self.args(&recognised.runtime_args)?;
        self.config.args = self.args(&recognised.args)?;
        for (name, value) in env {
            self.env(name, value)?;
        }
        for (name, value) in recognised.env {
            match value {
                Some(value) => self.env(&name, &value)?,
                None if self.config.env_vars.contains_key(&name) => {}
                None => self.passed_on(&name),
            }
        }
        Ok(())
    }

    /// Configures the server to be reached over HTTP at `url`, with `headers` in each request.
    pub(super) fn http(&mut self, url: &str, headers: &[(String, String)]) -> Result<(), HubError> {
        if url.starts_with("pipe:") {
            return Err(HubError::validation("url", "Windows pipes are not supported"));
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
        for (name, value) in headers {
            self.header(name, value)?;
        }
        Ok(())
    }

    pub(super) fn env(&mut self, name: &str, text: &str) -> Result<(), HubError> {
        let field = format!("env.{name}");
        if is_dangerous(name) {
            self.warn(&field, "this variable can make programs load other code. Check it before you approve");
        }
        let value = self.value(&field, name, text)?;
        self.config.env_vars.insert(name.to_owned(), value);
        Ok(())
    }

    /// Adds an environment variable whose value is literal: references such as `${NAME}` in `text` are not replaced.
    pub(super) fn literal_env(&mut self, name: &str, text: &str) -> Result<(), HubError> {
        if is_dangerous(name) {
            let message = "this variable can make programs load other code. Check it before you approve";
            self.warn(format!("env.{name}"), message);
        }
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
                Part::Text(text) => path.push_str(&text),
                Part::Home => {
                    let home = self.options.home.clone().or_else(env::home_dir);
                    path.push_str(&self::path(home, field, "the home directory is not known")?);
                }
                Part::Workspace { name_only: false } => {
                    let message = "the project folder of this file is not known. Give it with `--folder`";
                    path.push_str(&self::path(workspace(self.options), field, message)?);
                }
                _ => {
                    return Err(HubError::validation(
                        field,
                        "the path of the file contains a reference that is not known during the import",
                    ));
                }
            }
        }
        Ok(workspace(self.options).unwrap_or_default().join(path))
    }

    pub(super) fn header(&mut self, name: &str, text: &str) -> Result<(), HubError> {
        let value = self.value(&format!("headers.{name}"), name, text)?;
        self.config.headers.insert(name.to_owned(), value);
        Ok(())
    }

    /// Adds an environment variable whose value the server gets from the environment of the hub, if the variable is set there.
    pub(super) fn passed_on(&mut self, name: &str) {
        let is_secret = is_secret_name(name);
        let spec = EnvVarSpec::default();
        let value = EnvVarConfig { is_secret, ..EnvVarConfig::secret(name, format!("env:{name}")) };
        self.config.env_vars.insert(name.to_owned(), value.spec(spec));
    }

    /// Adds `value` to the secrets that the import returns. Returns the secret reference that the configuration contains in
    /// place of the value.
    pub(super) fn keep(&mut self, name: &str, value: Secret) -> Result<String, HubError> {
        let mut secret = SecretRef::stored(self.config.id, name)?;
        // An environment variable and a header may have the same name, but different secrets.
        while self.secrets.iter().any(|(kept, other)| *kept == secret && *other != value) {
            let SecretRef::Stored { name, .. } = &secret else { break };
            secret = SecretRef::stored(self.config.id, format!("{name}_"))?;
        }
        let text = secret.to_string();
        if !self.secrets.iter().any(|(kept, _)| *kept == secret) {
            self.secrets.push((secret, value));
        }
        Ok(text)
    }

    /// Converts `text`, which is secret whatever its form, and moves it out of the configuration.
    pub(super) fn secret(&mut self, field: &str, name: &str, text: &str) -> Result<EnvVarConfig, HubError> {
        let is_literal = parts(self.dialect, text).iter().all(|part| matches!(part, Part::Text(_)));
        if is_literal {
            let kept = self.keep(name, Secret::new(text))?;
            return Ok(EnvVarConfig::secret(name, kept));
        }
        Ok(EnvVarConfig { is_secret: true, ..self.value(field, name, text)? })
    }

    /// Removes a secret that [`keep`](Self::keep) has added.
    pub(super) fn forget(&mut self, name: &str) {
        self.secrets.retain(|(kept, _)| !matches!(kept, SecretRef::Stored { name: other, .. } if other == name));
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Adds a variable to [`McpConfig::variables`]. Returns its placeholder `{name}` for arguments, URLs and headers.
    pub(super) fn variable(&mut self, name: &str, value: &EnvVarConfig) -> String {
        let of_names = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let mut name: String = name.chars().map(|c| if of_names(c) { c } else { '_' }).collect();
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
        let literal = parts.iter().all(|part| matches!(part, Part::Text(_)));
        if !literal || !is_secret(name, text) || is_dangerous(name) {
            return Ok(EnvVarConfig::value(name, self.joined(field, parts)?));
        }
        // Only the token is secret, not the authentication scheme before it.
        if let Some((scheme, token)) = scheme(text) {
            let kept = self.keep(name, Secret::new(token))?;
            let token = self.variable(&format!("secret.{name}"), &EnvVarConfig::secret("", kept));
            return Ok(EnvVarConfig::value(name, format!("{scheme} {token}")));
        }
        let kept = self.keep(name, Secret::new(text))?;
        Ok(EnvVarConfig::secret(name, kept))
    }

    /// Converts a text of the imported file: references such as `${NAME}` become variables `{name}` of the configuration.
    pub(super) fn text(&mut self, field: &str, text: &str) -> Result<String, HubError> {
        self.joined(field, parts(self.dialect, text))
    }

    fn joined(&mut self, field: &str, parts: Vec<Part>) -> Result<String, HubError> {
        let mut joined = String::new();
        for part in parts {
            let part = match part {
                Part::Text(text) => text,
                Part::Env { name, unset } => {
                    let value = from_environment(&name, unset, is_secret_name(&name));
                    self.variable(&format!("env.{name}"), &value)
                }
                Part::Input(id) => self.input(field, &id)?,
                Part::Home => {
                    let home = self.options.home.clone().or_else(env::home_dir);
                    path(home, field, "the home directory is not known")?
                }
                Part::Workspace { name_only } => {
                    let folder = workspace(self.options);
                    let folder =
                        if name_only { folder.and_then(|folder| Some(folder.file_name()?.into())) } else { folder };
                    path(folder, field, "the project folder of this file is not known. Give it with `--folder`")?
                }
                Part::Unknown(reference) => {
                    let message =
                        format!("the reference `{reference}` works only in the program that the file belongs to");
                    return Err(HubError::validation(field, message));
                }
            };
            joined.push_str(&part);
        }
        Ok(joined)
    }

    /// Converts a reference to the VS Code input `id` to a variable of the configuration. If the user has not entered a value,
    /// the variable refers to a secret that the user can set later.
    fn input(&mut self, field: &str, id: &str) -> Result<String, HubError> {
        let Some(input) = self.inputs.get(id).cloned() else {
            return Err(HubError::validation(field, format!("the file does not define the input `{id}`")));
        };
        let name = format!("input.{id}");
        let mut value = EnvVarConfig { is_secret: input.is_secret, ..EnvVarConfig::default() }.spec(input.spec);
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
        Ok(self.variable(&name, &value))
    }

    /// Converts the arguments of an imported command, and moves secrets out of them into variables.
    pub(super) fn args(&mut self, args: &[String]) -> Result<Vec<String>, HubError> {
        let mut all = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| args[before].as_str());
            let field = format!("args.{at}");
            let arg = match split_secret(before, arg) {
                Some((option, secret)) if !secret.contains("${") => {
                    let kept = self.keep(&format!("argument.{at}"), Secret::new(secret))?;
                    let variable = self.variable(&format!("secret.argument.{at}"), &EnvVarConfig::secret("", kept));
                    format!("{option}{variable}")
                }
                _ => self.text(&field, arg)?,
            };
            let is_secret = crate::config::names_in(&arg)
                .any(|name| self.config.variables.get(name).is_some_and(|value| value.is_secret));
            if is_secret && !self.options.secrets_in_args {
                let message = "this argument is a secret, and everyone on this machine can read the arguments of a \
                               command. Move it to `env` if the server supports that, or allow secrets in arguments";
                return Err(HubError::validation(field, message));
            }
            self.config.secrets_in_args |= is_secret;
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
                    let kept = self.keep(name, Secret::new(value))?;
                    let variable = self.variable(&format!("secret.{name}"), &EnvVarConfig::secret("", kept));
                    all.extend([name, "=", &variable]);
                }
                _ => all.push_str(&self.text("url", member)?),
            }
        }
        Ok(all)
    }
}

fn from_environment(name: &str, unset: Option<String>, is_secret: bool) -> EnvVarConfig {
    let spec = unset.map(|default| EnvVarSpec { default: Some(default), ..EnvVarSpec::default() });
    EnvVarConfig { is_secret, spec, ..EnvVarConfig::secret("", format!("env:{name}")) }
}

fn path(path: Option<PathBuf>, field: &str, unknown: &str) -> Result<String, HubError> {
    let text = path.and_then(|path| path.to_str().map(str::to_owned));
    text.ok_or_else(|| HubError::validation(field, unknown))
}

/// Returns the project folder that contains the imported file: the directory of the file, or its parent if the directory is
/// hidden, such as `.vscode`.
fn workspace(options: &ImportOptions) -> Option<PathBuf> {
    if let Some(workspace) = &options.workspace {
        return Some(workspace.clone());
    }
    let folder = std::path::absolute(options.path.as_ref()?).ok()?.parent()?.to_path_buf();
    let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    if is_hidden { folder.parent().map(Into::into) } else { Some(folder) }
}
