//! [`Preview`]: a description of what a configuration would start, for the user to review.

use std::fmt::{self, Write as _};

use super::command;
use super::container::Container;
use super::instance::Instance;
use crate::config::{EnvVarConfig, McpConfig, McpPackageType, McpTransport, fill, names_in};
use crate::secrets::is_secret;

/// A description of how a server would be started or contacted, for the user to review. It omits secret values, but shortens
/// nothing. `Display` escapes characters that could hide a part of the text.
///
/// `Display` is meant for people: the command is quoted as in a shell, although no shell is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The program and its arguments. Empty for an HTTP server. A value that is stored elsewhere is shown as its reference,
    /// such as `<env:NAME>`.
    pub command: Vec<String>,
    /// The URL of an HTTP server, or `None` for a server that is started as a process.
    pub url: Option<String>,
    /// The path of the Unix socket on which an HTTP server listens, if there is one.
    pub unix_socket: Option<String>,
    /// The working directory of the server's process, or `None` for the working directory of the hub.
    pub cwd: Option<String>,
    /// The environment variables of the server's process. Each has its value, or the place where the value is stored.
    pub env: Vec<(String, Shown)>,
    /// The headers of the HTTP requests to the server. Each has its value, or the place where the value is stored.
    pub headers: Vec<(String, Shown)>,
    /// The certificate files and the proxy for HTTP requests, and the settings of logins, each with the name of its field in the
    /// configuration, such as `ca_file` or `oauth.issuer`.
    pub http: Vec<(String, String)>,
    /// The [`hash`](McpConfig::hash) of the configuration. The user's consent to start the server is valid for this hash only.
    pub hash: String,
}

/// What a [`Preview`] shows of the value of an environment variable or header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The value itself, because it is not secret.
    Value(String),
    /// The reference to the stored value, such as `env:NAME`.
    From(String),
    /// The value is secret, and is not shown.
    Secret,
    /// No value is configured.
    Nothing,
}

/// Describes how the hub would start or contact the server that `config` configures.
pub fn preview(config: &McpConfig) -> Preview {
    let shown = |values: &std::collections::BTreeMap<String, EnvVarConfig>| -> Vec<(String, Shown)> {
        values.iter().map(|(name, value)| (name.clone(), shown(config, value))).collect()
    };
    let filled = |args: &[String]| args.iter().map(|arg| described(config, arg)).collect::<Vec<String>>();
    let (url, argv) = match &config.transport {
        McpTransport::Http { url } => (Some(without_secret_query(&described(config, url))), Vec::new()),
        McpTransport::Stdio => {
            let is_docker = config.package.package_type == McpPackageType::Docker;
            let container = is_docker.then(|| Container::of(config, &Instance::default()));
            let (runtime_args, args) = (filled(&config.runtime_args), filled(&config.args));
            (None, argv(config, &runtime_args, &args, container.as_ref()))
        }
    };
    let mut env = shown(&config.env_vars);
    env.extend(config.inherit_env.iter().map(|name| (name.clone(), Shown::From(format!("env:{name}")))));
    Preview {
        command: argv,
        url,
        unix_socket: config.unix_socket.as_ref().map(|socket| socket.to_string_lossy().into_owned()),
        cwd: config.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned()),
        env,
        headers: shown(&config.headers),
        http: http(config),
        hash: config.hash(),
    }
}

fn http(config: &McpConfig) -> Vec<(String, String)> {
    let files = config.http_files().map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()));
    let proxy = config.proxy.iter().map(|proxy| ("proxy".to_owned(), proxy.clone()));
    let login = config.oauth.described().into_iter().map(|(name, text)| (name.to_owned(), text.into_owned()));
    files.chain(proxy).chain(login).collect()
}

/// Returns the command that starts the server, without the parts that differ at each start, such as the name of the container.
pub(crate) fn argv(
    config: &McpConfig,
    runtime_args: &[String],
    args: &[String],
    container: Option<&Container>,
) -> Vec<String> {
    let names = config.env_vars.keys().map(String::as_str);
    command::argv(config, runtime_args, args, container, names, &Instance::default())
}

fn shown(config: &McpConfig, value: &EnvVarConfig) -> Shown {
    if let Some(reference) = &value.secret_ref {
        return Shown::From(reference.clone());
    }
    match value.literal() {
        None => Shown::Nothing,
        Some(text) if value.is_secret || is_secret(&value.name, text) => Shown::Secret,
        Some(text) => Shown::Value(described(config, text)),
    }
}

/// Replaces each variable `{name}` in `text` by its value. A secret variable is replaced by a description of the secret
/// instead.
fn described(config: &McpConfig, text: &str) -> String {
    if names_in(text).next().is_none() {
        return text.to_owned();
    }
    let value = |name: &str| {
        let variable = config.variables.get(name)?;
        Some(match &variable.secret_ref {
            Some(reference) => format!("<{reference}>"),
            None if variable.is_secret => format!("<secret {name}>"),
            None => variable.literal().unwrap_or_default().to_owned(),
        })
    };
    let Ok(text) = fill::<std::convert::Infallible>(text, |name| Ok(value(name)));
    text
}

/// Replaces the values in the query of the URL `url` that are probably secret by `<secret>`.
fn without_secret_query(url: &str) -> String {
    let Some((address, query)) = url.split_once('?') else { return url.to_owned() };
    let (query, fragment) = query.split_at(query.find('#').unwrap_or(query.len()));
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !value.starts_with('<') && is_secret(name, value) => format!("{name}=<secret>"),
        _ => pair.to_owned(),
    };
    format!("{address}?{}{fragment}", query.split('&').map(shown).collect::<Vec<_>>().join("&"))
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(url) = &self.url {
            f.write_str(&escaped(url))?;
        } else {
            let words: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
            f.write_str(&words.join(" "))?;
        }
        if let Some(socket) = &self.unix_socket {
            write!(f, "\n  over {}", quoted(socket))?;
        }
        if let Some(cwd) = &self.cwd {
            write!(f, "\n  in {}", quoted(cwd))?;
        }
        for (name, value) in &self.env {
            write!(f, "\n  with {}={value}", escaped(name))?;
        }
        for (name, value) in &self.headers {
            write!(f, "\n  header {}: {value}", escaped(name))?;
        }
        for (name, value) in &self.http {
            write!(f, "\n  {name} {}", quoted(value))?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Value(value) => f.write_str(&quoted(value)),
            Shown::From(reference) => write!(f, "<{}>", escaped(reference)),
            Shown::Secret => f.write_str("<secret>"),
            Shown::Nothing => f.write_str("<nothing>"),
        }
    }
}

/// Quotes `word` as in a shell, if that is necessary, and escapes its invisible characters.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "@%+=:,./_-<>".contains(c);
    let word = escaped(word);
    if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Escapes the characters in `text` that could hide a part of it in a terminal, such as control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let is_plain = c == '\u{fffd}' || mcpwire_core::printable(c.encode_utf8(&mut [0; 4])).to_string() != "\u{fffd}";
        if c.is_control() || !is_plain || (c.is_whitespace() && c != ' ') {
            let _ = write!(escaped, "{}", c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped
}
