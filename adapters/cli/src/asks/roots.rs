//! The folders that servers are told of.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mcpwire_blocking::protocol::Root;

use crate::failure::Failure;

/// A root as `--root` names it: a folder that exists, or an address that starts with `file://`.
pub(super) fn of_argument(argument: &str) -> Result<Root, Failure> {
    of_text(argument).map_err(|message| Failure::usage("root", message))
}

/// The same from anywhere.
pub(super) fn of_text(text: &str) -> Result<Root, String> {
    if text.starts_with("file://") {
        return Ok(Root::new(text));
    }
    let path = fs::canonicalize(text).map_err(|error| format!("the root {text} cannot be found: {error}"))?;
    let mut root = Root::new(uri(&path));
    root.name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(root)
}

/// The address of a file (RFC 8089).
fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    let path = path.as_os_str().as_encoded_bytes();
    // What Windows puts before paths that are canonical.
    let path = path.strip_prefix(br"\\?\").unwrap_or(path);
    if path.first() != Some(&b'/') {
        uri.push('/');
    }
    for byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(*byte)),
            b'\\' | b':' if cfg!(windows) => uri.push(if *byte == b':' { ':' } else { '/' }),
            other => {
                // Memory takes all that is written to it.
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
