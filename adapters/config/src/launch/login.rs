//! [`LoginSettings`]: the OAuth settings of one server, with the secret of the client.

use std::collections::BTreeSet;

use crate::config::OAuthConfig;
use crate::secrets::Secret;

/// The OAuth settings of one server, with the secret of the client. [`Launch`](super::Launch) creates them from the configuration
/// and the stored secrets.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "settings have no effect until they are used"]
pub struct LoginSettings {
    config: OAuthConfig,
    client_secret: Option<Secret>,
    secret_variables: BTreeSet<String>,
}

impl LoginSettings {
    /// Creates settings without a client secret. The reference in [`OAuthConfig::client_secret`] is not resolved: set the secret
    /// with [`with_secret`](Self::with_secret).
    pub fn new(config: OAuthConfig) -> Self {
        LoginSettings { config, ..LoginSettings::default() }
    }

    mcpwire_client::setters! {
        /// Sets the secret of the client.
        fn with_secret(secret: Option<Secret>) => client_secret = secret;

        /// Replaces the configured account of the user by `account`.
        fn with_account(account: impl Into<String>) => config.account = Some(account.into());
    }

    /// Sets the environment variables of this process that contain secrets of the server or of the client.
    pub(crate) fn with_secret_variables(mut self, names: BTreeSet<String>) -> Self {
        self.secret_variables = names;
        self
    }

    /// Returns the names of the environment variables of this process that contain secrets of the server or of the client. A
    /// program that opens a browser removes them from the browser's environment.
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        self.secret_variables.iter().map(String::as_str)
    }

    /// Returns the configured settings.
    pub fn config(&self) -> &OAuthConfig {
        &self.config
    }

    /// Returns the name of the user's account, or an empty text if no account is configured.
    pub fn account(&self) -> &str {
        self.config.account.as_deref().unwrap_or_default()
    }

    /// Returns the secret of the client, or `None` if no secret is configured.
    pub fn secret(&self) -> Option<&Secret> {
        self.client_secret.as_ref()
    }
}
