//! [`CommandLines`]: command lines of a shell that repeat what a test has sent to a server.

use std::fmt::Write as _;
use std::time::Duration;

use mcpwire_testkit::robustness::{Finding, FindingKind, Repeat};
use mcpwire_tokio::McpServerDef;

use crate::args::{Options, Target, Variable, protocol_name};
use crate::text;

/// Minimum number of repetitions of a character that a command writes with `printf` instead of containing all of them.
const LONG_RUN: usize = 64;
/// Maximum length of a command. A longer one is left out.
const LONGEST: usize = 8_000;

/// Writes command lines for one server.
pub(crate) struct CommandLines<'a> {
    pub(crate) target: &'a Target,
    pub(crate) options: &'a Options,
    pub(crate) server: &'a McpServerDef,
    /// The maximum time of each request in the test.
    pub(crate) timeout: Duration,
    /// The lines that open a connection.
    pub(crate) opening: &'a [Vec<u8>],
}

impl CommandLines<'_> {
    /// Returns a command that sends the message of a finding, or `None` if it would be too long.
    pub(crate) fn repeat(&self, finding: &Finding) -> Option<String> {
        let timeout = (finding.kind == FindingKind::Hang).then(|| format!("--timeout {}s", self.timeout.as_secs_f64()));
        let command = match &finding.repeat {
            Repeat::Call { tool, arguments } => {
                let words = [quoted(tool.as_bytes()), quoted_json(arguments.get()), "--no-check".to_owned()];
                self.mcpwire("call", words.into_iter().chain(timeout))
            }
            Repeat::Request { method, params } => {
                let mut words = vec![quoted(method.as_bytes())];
                words.extend(params.as_ref().map(|params| quoted_json(params.get())));
                self.mcpwire("request", words.into_iter().chain(timeout))
            }
            Repeat::Lines(lines) => {
                let lines: Vec<String> = self.opening.iter().chain(lines).map(|line| quoted_line(line)).collect();
                let command = std::iter::once(&self.server.command).chain(&self.server.args);
                let command: Vec<String> = command.map(|word| quoted(word.as_bytes())).collect();
                // The server gets the end of its input a moment later, so that it can answer.
                format!("{{ printf '%s\\n' {}; sleep 1; }} | {}", lines.join(" "), command.join(" "))
            }
            _ => return None,
        };
        (command.len() <= LONGEST).then_some(command)
    }

    /// Returns a command line of this tool for the same server, with the options that change the server.
    fn mcpwire(&self, command: &str, words: impl Iterator<Item = String>) -> String {
        let mut line = format!("mcpwire {command}");
        if let Some(server) = &self.target.server {
            let _ = write!(line, " {}", text::word(server));
        }
        for word in words {
            let _ = write!(line, " {word}");
        }
        let protocol = protocol_name(self.options.protocol);
        if protocol != "auto" {
            let _ = write!(line, " --protocol {protocol}");
        }
        for variable in &self.options.variables {
            let _ = match variable {
                Variable::Set(name, value) => write!(line, " --env {}", quoted(format!("{name}={value}").as_bytes())),
                Variable::Inherit(name) => write!(line, " --env {}", quoted(name.as_bytes())),
            };
        }
        if let Some(directory) = &self.options.cwd {
            let _ = write!(line, " --cwd {}", quoted(directory.to_string_lossy().as_bytes()));
        }
        if let Some(directory) = &self.target.place.config_dir {
            let _ = write!(line, " --config-dir {}", quoted(directory.to_string_lossy().as_bytes()));
        }
        // The words are quoted unchanged, because one may be a script of several lines.
        let command: Vec<String> = self.target.command.iter().map(|word| quoted(word.as_bytes())).collect();
        let server = if command.is_empty() { self.target.to_words() } else { format!("-- {}", command.join(" ")) };
        if server.is_empty() { line } else { format!("{line} {server}") }
    }
}

/// Quotes JSON text for a shell. Characters that a terminal does not show are escaped.
fn quoted_json(json: &str) -> String {
    quoted(text::json_for_terminals(json).as_bytes())
}

/// Quotes a line of a test, which may be anything.
fn quoted_line(line: &[u8]) -> String {
    std::str::from_utf8(line).map_or_else(|_| quoted(line), quoted_json)
}

/// Quotes bytes as one word for a shell. Long runs of a character and bytes that are not text become calls of `printf`.
fn quoted(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(byte);
    let has_long_run = bytes.chunk_by(PartialEq::eq).any(|run| run.len() >= LONG_RUN);
    if !bytes.is_empty() && bytes.iter().all(is_plain) && !has_long_run {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut word = Vec::new();
    let mut text = Vec::new();
    // A terminal must not act on control characters.
    let is_control = |c: char| c.is_control() && c != '\n';
    let end_text = |word: &mut Vec<u8>, text: &mut Vec<u8>| {
        for chunk in text.utf8_chunks() {
            for part in chunk.valid().split_inclusive(is_control) {
                let shown = part.trim_end_matches(is_control);
                if !shown.is_empty() {
                    word.extend(format!("'{}'", shown.replace('\'', r"'\''")).bytes());
                }
                word.extend(escaped(&part.as_bytes()[shown.len()..]));
            }
            word.extend(escaped(chunk.invalid()));
        }
        text.clear();
    };
    for run in bytes.chunk_by(PartialEq::eq) {
        let byte = run[0];
        if run.len() < LONG_RUN || !byte.is_ascii_graphic() || byte == b'\'' || byte == b'\\' {
            text.extend(run);
            continue;
        }
        end_text(&mut word, &mut text);
        let other = if byte == b'0' { String::new() } else { format!(" | tr 0 '{}'", char::from(byte)) };
        word.extend(format!("\"$(printf %0{}d 0{other})\"", run.len()).bytes());
    }
    end_text(&mut word, &mut text);
    if word.is_empty() { "''".to_owned() } else { String::from_utf8_lossy(&word).into_owned() }
}

/// Returns bytes that are not text as a call of `printf`, or nothing if there are none.
fn escaped(bytes: &[u8]) -> Vec<u8> {
    let mut octal = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(octal, "\\{byte:03o}");
    }
    if octal.is_empty() { Vec::new() } else { format!("\"$(printf '{octal}')\"").into_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_bytes() {
        let long = [b"{\"a\":\"", &b"0".repeat(70)[..], b"\"}"].concat();
        for (bytes, word) in [
            (&b"plain-word"[..], "plain-word"),
            (b"", "''"),
            (b"it's", r"'it'\''s'"),
            (b"a\x1b[1m\nb", "'a'\"$(printf '\\033')\"'[1m\nb'"),
            (b"\xffa", "\"$(printf '\\377')\"'a'"),
            (&long, "'{\"a\":\"'\"$(printf %070d 0)\"'\"}'"),
            (&b"[".repeat(100), "\"$(printf %0100d 0 | tr 0 '[')\""),
        ] {
            assert_eq!(quoted(bytes), word);
            if cfg!(unix) {
                let shell = std::process::Command::new("sh").args(["-c", &format!("printf %s {word}")]).output();
                assert_eq!(shell.expect("a shell").stdout, bytes, "{word}");
            }
        }
    }
}
