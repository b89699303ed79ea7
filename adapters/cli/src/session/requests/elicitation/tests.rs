//! Fills in forms and visits URLs with scripted input instead of a user.

use std::collections::VecDeque;

use mcpwire_tokio::protocol::Json;

use super::*;

/// A terminal at which a user types the given lines, and then ends the input.
struct Script {
    typed: VecDeque<&'static str>,
    shown: String,
}

impl Script {
    fn new(typed: &[&'static str]) -> Self {
        Script { typed: typed.iter().copied().collect(), shown: String::new() }
    }
}

impl Terminal for Script {
    fn show(&mut self, text: &str) {
        self.shown.push_str(&anstream::adapter::strip_str(text).to_string());
    }

    fn read(&mut self) -> Typed {
        self.typed.pop_front().map_or(Typed::End, |line| Typed::Line(line.to_owned()))
    }
}

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
    for wrong in
        ["must be filled in", "must have at least 2 characters", "must be at least 18", "must be yes or no", "not blue"]
    {
        assert!(shown.contains(wrong), "{wrong} in {shown}");
    }
}

#[test]
fn the_answers_can_be_changed_before_they_are_sent() {
    let form = r#"{"properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}"#;
    let (result, shown) = fill_in(form, &["one", "y", "edit", "two", "", "what", "yes"]);
    assert_eq!(result, r#"accept{"a":"two","b":true}"#);
    assert!(shown.contains("a [one]: ") && shown.contains("b [yes]: "), "{shown}");
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
fn a_text_may_start_with_a_mark() {
    let (result, _) = fill_in(r#"{"properties":{"a":{"type":"string"}}}"#, &["!!decline", ""]);
    assert_eq!(result, r#"accept{"a":"!decline"}"#);
}

#[test]
fn a_form_without_fields_asks_for_consent() {
    let (result, shown) = fill_in(r#"{"properties":{}}"#, &["no"]);
    assert_eq!(result, "decline");
    assert!(shown.contains("To be sent: {}"));
}

#[test]
fn what_a_server_calls_its_fields_is_made_safe() {
    let form =
        r#"{"properties":{"a\u001b]0;x\u0007\nb":{"type":"string","title":"T\u001b[2J","default":"d\u0008\u202e"}}}"#;
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
