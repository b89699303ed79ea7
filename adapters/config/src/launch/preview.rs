//! [`Preview`]: a description of what a configuration would start, for the user to review.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use mcpwire_client::http::disguised_ipv4;

/// A description of how a server would be started or contacted, for the user to review. It omits secret values, but shortens
/// nothing. `Display` escapes characters that could hide a part of the text.
///
/// `Display` is meant for people: the command is quoted as in a shell, although no shell is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// The program and its arguments. The list is empty for an HTTP server. Environment variables and defaults are replaced by their values;
    /// a stored or secret value is shown as its reference, such as `<env:NAME>`.
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
    /// The environment variables of this machine whose values are passed on, each with the process or host that gets its value.
    pub passes: Vec<(String, String)>,
    /// The hash of the configuration, and a line for each environment variable that decides what is started. The user's consent
    /// to start the server is valid for this text only.
    pub hash: String,
}

/// What a [`Preview`] shows of the value of an environment variable or header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl Preview {
    /// Returns the environment variables that have changed since the approval `consent`, to tell the user why a new approval is
    /// needed. Returns `None` if the configuration itself has changed.
    pub(super) fn changes_since<'a>(&'a self, consent: &'a str) -> Option<BTreeSet<&'a str>> {
        let (mut now, mut before) = (self.hash.lines(), consent.lines());
        if now.next() != before.next() {
            return None;
        }
        let (now, before): (BTreeSet<&str>, BTreeSet<&str>) = (now.collect(), before.collect());
        let name = |line: &&'a str| line.split_once('=').map_or(*line, |(name, _)| name);
        Some(now.symmetric_difference(&before).map(name).collect())
    }
}

impl Shown {
    /// Returns the text that a preview shows for the variable `name` within another text, such as an argument.
    pub(super) fn inline(&self, name: &str) -> String {
        match self {
            Shown::Value(value) => value.clone(),
            Shown::From(reference) => format!("<{reference}>"),
            Shown::Secret => format!("<secret {name}>"),
            Shown::Nothing => format!("{{{name}}}"),
        }
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(url) = &self.url {
            write!(f, "{}{}", escaped(url), address_of(url))?;
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
            write!(f, "\n  {name} {}{}", quoted(value), address_of(value))?;
        }
        for (name, recipient) in &self.passes {
            write!(f, "\n  gives the variable {} of this machine to {}", escaped(name), escaped(recipient))?;
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

/// Returns a remark if the host of a URL is an IPv4 address in an unusual form, such as a single number. Returns an empty text
/// for other hosts.
fn address_of(url: &str) -> String {
    disguised_ipv4(url).map(|address| format!(" (the host {address})")).unwrap_or_default()
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
        if mcpwire_core::is_invisible(c) || (c.is_whitespace() && c != ' ') {
            let _ = write!(escaped, "{}", c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped
}
