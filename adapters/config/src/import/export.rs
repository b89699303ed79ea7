//! [`export`]: writes a file with `mcpServers` for other programs.

use serde_json::{Map, Value, json};

use super::login;
use super::model::Warning;
use crate::config::{EnvVarConfig, McpConfig, McpTransport, fill};
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
        let mut entry = Map::new();
        match &config.transport {
            McpTransport::Http { url } => {
                entry.insert("type".to_owned(), "http".into());
                entry.insert("url".to_owned(), export.text("transport", url).into());
                if let Some(socket) = &config.unix_socket {
                    entry.insert("unixSocket".to_owned(), socket.to_string_lossy().into());
                }
                export.values(&mut entry, "headers", "headers", &config.headers);
                export.login(&mut entry);
            }
            McpTransport::Stdio => {
                let args = |args: &[String], export: &mut Export<'_>| -> Vec<String> {
                    args.iter().map(|arg| export.text("args", arg)).collect()
                };
                let (runtime_args, args) = (args(&config.runtime_args, &mut export), args(&config.args, &mut export));
                let names = config.env_vars.keys();
                let mut command = launch::argv(config, &runtime_args, &args, names, Vec::new()).into_iter();
                entry.insert("command".to_owned(), command.next().unwrap_or_default().into());
                entry.insert("args".to_owned(), command.collect::<Vec<_>>().into());
                export.values(&mut entry, "env", "env_vars", &config.env_vars);
                if let Some(cwd) = &config.cwd {
                    entry.insert("cwd".to_owned(), cwd.to_string_lossy().into());
                }
            }
        }
        servers.insert(config.name.trim().to_owned(), Value::Object(entry));
    }
    let text = serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap_or_default();
    Exported { text: text + "\n", warnings }
}

struct Export<'a> {
    config: &'a McpConfig,
    warnings: &'a mut Vec<Warning>,
}

impl Export<'_> {
    fn values(
        &mut self,
        entry: &mut Map<String, Value>,
        member: &str,
        field: &str,
        values: &std::collections::BTreeMap<String, EnvVarConfig>,
    ) {
        let mut all = Map::new();
        for (name, value) in values {
            let field = format!("{field}.{name}");
            match self.value(&field, name, value) {
                Some(text) if value.secret_ref.is_none() && !value.is_secret => {
                    all.insert(name.clone(), self.text(&field, &text).into());
                }
                Some(text) => {
                    all.insert(name.clone(), text.into());
                }
                None => {}
            }
        }
        if !all.is_empty() {
            entry.insert(member.to_owned(), Value::Object(all));
        }
    }

    /// Adds the OAuth settings of the server, if they are not the default.
    fn login(&mut self, entry: &mut Map<String, Value>) {
        let (mut section, lost) = login::section_of(&self.config.oauth);
        for field in lost {
            let message = "other programs have no such setting, so it was not written to the file".to_owned();
            self.warnings.push(Warning { server: Some(self.config.name.clone()), field: field.to_owned(), message });
        }
        if let Some(secret) = &self.config.oauth.client_secret
            && let Some(text) = self.value("oauth.client_secret", "client_secret", secret)
        {
            section.insert("clientSecret".to_owned(), text.into());
        }
        if !section.is_empty() {
            entry.insert("oauth".to_owned(), section.into());
        }
    }

    /// Returns the text to export for `value`: its literal value, or `${NAME}` in place of a secret.
    fn value(&mut self, field: &str, name: &str, value: &EnvVarConfig) -> Option<String> {
        let reference = value.secret_ref.as_ref().and_then(|text| text.parse::<SecretRef>().ok());
        let variable = match reference {
            Some(SecretRef::Env { name }) => name,
            None if value.secret_ref.is_none() && !value.is_secret => return value.literal().map(str::to_owned),
            _ => {
                let variable: String = name
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
                    .collect();
                let message =
                    format!("the secret was not written to the file. Set `{variable}` where the program is started");
                let server = Some(self.config.name.clone());
                self.warnings.push(Warning { server, field: field.to_owned(), message });
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
