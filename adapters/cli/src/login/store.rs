//! [`LoginStore`]: opens the logins of configured servers and of servers at a URL.

use std::sync::Arc;

use mcpwire_authorization::FileStore;
use mcpwire_hub::config::{EnvVarConfig, McpConfig, McpTransport, OAuthConfig};
use mcpwire_hub::launch::{Instance, Launch, preview};
use mcpwire_hub::layout::Layout;
use mcpwire_hub::logins::{LoginSettings, Logins};
use mcpwire_hub::secrets::{SecretRef, Secrets};
use mcpwire_tokio::{McpServerDef, Runtime};

use super::{LoginList, ServerLogin};
use crate::args::{ClientArgs, LoginPlace, TlsArgs};
use crate::console::Foreground;
use crate::failure::{Failure, hub_message};
use crate::hub::{configured, find_configured, not_started};
use crate::text;

/// The name under which this tool registers at authorization servers. Users see it on login pages.
const CLIENT_NAME: &str = "mcpwire";

/// The logins of the user on this machine.
pub(crate) struct LoginStore {
    layout: Layout,
    logins: Logins,
    list: LoginList,
    foreground: Foreground,
}

impl LoginStore {
    /// Opens the store of logins in the directories of `layout`. Creates no directory until the first login.
    pub(crate) fn new(layout: Layout, foreground: Foreground) -> Self {
        let files = FileStore::new(layout.logins());
        Self { logins: Logins::in_store(files.clone(), CLIENT_NAME), layout, list: LoginList(files), foreground }
    }

    /// Returns the login of the server that the command line names.
    pub(crate) fn of_place(&self, place: &LoginPlace, client: &ClientArgs) -> Result<ServerLogin, Failure> {
        let config = match (&place.server, &place.url) {
            (Some(name), _) => self.configured(name)?,
            // A configuration for the server of `--url`, which is not in `servers.json`.
            (None, Some(url)) => Failure::check_url(url).map(|()| McpConfig::http("server", url))?,
            (None, None) => return Err(Failure::no_server()),
        };
        let name = place.server.as_ref().map(|_| config.name.trim().to_owned());
        self.of_config(config, name, place, client)
    }

    fn configured(&self, name: &str) -> Result<McpConfig, Failure> {
        let failure = |error| {
            let failure = Failure::from_hub(error);
            if name.contains("://") {
                failure.with_hint("For a server that is not configured, use --url")
            } else {
                failure
            }
        };
        let config = find_configured(&self.layout, name).map_err(failure)?;
        if let McpTransport::Stdio = config.transport {
            let name = config.name.trim();
            let message = format!(
                "server `{}` is started as a command, and only servers over HTTP have logins",
                text::name(name)
            );
            let secret = format!("mcpwire secret set {} VARIABLE", text::word(name));
            let hint = format!("To give it a token in a variable of its environment: {secret}");
            return Err(Failure::usage("server", message).with_hint(hint));
        }
        Ok(config)
    }

    fn of_config(
        &self,
        mut config: McpConfig,
        name: Option<String>,
        place: &LoginPlace,
        client: &ClientArgs,
    ) -> Result<ServerLogin, Failure> {
        let secrets = Secrets::in_directory(self.layout.secrets());
        // The user has given these options, so the changed configuration is approved too. A configuration without approval stays
        // unchanged, and fails below.
        if config.has_consent(&secrets) {
            set_tls(&mut config, &place.tls);
            set_client(&mut config.oauth, client)?;
            config.give_consent(&preview(&config, &secrets));
        }
        let launch = Launch::compose(&config, &secrets, &Instance::default()).map_err(|error| match &name {
            Some(name) => not_started(name, &error),
            None => Failure::from_hub(error),
        })?;
        let Some(settings) = launch.login else {
            let message = format!(
                "the configuration of server `{}` allows no login: it has an `Authorization` header, a Unix socket, or \
                 `\"oauth\": false`",
                text::name(config.name.trim())
            );
            return Err(Failure::usage("server", message));
        };
        self.of_definition(&launch.def, settings, name, place.account.as_deref())
    }

    /// Creates the login at the server that `def` defines. `name` is the name of the server if it is configured, and `None`
    /// otherwise. `account` takes precedence over the account in `settings`.
    pub(crate) fn of_definition(
        &self,
        def: &McpServerDef,
        mut settings: LoginSettings,
        name: Option<String>,
        account: Option<&str>,
    ) -> Result<ServerLogin, Failure> {
        if let Some(account) = account {
            settings = settings.with_account(account);
        }
        let runtime: Arc<dyn Runtime> = Arc::new(self.foreground.handle());
        // Messages name a configured server by its name, and others by their URL.
        let mut named = def.clone();
        named.name.clone_from(&name);
        let oauth = self.logins.oauth(&named, &settings, &runtime, None)?;
        Ok(ServerLogin {
            name,
            account: account.map(str::to_owned),
            settings,
            oauth,
            def: def.clone(),
            list: self.list.clone(),
            foreground: self.foreground.clone(),
        })
    }

    /// Returns the login of a configured server, which may have no stored tokens. Returns `None` if the server can have no login, or
    /// if its configuration is invalid.
    pub(crate) fn of_server(&self, config: &McpConfig) -> Result<Option<ServerLogin>, Failure> {
        let secrets = Secrets::in_directory(self.layout.secrets());
        let Ok(Launch { login: Some(settings), def, .. }) = Launch::compose(config, &secrets, &Instance::default())
        else {
            return Ok(None);
        };
        self.of_definition(&def, settings, Some(config.name.trim().to_owned()), None).map(Some)
    }

    /// Returns the logins of all configured servers, and then the logins of the list, which the configuration does not name. A
    /// returned login may have no stored tokens.
    ///
    /// Calls `warn` for servers whose configuration is invalid, and leaves them out.
    pub(crate) fn all(&self, warn: impl Fn(&str)) -> Result<Vec<ServerLogin>, Failure> {
        let secrets = Secrets::in_directory(self.layout.secrets());
        let mut all: Vec<ServerLogin> = Vec::new();
        for config in configured(&self.layout)? {
            if config.transport != McpTransport::Stdio
                && let Err(error) = Launch::compose(&config, &secrets, &Instance::default())
            {
                warn(&format!("{}: {}", text::name(config.name.trim()), hub_message(&error)));
            }
            all.extend(self.of_server(&config)?);
        }
        for entry in self.list.entries()? {
            let is_listed = |login: &ServerLogin| login.url() == entry.url && login.account() == entry.account;
            if !all.iter().any(is_listed) {
                let account = Some(entry.account.as_str()).filter(|account| !account.is_empty());
                let settings = LoginSettings::new(OAuthConfig::default());
                all.push(self.of_definition(&McpServerDef::http(entry.url), settings, None, account)?);
            }
        }
        Ok(all)
    }
}

/// Applies the options for certificates and the proxy, such as `--ca`, to the configuration of a server.
fn set_tls(config: &mut McpConfig, tls: &TlsArgs) {
    let TlsArgs { ca, client_cert, client_key, proxy } = tls;
    if ca.is_some() {
        config.ca_file.clone_from(ca);
    }
    if client_cert.is_some() {
        // The configured key belongs to the certificate that is being replaced.
        config.client_certificate.clone_from(client_cert);
        config.client_key.clone_from(client_key);
    }
    if proxy.is_some() {
        config.proxy.clone_from(proxy);
    }
}

/// Applies the options for the OAuth client, such as `--client-id`, to the configuration of a server.
fn set_client(oauth: &mut OAuthConfig, client: &ClientArgs) -> Result<(), Failure> {
    let ClientArgs { client_id, client_secret_env, client_auth_method, redirect_uri, issuer } = client;
    if let Some(client_id) = client_id {
        if oauth.client_id.as_ref() != Some(client_id) {
            // The configured secret and method belong to the client that is being replaced.
            oauth.client_secret = None;
            oauth.auth_method = None;
        }
        oauth.client_id = Some(client_id.clone());
    }
    if let Some(name) = client_secret_env {
        if std::env::var_os(name).is_none_or(|value| value.is_empty()) {
            let message = format!("environment variable {} (for the secret) is not set or empty", text::line(name));
            return Err(Failure::usage("client-secret-env", message));
        }
        let reference = SecretRef::Env { name: name.clone() };
        oauth.client_secret = Some(EnvVarConfig::secret("client_secret", reference));
    }
    if let Some(issuer) = issuer {
        if oauth.client_id.is_none() {
            let message = "--issuer says where a client is registered, and no client is named: use --client-id, or set \
                           `oauth.client_id` in servers.json";
            return Err(Failure::usage("issuer", message));
        }
        oauth.issuer = Some(issuer.clone());
    }
    if let Some(method) = client_auth_method {
        oauth.auth_method = Some(method.clone());
    }
    if let Some(uri) = redirect_uri {
        oauth.redirect_uri = Some(uri.clone());
        if oauth.redirect().is_none() {
            let message = "--redirect-uri is a URL of this machine, such as http://localhost:3118/callback or, with a \
                           free port, http://127.0.0.1/callback";
            return Err(Failure::usage("redirect-uri", message));
        }
    }
    Ok(())
}
