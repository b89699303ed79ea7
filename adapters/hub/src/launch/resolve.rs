//! Replaces the secret references of a configuration by the values of the secrets.

use std::collections::BTreeMap;

use mcpwire_supervisor::Failure;

use crate::HubError;
use crate::config::{EnvVarConfig, McpConfig, McpTransport, check_literal, fill, is_address};
use crate::logins::LoginSettings;
use crate::redact::percent_decoded;
use crate::secrets::{Secret, SecretRef, SecretStore, is_secret, secrets_in_args};

/// The values of a configuration after secret references and variables were replaced. Optional values that are missing are left
/// out.
pub(super) struct Resolved {
    pub(super) env: BTreeMap<String, Secret>,
    pub(super) headers: BTreeMap<String, Secret>,
    pub(super) args: Vec<String>,
    pub(super) runtime_args: Vec<String>,
    pub(super) url: Option<String>,
    /// The OAuth settings, with the secret of the client.
    pub(super) login: LoginSettings,
    /// The secrets in all these values. They must not be shown or logged.
    pub(super) secrets: Vec<Secret>,
}

/// Returns the paths of the required values of `config` that are missing, such as `env_vars.TOKEN`.
pub(super) fn missing(config: &McpConfig, secrets: &dyn SecretStore) -> Result<Vec<String>, HubError> {
    let mut resolver = Resolver::new(secrets);
    resolver.all(config)?;
    resolver.client_secret(config)?;
    Ok(resolver.missing)
}

pub(super) fn resolve(config: &McpConfig, secrets: &dyn SecretStore) -> Result<Resolved, HubError> {
    let mut resolver = Resolver::new(secrets);
    let (env, headers) = resolver.all(config)?;
    let client_secret = resolver.client_secret(config)?;
    if let Some(first) = resolver.missing.first() {
        let name = |path: &String| path.split_once('.').map_or(path.as_str(), |(_, name)| name).to_owned();
        let names: Vec<String> = resolver.missing.iter().map(name).collect();
        return Err(Failure::missing_credentials(names.iter().map(String::as_str)).error.at(first.clone()));
    }
    let filled = |args: &[String]| args.iter().map(|arg| resolver.filled(arg)).collect::<Vec<String>>();
    let (args, runtime_args) = (filled(&config.args), filled(&config.runtime_args));
    let url = match &config.transport {
        McpTransport::Stdio => None,
        McpTransport::Http { url } => Some(resolver.filled(url)),
    };
    if url.as_ref().is_some_and(|url| !is_address(url)) {
        let message =
            "with its variables, this is not an address: it must start with `http://` or `https://` and have a host";
        return Err(HubError::validation("transport", message));
    }
    if let Some(at) = args.iter().position(|arg| arg.contains('\0')) {
        return Err(HubError::validation(format!("args.{at}"), "an argument must not contain a NUL character"));
    }
    let mut oauth = config.oauth.clone();
    oauth.client_id = oauth.client_id.map(|id| resolver.filled(&id));
    let login = LoginSettings::new(oauth).with_secret(client_secret);
    let mut secrets = resolver.secrets;
    let values = env.iter().chain(&headers).filter(|(name, value)| is_secret(name, value.expose()));
    secrets.extend(values.map(|(_, value)| value.clone()));
    secrets.extend(secrets_in_args(&runtime_args).chain(secrets_in_args(&args)));
    secrets.extend(url.iter().flat_map(|url| secrets_in_query(url)));
    Ok(Resolved { env, headers, args, runtime_args, url, login, secrets })
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

type Values = BTreeMap<String, Secret>;

struct Resolver<'a> {
    store: &'a dyn SecretStore,
    variables: Values,
    missing: Vec<String>,
    secrets: Vec<Secret>,
}

impl<'a> Resolver<'a> {
    fn new(store: &'a dyn SecretStore) -> Self {
        Resolver { store, variables: Values::new(), missing: Vec::new(), secrets: Vec::new() }
    }

    /// Resolves the variables, then the environment variables and the headers, which may contain the variables. Returns the
    /// environment variables and the headers.
    fn all(&mut self, config: &McpConfig) -> Result<(Values, Values), HubError> {
        self.variables = self.values("variables", &config.variables)?;
        let env = self.values("env_vars", &config.env_vars)?;
        let headers = self.values("headers", &config.headers)?;
        Ok((env, headers))
    }

    fn values(&mut self, group: &str, configs: &BTreeMap<String, EnvVarConfig>) -> Result<Values, HubError> {
        let mut values = Values::new();
        for (name, config) in configs {
            let field = format!("{group}.{name}");
            match self.value(group, &field, config)? {
                Some(value) => {
                    values.insert(name.clone(), value);
                }
                None if config.is_required() => self.missing.push(field),
                None => {}
            }
        }
        Ok(values)
    }

    /// Returns the secret of the OAuth client. A configured secret is required.
    fn client_secret(&mut self, config: &McpConfig) -> Result<Option<Secret>, HubError> {
        let Some(secret) = config.oauth.client_secret.as_ref().filter(|_| config.oauth.enabled) else {
            return Ok(None);
        };
        let field = "oauth.client_secret";
        let value = self.value("oauth", field, secret)?.filter(|value| !value.is_empty());
        match &value {
            Some(value) => self.secrets.push(value.clone()),
            None => self.missing.push(field.to_owned()),
        }
        Ok(value)
    }

    fn value(&mut self, group: &str, field: &str, config: &EnvVarConfig) -> Result<Option<Secret>, HubError> {
        let mut is_secret = config.is_secret;
        let value = match &config.secret_ref {
            Some(text) => {
                let reference: SecretRef =
                    text.parse().map_err(|error| HubError::validation(field, format!("{error}")))?;
                is_secret |= !matches!(reference, SecretRef::Env { .. });
                let found = self.store.get(&reference)?.filter(|value| !value.is_empty());
                found.or_else(|| config.fallback().map(Secret::new))
            }
            // If this text contains a variable whose value is missing, the variable itself is reported as missing.
            None => config
                .literal()
                .map(|text| Secret::new(if group == "variables" { text.to_owned() } else { self.filled(text) })),
        };
        let Some(value) = value else { return Ok(None) };
        if value.is_empty() && (is_secret || config.spec.as_ref().is_some_and(|spec| spec.is_required)) {
            return Ok(None);
        }
        if value.expose().contains('\0') {
            return Err(HubError::validation(field, "a value must not contain a NUL character"));
        }
        if group == "headers" && value.expose().chars().any(|c| c.is_control() && c != '\t') {
            let message = "the value of a header must be one line without control characters";
            return Err(HubError::validation(field, message));
        }
        if let Some(spec) = &config.spec
            && Some(value.expose()) != config.fallback()
        {
            check_literal(spec, value.expose()).map_err(|message| HubError::validation(field, message))?;
        }
        if is_secret {
            self.secrets.push(value.clone());
        }
        Ok(Some(value))
    }

    fn filled(&self, text: &str) -> String {
        let value = |name: &str| self.variables.get(name).map(|value| value.expose().to_owned());
        let Ok(text) = fill::<std::convert::Infallible>(text, |name| Ok(value(name)));
        text
    }
}
