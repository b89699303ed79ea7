//! Splits texts of imported files into plain text and references such as `${NAME}`, by the rules of each program.

use serde_json::Value;

use super::Dialect;
use super::members::{items, text_of};
use crate::config::{EnvVarConfig, EnvVarSpec};

/// A part of a text in an imported file: plain text, or a reference such as `${NAME}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// A reference to an environment variable. If the variable is not set, `unset` takes its place; if `unset` is `None`, the
    /// variable is required.
    Env {
        name: String,
        unset: Option<String>,
    },
    /// A reference to the VS Code input with this id, a value that the user has to enter.
    Input(String),
    /// A reference to the home directory of the user.
    Home,
    /// A reference to the path of the project folder.
    Workspace,
    /// A reference to the name of the project folder.
    WorkspaceName,
    /// A reference that only the program that owns the file can resolve, such as `${command:NAME}`.
    Unknown(String),
}

/// Splits a text of an imported file into plain text and references, by the rules of the program that owns the file. If the
/// program has no references, the whole text is one part.
pub(super) fn parts(dialect: Dialect, text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((part, length)) = reference(dialect, rest) {
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(part);
            rest = &rest[length..];
        } else {
            plain.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}

/// Returns the reference at the start of `text`, such as `${NAME}`, with its length in bytes. Returns `None` if there is no
/// reference at the start.
fn reference(dialect: Dialect, text: &str) -> Option<(Part, usize)> {
    if dialect == Dialect::Opencode {
        let inner = text.strip_prefix('{')?.split_once('}')?.0;
        let part = match inner.split_once(':')? {
            ("env", name) => env(name, Some("")),
            ("file", _) => Part::Unknown(format!("{{{inner}}}")),
            _ => return None,
        };
        return Some((part, inner.len() + "{}".len()));
    }
    let braced = text.strip_prefix("${").and_then(|rest| Some(rest.split_once('}')?.0));
    let Some(inner) = braced.filter(|inner| !inner.contains("${")) else {
        return unbraced(dialect, text);
    };
    let whole = &text[..inner.len() + "${}".len()];
    let part = match dialect {
        Dialect::ClaudeDesktop | Dialect::LmStudio | Dialect::Zed | Dialect::CodexToml => None,
        Dialect::ServerJson | Dialect::Opencode => None,
        Dialect::ClaudeCode => shell(inner, Some(whole)),
        Dialect::McpServers => shell(inner.strip_prefix("env:").unwrap_or(inner), None),
        Dialect::GeminiCli | Dialect::Goose => is_name(inner).then(|| env(inner, unset_of(dialect))),
        Dialect::Cline => inner.strip_prefix("env:").map(|name| env(name.trim(), Some(whole))),
        Dialect::AmazonQ => inner.strip_prefix("env:").map(|name| env(name, Some(&format!("${{{name}}}")))),
        Dialect::Cursor | Dialect::Windsurf | Dialect::VsCode => editor(dialect, inner, whole),
    };
    Some((part?, whole.len()))
}

fn env(name: &str, unset: Option<&str>) -> Part {
    Part::Env { name: name.to_owned(), unset: unset.map(str::to_owned) }
}

/// Parses the inside of `${VAR}` or `${VAR:-default}`. `unset` is the text that replaces `${VAR}` if the variable is not set.
fn shell(inner: &str, unset: Option<&str>) -> Option<Part> {
    let (name, unset) = inner.split_once(":-").map_or((inner, unset), |(name, default)| (name, Some(default)));
    is_name(name).then(|| env(name, unset))
}

/// Returns the text that replaces a reference such as `$VAR` if the variable is not set. Returns `None` if it must be set.
fn unset_of(dialect: Dialect) -> Option<&'static str> {
    (dialect == Dialect::GeminiCli).then_some("")
}

/// Parses a reference of Gemini CLI or Goose without braces: `$VAR`, or for Gemini CLI `%VAR%` on Windows.
fn unbraced(dialect: Dialect, text: &str) -> Option<(Part, usize)> {
    if !matches!(dialect, Dialect::GeminiCli | Dialect::Goose) {
        return None;
    }
    let (name, marks) = if let Some(rest) = text.strip_prefix('$') {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        (&rest[..end], "$")
    } else {
        let rest = text.strip_prefix('%').filter(|_| cfg!(windows) && dialect == Dialect::GeminiCli)?;
        (rest.split_once('%')?.0, "%%")
    };
    is_name(name).then(|| (env(name, unset_of(dialect)), name.len() + marks.len()))
}

/// Parses the inside of a reference of VS Code and its forks, such as `env:NAME`. `whole` is the reference with its braces.
fn editor(dialect: Dialect, inner: &str, whole: &str) -> Option<Part> {
    match (inner, inner.split_once(':')) {
        (_, Some(("env", name))) => Some(env(name, Some(""))),
        (_, Some(("input", id))) if dialect == Dialect::VsCode => Some(Part::Input(id.to_owned())),
        (_, Some(("file", _))) if dialect == Dialect::Windsurf => Some(Part::Unknown(whole.to_owned())),
        _ if dialect == Dialect::Windsurf => None,
        ("userHome", _) => Some(Part::Home),
        ("workspaceFolder", _) => Some(Part::Workspace),
        ("workspaceFolderBasename", _) => Some(Part::WorkspaceName),
        ("pathSeparator" | "/", _) => Some(Part::Text(std::path::MAIN_SEPARATOR.to_string())),
        (_, Some(("command" | "config", _))) => Some(Part::Unknown(whole.to_owned())),
        _ => None,
    }
}

/// Returns the entry `id` of `inputs` in a file of VS Code, a value that the user has to enter. Returns `None` if there is no such
/// entry.
pub(super) fn input(file: &Value, id: &str) -> Option<EnvVarConfig> {
    let input = items(file.get("inputs")).filter(|input| text_of(input, "id") == Some(id)).last()?;
    let of = |name: &str| text_of(input, name).map(str::to_owned);
    // A choice is a text, or an object with a `value`.
    let choice = |option: &Value| option.as_str().or_else(|| text_of(option, "value")).map(str::to_owned);
    let spec = EnvVarSpec {
        description: of("description"),
        is_required: true,
        default: of("default"),
        choices: items(input.get("options")).filter_map(choice).collect(),
        ..EnvVarSpec::default()
    };
    Some(EnvVarConfig::unset("").is_secret(input.get("password") == Some(&Value::Bool(true))).spec(spec))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Part {
        Part::Text(text.into())
    }

    #[test]
    fn each_dialect_knows_its_own_references() {
        let all = "${A} ${B:-c} $D ${env:E} ${input:f}";
        assert_eq!(parts(Dialect::ClaudeDesktop, all), [text(all)]);
        assert_eq!(parts(Dialect::Zed, all), [text(all)]);
        assert_eq!(
            parts(Dialect::ClaudeCode, all),
            [env("A", Some("${A}")), text(" "), env("B", Some("c")), text(" $D ${env:E} ${input:f}")]
        );
        assert_eq!(
            parts(Dialect::McpServers, all),
            [env("A", None), text(" "), env("B", Some("c")), text(" $D "), env("E", None), text(" ${input:f}")]
        );
        assert_eq!(
            parts(Dialect::GeminiCli, all),
            [env("A", Some("")), text(" ${B:-c} "), env("D", Some("")), text(" ${env:E} ${input:f}")]
        );
        assert_eq!(
            parts(Dialect::VsCode, all),
            [text("${A} ${B:-c} $D "), env("E", Some("")), text(" "), Part::Input("f".into())]
        );
        assert_eq!(parts(Dialect::Windsurf, all), [text("${A} ${B:-c} $D "), env("E", Some("")), text(" ${input:f}")]);
    }

    #[test]
    fn what_is_not_closed_or_has_no_name_is_text() {
        for plain in ["", "$", "${", "${}", "${A", "${1A}", "$1", "100%", "${A B}", "ä${ö}"] {
            for dialect in Dialect::ALL {
                assert_eq!(parts(dialect, plain), [text(plain)], "{dialect}");
            }
        }
        assert_eq!(parts(Dialect::Cursor, "${userHome}/x"), [Part::Home, text("/x")]);
        assert_eq!(parts(Dialect::VsCode, "${command:x}"), [Part::Unknown("${command:x}".into())]);
    }
}
