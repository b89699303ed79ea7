//! Replaces the secret references of a configuration by the values of the secrets. The same pass finds what a preview shows of
//! each value, so that a preview and the command that runs cannot differ.

mod secret_parts;

use std::collections::{BTreeMap, BTreeSet};

use mcpwire_supervisor::Failure;
use sha2::{Digest as _, Sha256};

use super::LoginSettings;
use super::preview::{Preview, Shown};
use crate::HubError;
use crate::config::{
    EnvVarConfig, EnvVarSpec, McpConfig, McpTransport, check_literal, fill, is_address, is_dangerous, names_in,
};
use crate::secrets::{Secret, SecretRef, SecretStore, hide_in_url, is_secret};

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
    /// What a preview shows of these values.
    pub(super) preview: Preview,
    /// The paths of the required values that are missing, such as `env_vars.TOKEN`.
    missing: Vec<String>,
    /// The first error of a value. The preview is complete nevertheless.
    error: Option<HubError>,
}

impl Resolved {
    /// Returns an error if a value is wrong or missing.
    pub(super) fn check(&mut self) -> Result<(), HubError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Some(first) = self.missing.first() {
            let name = |path: &String| path.split_once('.').map_or(path.as_str(), |(_, name)| name).to_owned();
            let names: Vec<String> = self.missing.iter().map(name).collect();
            return Err(Failure::missing_credentials(names.iter().map(String::as_str)).error.at(first.clone()));
        }
        if self.url.as_ref().is_some_and(|url| !is_address(url)) {
            let message = "with its variables, this is not an address: it must start with `http://` or `https://` and have a host";
            return Err(HubError::validation("transport", message));
        }
        if let Some(at) = self.args.iter().position(|arg| arg.contains('\0')) {
            return Err(HubError::validation(format!("args.{at}"), "an argument must not contain a NUL character"));
        }
        Ok(())
    }
}

/// Which values are read from the store of secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// Environment variables, and the values that a preview must show.
    Shown,
    /// All values.
    All,
}

/// Returns the paths of the required values of `config` that are missing, such as `env_vars.TOKEN`.
pub(super) fn missing(config: &McpConfig, secrets: &dyn SecretStore) -> Result<Vec<String>, HubError> {
    let resolved = resolve(config, secrets, Reads::All);
    resolved.error.map_or(Ok(resolved.missing), Err)
}

pub(super) fn resolve(config: &McpConfig, secrets: &dyn SecretStore, reads: Reads) -> Resolved {
    let mut resolver = Resolver::new(config, secrets, reads);
    resolver.variables = resolver.values("variables", &config.variables);
    let url = match &config.transport {
        McpTransport::Stdio => None,
        McpTransport::Http { url } => Some(resolver.filled(url)),
    };
    resolver.recipient = match &url {
        Some(url) => host(&url.shown).to_owned(),
        None => "the process of the server".to_owned(),
    };
    resolver.name_variables(&config.transport);
    let env = resolver.values("env_vars", &config.env_vars);
    let headers = resolver.values("headers", &config.headers);
    let (args, runtime_args) = (resolver.all_filled(&config.args), resolver.all_filled(&config.runtime_args));
    let mut inherited = Vec::new();
    for name in &config.inherit_env {
        let value = EnvVarConfig::secret(name, format!("env:{name}")).spec(EnvVarSpec::default());
        inherited.push((name.clone(), resolver.value("env_vars", &format!("inherit_env.{name}"), name, &value).shown));
    }
    let (login, described) = resolver.login(config, url.is_some());
    let mut preview = Preview::new(config, &shown_texts(&args), &shown_texts(&runtime_args));
    preview.url = url.as_ref().map(|url| hide_in_url(&url.shown));
    preview.env = shown(&env).chain(inherited).collect();
    preview.headers = shown(&headers).collect();
    preview.http.extend(described);
    preview.passes = std::mem::take(&mut resolver.passes).into_iter().collect();
    preview.hash = approval(config, &resolver.environment);
    let (env, headers) = (found(env), found(headers));
    let (args, runtime_args) = (real_texts(args), real_texts(runtime_args));
    let url = url.map(|url| url.value);
    resolver.find_secrets(config, &env, &headers, [&runtime_args, &args], url.as_deref());
    let login = login.with_secret_variables(resolver.secret_variables);
    let secrets = resolver.secrets;
    let (missing, error) = (resolver.missing, resolver.error);
    Resolved { env, headers, args, runtime_args, url, login, secrets, preview, missing, error }
}

/// Returns the text that the user's approval consists of: the hash of the configuration, and a line for each environment
/// variable that decides what is started.
fn approval(config: &McpConfig, environment: &BTreeMap<String, String>) -> String {
    environment.iter().fold(config.hash(), |text, (name, state)| format!("{text}\n{name}={state}"))
}

/// Returns the host and the port of the URL `url`.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn shown(values: &Values) -> impl Iterator<Item = (String, Shown)> {
    values.iter().map(|(name, value)| (name.clone(), value.shown.clone()))
}

fn found(values: Values) -> BTreeMap<String, Secret> {
    values.into_iter().filter_map(|(name, value)| Some((name, value.value?))).collect()
}

/// A text with its variables replaced.
struct Filled {
    value: String,
    /// The text with descriptions in place of secrets.
    shown: String,
}

fn shown_texts(texts: &[Filled]) -> Vec<String> {
    texts.iter().map(|text| text.shown.clone()).collect()
}

fn real_texts(texts: Vec<Filled>) -> Vec<String> {
    texts.into_iter().map(|text| text.value).collect()
}

/// A value that was looked up, and what a preview shows of it.
struct Found {
    /// `None` if the value is missing or was not read.
    value: Option<Secret>,
    shown: Shown,
}

type Values = BTreeMap<String, Found>;

struct Resolver<'a> {
    store: &'a dyn SecretStore,
    reads: Reads,
    variables: Values,
    /// The names of the environment variables from which `variables` come, by the name of the variable.
    sources: BTreeMap<String, String>,
    /// The names of variables that are in the value of an environment variable that loads code. They are always shown.
    revealed: BTreeSet<String>,
    /// The process or host that gets the values.
    recipient: String,
    /// The environment variables of this machine, each with a process or host that gets its value.
    passes: BTreeSet<(String, String)>,
    /// The environment variables that decide what is started, each with `unset`, `set`, or the hash of its value.
    environment: BTreeMap<String, String>,
    /// The environment variables of this machine that contain secrets.
    secret_variables: BTreeSet<String>,
    missing: Vec<String>,
    secrets: Vec<Secret>,
    error: Option<HubError>,
}

impl<'a> Resolver<'a> {
    fn new(config: &McpConfig, store: &'a dyn SecretStore, reads: Reads) -> Self {
        let code =
            config.env_vars.iter().filter(|(name, _)| is_dangerous(name)).filter_map(|(_, value)| value.literal());
        let source = |(name, value): (&String, &EnvVarConfig)| match value.secret_ref.as_deref()?.parse().ok()? {
            SecretRef::Env { name: source } => Some((name.clone(), source)),
            _ => None,
        };
        Resolver {
            store,
            reads,
            variables: Values::new(),
            sources: config.variables.iter().filter_map(source).collect(),
            revealed: code.flat_map(names_in).map(str::to_owned).collect(),
            recipient: String::new(),
            passes: BTreeSet::new(),
            environment: BTreeMap::new(),
            secret_variables: BTreeSet::new(),
            missing: Vec::new(),
            secrets: Vec::new(),
            error: None,
        }
    }

    /// Names the variables in the URL, whose host was not known when the URL was filled.
    fn name_variables(&mut self, transport: &McpTransport) {
        if let McpTransport::Http { url } = transport {
            self.pass_variables(url);
        }
    }

    /// Records that the recipient gets the environment variables that the variables in `text` come from.
    fn pass_variables(&mut self, text: &str) {
        let sources = names_in(text).filter_map(|name| self.sources.get(name));
        self.passes.extend(sources.map(|source| (source.clone(), self.recipient.clone())));
    }

    fn values(&mut self, group: &str, configs: &BTreeMap<String, EnvVarConfig>) -> Values {
        let mut values = Values::new();
        for (name, config) in configs {
            let field = format!("{group}.{name}");
            let found = self.value(group, &field, name, config);
            if found.value.is_none() && config.is_required() {
                self.missing.push(field);
            }
            values.insert(name.clone(), found);
        }
        values
    }

    /// Returns the OAuth settings with the secret of the client, which is required if it is configured. Also returns what a
    /// preview shows of them.
    fn login(&mut self, config: &McpConfig, is_http: bool) -> (LoginSettings, Vec<(String, String)>) {
        let mut oauth = config.oauth.clone();
        let of_server = std::mem::take(&mut self.recipient);
        self.recipient = match &oauth.issuer {
            Some(issuer) => format!("the authorization server {issuer}"),
            None => format!("the authorization server that {of_server} names"),
        };
        oauth.client_id = oauth.client_id.map(|id| {
            let filled = self.filled(&id);
            if is_http {
                self.pass_variables(&id);
            }
            filled.value
        });
        let shown_id = config.oauth.client_id.as_ref().map(|id| self.filled(id).shown);
        let describe = |(name, text): (&str, std::borrow::Cow<'_, str>)| match (name, &shown_id) {
            ("oauth.client_id", Some(id)) => (name.to_owned(), id.clone()),
            _ => (name.to_owned(), text.into_owned()),
        };
        let mut described: Vec<(String, String)> = config.oauth.described().into_iter().map(describe).collect();
        if let (Some(text), Some(id)) = (&config.oauth.client_id, &oauth.client_id)
            && is_secret("client_id", id)
        {
            self.hide_sources(text, &[Secret::new(id.as_str())]);
        }
        let mut client_secret = None;
        if let Some(secret) = config.oauth.client_secret.as_ref().filter(|_| config.oauth.enabled) {
            let field = "oauth.client_secret";
            let secret = EnvVarConfig { is_secret: true, ..secret.clone() };
            let found = self.value("oauth", field, "client_secret", &secret);
            described.push((field.to_owned(), found.shown.inline("client_secret")));
            client_secret = found.value.filter(|value| !value.is_empty());
            match &client_secret {
                Some(value) => self.secrets.push(value.clone()),
                None => self.missing.push(field.to_owned()),
            }
        }
        (LoginSettings::new(oauth).with_secret(client_secret), described)
    }

    /// Looks up the value of a reference. In a preview, only environment variables and values that must be shown are read.
    fn look_up(&mut self, reference: &SecretRef, is_revealed: bool) -> Option<Secret> {
        if self.reads == Reads::Shown && !is_revealed && !matches!(reference, SecretRef::Env { .. }) {
            return None;
        }
        match self.store.get(reference) {
            Ok(value) => value.filter(|value| !value.is_empty()),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }

    /// Resolves the value of a reference, or uses the default of `config`.
    fn referenced(&mut self, group: &str, field: &str, name: &str, config: &EnvVarConfig, text: &str) -> (Found, bool) {
        let reference: SecretRef = match text.parse() {
            Ok(reference) => reference,
            Err(error) => {
                self.error.get_or_insert(HubError::validation(field, format!("{error}")));
                return (Found { value: None, shown: Shown::From(text.to_owned()) }, true);
            }
        };
        let is_code = group == "env_vars" && is_dangerous(name);
        let is_revealed = is_code || (group == "variables" && self.revealed.contains(name));
        let value = self.look_up(&reference, is_revealed);
        let fallback = config.fallback();
        let SecretRef::Env { name: source } = &reference else {
            let shown = match (&value, fallback) {
                (Some(value), _) if is_revealed => Shown::Value(value.expose().to_owned()),
                (_, Some(default)) => Shown::From(format!("{text}, or else {default}")),
                _ => Shown::From(text.to_owned()),
            };
            return (Found { value: value.or_else(|| fallback.map(Secret::new)), shown }, true);
        };
        if group != "variables" {
            self.passes.insert((source.clone(), self.recipient.clone()));
        }
        if let Some(value) = &value
            && (config.is_secret || [name, source].iter().any(|name| is_secret(name, value.expose())))
        {
            self.secret_variables.insert(source.clone());
        }
        let mut is_hidden = config.is_secret;
        let (shown, state) = match (&value, fallback) {
            // A variable that is passed on under its own name is not the choice of the file, and may be secret.
            (Some(value), _) if is_revealed && !(source == name && is_secret(name, value.expose())) => {
                (Shown::Value(value.expose().to_owned()), Some(hash(value)))
            }
            (Some(value), _) if group == "variables" && !config.is_secret && !is_secret(source, value.expose()) => {
                (Shown::Value(value.expose().to_owned()), Some(hash(value)))
            }
            (Some(_), default) => (Shown::From(text.to_owned()), default.map(|_| "set".to_owned())),
            (None, Some(default)) => {
                is_hidden = false;
                (Shown::Value(default.to_owned()), Some("unset".to_owned()))
            }
            (None, None) => (Shown::From(text.to_owned()), (is_revealed).then(|| "unset".to_owned())),
        };
        self.environment.extend(state.map(|state| (source.clone(), state)));
        (Found { value: value.or_else(|| fallback.map(Secret::new)), shown }, is_hidden)
    }

    /// Resolves a literal value. A text that a registry or a file fixes as default is shown, since it is no secret of the user.
    fn literal(&mut self, group: &str, name: &str, config: &EnvVarConfig) -> Found {
        let Some(text) = config.literal() else { return Found { value: None, shown: Shown::Nothing } };
        // If this text contains a variable whose value is missing, the variable itself is reported as missing.
        let filled = if group == "variables" {
            Filled { value: text.to_owned(), shown: text.to_owned() }
        } else {
            self.pass_variables(text);
            self.filled(text)
        };
        let is_code = group == "env_vars" && is_dangerous(name) || group == "variables" && self.revealed.contains(name);
        let is_fixed = config.spec.as_ref().is_some_and(|spec| spec.value.is_some()) || config.value.is_none();
        let looks_secret = config.is_secret || (group != "variables" && is_secret(name, text));
        let shown = if looks_secret && !is_code && !is_fixed { Shown::Secret } else { Shown::Value(filled.shown) };
        Found { value: Some(Secret::new(filled.value)), shown }
    }

    fn value(&mut self, group: &str, field: &str, name: &str, config: &EnvVarConfig) -> Found {
        let (mut found, is_secret) = match &config.secret_ref {
            Some(text) => self.referenced(group, field, name, config, text),
            None => (self.literal(group, name, config), config.is_secret),
        };
        let Some(value) = &found.value else { return found };
        if value.is_empty() && (is_secret || config.spec.as_ref().is_some_and(|spec| spec.is_required)) {
            found.value = None;
            return found;
        }
        if let Err(message) = check(group, config, value.expose()) {
            self.error.get_or_insert(HubError::validation(field, message));
        }
        if is_secret {
            self.secrets.push(value.clone());
            let value = value.clone();
            if let Some(text) = config.literal().filter(|_| group != "variables") {
                self.hide_sources(text, &[value]);
            }
        }
        found
    }

    fn all_filled(&mut self, texts: &[String]) -> Vec<Filled> {
        for text in texts {
            self.pass_variables(text);
        }
        texts.iter().map(|text| self.filled(text)).collect()
    }

    fn filled(&self, text: &str) -> Filled {
        let real = |name: &str| Some(self.variables.get(name)?.value.as_ref()?.expose().to_owned());
        let shown = |name: &str| Some(self.variables.get(name)?.shown.inline(name));
        let Ok(value) = fill::<std::convert::Infallible>(text, |name| Ok(real(name)));
        let Ok(shown) = fill::<std::convert::Infallible>(text, |name| Ok(shown(name)));
        Filled { value, shown }
    }
}

/// Returns the start of the SHA-256 hash of a value, to detect a change.
fn hash(value: &Secret) -> String {
    let digest = Sha256::digest(value.expose().as_bytes());
    digest.iter().take(16).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Checks a value against the rules of its place and of the registry. Returns the message for the user if it is wrong.
fn check(group: &str, config: &EnvVarConfig, value: &str) -> Result<(), String> {
    if value.contains('\0') {
        return Err("a value must not contain a NUL character".to_owned());
    }
    if group == "headers" && value.chars().any(|c| c.is_control() && c != '\t') {
        return Err("the value of a header must be one line without control characters".to_owned());
    }
    match &config.spec {
        Some(spec) if Some(value) != config.fallback() => check_literal(spec, value),
        _ => Ok(()),
    }
}
