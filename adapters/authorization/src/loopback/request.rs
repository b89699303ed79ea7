//! Reads the HTTP requests of the browser that the login ends with, and writes the pages that it shows.

/// Maximum size of the head of a request, in bytes. 8 KiB: a code and a state are far shorter.
const MAX_HEAD: usize = 8 * 1024;

/// What a request is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Visit<'a> {
    /// The redirect of the authorization server. Contains the path and the query.
    Redirect(&'a str),
    /// A request for another path, such as `/favicon.ico`.
    OtherPath,
    /// A request that a page of another site may have caused, or no HTTP request.
    Refused,
    /// The head is incomplete.
    Incomplete,
}

/// Reads the head of a request. `host` is the host and port of the redirect URI, `path` its path.
///
/// The `Host` header must name the listener: a page of another site that has bound its name to this machine sends another one
/// (DNS rebinding).
pub(super) fn read<'a>(head: &'a [u8], host: &str, path: &str) -> Visit<'a> {
    let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return if head.len() < MAX_HEAD { Visit::Incomplete } else { Visit::Refused };
    };
    let Ok(head) = std::str::from_utf8(&head[..end]) else { return Visit::Refused };
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some("GET"), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Visit::Refused;
    };
    let mut hosts = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    if !(hosts.next().is_some_and(|value| value.eq_ignore_ascii_case(host)) && hosts.next().is_none()) {
        return Visit::Refused;
    }
    match target.split('?').next() {
        Some(found) if found == path => Visit::Redirect(target),
        _ => Visit::OtherPath,
    }
}

/// Returns the response with a page of this text. No script runs in the page, and it loads nothing.
pub(super) fn page(status: &str, text: &str) -> String {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcpwire</title>\
         <body style=\"font-family: sans-serif; margin: 4em auto; max-width: 30em\"><p>{text}</p></body></html>"
    );
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\nReferrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "127.0.0.1:7777";

    fn visit(head: &str) -> Visit<'_> {
        read(head.as_bytes(), HOST, "/callback")
    }

    #[test]
    fn the_redirect_is_read_whole() {
        let head =
            "GET /callback?code=a%20b&state=x&iss=https%3A%2F%2Fas HTTP/1.1\r\nhOST: 127.0.0.1:7777\r\nA: b\r\n\r\n";
        assert_eq!(visit(head), Visit::Redirect("/callback?code=a%20b&state=x&iss=https%3A%2F%2Fas"));
        for end in 0..head.len() {
            assert_eq!(visit(&head[..end]), Visit::Incomplete, "{end}");
        }
    }

    #[test]
    fn other_paths_are_no_redirects() {
        for path in ["/", "/favicon.ico", "/callback/x?code=a", "/callbackx", "//callback"] {
            let head = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n");
            assert_eq!(visit(&head), Visit::OtherPath, "{path}");
        }
    }

    #[test]
    fn requests_of_other_sites_are_refused() {
        for head in [
            "GET /callback HTTP/1.1\r\nHost: evil.example:7777\r\n\r\n",
            "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:7778\r\n\r\n",
            "GET /callback HTTP/1.1\r\n\r\n",
            "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:7777\r\nHost: evil\r\n\r\n",
            "POST /callback HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
            "GET /callback HTTP/2\r\nHost: 127.0.0.1:7777\r\n\r\n",
            "GET /callback x HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
            "GET\r\n\r\n",
            "\u{16}\u{3}\u{1}\r\n\r\n",
        ] {
            assert_eq!(visit(head), Visit::Refused, "{head:?}");
        }
        assert_eq!(read(&[b'x'; MAX_HEAD], HOST, "/"), Visit::Refused);
        assert_eq!(read(b"\xff\r\n\r\n", HOST, "/"), Visit::Refused);
    }
}
