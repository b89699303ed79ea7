//! Turns texts of a server into documentation: Markdown that shows the text, and nothing else.
//!
//! A code block in documentation is compiled and run as a test, so no text of a server may begin one. Links to items that do not
//! exist, HTML and bare URLs are warnings of `rustdoc`, and characters that change the direction of text are errors of `rustc`.

use mcpwire_types::is_invisible;

/// Maximum length of a text, in characters. The longest description of a known tool has about 15,000 characters.
const LONGEST_TEXT: usize = 20_000;

/// Maximum length of a name or value within a sentence, in characters.
const LONGEST_NAME: usize = 100;

/// Returns the Markdown that shows a text of several lines. White space at the start of lines is left out, because it could begin
/// a code block.
pub(crate) fn markdown(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let text: String = text.replace("\r\n", "\n").chars().take(LONGEST_TEXT).collect();
    for line in text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
        let line = escaped_line(line);
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n")
}

/// Returns the Markdown that shows a name or a value in code style, on one line and shortened.
pub(crate) fn code(text: &str) -> String {
    let text = one_line(text, LONGEST_NAME);
    if text.contains('`') || text.is_empty() { format!("\"{}\"", escaped_line(&text)) } else { format!("`{text}`") }
}

/// Returns a text on one line, without invisible characters, and shortened to at most `most` characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let visible: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(is_shown).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "for `filter`")]
fn is_shown(c: &char) -> bool {
    !is_invisible(*c)
}

fn escaped_line(line: &str) -> String {
    let words = line.split(char::is_whitespace).map(|word| word.chars().filter(is_shown).collect::<String>());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(|word| escaped_word(&word)).collect();
    let line = words.join(" ");
    // At the start of a line, these make headings and quotes.
    if line.starts_with(['#', '=']) { format!("\\{line}") } else { line }
}

fn escaped_word(word: &str) -> String {
    if let Some((before, url, after)) = split_url(word) {
        return format!("{}<{url}>{}", escape(before), escaped_word(after));
    }
    escape(word)
}

fn escape(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    let mut before = ' ';
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let is_special = match c {
            // Within a word, it is an ordinary character.
            '_' => !(before.is_alphanumeric() && rest.peek().is_some_and(|after| after.is_alphanumeric())),
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '~' | '|' | '&' => true,
            _ => false,
        };
        if is_special {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped
}

/// Splits a word at its first URL, which `rustdoc` wants as a link.
fn split_url(word: &str) -> Option<(&str, &str, &str)> {
    let at = [word.find("http://"), word.find("https://")].into_iter().flatten().min()?;
    let (before, from) = word.split_at(at);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=%".contains(c);
    let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
    let url = from[..end].trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '/');
    let host = url.split_once("://")?.1;
    host.starts_with(|c: char| c.is_ascii_alphanumeric()).then(|| (before, url, &from[url.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        for (text, shown) in [
            ("Adds two numbers.", "Adds two numbers."),
            ("", ""),
            ("  a \n\n\n\n b\r\nc  ", "a\n\nb\nc"),
            ("snake_case and _this_", "snake_case and \\_this\\_"),
            ("```rust\nstd::process::exit(1)\n```", "\\`\\`\\`rust\nstd::process::exit(1)\n\\`\\`\\`"),
            ("~~~\ncode\n~~~", "\\~\\~\\~\ncode\n\\~\\~\\~"),
            ("a\n\n    std::process::exit(1)\n", "a\n\nstd::process::exit(1)"),
            ("-       indented in a list", "- indented in a list"),
            ("\tcode", "code"),
            ("*/ /* \"\"\" \"# //", "\\*/ /\\* \"\"\" \"# //"),
            ("[Vec] [a](b) <b>x</b> &lt;", "\\[Vec\\] \\[a\\](b) \\<b\\>x\\</b\\> \\&lt;"),
            ("# Heading\n== x", "\\# Heading\n\\== x"),
            ("| a | b |", "\\| a \\| b \\|"),
            ("nul \0 bell \u{7} bidi \u{202e}x\u{2066}", "nul bell bidi x"),
            ("see https://example.com/a_b?c=*d*.", "see <https://example.com/a_b?c=*d>\\*."),
            ("(http://a.example)", "(<http://a.example>)"),
            ("[x](https://a.example/)", "\\[x\\](<https://a.example/>)"),
            ("http:// https://", "http:// https://"),
            ("a\\", "a\\\\"),
            ("line\u{2028}separator\u{b}tab", "line\nseparator\ntab"),
        ] {
            assert_eq!(markdown(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_name_in_a_sentence_is_code_on_one_line() {
        assert_eq!(code("add"), "`add`");
        assert_eq!(code("a\n`b`\u{202e}"), "\"a \\`b\\`\"");
        assert_eq!(code(""), "\"\"");
        assert_eq!(code(&"x".repeat(500)).chars().count(), 103);
    }

    #[test]
    fn a_long_text_ends_at_the_limit() {
        assert_eq!(markdown(&"x".repeat(LONGEST_TEXT + 5)).len(), LONGEST_TEXT);
    }
}
