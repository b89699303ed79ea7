//! [`export`]: writes a file with `mcpServers` for other programs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::model::Warning;
use crate::config::{EnvVarConfig, McpConfig, McpTransport, Redirect, ValueGroup, fill};
use crate::launch;
use crate::secrets::SecretRef;

/// An exported configuration file for other programs, with the warnings of the export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The text of the file: a JSON object with the member `mcpServers`.
    pub text: String,
    /// Warnings for the user. They name the secrets that the user has to set for the other program.
    pub warnings: Vec<Warning>,
}

/// Converts the enabled servers to the text of a file with `mcpServers`, which many other programs read. Each secret is
/// replaced by `${NAME}`, which these programs replace by an environment variable.
pub fn export<'a>(configs: impl IntoIterator<Item = &'a McpConfig>) -> Exported {
    let (mut servers, mut warnings) = (Map::new(), Vec::new());
    for config in configs.into_iter().filter(|config| config.enabled) {
        let mut export = Export { config, warnings: &mut warnings };
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
        let entry = match &config.transport {
            McpTransport::Http { url } => json!({
                "type": "http",
                "url": export.text("transport", url),
                "unixSocket": path(&config.unix_socket),
                "headers": export.values(ValueGroup::Headers, &config.headers),
                "oauth": export.login(),
            }),
            McpTransport::Stdio => {
                let [runtime_args, args] = [&config.runtime_args, &config.args]
                    .map(|args| args.iter().map(|arg| export.text("args", arg)).collect::<Vec<_>>());
                let command = launch::argv(config, &runtime_args, &args, config.env_vars.keys(), Vec::new());
                json!({
                    "command": command[0],
                    "args": command[1..],
                    "env": export.values(ValueGroup::EnvVars, &config.env_vars),
                    "cwd": path(&config.cwd),
                })
            }
        };
        servers.insert(config.name.trim().to_owned(), without_nulls(entry).into());
    }
    let text = serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap_or_default();
    Exported { text: text + "\n", warnings }
}

/// Returns the members of a JSON object that are not `null`.
fn without_nulls(object: Value) -> Map<String, Value> {
    let members = if let Value::Object(members) = object { members } else { Map::new() };
    members.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

struct Export<'a> {
    config: &'a McpConfig,
    warnings: &'a mut Vec<Warning>,
}

impl Export<'_> {
    fn warn(&mut self, field: &str, message: impl Into<String>) {
        self.warnings.push(Warning::new(Some(&self.config.name), field, message));
    }

    /// Returns the texts to export for `values`, or `None` if no value has a text.
    fn values(&mut self, group: ValueGroup, values: &BTreeMap<String, EnvVarConfig>) -> Option<Map<String, Value>> {
        let mut texts = Map::new();
        for (name, value) in values {
            let field = group.path(name);
            let Some(mut text) = self.value(&field, name, value) else { continue };
            if value.secret_ref.is_none() && !value.is_secret {
                text = self.text(&field, &text);
            }
            texts.insert(name.clone(), text.into());
        }
        (!texts.is_empty()).then_some(texts)
    }

    /// Returns the OAuth settings of the server as Claude Code spells them, or `None` if the settings are the default.
    fn login(&mut self) -> Option<Map<String, Value>> {
        let oauth = &self.config.oauth;
        for (field, _) in oauth.described() {
            if !["oauth.enabled", "oauth.client_id", "oauth.scopes"].contains(&field) {
                self.warn(field, "other programs have no such setting, so it was not written to the file");
            }
        }
        let (port, uri) = match oauth.redirect() {
            Some(Redirect { host: "localhost", port, path: "/callback", .. }) if port != 0 => (Some(port), None),
            redirect => (None, redirect.and(oauth.redirect_uri.as_ref())),
        };
        let secret = oauth.client_secret.as_ref();
        let secret = secret.and_then(|secret| self.value("oauth.client_secret", "client_secret", secret));
        let section = without_nulls(json!({
            "enabled": (!oauth.enabled).then_some(false),
            "clientId": oauth.client_id,
            "scopes": (!oauth.scopes.is_empty()).then(|| oauth.scopes.join(" ")),
            "callbackPort": port,
            "redirectUri": uri,
            "clientSecret": secret,
        }));
        (!section.is_empty()).then_some(section)
    }

    /// Returns the text to export for `value`: its literal value, or `${NAME}` in place of a secret. Returns `None` if there is no
    /// value.
    fn value(&mut self, field: &str, name: &str, value: &EnvVarConfig) -> Option<String> {
        let reference = value.secret_ref.as_ref().and_then(|text| text.parse::<SecretRef>().ok());
        let variable = match reference {
            Some(SecretRef::Env { name }) => name,
            None if value.secret_ref.is_none() && !value.is_secret => return value.literal().map(str::to_owned),
            _ => {
                let variable = name.to_ascii_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                let message = "the secret was not written to the file. Set";
                self.warn(field, format!("{message} `{variable}` where the program is started"));
                variable
            }
        };
        Some(match value.fallback() {
            Some(default) if !default.contains('}') => format!("${{{variable}:-{default}}}"),
            _ => format!("${{{variable}}}"),
        })
    }

    /// Replaces each variable `{name}` in `text` by its value, or by `${NAME}` if it is secret.
    fn text(&mut self, field: &str, text: &str) -> String {
        fill(text, |name| {
            let value = self.config.variables.get(name)?.clone();
            let short = name.trim_start_matches("env.").trim_start_matches("secret.").trim_start_matches("input.");
            Some(self.value(field, short, &value).unwrap_or_default())
        })
    }
}
