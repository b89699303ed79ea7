//! Elicitation at the terminal: asks the user to fill in the form of a server, or to visit a URL.
//!
//! The user fills in the form field by field, and confirms the values before they are sent. A URL is shown with its host, and is
//! never opened.
//!
//! Control characters are removed from all text of the server.

use std::fmt::Write as _;

use mcpwire_tokio::protocol::{
    ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Extra, FieldSchema, FormField, Json, NumberKind, printable,
};
use owo_colors::OwoColorize;
use url::Url;

use crate::console::Terminal;
use crate::text;

/// Maximum number of choices to list for a field of a form. The user can type the names of the other choices.
const MOST_CHOICES: usize = 50;

/// Error for a form or question that the user has left early. Contains the answer for the server: decline or cancel.
struct Left(ElicitAction);

/// Asks the user to fill in a form of the server `server`. Returns the answer for the server.
pub(super) fn form(terminal: &mut dyn Terminal, server: &str, form: &ElicitForm) -> ElicitResult {
    let mut intro = introduction(server, "asks", &form.message);
    intro.push_str(
        &"  Press Enter for the default in brackets; type !decline to refuse, !cancel to dismiss.\n"
            .dimmed()
            .to_string(),
    );
    terminal.show(&intro);
    fill_in(terminal, form).unwrap_or_else(|Left(action)| action.into())
}

fn fill_in(terminal: &mut dyn Terminal, form: &ElicitForm) -> Result<ElicitResult, Left> {
    let mut filled = Extra::default();
    loop {
        let mut answers = Extra::default();
        for (field, is_required) in form.requested_schema.fields() {
            let before = filled.get(&field.name).cloned().or_else(|| field.schema.default_value());
            if let Some(value) = one(terminal, field, is_required, before.as_ref())? {
                answers.push(&*field.name, value);
            }
        }
        filled = answers;
        let result = ElicitResult::accept(&filled).map(|result| form.complete(result));
        match result {
            Ok(Ok(result)) if agrees(terminal, &result)? => return Ok(result),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => terminal.show(&format!("  {} {error}\n", "not yet:".red())),
            Err(_) => return Err(Left(ElicitAction::Cancel)),
        }
    }
}

/// Asks the user for the value of one form field until the input is valid. Empty input selects the value `before`, if there is
/// one. Returns `None` if an optional field stays empty.
fn one(
    terminal: &mut dyn Terminal,
    field: &FormField,
    is_required: bool,
    before: Option<&Json>,
) -> Result<Option<Json>, Left> {
    terminal.show(&question(field, is_required));
    let brackets = before.map(|value| format!(" [{}]", shown(&field.schema, value))).unwrap_or_default();
    loop {
        terminal.show(&format!("  {}{brackets}: ", text::line(&field.name).cyan()));
        let typed = word(terminal)?;
        let wrong = match (typed.as_str(), before) {
            ("", Some(value)) => return Ok(Some(value.clone())),
            ("", None) if !is_required => return Ok(None),
            ("", None) if !matches!(field.schema, FieldSchema::MultiSelect(_)) => "must be filled in".to_owned(),
            (typed, _) => match field.schema.parse_text(typed) {
                Ok(value) => return Ok(Some(value)),
                Err(problem) => problem.to_string(),
            },
        };
        terminal.show(&format!("  {} {wrong}\n", "invalid:".red()));
    }
}

/// Shows the values that the user has entered in a form, and asks whether to send them. Returns `false` if the user wants to
/// edit them.
fn agrees(terminal: &mut dyn Terminal, result: &ElicitResult) -> Result<bool, Left> {
    let content = result.content.as_ref().map_or("{}", Json::get);
    terminal.show(&format!("\n  To be sent: {}\n", text::json_for_terminals(content)));
    loop {
        terminal.show("  Send it? yes, edit, decline or cancel [yes]: ");
        match word(terminal)?.trim().to_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(true),
            "e" | "edit" => return Ok(false),
            "n" | "no" | "d" | "decline" => return Err(Left(ElicitAction::Decline)),
            "c" | "cancel" => return Err(Left(ElicitAction::Cancel)),
            _ => {}
        }
    }
}

/// Reads a line that the user types. The inputs `!decline` and `!cancel` end the dialogue with the error [`Left`]. At the start
/// of a line, `!!` stands for `!`.
fn word(terminal: &mut dyn Terminal) -> Result<String, Left> {
    let line = terminal.read().ok_or(Left(ElicitAction::Cancel))?;
    match line.trim() {
        "!decline" => Err(Left(ElicitAction::Decline)),
        "!cancel" => Err(Left(ElicitAction::Cancel)),
        _ if line.starts_with("!!") => Ok(line[1..].to_owned()),
        _ => Ok(line),
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

/// Returns the text that is shown above a form field: its title, type, description and choices.
fn question(field: &FormField, is_required: bool) -> String {
    let necessity = if is_required { ", required" } else { "" };
    let kind = format!("({}{necessity})", takes(&field.schema));
    let mut page = format!("\n  {} {}\n", text::line(field.display_name()).bold(), kind.dimmed());
    if let Some(description) = field.schema.description() {
        let _ = writeln!(page, "  {}", text::line(description));
    }
    let choices = match &field.schema {
        FieldSchema::Enum(schema) => schema.choices(),
        FieldSchema::MultiSelect(schema) => schema.choices(),
        _ => return page,
    };
    for (at, (value, title)) in choices.iter().take(MOST_CHOICES).enumerate() {
        let value_too = if value == title { String::new() } else { format!(" ({})", text::line(value)) };
        let _ = writeln!(page, "    {:>2}. {}{}", at + 1, text::line(title), value_too.dimmed());
    }
    if choices.len() > MOST_CHOICES {
        let _ = writeln!(page, "    ... and {} more", choices.len() - MOST_CHOICES);
    }
    page
}

/// Describes the values that a form field accepts, such as `whole number, 1 to 10`.
fn takes(schema: &FieldSchema) -> String {
    match schema {
        FieldSchema::String(schema) => {
            let kind = schema.format.as_ref().map_or_else(|| "text".to_owned(), |format| text::line(format.as_str()));
            kind + &range(schema.min_length, schema.max_length, " characters")
        }
        FieldSchema::Number(schema) => {
            let kind = if schema.kind == NumberKind::Integer { "whole number" } else { "number" };
            kind.to_owned() + &range(schema.minimum, schema.maximum, "")
        }
        FieldSchema::Boolean(_) => "yes or no".to_owned(),
        FieldSchema::Enum(_) => "one of these, by name or number".to_owned(),
        FieldSchema::MultiSelect(schema) => {
            "any of these, with commas between".to_owned() + &range(schema.min_items, schema.max_items, "")
        }
        _ => "JSON or text".to_owned(),
    }
}

fn range(min: Option<impl ToString>, max: Option<impl ToString>, unit: &str) -> String {
    match (min, max) {
        (None, None) => String::new(),
        (Some(min), None) => format!(", at least {}{unit}", min.to_string()),
        (None, Some(max)) => format!(", at most {}{unit}", max.to_string()),
        (Some(min), Some(max)) => format!(", {} to {}{unit}", min.to_string(), max.to_string()),
    }
}

/// Formats the value of a form field as the user would type it.
fn shown(schema: &FieldSchema, value: &Json) -> String {
    let title = |choices: Vec<(&str, &str)>, value: &str| {
        choices
            .into_iter()
            .find(|(known, _)| *known == value)
            .map_or_else(|| text::line(value), |(_, title)| text::line(title))
    };
    match (schema, value.decode::<String>(), value.decode::<Vec<String>>()) {
        (FieldSchema::Enum(schema), Ok(value), _) => title(schema.choices(), &value),
        (FieldSchema::MultiSelect(schema), _, Ok(values)) => {
            values.iter().map(|value| title(schema.choices(), value)).collect::<Vec<_>>().join(", ")
        }
        (FieldSchema::Boolean(_), ..) => if value.get() == "true" { "yes" } else { "no" }.to_owned(),
        (_, Ok(value), _) => text::line(&value),
        _ => text::json_for_terminals(value.get()),
    }
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
    use std::collections::VecDeque;

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

        fn read(&mut self) -> Option<String> {
            self.typed.pop_front().map(str::to_owned)
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
