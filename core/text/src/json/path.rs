//! Converts a byte offset in a JSON text to a path, such as `result.content[2].text`, for error messages.

use alloc::string::String;
use alloc::vec::Vec;

use super::lex::walk;
use super::scan::key_text;

/// Maximum number of segments in the path that an error message shows: 32. Only malicious messages nest values more
/// deeply; their paths are cut off.
const MAX_DEPTH: usize = 32;

/// Length in bytes after which the path in an error message ends with an ellipsis: 200. The server chooses the keys in
/// the path, so they may be long.
const MAX_LENGTH: usize = 200;

enum PathSegment<'a> {
    Key(&'a [u8]),
    Index(usize),
}

/// Returns the path of the value at the byte offset `offset` of a JSON text, such as `result.content[2].text`.
///
/// The path is empty if the value is not inside an object or array.
pub(super) fn path_at(text: &[u8], offset: usize) -> String {
    let text = &text[..offset.min(text.len())];
    let mut steps: Vec<PathSegment<'_>> = Vec::new();
    let mut last_string: &[u8] = &[];
    let mut depth_beyond = 0usize;
    walk(text, 0, |first, start, end| {
        match first {
            b'"' => last_string = text.get(start + 1..end - 1).unwrap_or_default(),
            b'{' | b'[' if steps.len() >= MAX_DEPTH => depth_beyond += 1,
            b'{' => steps.push(PathSegment::Key(&[])),
            b'[' => steps.push(PathSegment::Index(0)),
            b'}' | b']' if depth_beyond > 0 => depth_beyond -= 1,
            b'}' | b']' => drop(steps.pop()),
            _ if depth_beyond > 0 => {}
            b':' => {
                if let Some(PathSegment::Key(key)) = steps.last_mut() {
                    *key = last_string;
                }
            }
            b',' => match steps.last_mut() {
                Some(PathSegment::Index(index)) => *index += 1,
                Some(PathSegment::Key(key)) => *key = &[],
                None => {}
            },
            _ => {}
        }
        true
    });
    render(&steps)
}

/// Joins the segments of a path to a text such as `result.content[2].text`.
fn render(steps: &[PathSegment<'_>]) -> String {
    let mut out = String::new();
    for step in steps {
        if out.len() > MAX_LENGTH {
            out.push('…');
            break;
        }
        match step {
            PathSegment::Key([]) => {}
            PathSegment::Key(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&crate::excerpt(key_text(name).as_bytes()));
            }
            PathSegment::Index(index) => out = alloc::format!("{out}[{index}]"),
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
