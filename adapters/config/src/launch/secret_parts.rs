//! Finds the secrets in the texts of a configuration, and the environment variables that they come from.

use std::collections::BTreeMap;
use std::slice;

use super::resolve::Resolver;
use crate::config::{EnvVarConfig, McpConfig, McpTransport, names_in};
use crate::secrets::{Secret, is_secret, secrets_in_args};
use crate::url::{login, percent_decoded};

impl Resolver<'_> {
    /// Collects the probable secrets in the resolved values of `config`, by their names and forms, to redact them later. `values`
    /// are the environment variables and the headers. `args` are the arguments of the runtime and of the server.
    pub(super) fn find_secrets(
        &mut self,
        config: &McpConfig,
        values: [&BTreeMap<String, Secret>; 2],
        args: [&Vec<String>; 2],
        url: Option<&str>,
    ) {
        for (configs, values) in [&config.env_vars, &config.headers].into_iter().zip(values) {
            for (name, value) in values.iter().filter(|(name, value)| is_secret(name, value.expose())) {
                self.secrets.push(value.clone());
                if let Some(text) = configs.get(name).and_then(EnvVarConfig::literal) {
                    self.hide_sources(text, slice::from_ref(value));
                }
            }
        }
        for (texts, args) in [&config.runtime_args, &config.args].into_iter().zip(args) {
            let secrets: Vec<Secret> = secrets_in_args(args).collect();
            for text in texts {
                self.hide_sources(text, &secrets);
            }
            self.secrets.extend(secrets);
        }
        if let (McpTransport::Http { url: text }, Some(url)) = (&config.transport, url) {
            let in_query: Vec<Secret> = secrets_in_query(url).collect();
            self.hide_sources(text, &in_query);
            if let Some(login) = login(url) {
                self.hide_sources(text, &[Secret::new(login)]);
            }
            self.secrets.extend(in_query);
        }
    }

    /// Records in `secret_variables` the environment variables that supply `secrets` to the variables in `text`. An environment
    /// variable counts if its value is a part of a secret, or contains a secret.
    pub(super) fn hide_sources(&mut self, text: &str, secrets: &[Secret]) {
        for name in names_in(text) {
            let value = self.variables.get(name).and_then(|found| found.value.as_ref());
            let (Some(source), Some(value)) = (self.sources.get(name), value) else { continue };
            let overlaps = |secret: &Secret| {
                let (secret, value) = (secret.expose(), value.expose());
                !secret.is_empty() && (secret.contains(value) || value.contains(secret))
            };
            if secrets.iter().any(overlaps) {
                self.secret_variables.insert(source.clone());
            }
        }
    }
}

/// Returns the values in the query of the URL `url` that are probably secret. Each value is returned twice: as it is in the
/// URL, and percent-decoded.
fn secrets_in_query(url: &str) -> impl Iterator<Item = Secret> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split(['&', '#']).filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(name, value)| is_secret(name, value))
        .flat_map(|(_, value)| [Secret::new(value), Secret::new(percent_decoded(value).as_str())])
}
