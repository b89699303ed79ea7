//! Where in a JSON text a byte lies, in words: `result.content[2].text`. Used on the way to an error, never else.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use super::scan::key_text;

/// A path longer than this helps nobody; the message that has one is built to be deep.
const MAX_DEPTH: usize = 32;

/// From this length on the rest of a path is left out: a key may be as long as its sender likes.
const MAX_LENGTH: usize = 200;

enum Step<'a> {
    Key(&'a [u8]),
    Index(usize),
}

/// The path of the value around byte `offset`; empty at the top.
pub(crate) fn path_at(text: &[u8], offset: usize) -> String {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut key: Option<&[u8]> = None;
    let mut depth_beyond = 0usize;
    let end = offset.min(text.len());
    let mut at = 0;
    while at < end {
        match text[at] {
            b'"' => {
                let start = at + 1;
                at = start;
                while at < end && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                key = Some(&text[start..at.min(end)]);
            }
            b':' if depth_beyond == 0 => {
                if let (Some(Step::Key(last)), Some(name)) = (steps.last_mut(), key) {
                    *last = name;
                }
            }
            b'{' | b'[' if steps.len() >= MAX_DEPTH => depth_beyond += 1,
            b'{' => steps.push(Step::Key(&[])),
            b'[' => steps.push(Step::Index(0)),
            b'}' | b']' if depth_beyond > 0 => depth_beyond -= 1,
            b'}' | b']' => {
                steps.pop();
            }
            b',' if depth_beyond == 0 => match steps.last_mut() {
                Some(Step::Index(index)) => *index += 1,
                Some(Step::Key(last)) => *last = &[],
                None => {}
            },
            _ => {}
        }
        at += 1;
    }
    render(&steps)
}

fn render(steps: &[Step<'_>]) -> String {
    let mut out = String::new();
    for step in steps {
        if out.len() > MAX_LENGTH {
            out.push('…');
            break;
        }
        match step {
            Step::Key([]) => {}
            Step::Key(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&crate::text::excerpt(key_text(name).as_bytes()));
            }
            Step::Index(index) => {
                let _ = write!(out, "[{index}]");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_names_keys_and_indexes() {
        let text = br#"{"id":1,"result":{"content":[{"type":"text"},{"type":"text","text":5}],"x":1}}"#;
        let at = |needle: &str| memchr::memmem::find(text, needle.as_bytes()).unwrap();
        assert_eq!(path_at(text, at("5}")), "result.content[1].text");
        assert_eq!(path_at(text, at("1}}")), "result.x");
        assert_eq!(path_at(text, at("1,\"result\"")), "id");
        assert_eq!(path_at(text, 0), "");
        assert_eq!(path_at(text, 10_000), "");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = alloc::vec![b'['; 100_000];
        assert!(path_at(&deep, deep.len()).len() <= 3 * MAX_DEPTH);
    }

    #[test]
    fn length_is_bounded() {
        let text = alloc::format!("{{\"{}\":", "\u{7f}".repeat(1000)).repeat(20);
        let path = path_at(text.as_bytes(), text.len());
        assert!(path.len() < 1000 && path.ends_with('…'), "{}", path.len());
    }
}
