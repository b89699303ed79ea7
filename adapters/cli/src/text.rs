//! Formats text of servers for a terminal: on one line, wrapped, or as JSON.

use std::fmt::Write;

use mcpwire_tokio::http::disguised_ipv4;
use mcpwire_tokio::protocol::{is_invisible, printable};
use textwrap::{Options, WordSplitter};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns the text on one line, without control characters and escape sequences. Each run of white space becomes one space.
pub(crate) fn line(text: &str) -> String {
    let printable = printable(text).to_string();
    let mut line = String::with_capacity(printable.len());
    for word in printable.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Shortens the text to at most `most` characters. Adds `…` if characters were removed.
pub(crate) fn cut(text: &mut String, most: usize) {
    if let Some((at, _)) = text.char_indices().nth(most) {
        text.truncate(at);
        text.push('…');
    }
}

/// Returns the text on one line, as [`line`] does, and shortened to at most `most` characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let mut short = line(text);
    cut(&mut short, most);
    short
}

/// Shortens the text to at most `columns` columns of a terminal. Adds `…` if characters were removed.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut fitting, mut used) = (String::new(), 1);
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        fitting.push(c);
    }
    fitting.truncate(fitting.trim_end().len());
    fitting.push('…');
    fitting
}

/// Returns a number of things, such as `1 tool` or `2 tools`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Prepares a name for the terminal: on one line, without control characters, and shortened to [`LONGEST_NAME`] characters. The
/// name may come from a server or a file.
pub(crate) fn name(text: &str) -> String {
    short(text, LONGEST_NAME)
}

/// Maximum length of a name on the terminal, in characters. Valid names of configured servers have at most 100 characters.
const LONGEST_NAME: usize = 100;

/// Formats a URL for a question to the user, on one line. If the host is an unusual spelling of an IPv4 address, appends the
/// address.
pub(crate) fn url(url: &str) -> String {
    let address = disguised_ipv4(url).map(|address| format!(" (the host {address})")).unwrap_or_default();
    line(url) + &address
}

/// Returns a URL on one line, with `?...` in place of its query and fragment, which may contain a secret.
pub(crate) fn url_without_query(url: &str) -> String {
    match url.split_once(['?', '#']) {
        Some((url, _)) => line(url) + "?...",
        None => line(url),
    }
}

/// Returns the name as one word of a shell command, in quotes if necessary.
pub(crate) fn word(name: &str) -> String {
    let name = line(name);
    let is_plain = |c: char| c.is_alphanumeric() || "@%+=:,./_-".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) { name } else { format!("'{}'", name.replace('\'', r"'\''")) }
}

/// Returns the command line that logs in to a server: `mcpwire login NAME`, or `mcpwire login --url URL` for a server that is not
/// configured. `verb` is `login` or `logout`.
pub(crate) fn login_command(
    verb: &str,
    server: Option<&str>,
    url: &str,
    account: Option<&str>,
    scopes: &[String],
) -> String {
    let mut command = match server {
        Some(name) => format!("mcpwire {verb} {}", word(name)),
        None => format!("mcpwire {verb} --url {}", word(&url_without_query(url))),
    };
    let scopes = scopes.iter().map(|scope| ("scope", scope.as_str()));
    for (option, value) in account.map(|account| ("account", account)).into_iter().chain(scopes) {
        // Writing to a string cannot fail.
        let _ = write!(command, " --{option} {}", word(value));
    }
    command
}

/// Returns the candidate whose name is most similar to `name`. Returns `None` if no name is so similar that `name` may be a
/// typing error.
pub(crate) fn nearest<'a, T>(name: &str, candidates: impl Iterator<Item = (&'a str, T)>) -> Option<T> {
    const LIKELY: f64 = 0.8;
    let name = name.to_lowercase();
    let rated = candidates.map(|(other, candidate)| (strsim::jaro_winkler(&name, &other.to_lowercase()), candidate));
    rated.filter(|(likeness, _)| *likeness >= LIKELY).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

/// Wraps a paragraph into lines of at most `width` columns, without breaking words. Returns one line if `width` is `None`.
///
/// The first line begins at column `start`, and the caller writes the text or the spaces before it. The other lines are indented by
/// `indent` columns.
pub(crate) fn wrap(paragraph: &str, width: Option<usize>, start: usize, indent: usize) -> String {
    let paragraph = line(paragraph);
    let Some(width) = width else { return paragraph };
    let first = paragraph.split(' ').next().unwrap_or_default();
    // If not even the first word fits on the first line, that line stays empty.
    let is_full = start + first.width() > width && start > indent;
    let start = if is_full { indent } else { start };
    let (first, others) = (" ".repeat(start.min(width)), " ".repeat(indent.min(width)));
    let options = Options::new(width).initial_indent(&first).subsequent_indent(&others);
    let options = options.break_words(false).word_splitter(WordSplitter::NoHyphenation);
    let filled = textwrap::fill(&paragraph, options);
    if is_full { format!("\n{filled}") } else { filled.trim_start().to_owned() }
}

/// Formats JSON text so that it is safe to show on a terminal, without changing its value. Control characters and invisible
/// characters are escaped as `\uXXXX`.
pub(crate) fn json_for_terminals(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Valid JSON strings contain none of these, so the character is between two tokens.
            '\n' | '\r' | '\t' => safe.push(' '),
            c if is_invisible(c) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                // Writing to a string cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }),
            c => safe.push(c),
        }
    }
    safe
}

/// Formats JSON on several lines, indented by two spaces per level.
///
/// Keeps the order of object members and the digits of numbers. The depth of nesting is not limited.
pub(crate) fn pretty_json(json: &str) -> String {
    let mut pretty = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let token = &rest[..token_length(rest, first)];
        rest = rest[token.len()..].trim_ascii_start();
        match first {
            '{' | '[' => {
                pretty.push_str(token);
                if !rest.starts_with(['}', ']']) {
                    depth += 1;
                    new_line(&mut pretty, depth);
                }
            }
            '}' | ']' => {
                if !pretty.ends_with(['{', '[']) {
                    depth = depth.saturating_sub(1);
                    new_line(&mut pretty, depth);
                }
                pretty.push_str(token);
            }
            ',' => {
                pretty.push_str(token);
                new_line(&mut pretty, depth);
            }
            ':' => pretty.push_str(": "),
            _ => pretty.push_str(&json_for_terminals(token)),
        }
    }
    pretty
}

/// Maximum indentation of formatted JSON, in levels. Without a limit, the size of the output would grow with the square of the
/// nesting depth.
const DEEPEST_INDENT: usize = 24;

fn new_line(pretty: &mut String, depth: usize) {
    pretty.push('\n');
    for _ in 0..depth.min(DEEPEST_INDENT) {
        pretty.push_str("  ");
    }
}

/// Returns the length of the JSON token at the start of `json`, in bytes. `first` is the first character of `json`.
fn token_length(json: &str, first: char) -> usize {
    match first {
        '"' => {
            let mut escaped = false;
            let end = json.bytes().skip(1).position(|byte| {
                let closes = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                closes
            });
            end.map_or(json.len(), |at| at + 2)
        }
        '{' | '}' | '[' | ']' | ',' | ':' => 1,
        _ => json
            .find(['{', '}', '[', ']', ',', ':', '"', ' ', '\t', '\n', '\r'])
            .filter(|at| *at > 0)
            .unwrap_or(json.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_breaks_and_no_escapes() {
        assert_eq!(line("  a\n\n b\tc \u{1b}[31md\u{1b}[0m "), "a b c d");
    }

    #[test]
    fn wrapping_keeps_to_the_width() {
        let lines = wrap("the quick brown fox jumps over the lazy dog", Some(20), 8, 4);
        assert_eq!(lines, "the quick\n    brown fox jumps\n    over the lazy\n    dog");
        assert_eq!(wrap("one\ntwo", None, 0, 0), "one two");
        assert_eq!(wrap("unbreakable", Some(4), 0, 0), "unbreakable");
        assert_eq!(wrap("", Some(10), 0, 0), "");
        assert_eq!(wrap("日本 日本", Some(7), 0, 0), "日本\n日本", "wide characters take two columns");
        // A word that does not fit after the start goes below.
        assert_eq!(wrap("unbreakable word", Some(16), 12, 4), "\n    unbreakable\n    word");
    }

    #[test]
    fn cutting_marks_the_cut() {
        assert_eq!([short("äöü", 3), short("äöü", 2)], ["äöü", "äö…"]);
        assert_eq!(name(&"x".repeat(70_000)).chars().count(), LONGEST_NAME + 1);
    }

    #[test]
    fn json_for_terminals_is_the_same_value_without_invisible_characters() {
        let json = "{\r\"a\":\"\u{9b}31m \u{202e} \u{7f} \u{e0041} ok\"}";
        let safe = json_for_terminals(json);
        assert_eq!(safe, r#"{ "a":"\u009b31m \u202e \u007f \udb40\udc41 ok"}"#);
        let [before, after] = [json, &safe].map(|json| serde_json::from_str::<serde_json::Value>(json).expect("JSON"));
        assert_eq!(before, after);
        for c in ['\u{200b}', '\u{200d}', '\u{ad}', '\u{2060}', '\u{3164}', '\u{fe0f}', '\u{61c}', '\u{e0100}'] {
            let shown = json_for_terminals(&format!("\"a{c}b\""));
            assert!(shown.is_ascii() && shown.contains("\\u"), "{shown}");
        }
        let text = "\"zażółć 日本 🎉\"";
        assert_eq!(json_for_terminals(text), text, "visible characters are kept");
    }

    #[test]
    fn pretty_json_keeps_order_digits_and_strings() {
        let json = r#" {"b":1.0, "a":[ ],"c":[1e400,{}, "x\"},[:"] , "d" : null}"#;
        let pretty = "{\n  \"b\": 1.0,\n  \"a\": [],\n  \"c\": [\n    1e400,\n    {},\n    \"x\\\"},[:\"\n  ],\n  \"d\": null\n}";
        assert_eq!(pretty_json(json.trim()), pretty);
        assert_eq!(pretty_json("\"text\""), "\"text\"");
    }

    #[test]
    fn pretty_json_survives_any_depth() {
        let deep = "[".repeat(20_000) + &"]".repeat(20_000);
        assert!(pretty_json(&deep).len() < 3_000_000);
    }
}
