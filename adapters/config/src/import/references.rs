//! Splits texts of imported files into plain text and references such as `${NAME}`, by the rules of each program.

use super::Dialect;

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
    /// A reference to the path of the project folder, or only to its name.
    Workspace {
        name_only: bool,
    },
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

/// Returns the reference at the start of `text`, such as `${NAME}`, with its length in bytes. `None` if there is no reference
/// there.
fn reference(dialect: Dialect, text: &str) -> Option<(Part, usize)> {
    let braced = || {
        let inner = text.strip_prefix("${")?;
        let inner = &inner[..inner.find('}')?];
        (!inner.contains("${")).then_some((inner, inner.len() + 3))
    };
    match dialect {
        Dialect::ClaudeDesktop | Dialect::Zed | Dialect::CodexToml | Dialect::ServerJson => None,
        Dialect::ClaudeCode => {
            let (inner, length) = braced()?;
            Some((shell(inner, Some(&text[..length]))?, length))
        }
        Dialect::McpServers => {
            let (inner, length) = braced()?;
            let inner = inner.strip_prefix("env:").unwrap_or(inner);
            Some((shell(inner, None)?, length))
        }
        Dialect::GeminiCli => gemini(text, braced()),
        Dialect::Cursor | Dialect::Windsurf | Dialect::VsCode => {
            let (inner, length) = braced()?;
            let part = editor(dialect, inner)?;
            Some((part.unwrap_or_else(|| Part::Unknown(text[..length].to_owned())), length))
        }
    }
}

/// Parses the inside of `${VAR}` or `${VAR:-default}`. `unset` is the text that replaces `${VAR}` if the variable is not set.
fn shell(inner: &str, unset: Option<&str>) -> Option<Part> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, unset),
    };
    is_name(name).then(|| Part::Env { name: name.to_owned(), unset: default.map(str::to_owned) })
}

fn gemini(text: &str, braced: Option<(&str, usize)>) -> Option<(Part, usize)> {
    let env = |name: &str| Part::Env { name: name.to_owned(), unset: Some(String::new()) };
    if let Some((inner, length)) = braced {
        return is_name(inner).then(|| (env(inner), length));
    }
    if let Some(after) = text.strip_prefix('$') {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        return is_name(&after[..end]).then(|| (env(&after[..end]), end + 1));
    }
    if cfg!(windows)
        && let Some(after) = text.strip_prefix('%')
        && let Some(end) = after.find('%')
        && is_name(&after[..end])
    {
        return Some((env(&after[..end]), end + 2));
    }
    None
}

/// Parses the inside of a reference of VS Code and its forks, such as `env:NAME`. Returns `Some(None)` for a reference that
/// only these programs can resolve, and `None` if this is not a reference.
#[expect(clippy::option_option, reason = "no reference, a known one, and one that only the other program can resolve")]
fn editor(dialect: Dialect, inner: &str) -> Option<Option<Part>> {
    if let Some(name) = inner.strip_prefix("env:") {
        return Some(Some(Part::Env { name: name.to_owned(), unset: Some(String::new()) }));
    }
    if let Some(id) = inner.strip_prefix("input:")
        && dialect == Dialect::VsCode
    {
        return Some(Some(Part::Input(id.to_owned())));
    }
    if dialect == Dialect::Windsurf {
        return None;
    }
    match inner {
        "userHome" => Some(Some(Part::Home)),
        "workspaceFolder" => Some(Some(Part::Workspace { name_only: false })),
        "workspaceFolderBasename" => Some(Some(Part::Workspace { name_only: true })),
        "pathSeparator" | "/" => Some(Some(Part::Text(std::path::MAIN_SEPARATOR.to_string()))),
        _ if inner.starts_with("command:") || inner.starts_with("config:") => Some(None),
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str, unset: Option<&str>) -> Part {
        Part::Env { name: name.into(), unset: unset.map(str::to_owned) }
    }

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
