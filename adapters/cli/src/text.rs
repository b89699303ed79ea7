//! Text from servers, laid out for a terminal: one line of it, wrapped, or as JSON.

use std::fmt::{self, Write};

use mcpwire_blocking::protocol::printable;
use unicode_width::UnicodeWidthStr;

/// The text on one line: what could drive a terminal is gone, each run of white space is one space.
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

/// Cuts the text to so many characters, marking the cut.
pub(crate) fn cut(text: &mut String, most: usize) {
    if let Some((at, _)) = text.char_indices().nth(most) {
        text.truncate(at);
        text.push('…');
    }
}

/// The lines of one paragraph, no wider than `width` where words allow it. Without a width it is one line.
///
/// The first line starts at column `start`, the others at `indent`; the caller writes what stands before them.
pub(crate) fn wrap(paragraph: &str, width: Option<usize>, start: usize, indent: usize) -> Vec<String> {
    let Some(width) = width else {
        return vec![line(paragraph)];
    };
    let paragraph = line(paragraph);
    let mut lines = vec![String::new()];
    let mut column = start;
    for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
        let current = lines.last().map_or(0, String::len);
        let wide = word.width();
        if current > 0 && column + 1 + wide > width
            || current == 0 && lines.len() == 1 && column + wide > width && start > indent
        {
            lines.push(String::new());
            column = indent;
        }
        if let Some(current) = lines.last_mut() {
            if !current.is_empty() {
                current.push(' ');
                column += 1;
            }
            current.push_str(word);
            column += wide;
        }
    }
    lines
}

/// A JSON text that a terminal can show: the same value, with each character that could drive a terminal written as
/// an escape.
pub(crate) fn json_for_terminals(json: &str) -> impl fmt::Display + '_ {
    JsonForTerminals(json)
}

struct JsonForTerminals<'a>(&'a str);

impl fmt::Display for JsonForTerminals<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_risky(*c)) {
            f.write_str(&rest[..at])?;
            rest = &rest[at + c.len_utf8()..];
            match c {
                // Inside a string JSON has none of these, so it stands between two tokens.
                '\n' | '\r' | '\t' => f.write_char(' ')?,
                c => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))?,
            }
        }
        f.write_str(rest)
    }
}

/// Control characters, and those that reorder or hide text.
fn is_risky(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A JSON text over several lines, two spaces a level. It is laid out as text: members keep their order and numbers
/// their digits, and no depth of nesting is too much.
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
            _ => {
                // A string takes all that is written to it.
                let _ = write!(pretty, "{}", json_for_terminals(token));
            }
        }
    }
    pretty
}

/// Deeper levels stand no further right: a hostile nesting must not make a line of it for each level.
const DEEPEST_INDENT: usize = 24;

fn new_line(pretty: &mut String, depth: usize) {
    pretty.push('\n');
    for _ in 0..depth.min(DEEPEST_INDENT) {
        pretty.push_str("  ");
    }
}

/// The length of the token that `json` starts with, whose first character is `first`.
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
        assert_eq!(lines, ["the quick", "brown fox jumps", "over the lazy", "dog"]);
        assert_eq!(wrap("one\ntwo", None, 0, 0), ["one two"]);
        assert_eq!(wrap("unbreakable", Some(4), 0, 0), ["unbreakable"]);
        assert_eq!(wrap("", Some(10), 0, 0), [""]);
        assert_eq!(wrap("日本 日本", Some(7), 0, 0), ["日本", "日本"], "wide characters take two columns");
    }

    #[test]
    fn a_word_that_does_not_fit_after_the_start_goes_below() {
        assert_eq!(wrap("unbreakable word", Some(16), 12, 4), ["", "unbreakable", "word"]);
    }

    #[test]
    fn cutting_marks_the_cut() {
        let mut text = "äöü".to_owned();
        cut(&mut text, 3);
        assert_eq!(text, "äöü");
        cut(&mut text, 2);
        assert_eq!(text, "äö…");
    }

    #[test]
    fn json_for_terminals_is_the_same_value() {
        let json = "{\r\"a\":\"\u{9b}31m \u{202e} \u{7f} \u{e0041} ok\"}";
        let safe = json_for_terminals(json).to_string();
        assert_eq!(safe, r#"{ "a":"\u009b31m \u202e \u007f \udb40\udc41 ok"}"#);
        let [before, after] = [json, &safe].map(|json| serde_json::from_str::<serde_json::Value>(json).expect("JSON"));
        assert_eq!(before, after);
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
