//! URLs that a server asks the user to visit. This tool shows a URL with its host, and never opens it.

use std::fmt::Write as _;

use mcpwire_blocking::protocol::{ElicitAction, ElicitUrl};
use owo_colors::OwoColorize;
use url::Url;

use super::dialogue::{Left, introduction, word};
use crate::console::Terminal;
use crate::text;

/// Shows a URL that a server asks the user to visit, and asks whether the user will visit it.
pub(super) fn url(terminal: &mut dyn Terminal, server: &str, url: &ElicitUrl) -> ElicitAction {
    let mut page = introduction(server, "asks you to visit a URL", &url.message);
    let parsed = Url::parse(&url.url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).map_or_else(|| "none".to_owned(), text::line);
    let _ = write!(page, "  address: {}\n  host:    {}\n", text::line(&url.url), host.bold());
    for warning in warnings(url, parsed.as_ref()) {
        let _ = writeln!(page, "  {} {warning}", "careful:".red());
    }
    page.push_str("  It is not opened for you. Open it in a browser yourself, if you trust it.\n");
    terminal.show(&page);
    loop {
        terminal.show("  Will you visit it? yes, no or cancel: ");
        match word(terminal) {
            Err(Left(action)) => return action,
            Ok(line) => match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return ElicitAction::Accept,
                "n" | "no" | "d" | "decline" => return ElicitAction::Decline,
                "c" | "cancel" => return ElicitAction::Cancel,
                _ => {}
            },
        }
    }
}

/// Returns warnings if the URL of an elicitation request is suspicious (MCP 2026-07-28, client/elicitation, "Safe URL
/// Handling").
///
/// `parsed` is the URL as browsers parse it (WHATWG URL standard), or `None` if the URL is invalid. If a browser would open
/// another host than the text of the URL shows, a warning names that host.
fn warnings(url: &ElicitUrl, parsed: Option<&Url>) -> Vec<String> {
    let text = url.url.as_str();
    let Some(parsed) = parsed else { return vec!["it is not a valid URL".to_owned()] };
    let host = parsed.host_str().unwrap_or_default();
    let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let written = url.host().unwrap_or_default();
    let authority =
        text.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let has_user = !parsed.username().is_empty() || parsed.password().is_some() || authority.contains('@');
    [
        (host.is_empty(), "it names no host".to_owned()),
        (parsed.scheme() != "https" && !is_local, "it is not https: others can read along".to_owned()),
        (
            host.split('.').any(|label| label.starts_with("xn--")),
            "its host is spelled in other letters (punycode)".to_owned(),
        ),
        (!text.is_ascii(), "it has letters that may look like others".to_owned()),
        (text.contains(['\t', '\n', '\r']), "it contains tabs or line breaks, which browsers ignore".to_owned()),
        (authority.contains('\\'), "it contains a backslash, which browsers read as a slash".to_owned()),
        (has_user, "what stands before the @ is not its host".to_owned()),
        (
            !host.is_empty() && !written.eq_ignore_ascii_case(host),
            format!("its host is written in a misleading way: a browser opens {}", text::line(host)),
        ),
    ]
    .into_iter()
    .filter_map(|(is_suspicious, warning)| is_suspicious.then_some(warning))
    .collect()
}

#[cfg(test)]
mod tests {
    use mcpwire_blocking::protocol::Json;

    use super::super::dialogue::tests::Script;
    use super::*;

    fn visit(url: &str, typed: &[&'static str]) -> (ElicitAction, String) {
        let text = format!(r#"{{"mode":"url","message":"Log in","url":"{url}"}}"#);
        let url: ElicitUrl = Json::parse(text).expect("it is JSON").decode().expect("it is an address");
        let mut script = Script::new(typed);
        let action = super::url(&mut script, "server", &url);
        (action, script.shown)
    }

    #[test]
    fn an_address_is_shown_whole_and_its_host_alone() {
        let (action, shown) = visit("https://login.example:8443/a/b?c=d#e", &["", "hm", "yes"]);
        assert_eq!(action, ElicitAction::Accept);
        assert!(shown.contains("address: https://login.example:8443/a/b?c=d#e\n  host:    login.example\n"), "{shown}");
        assert!(!shown.contains("careful"), "{shown}");
        assert_eq!(visit("https://a.b", &["no"]).0, ElicitAction::Decline);
        assert_eq!(visit("https://a.b", &["!decline"]).0, ElicitAction::Decline);
        assert_eq!(visit("https://a.b", &["cancel"]).0, ElicitAction::Cancel);
        assert_eq!(visit("https://a.b", &[]).0, ElicitAction::Cancel);
    }

    #[test]
    fn what_is_suspicious_in_an_address_is_said() {
        for (url, warning) in [
            ("https://good.example@evil.example/", "host:    evil.example"),
            ("https://good.example@evil.example/", "before the @"),
            ("http://plain.example/", "not https"),
            ("https://xn--pypal-4ve.example/", "punycode"),
            ("https://p\u{430}ypal.example/", "look like others"),
            ("mailto:a@b.example", "names no host"),
            ("not a url", "not a valid URL"),
            (r"https://good.example\tx.evil.example/", "tabs or line breaks"),
            (r"https://good\n.example/", "a browser opens good.example"),
            (r"https://good.example\t@evil.example/", "host:    evil.example"),
            ("https://evil%2eexample/", "a browser opens evil.example"),
            ("https://evil%2eexample/", "host:    evil.example"),
            ("https://good.example%2f.evil.example/", "not a valid URL"),
            ("https://2130706433/", "a browser opens 127.0.0.1"),
            ("https://good.example\u{3002}evil.example/", "a browser opens good.example.evil.example"),
            ("https://0x7f.1/", "a browser opens 127.0.0.1"),
            ("https:/evil.example/", "a browser opens evil.example"),
            ("https:evil.example/", "a browser opens evil.example"),
            (r"https://good.example\\.evil.example/", "backslash"),
        ] {
            let (_, shown) = visit(url, &[]);
            assert!(shown.contains(warning), "{warning} in {shown}");
        }
        for url in [
            "http://localhost:3000/",
            "http://127.0.0.1/",
            "http://[::1]:8/",
            "https://EXAMPLE.com/",
            "https://a.example/%2e?x=%09",
        ] {
            let (_, shown) = visit(url, &[]);
            assert!(!shown.contains("careful"), "{shown}");
        }
    }
}
