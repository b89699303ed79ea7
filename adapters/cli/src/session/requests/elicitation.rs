//! Elicitation at the terminal: asks the user to fill in the form of a server, or to visit a URL.
//!
//! The user fills in the form field by field, and confirms the values before they are sent. A URL is shown with its host, and is
//! never opened.
//!
//! Control characters are removed from all text of the server.

use std::fmt::Write as _;

use mcpwire_tokio::protocol::{ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Extra, Json, printable};
use owo_colors::OwoColorize;
use url::Url;

use crate::console::Terminal;
use crate::form::{Form, Left, word};
use crate::text;

/// Asks the user to fill in a form of the server `server`. Returns the answer for the server.
pub(super) fn form(terminal: &mut dyn Terminal, server: &str, form: &ElicitForm) -> ElicitResult {
    let mut intro = introduction(server, "asks", &form.message);
    intro.push_str(
        &"  Press Enter for the default in brackets; type !decline to refuse, !cancel to dismiss.\n"
            .dimmed()
            .to_string(),
    );
    terminal.show(&intro);
    let schema = &form.requested_schema;
    let check = |content: &Json| schema.complete(Some(content)).map_err(|error| error.to_string());
    match (Form { schema, parameters: None, check: &check }).fill_in(terminal, Extra::default()) {
        Ok(content) => {
            let mut result = ElicitResult::of(ElicitAction::Accept);
            result.content = Some(content);
            result
        }
        Err(Left(action)) => action.into(),
    }
}

/// Formats a message of a server for the user. The first line is the name of the server and `does`, such as `calc asks:`. The
/// message follows below, indented.
fn introduction(server: &str, does: &str, message: &str) -> String {
    let mut page = format!("{} {} {does}:\n", "?".green(), server.bold());
    for line in printable(message).to_string().lines() {
        let _ = writeln!(page, "  {}", text::line(line));
    }
    page
}

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
    use super::*;
    use crate::form::tests::Script;

    fn fill_in(schema: &str, typed: &[&'static str]) -> (String, String) {
        let text = format!(r#"{{"message":"Who are\n\u001b[31myou?","requestedSchema":{schema}}}"#);
        let form: ElicitForm = Json::parse(text).expect("it is JSON").decode().expect("it is a form");
        let mut script = Script::new(typed);
        let result = super::form(&mut script, "server", &form);
        assert!(script.typed.is_empty(), "all that is typed is read: {}", script.shown);
        let content = result.content.map(|content| content.get().to_owned()).unwrap_or_default();
        (format!("{}{content}", result.action), script.shown)
    }

    const PERSON: &str = r#"{"properties":{
        "name":{"type":"string","title":"Your name","description":"As on the door","minLength":2},
        "age":{"type":"integer","minimum":18,"default":30},
        "sure":{"type":"boolean"},
        "color":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}],"default":"g"},
        "pets":{"type":"array","items":{"enum":["cat","dog","eel"]},"maxItems":2}
    },"required":["name","pets"]}"#;

    #[test]
    fn fields_are_asked_for_one_by_one() {
        let (result, shown) = fill_in(PERSON, &["Ada", "", "", "red", "cat, 3", ""]);
        assert_eq!(result, r#"accept{"name":"Ada","age":30,"color":"r","pets":["cat","eel"]}"#);
        for part in [
            "? server asks:\n  Who are\n  you?\n",
            "Your name (text, at least 2 characters, required)\n  As on the door\n  name: ",
            "age (whole number, at least 18)\n  age [30]: ",
            "sure (yes or no)",
            "     1. Red (r)\n     2. Green (g)\n  color [Green]: ",
            "pets (any of these, with commas between, at most 2, required)",
            "To be sent: {\"name\":\"Ada\"",
        ] {
            assert!(shown.contains(part), "{part:?} in {shown}");
        }
        assert!(!shown.contains('\u{1b}'));
    }

    #[test]
    fn what_does_not_fit_is_asked_for_again() {
        let (result, shown) =
            fill_in(PERSON, &["", "A", "Ada", "x", "7", "40", "maybe", "y", "blue", "2", "a,b", "dog", "yes"]);
        assert_eq!(result, r#"accept{"name":"Ada","age":40,"sure":true,"color":"g","pets":["dog"]}"#);
        for wrong in [
            "must be filled in",
            "must have at least 2 characters",
            "must be at least 18",
            "must be yes or no",
            "not blue",
        ] {
            assert!(shown.contains(wrong), "{wrong} in {shown}");
        }
    }

    #[test]
    fn the_person_can_decline_and_dismiss_at_any_place() {
        for (typed, result) in [
            (&["!decline"][..], "decline"),
            (&["Ada", "!cancel"], "cancel"),
            (&["Ada", "", " !decline "], "decline"),
            (&[], "cancel"),
            (&["Ada", "", "", "", "cat", "decline"], "decline"),
            (&["Ada", "", "", "", "cat", "cancel"], "cancel"),
            (&["Ada", "", "", "", "cat"], "cancel"),
        ] {
            assert_eq!(fill_in(PERSON, typed).0, result, "{typed:?}");
        }
    }

    #[test]
    fn the_answers_are_shown_and_can_be_changed_before_they_are_sent() {
        let two = r#"{"properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}"#;
        let text = r#"{"properties":{"a":{"type":"string"}}}"#;
        for (form, typed, result, parts) in [
            (
                two,
                &["one", "y", "edit", "two", "", "what", "yes"][..],
                r#"accept{"a":"two","b":true}"#,
                ["a [one]: ", "b [yes]: "],
            ),
            // A text may start with a mark.
            (text, &["!!decline", ""], r#"accept{"a":"!decline"}"#, ["a: ", r#"To be sent: {"a":"!decline"}"#]),
            (r#"{"properties":{}}"#, &["no"], "decline", ["To be sent: {}", ""]),
        ] {
            let (given, shown) = fill_in(form, typed);
            assert_eq!(given, result, "{typed:?}");
            assert!(parts.iter().all(|part| shown.contains(part)), "{parts:?} in {shown}");
        }
    }

    #[test]
    fn what_a_server_calls_its_fields_is_made_safe() {
        let form = r#"{"properties":{"a\u001b]0;x\u0007\nb":{"type":"string","title":"T\u001b[2J","default":"d\u0008\u202e"}}}"#;
        let (_, shown) = fill_in(form, &["", ""]);
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{8}', '\u{202e}']), "{shown:?}");
    }

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
