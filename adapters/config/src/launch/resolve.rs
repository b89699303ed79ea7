//! Replaces the secret references of a configuration by the values of the secrets. The same code determines what a preview shows
//! of each value, so that a preview and the command that runs cannot differ.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::command::{Container, Instance, argv};
use super::login::LoginSettings;
use super::preview::{Preview, Shown};
use crate::HubError;
use crate::config::{
    EnvVarConfig, EnvVarSpec, McpConfig, McpTransport, ValueGroup, check_literal, check_text, fill, hex, is_dangerous,
    missing_values, names_in,
};
use crate::secrets::{Secret, SecretRef, SecretStore, hide_in_url, is_secret};
use crate::url::{authority, is_address};

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
    pub(super) missing: Vec<String>,
    /// The first error of a value, which prevents the start. The preview is complete nevertheless.
    pub(super) error: Option<HubError>,
}

impl Resolved {
    /// Returns an error if a value is wrong or missing, or if the URL or an argument is invalid with the values of its variables.
    pub(super) fn check(&mut self) -> Result<(), HubError> {
        if let Some(error) = self.error.take().or_else(|| missing_values(&self.missing)) {
            return Err(error);
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

/// Resolves all values of `config` with the secrets of `store`.
pub(super) fn resolve(config: &McpConfig, store: &dyn SecretStore, reads: Reads) -> Resolved {
    let mut resolver = Resolver::new(config, store, reads);
    resolver.variables = resolver.values(ValueGroup::Variables, &config.variables);
    let (mut url, mut shown_url) = (None, None);
    if let McpTransport::Http { url: text } = &config.transport {
        let (filled, shown) = resolver.filled(text);
        authority(&shown).clone_into(&mut resolver.recipient);
        resolver.pass_variables(text);
        (url, shown_url) = (Some(filled), Some(shown));
    }
    let env = resolver.values(ValueGroup::EnvVars, &config.env_vars);
    let headers = resolver.values(ValueGroup::Headers, &config.headers);
    let (args, shown_args) = resolver.all_filled(&config.args);
    let (runtime_args, shown_runtime_args) = resolver.all_filled(&config.runtime_args);
    let mut shown_env = shown(&env);
    for name in &config.inherit_env {
        let value = EnvVarConfig::secret(name, format!("env:{name}")).spec(EnvVarSpec::default());
        shown_env.push((name.clone(), resolver.value(ValueGroup::InheritEnv, name, &value).shown));
    }
    let (login, shown_login) = resolver.login(config);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let files = config.http_files().map(|(name, path)| (name.to_owned(), text(path)));
    let proxy = config.proxy.iter().map(|proxy| ("proxy".to_owned(), hide_in_url(proxy)));
    let preview = Preview {
        command: match url {
            Some(_) => Vec::new(),
            None => shown_command(config, &shown_runtime_args, &shown_args),
        },
        url: shown_url.map(|url| hide_in_url(&url)),
        unix_socket: config.unix_socket.as_deref().map(text),
        cwd: config.cwd.as_deref().map(text),
        env: shown_env,
        headers: shown(&headers),
        http: files.chain(proxy).chain(shown_login).collect(),
        passes: resolver.passes.iter().cloned().collect(),
        hash: approval(config, &resolver.environment),
    };
    let (env, headers) = (found(env), found(headers));
    resolver.find_secrets(config, [&env, &headers], [&runtime_args, &args], url.as_deref());
    let Resolver { secret_variables, secrets, missing, error, .. } = resolver;
    let login = login.with_secret_variables(secret_variables);
    Resolved { env, headers, args, runtime_args, url, login, secrets, preview, missing, error }
}

/// Returns the command that a preview shows: the command of the first start. Other starts differ only in the name of the
/// container.
fn shown_command(config: &McpConfig, runtime_args: &[String], args: &[String]) -> Vec<String> {
    let instance = Instance::default();
    let options = Container::of(config, &instance).map(|container| container.options(config, &instance));
    argv(config, runtime_args, args, config.env_vars.keys(), options.unwrap_or_default())
}

/// Returns the text that is stored as the user's approval: the hash of the configuration, and a line for each environment
/// variable that decides what is started.
fn approval(config: &McpConfig, environment: &BTreeMap<String, String>) -> String {
    environment.iter().fold(config.hash(), |text, (name, state)| format!("{text}\n{name}={state}"))
}

fn shown(values: &Values) -> Vec<(String, Shown)> {
    values.iter().map(|(name, value)| (name.clone(), value.shown.clone())).collect()
}

fn found(values: Values) -> BTreeMap<String, Secret> {
    values.into_iter().filter_map(|(name, value)| Some((name, value.value?))).collect()
}

/// A value that was looked up, and what a preview shows of it.
pub(super) struct Found {
    /// The resolved value. `None` if the value is missing or was not read.
    pub(super) value: Option<Secret>,
    shown: Shown,
}

type Values = BTreeMap<String, Found>;

pub(super) struct Resolver<'a> {
    store: &'a dyn SecretStore,
    reads: Reads,
    pub(super) variables: Values,
    /// The names of the environment variables that supply the values of `variables`. The keys are the names of the variables.
    pub(super) sources: BTreeMap<String, String>,
    /// The names of variables that occur in a value that makes programs load code, such as `PATH`. A preview always shows these
    /// variables.
    revealed: BTreeSet<String>,
    /// A description of the process or host that gets the values that are resolved now, for the preview.
    recipient: String,
    /// The environment variables of this machine, each with a process or host that gets its value.
    passes: BTreeSet<(String, String)>,
    /// The environment variables that decide what is started, each with `unset`, `set`, or the hash of its value. The user's
    /// approval contains them.
    environment: BTreeMap<String, String>,
    /// The environment variables of this machine that contain secrets. A browser for a login must not inherit them.
    pub(super) secret_variables: BTreeSet<String>,
    /// The paths of the required values that are missing.
    missing: Vec<String>,
    pub(super) secrets: Vec<Secret>,
    /// The first error of a value.
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
            recipient: "the process of the server".to_owned(),
            passes: BTreeSet::new(),
            environment: BTreeMap::new(),
            secret_variables: BTreeSet::new(),
            missing: Vec::new(),
            secrets: Vec::new(),
            error: None,
        }
    }

    /// Records in `passes` that the recipient gets the environment variables that supply the variables in `text`.
    fn pass_variables(&mut self, text: &str) {
        let sources = names_in(text).filter_map(|name| self.sources.get(name));
        self.passes.extend(sources.map(|source| (source.clone(), self.recipient.clone())));
    }

    fn values(&mut self, group: ValueGroup, configs: &BTreeMap<String, EnvVarConfig>) -> Values {
        let mut values = Values::new();
        for (name, config) in configs {
            let found = self.value(group, name, config);
            if found.value.is_none() && config.is_required() {
                self.missing.push(group.path(name));
            }
            values.insert(name.clone(), found);
        }
        values
    }

    /// Returns the OAuth settings with the secret of the client, which is required if it is configured. Also returns what a
    /// preview shows of the settings.
    fn login(&mut self, config: &McpConfig) -> (LoginSettings, Vec<(String, String)>) {
        let (mut oauth, mut shown) = (config.oauth.clone(), config.oauth.clone());
        self.recipient = match &oauth.issuer {
            Some(issuer) => format!("the authorization server {issuer}"),
            None => format!("the authorization server that {} names", self.recipient),
        };
        if let Some(text) = &config.oauth.client_id {
            let (id, shown_id) = self.filled(text);
            if matches!(config.transport, McpTransport::Http { .. }) {
                self.pass_variables(text);
            }
            if is_secret("client_id", &id) {
                self.hide_sources(text, &[Secret::new(id.as_str())]);
            }
            (oauth.client_id, shown.client_id) = (Some(id), Some(shown_id));
        }
        let owned = |(name, text): (&str, std::borrow::Cow<'_, str>)| (name.to_owned(), text.into_owned());
        let mut described: Vec<(String, String)> = shown.described().into_iter().map(owned).collect();
        let mut client_secret = None;
        if let Some(secret) = config.oauth.client_secret.clone().filter(|_| config.oauth.enabled) {
            let (group, name) = (ValueGroup::OAuth, "client_secret");
            let found = self.value(group, name, &secret.is_secret(true));
            described.push((group.path(name), found.shown.inline(name)));
            client_secret = found.value.filter(|value| !value.is_empty());
            match &client_secret {
                Some(value) => self.secrets.push(value.clone()),
                None => self.missing.push(group.path(name)),
            }
        }
        (LoginSettings::new(oauth).with_secret(client_secret), described)
    }

    /// Returns whether a preview must show the value `name` even if it is secret, because the value can make programs load code.
    fn is_revealed(&self, group: ValueGroup, name: &str) -> bool {
        match group {
            ValueGroup::EnvVars | ValueGroup::InheritEnv => is_dangerous(name),
            ValueGroup::Variables => self.revealed.contains(name),
            ValueGroup::Headers | ValueGroup::OAuth => false,
        }
    }

    /// Looks up the value of a reference. Returns `None` if the value is missing or empty. A preview reads no stored secret, unless
    /// `is_revealed` says that the preview must show the value.
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

    /// Resolves the reference `text`, or uses the default of `config`. Also returns whether the value is secret.
    fn referenced(&mut self, group: ValueGroup, name: &str, config: &EnvVarConfig, text: &str) -> (Found, bool) {
        let reference: SecretRef = match text.parse() {
            Ok(reference) => reference,
            Err(error) => {
                self.error.get_or_insert(HubError::validation(group.path(name), format!("{error}")));
                return (Found { value: None, shown: Shown::From(text.to_owned()) }, true);
            }
        };
        let is_revealed = self.is_revealed(group, name);
        let value = self.look_up(&reference, is_revealed);
        let fallback = config.fallback();
        let (shown, is_hidden) = match (&reference, &value, fallback) {
            (SecretRef::Env { name: source }, value, _) => {
                let shown = self.shown_variable(group, name, config, source, value.as_ref());
                let shows_default = value.is_none() && fallback.is_some();
                (shown.unwrap_or_else(|| Shown::From(text.to_owned())), config.is_secret && !shows_default)
            }
            (_, Some(value), _) if is_revealed => (Shown::Value(value.expose().to_owned()), true),
            (_, _, Some(default)) => (Shown::From(format!("{text}, or else {default}")), true),
            _ => (Shown::From(text.to_owned()), true),
        };
        (Found { value: value.or_else(|| fallback.map(Secret::new)), shown }, is_hidden)
    }

    /// Records which process or host gets the environment variable `source`. Also records its state in `environment` if it
    /// decides what is started. Returns what a preview shows of its value, or `None` if the preview shows only the reference.
    fn shown_variable(
        &mut self,
        group: ValueGroup,
        name: &str,
        config: &EnvVarConfig,
        source: &str,
        value: Option<&Secret>,
    ) -> Option<Shown> {
        if group != ValueGroup::Variables {
            self.passes.insert((source.to_owned(), self.recipient.clone()));
        }
        let is_revealed = self.is_revealed(group, name);
        let (shown, state) = match (value, config.fallback()) {
            (Some(value), fallback) => {
                let text = value.expose();
                if config.is_secret || is_secret(name, text) || is_secret(source, text) {
                    self.secret_variables.insert(source.to_owned());
                }
                // If the variable keeps its name, its value was not chosen by the imported file, and may be secret.
                let is_shown = is_revealed && !(source == name && is_secret(name, text))
                    || group == ValueGroup::Variables && !config.is_secret && !is_secret(source, text);
                if is_shown {
                    // The first half of the hash suffices to detect a change.
                    let hash = hex(&Sha256::digest(text.as_bytes())[..16]);
                    (Some(Shown::Value(text.to_owned())), Some(hash))
                } else {
                    (None, fallback.map(|_| "set".to_owned()))
                }
            }
            (None, Some(default)) => (Some(Shown::Value(default.to_owned())), Some("unset".to_owned())),
            (None, None) => (None, is_revealed.then(|| "unset".to_owned())),
        };
        self.environment.extend(state.map(|state| (source.to_owned(), state)));
        shown
    }

    /// Resolves a literal value. A preview shows a value or default that the registry or the file fixes, because it is not a
    /// secret of the user.
    fn literal(&mut self, group: ValueGroup, name: &str, config: &EnvVarConfig) -> Found {
        let Some(text) = config.literal() else { return Found { value: None, shown: Shown::Nothing } };
        // If this text contains a variable whose value is missing, the variable itself is reported as missing.
        let (value, shown) = if group == ValueGroup::Variables {
            (text.to_owned(), text.to_owned())
        } else {
            self.pass_variables(text);
            self.filled(text)
        };
        let is_fixed = config.spec.as_ref().is_some_and(|spec| spec.value.is_some()) || config.value.is_none();
        let looks_secret = config.is_secret || (group != ValueGroup::Variables && is_secret(name, text));
        let is_hidden = looks_secret && !is_fixed && !self.is_revealed(group, name);
        Found { value: Some(Secret::new(value)), shown: if is_hidden { Shown::Secret } else { Shown::Value(shown) } }
    }

    fn value(&mut self, group: ValueGroup, name: &str, config: &EnvVarConfig) -> Found {
        let (mut found, is_secret) = match &config.secret_ref {
            Some(text) => self.referenced(group, name, config, text),
            None => (self.literal(group, name, config), config.is_secret),
        };
        let Some(value) = &found.value else { return found };
        if value.is_empty() && (is_secret || config.spec.as_ref().is_some_and(|spec| spec.is_required)) {
            found.value = None;
            return found;
        }
        if let Err(message) = check(group, config, value.expose()) {
            self.error.get_or_insert(HubError::validation(group.path(name), message));
        }
        if is_secret {
            self.secrets.push(value.clone());
            if let Some(text) = config.literal().filter(|_| group != ValueGroup::Variables) {
                self.hide_sources(text, std::slice::from_ref(value));
            }
        }
        found
    }

    /// Replaces the variables in `texts`, and records that the recipient gets them. Returns the texts, and what a preview shows
    /// of them.
    fn all_filled(&mut self, texts: &[String]) -> (Vec<String>, Vec<String>) {
        for text in texts {
            self.pass_variables(text);
        }
        texts.iter().map(|text| self.filled(text)).unzip()
    }

    /// Replaces the variables in `text`. Returns the text, and the text that a preview shows, with descriptions in place of
    /// secrets.
    fn filled(&self, text: &str) -> (String, String) {
        let value = |name: &str| Some(self.variables.get(name)?.value.as_ref()?.expose().to_owned());
        let shown = |name: &str| Some(self.variables.get(name)?.shown.inline(name));
        (fill(text, value), fill(text, shown))
    }
}

/// Checks a value against the rules of its group and of the registry. Returns the message for the user if the value is wrong.
fn check(group: ValueGroup, config: &EnvVarConfig, value: &str) -> Result<(), String> {
    check_text(group, value)?;
    match &config.spec {
        Some(spec) if Some(value) != config.fallback() => check_literal(spec, value),
        _ => Ok(()),
    }
}
