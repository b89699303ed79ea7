//! Converts folders and `file:` URIs to the roots that the client offers to servers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mcpwire_blocking::protocol::Root;

use crate::failure::Failure;

/// Parses the value of `--root`: the path of an existing folder, or a URI that starts with `file://`.
pub(super) fn of_argument(argument: &str) -> Result<Root, Failure> {
    of_text(argument).map_err(|message| Failure::usage("root", message))
}

/// Parses a folder or a `file:` URI as [`of_argument`] does, but returns an error as text.
pub(super) fn of_text(text: &str) -> Result<Root, String> {
    if text.starts_with("file://") {
        return Ok(Root::new(text));
    }
    let path = fs::canonicalize(text).map_err(|error| format!("the root {text} cannot be found: {error}"))?;
    let mut root = Root::new(uri(&path));
    root.name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(root)
}

/// Returns the `file:` URI of an absolute path (RFC 8089).
fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    let path = path.as_os_str().as_encoded_bytes();
    // `canonicalize` adds this prefix on Windows.
    let path = path.strip_prefix(br"\\?\").unwrap_or(path);
    if path.first() != Some(&b'/') {
        uri.push('/');
    }
    for byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(*byte)),
            b'\\' | b':' if cfg!(windows) => uri.push(if *byte == b':' { ':' } else { '/' }),
            other => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_escaped() {
        assert_eq!(uri(Path::new("/home/me/my project/ä#1%")), "file:///home/me/my%20project/%C3%A4%231%25");
        assert_eq!(uri(Path::new("/")), "file:///");
    }

    #[test]
    fn a_root_is_a_folder_or_an_address() {
        let root = of_text("/usr/../usr").expect("it is there");
        assert_eq!((root.uri.as_str(), root.name.as_deref()), ("file:///usr", Some("usr")));
        assert_eq!(of_text("file:///not/there").expect("it is an address").uri, "file:///not/there");
        assert!(of_text("/not/there").is_err());
    }
}
