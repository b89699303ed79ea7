//! [`Definition`]: the server of a command, the options for its HTTP connection, and the secrets to hide in output.

use std::env;

use mcpwire_hub::HubError;
use mcpwire_hub::import::is_secret;
use mcpwire_hub::launch::{Instance, Launch};
use mcpwire_hub::logins::{LoginSettings, login_secrets};
use mcpwire_hub::redact::Redactor;
use mcpwire_hub::secrets::{Secret, Secrets};
use mcpwire_tokio::McpServerDef;
use mcpwire_tokio::http::{EnvToken, HttpOptions};

use crate::args::{Options, Target, TlsArgs, Variable};
use crate::console::Foreground;
use crate::failure::Failure;
use crate::hub::{find_configured, layout, not_started};
use crate::login::{LoginStore, ServerLogin, secrets_of};
use crate::text;

/// The server that a command connects to, the options for its HTTP connection, and the secrets to hide in output.
pub(crate) struct Definition {
    pub(crate) server: McpServerDef,
    pub(super) http: HttpOptions,
    pub(crate) redactor: Redactor,
    /// The settings of a login. `None` for a server that cannot have one, such as a server process.
    settings: Option<LoginSettings>,
    /// The name of the server if it is configured.
    name: Option<String>,
}

impl Definition {
    /// Returns the user's login to the server, and hides its secrets in output. Returns `None` for a server that cannot have a
    /// login, and without a home directory, because there are no stored logins then.
    pub(super) fn login(&mut self, target: &Target, foreground: &Foreground) -> Option<ServerLogin> {
        let (settings, layout) = (self.settings.take()?, layout(&target.place).ok()?);
        let store = LoginStore::new(layout, foreground.clone());
        let account = target.http.account.as_deref();
        // Errors are ignored: they mean that the definition is invalid, which the connection reports later.
        let login = store.of_definition(&self.server, settings, self.name.take(), account).ok()?;
        self.redactor.also(login_secrets(login.oauth()));
        Some(login)
    }

    /// Creates the definition of the server that the command line selects.
    pub(crate) fn new(target: &Target, options: &Options) -> Result<Self, Failure> {
        if let Some(url) = &target.url {
            return Self::at_url(url, target, options);
        }
        reject_tls_options(&target.http.tls)?;
        if let Some(name) = &target.server {
            return Self::configured(name, target, options);
        }
        let server = if target.demo {
            let ourselves = env::current_exe().map_err(|error| Failure::no_demo_server(&error))?;
            let mut demo = McpServerDef::new(ourselves.to_string_lossy()).arg("demo-server");
            demo.name = Some("demo".to_owned());
            demo
        } else {
            let (command, arguments) = target.command.split_first().ok_or_else(Failure::no_server)?;
            McpServerDef::new(command).args(arguments)
        };
        Ok(Self::started(server, options))
    }

    /// Creates the definition of the configured server `name`, for a direct connection without a hub.
    fn configured(name: &str, target: &Target, options: &Options) -> Result<Self, Failure> {
        reject_process_options(options, OF_CONFIGURED)?;
        let layout = layout(&target.place)?;
        let config = find_configured(&layout, name)?;
        let name = config.name.trim().to_owned();
        if !config.enabled {
            return Err(not_started(&name, &HubError::disabled()));
        }
        let secrets = Secrets::in_directory(layout.secrets());
        let launch =
            Launch::compose(&config, &secrets, &Instance::default()).map_err(|error| not_started(&name, &error))?;
        let Launch { mut def, redactor, login, .. } = launch;
        if login.is_none() && target.http.account.is_some() {
            let message = format!("server `{}` has no login, so --account has no effect", text::name(&name));
            return Err(Failure::usage("account", message));
        }
        // `--timeout` takes precedence over the limits of the configuration.
        def.timeout = options.timeout.or(def.timeout);
        def.connect_timeout = options.timeout.or(def.connect_timeout);
        Ok(Self { server: def, http: HttpOptions::default(), redactor, settings: login, name: Some(name) })
    }

    /// Creates the definition of a server process. Adds the environment variables of `--env` and the working directory of
    /// `--cwd`.
    fn started(mut server: McpServerDef, options: &Options) -> Self {
        let mut secrets = Vec::new();
        for variable in &options.variables {
            let (name, value) = match variable {
                Variable::Set(name, value) => {
                    server = server.env(name, value);
                    (name, value.clone())
                }
                Variable::Inherit(name) => {
                    server = server.inherit(name);
                    (name, env::var(name).unwrap_or_default())
                }
            };
            if is_secret(name, &value) {
                secrets.push(Secret::new(value));
            }
        }
        if let Some(directory) = &options.cwd {
            server = server.cwd(directory);
        }
        let redactor = Redactor::new(secrets);
        Self { server, http: HttpOptions::default(), redactor, settings: None, name: None }
    }

    fn at_url(url: &str, target: &Target, options: &Options) -> Result<Self, Failure> {
        reject_process_options(options, "a server at a URL has none")?;
        Failure::check_url(url)?;
        let mut server = McpServerDef::http(url);
        server.unix_socket.clone_from(&target.http.unix_socket);
        server.ca_file.clone_from(&target.http.tls.ca);
        server.client_certificate.clone_from(&target.http.tls.client_cert);
        server.client_key.clone_from(&target.http.tls.client_key);
        server.proxy.clone_from(&target.http.tls.proxy);
        for header in &target.http.headers {
            let parts = header.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
            // The error does not contain the header, which may be a secret.
            let Some((name, value)) = parts.filter(|(name, _)| !name.is_empty()) else {
                return Err(Failure::usage("header", "--header takes NAME:VALUE, as in --header 'X-Team: blue'"));
            };
            server = server.header(name, value);
        }
        let mut secrets = secrets_of(&server);
        let mut http = HttpOptions::default();
        if let Some(name) = &target.http.bearer_env {
            let Some(token) = env::var(name).ok().filter(|token| !token.trim().is_empty()) else {
                let message = format!("the variable {} of --bearer-env is not set, or is empty", text::line(name));
                return Err(Failure::usage("bearer-env", message));
            };
            secrets.push(Secret::new(token.trim()));
            http = http.token(EnvToken(name.clone()));
        }
        // At a Unix socket, a login is impossible: the authorization server cannot be reached over the socket.
        let may_log_in =
            !has_authorization(&server) && target.http.bearer_env.is_none() && server.unix_socket.is_none();
        let settings = may_log_in.then(LoginSettings::default);
        Ok(Self { server, http, redactor: Redactor::new(secrets), settings, name: None })
    }
}

/// Returns the user's login to the configured server that the command line names. Returns `None` if it names none, or if the server
/// cannot have a login.
pub(crate) fn login_of(target: &Target, options: &Options) -> Result<Option<ServerLogin>, Failure> {
    if target.server.is_none() {
        return Ok(None);
    }
    let foreground = Foreground::start()?;
    Ok(Definition::new(target, options)?.login(target, &foreground))
}

/// Returns whether the client sends a header with a token to the server.
pub(super) fn has_authorization(server: &McpServerDef) -> bool {
    server.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// Why `--env` and `--cwd` have no effect on a configured server.
pub(super) const OF_CONFIGURED: &str = "that of a configured server is set in servers.json: see mcpwire server list";

/// Returns an error if the command line has options for a server process: `--env` or `--cwd`. `why` is the end of the error
/// message.
pub(super) fn reject_process_options(options: &Options, why: &str) -> Result<(), Failure> {
    let message = |option: &str| format!("{option} is for a server that is started with -- COMMAND; {why}");
    if !options.variables.is_empty() {
        return Err(Failure::usage("env", message("--env")));
    }
    if options.cwd.is_some() {
        return Err(Failure::usage("cwd", message("--cwd")));
    }
    Ok(())
}

/// Returns an error if the command line has options for a server at a URL, such as `--ca`. Clap does not reject these options
/// if the command line selects the server in another way.
fn reject_tls_options(tls: &TlsArgs) -> Result<(), Failure> {
    let TlsArgs { ca, client_cert, client_key, proxy } = tls;
    let files = [("ca", ca), ("client-cert", client_cert), ("client-key", client_key)];
    let file = files.into_iter().find_map(|(name, file)| file.as_ref().map(|_| name));
    match file.or(proxy.as_ref().map(|_| "proxy")) {
        Some(option) => Err(Failure::usage(option, format!("--{option} is for a server at a URL: use --url"))),
        None => Ok(()),
    }
}
