//! Elicitation forms of servers. The user fills in a form at the terminal, field by field, and confirms before the values are
//! sent.
//!
//! Control characters are removed from all text of the server.

use std::fmt::Write as _;

use mcpwire_blocking::protocol::{
    ElicitAction, ElicitForm, ElicitResult, FieldSchema, FormField, Json, NumberKind, printable,
};
use owo_colors::OwoColorize;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::console::{Terminal, Typed};
use crate::text;

/// Maximum number of choices to list for a field of a form. The user can type the names of the other choices.
const MOST_CHOICES: usize = 50;

/// Error for a form or question that the user has left early. Contains the answer for the server: decline or cancel.
pub(super) struct Left(pub(super) ElicitAction);

/// The values that the user has entered in a form, each with the name of its field.
struct Filled<'f>(Vec<(&'f str, Json)>);

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
    let mut filled = Filled(Vec::new());
    loop {
        let mut answers = Filled(Vec::new());
        for (field, is_required) in form.requested_schema.fields() {
            let before = filled.get(&field.name).or_else(|| field.schema.default_value());
            if let Some(value) = one(terminal, field, is_required, before.as_ref())? {
                answers.0.push((&field.name, value));
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

/// Asks the user for the value of one form field until the input is valid. Empty input means `before`, if there is such a
/// value. Returns `None` if an optional field stays empty.
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
pub(super) fn word(terminal: &mut dyn Terminal) -> Result<String, Left> {
    match terminal.read() {
        Typed::End => Err(Left(ElicitAction::Cancel)),
        Typed::Line(line) => match line.trim() {
            "!decline" => Err(Left(ElicitAction::Decline)),
            "!cancel" => Err(Left(ElicitAction::Cancel)),
            _ if line.starts_with("!!") => Ok(line[1..].to_owned()),
            _ => Ok(line),
        },
    }
}

/// Formats a message of a server for the user. The first line is the name of the server and `does`, such as `calc asks:`. The
/// message follows below, indented.
pub(super) fn introduction(server: &str, does: &str, message: &str) -> String {
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
        _ => text::json_for_terminals(value.get()).to_string(),
    }
}

impl Filled<'_> {
    fn get(&self, name: &str) -> Option<Json> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }
}

impl Serialize for Filled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
pub(super) mod tests;
