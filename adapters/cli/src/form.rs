//! [`Form`]: asks the user at the terminal to fill in a form, field by field: the form of a server, or the arguments of a tool.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcpwire_tokio::protocol::{ElicitAction, Extra, FieldSchema, FormField, FormSchema, Json, NumberKind, Tool};
use owo_colors::OwoColorize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::arguments::check;
use crate::console::Terminal;
use crate::failure::Failure;
use crate::schema::{LONGEST_SCHEMA, Node, Parameters};
use crate::text;

/// Maximum number of choices to list for a field of a form. The user can type the names of the other choices.
const MOST_CHOICES: usize = 50;

/// Error for a form or question that the user has left early. Contains the answer for the server: decline or cancel.
pub(crate) struct Left(pub(crate) ElicitAction);

/// A form that the user fills in.
pub(crate) struct Form<'a> {
    pub(crate) schema: &'a FormSchema,
    /// The parameters of the tool whose arguments the form asks for. They describe fields that the schema of a form cannot, such as
    /// lists of numbers. `None` for the form of a server.
    pub(crate) parameters: Option<&'a Parameters<'a>>,
    /// Checks the values of the whole form, and returns those to send.
    pub(crate) check: &'a dyn Fn(&Json) -> Result<Json, String>,
}

/// Asks the user for the arguments of a tool. `given` are the arguments of the command line, which the form offers as defaults.
///
/// # Errors
/// If the user leaves the form, or if the tool's schema cannot be read.
pub(crate) fn ask_for_arguments(
    terminal: &mut dyn Terminal,
    tool: &Tool,
    parameters: &Parameters<'_>,
    given: &Json,
) -> Result<Json, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::unreadable("the schema of the tool", &error.to_string());
    let member = |(name, schema): &(&str, &Node)| format!("{}:{}", Value::from(*name), schema.literal(LONGEST_SCHEMA));
    let properties: Vec<String> = parameters.properties().iter().map(member).collect();
    let (properties, required) = (properties.join(","), Value::from(parameters.required()));
    let schema = Json::parse(format!(r#"{{"type":"object","properties":{{{properties}}},"required":{required}}}"#));
    let schema: FormSchema = schema.and_then(|schema| schema.decode()).map_err(|error| unreadable(&error))?;
    let mut filled = Extra::default();
    for (name, value) in given.decode::<BTreeMap<String, Box<RawValue>>>().map_err(|error| unreadable(&error))? {
        filled.push(name, Json::parse(value.get()).map_err(|error| unreadable(&error))?);
    }
    let check = |content: &Json| check(tool, parameters, content).map(|()| content.clone());
    terminal.show(&format!(
        "{} {}\n{}",
        "?".green(),
        text::name(&tool.name).bold(),
        "  Press Enter for the default in brackets; type !cancel to leave without a call.\n".dimmed()
    ));
    let form = Form { schema: &schema, parameters: Some(parameters), check: &check };
    form.fill_in(terminal, filled)
        .map_err(|_| Failure::usage("arguments", "the form was left, and the tool was not called"))
}

impl Form<'_> {
    /// Asks for the value of each field, and then whether to send them. `filled` are values that the form offers as defaults.
    pub(crate) fn fill_in(&self, terminal: &mut dyn Terminal, mut filled: Extra) -> Result<Json, Left> {
        loop {
            let mut answers = Extra::default();
            for (field, is_required) in self.schema.fields() {
                let before = filled.get(&field.name).cloned().or_else(|| field.schema.default_value());
                if let Some(value) = self.one(terminal, field, is_required, before.as_ref())? {
                    answers.push(&*field.name, value);
                }
            }
            let content = Json::from_value(&answers).map_err(|_| Left(ElicitAction::Cancel))?;
            filled = answers;
            match (self.check)(&content) {
                Ok(content) if agrees(terminal, &content)? => return Ok(content),
                Ok(_) => {}
                Err(error) => terminal.show(&format!("  {} {error}\n", "not yet:".red())),
            }
        }
    }

    /// Asks the user for the value of one form field until the input is valid. Empty input selects the value `before`, if there is
    /// one. Returns `None` if an optional field stays empty.
    fn one(
        &self,
        terminal: &mut dyn Terminal,
        field: &FormField,
        is_required: bool,
        before: Option<&Json>,
    ) -> Result<Option<Json>, Left> {
        terminal.show(&self.question(field, is_required));
        let brackets = before.map(|value| format!(" [{}]", shown(&field.schema, value))).unwrap_or_default();
        loop {
            terminal.show(&format!("  {}{brackets}: ", text::line(&field.name).cyan()));
            let typed = word(terminal)?;
            let wrong = match (typed.as_str(), before) {
                ("", Some(value)) => return Ok(Some(value.clone())),
                ("", None) if !is_required => return Ok(None),
                ("", None) if !matches!(field.schema, FieldSchema::MultiSelect(_)) => "must be filled in".to_owned(),
                (typed, _) => match self.parsed(field, typed) {
                    Ok(value) => return Ok(Some(value)),
                    Err(problem) => problem,
                },
            };
            terminal.show(&format!("  {} {wrong}\n", "invalid:".red()));
        }
    }

    /// Returns the text that is shown above a form field: its title, type, description and choices.
    fn question(&self, field: &FormField, is_required: bool) -> String {
        let necessity = if is_required { ", required" } else { "" };
        let kind = format!("({}{necessity})", self.takes(field));
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

    /// Reads what the user has typed for a field. The error says what the field accepts.
    fn parsed(&self, field: &FormField, typed: &str) -> Result<Json, String> {
        match self.node(field) {
            Some((parameters, schema)) => {
                let json = parameters.json_of(schema, typed).map_err(|expected| format!("must be {expected}"))?;
                Json::parse(json).map_err(|error| error.to_string())
            }
            None => field.schema.parse_text(typed).map_err(|problem| problem.to_string()),
        }
    }

    /// Returns the schema of a tool's argument if it is more than the schema of a form can describe.
    fn node(&self, field: &FormField) -> Option<(&Parameters<'_>, &Node)> {
        let parameters = self.parameters.filter(|_| matches!(field.schema, FieldSchema::Unknown(_)))?;
        Some((parameters, parameters.get(&field.name)?))
    }

    /// Describes the values that a form field accepts, such as `whole number, 1 to 10`.
    fn takes(&self, field: &FormField) -> String {
        self.node(field)
            .map_or_else(|| takes(&field.schema), |(parameters, schema)| parameters.types(schema, 0).to_text())
    }
}

/// Shows the values that the user has entered in a form, and asks whether to send them. Returns `false` if the user wants to
/// edit them.
fn agrees(terminal: &mut dyn Terminal, content: &Json) -> Result<bool, Left> {
    terminal.show(&format!("\n  To be sent: {}\n", text::json_for_terminals(content.get())));
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
pub(crate) fn word(terminal: &mut dyn Terminal) -> Result<String, Left> {
    let line = terminal.read().ok_or(Left(ElicitAction::Cancel))?;
    match line.trim() {
        "!decline" => Err(Left(ElicitAction::Decline)),
        "!cancel" => Err(Left(ElicitAction::Cancel)),
        _ if line.starts_with("!!") => Ok(line[1..].to_owned()),
        _ => Ok(line),
    }
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

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A terminal at which a user types the given lines, and then ends the input.
    pub(crate) struct Script {
        pub(crate) typed: VecDeque<&'static str>,
        pub(crate) shown: String,
    }

    impl Script {
        pub(crate) fn new(typed: &[&'static str]) -> Self {
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

    /// Asks for the arguments of a tool with this schema. Returns the arguments or the message of the failure, and what was shown.
    fn asked(schema: &str, given: &str, typed: &[&'static str]) -> (String, String) {
        let json = |text: &str| Json::parse(text).expect("it is JSON");
        let tool: Tool = json(&format!(r#"{{"name":"draw","inputSchema":{schema}}}"#)).decode().expect("it is a tool");
        let root = Node::of_schema(schema).expect("it is a schema");
        let mut script = Script::new(typed);
        let asked = ask_for_arguments(&mut script, &tool, &Parameters::new(&root), &json(given));
        let asked = asked.map_or_else(|failure| failure.message().to_owned(), |arguments| arguments.get().to_owned());
        assert!(script.typed.is_empty(), "all that is typed is read: {}", script.shown);
        (asked, script.shown)
    }

    #[test]
    fn the_arguments_of_a_tool_are_asked_for_and_checked() {
        let schema = r##"{"type":"object","required":["size","tags"],"$defs":{"tags":{"type":"array","items":{"type":"integer"}}},
            "properties":{"size":{"type":"integer","minimum":1},"color":{"enum":["red","blue"]},"tags":{"$ref":"#/$defs/tags"},
            "style":{"type":"object","properties":{"bold":{"type":"boolean"}}},"note":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"##;
        let typed =
            ["", "0", "3", "2", "x", "[1,2]", r#"{"bold":7}"#, "plain", "", "", "", r#"{"bold":true}"#, "", "yes"];
        let (arguments, shown) = asked(schema, r#"{"tags":[9]}"#, &typed);
        assert_eq!(arguments, r#"{"size":3,"color":"blue","tags":[1,2],"style":{"bold":true},"note":"plain"}"#);
        for part in [
            "? draw\n",
            "size (whole number, at least 1, required)",
            "must be filled in",
            "must be at least 1",
            "tags (a list, required)\n  tags [[9]]: ",
            "must be an integer",
            "style (a JSON object)",
            "note (a text or null)",
            "not yet: wrong argument: style.bold",
            "  note [plain]: ",
        ] {
            assert!(shown.contains(part), "{part:?} in {shown}");
        }
    }

    #[test]
    fn a_form_that_is_left_calls_nothing() {
        let schema = r#"{"properties":{"a":{"type":"string"}}}"#;
        for typed in [&["!cancel"][..], &[], &["x", "no"]] {
            assert_eq!(asked(schema, "{}", typed).0, "the form was left, and the tool was not called", "{typed:?}");
        }
    }
}
