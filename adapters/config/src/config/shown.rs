//! Hides the secrets of a configuration that is shown to the user: [`McpConfig::without_secrets`], and `Debug`.

use std::fmt;

use serde_json::Value;

use super::{EnvVarConfig, McpConfig, McpTransport, is_dangerous};
use crate::secrets::{HIDDEN, hide_in_args, hide_in_url, is_secret};
use crate::url::shown_address;

impl McpConfig {
    /// Returns a copy to show to the user, in which `<secret>` replaces each value that is marked as secret or is probably
    /// secret. This covers values of variables and headers, and parts of arguments and URLs. References to stored secrets stay.
    ///
    /// The copy cannot be started or saved.
    pub fn without_secrets(&self) -> McpConfig {
        let mut shown = self.clone();
        if let McpTransport::Http { url } = &mut shown.transport {
            *url = hide_in_url(url);
        }
        shown.package.identifier = hide_in_url(&shown.package.identifier);
        shown.proxy = shown.proxy.map(|proxy| hide_in_url(&proxy));
        shown.args = hide_in_args(&shown.args);
        shown.runtime_args = hide_in_args(&shown.runtime_args);
        // The user must see the values of variables such as `PATH`, which can load code.
        for (name, value) in shown.env_vars.iter_mut().filter(|(name, _)| !is_dangerous(name)) {
            hide_value(name, value);
        }
        for (name, value) in shown.headers.iter_mut().chain(&mut shown.variables) {
            hide_value(name, value);
        }
        if let Some(secret) = &mut shown.oauth.client_secret {
            secret.is_secret = true;
            hide_value("client_secret", secret);
        }
        hide_members("", &mut shown.config);
        shown.other.iter_mut().for_each(|(name, value)| hide_members(name, value));
        shown
    }
}

fn hide_value(name: &str, config: &mut EnvVarConfig) {
    if let Some(value) = &mut config.value
        && !value.is_empty()
        && (config.is_secret || is_secret(name, value))
    {
        HIDDEN.clone_into(value);
    }
}

/// Hides probable secrets in JSON that this program does not interpret. `name` is the name of the member with this value.
fn hide_members(name: &str, value: &mut Value) {
    match value {
        Value::String(text) if is_secret(name, text) => HIDDEN.clone_into(text),
        Value::String(text) => *text = hide_in_url(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_members(name, item)),
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| hide_members(name, value)),
        _ => {}
    }
}

impl fmt::Debug for McpConfig {
    /// Formats the configuration without parts that may be secret: values of variables and headers, the data of the embedding
    /// program, user and query of a URL, and arguments that are probably secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match &self.transport {
            McpTransport::Http { url } => Some(shown_address(url)),
            McpTransport::Stdio => None,
        };
        let mut shown = f.debug_struct("McpConfig");
        shown.field("id", &self.id).field("name", &self.name).field("enabled", &self.enabled);
        shown.field("source", &self.source).field("package_type", &self.package.package_type.as_str());
        match url {
            Some(url) => shown.field("url", &url).field("unix_socket", &self.unix_socket),
            None => shown.field("identifier", &self.package.identifier).field("version", &self.package.version),
        };
        shown
            .field("args", &hide_in_args(&self.args))
            .field("env_vars", &self.env_vars)
            .field("headers", &self.headers);
        shown.field("variables", &self.variables).field("cwd", &self.cwd).field("origin", &self.origin);
        shown.finish_non_exhaustive()
    }
}
