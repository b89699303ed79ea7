//! [`Builder`]: builds the configuration of one server of an imported file.

use std::env;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::members::wrong;
use super::model::{ImportOptions, Imported, Warning};
use super::references::{Part, parts};
use super::{Dialect, references};
use crate::config::{EnvVarConfig, EnvVarSpec, McpConfig, McpPackageType, Origin, is_dangerous, is_variable_name};
use crate::secrets::{Secret, SecretRef, is_placeholder, is_secret, is_secret_name, scheme};
use crate::{ErrorKind, HubError};

/// Builds the configuration of one imported server, and collects the secrets and warnings of the server.
pub(super) struct Builder<'a> {
    pub(super) config: McpConfig,
    pub(super) options: &'a ImportOptions,
    pub(super) dialect: Dialect,
    /// Whether the texts of this server contain no references, although texts of the dialect may contain some.
    pub(super) is_literal: bool,
    /// The whole imported file, because an entry may refer to other parts of it.
    file: &'a Value,
    secrets: Vec<(SecretRef, Secret)>,
    warnings: Vec<Warning>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(dialect: Dialect, options: &'a ImportOptions, file: &'a Value, name: &str) -> Self {
        let mut config = McpConfig::binary(name, "");
        config.origin = Origin::Imported { from: dialect.name().to_owned() };
        Builder { config, options, dialect, is_literal: false, file, secrets: Vec::new(), warnings: Vec::new() }
    }

    /// Converts the JSON value `server` with the function `entry`. Returns the imported server and its warnings, or the reason
    /// why the server cannot be imported.
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

    fn parts(&self, text: &str) -> Vec<Part> {
        if self.is_literal { vec![Part::Text(text.to_owned())] } else { parts(self.dialect, text) }
    }

    pub(super) fn is_http(&self) -> bool {
        self.config.package.package_type == McpPackageType::Http
    }

    pub(super) fn warn_if_dangerous(&mut self, name: &str) {
        if is_dangerous(name) {
            let message = "this variable can make programs load other code. Check it before you approve";
            self.warn(format!("env.{name}"), message);
        }
    }

    /// Adds an environment variable whose value is literal: references such as `${NAME}` in `text` are not replaced.
    pub(super) fn literal_env(&mut self, name: &str, text: &str) -> Result<(), HubError> {
        self.warn_if_dangerous(name);
        // Values that can load code are never hidden as secrets, because the user must see them.
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
        for part in self.parts(text) {
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

    /// Adds an environment variable whose value is a secret that the user sets later. Does nothing if the server has a variable of
    /// this name.
    pub(super) fn stored_env(&mut self, name: &str) -> Result<(), HubError> {
        if !self.config.env_vars.contains_key(name) {
            let value = EnvVarConfig::secret(name, SecretRef::stored(self.config.id, name)?);
            self.config.env_vars.insert(name.to_owned(), value);
            self.warn(format!("env.{name}"), format!("the file does not contain the value. Set the secret `{name}`"));
        }
        Ok(())
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

    /// Moves a secret out of a text of the configuration, into a new variable whose name begins with `secret.`. Returns the
    /// placeholder to put into the text, such as `{secret.NAME}`.
    pub(super) fn secret_variable(&mut self, name: &str, variable: &str, secret: &str) -> Result<String, HubError> {
        let kept = self.keep(name, Secret::new(secret))?;
        Ok(self.variable(&format!("secret.{variable}"), &EnvVarConfig::secret("", kept)))
    }

    /// Converts a text that is always secret, such as a client secret, even if it does not look like a secret. A literal text is
    /// moved out of the configuration.
    pub(super) fn secret(&mut self, field: &str, name: &str, text: &str) -> Result<EnvVarConfig, HubError> {
        if is_literal(&self.parts(text)) {
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
    pub(super) fn value(&mut self, field: &str, name: &str, text: &str) -> Result<EnvVarConfig, HubError> {
        if is_placeholder(text) && is_secret_name(name) {
            self.warn(field, "this looks like a placeholder. Replace it by the value");
        }
        let parts = self.parts(text);
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
        self.joined(field, self.parts(text))
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

    /// Returns the text of a part, or the replacement of a reference that is known during the import, such as the home directory.
    /// Returns an error for other references.
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
        let Some(mut value) = references::input(self.file, id) else {
            return wrong(field, format!("the file does not define the input `{id}`"));
        };
        match self.options.answers.get(id).cloned() {
            Some(answer) if value.is_secret => value.secret_ref = Some(self.keep(id, answer)?),
            Some(answer) => value.value = Some(answer.expose().to_owned()),
            None if value.fallback().is_some() => {}
            None => {
                // The user can set this secret later.
                value.secret_ref = Some(SecretRef::stored(self.config.id, id)?.to_string());
                self.warn(field, format!("the file does not contain the value of the input. Set the secret `{id}`"));
            }
        }
        Ok(self.variable(&format!("input.{id}"), &value))
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
