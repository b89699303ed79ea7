//! [`Arguments`]: the arguments of a tool or prompt, as the command line gives them.
//!
//! They are one JSON object (as text, `@FILE` or `-`), or words:
//!
//! | word | value |
//! |---|---|
//! | `NAME=TEXT` | what the schema of the tool says: a number, `true`, `null`, a list, or else the text |
//! | `NAME=@FILE` | the content of the file, read as `TEXT` is |
//! | `NAME:=JSON` | this JSON value |
//! | `NAME:=@FILE` | the JSON value in the file |

mod check;

use std::path::Path;

use mcpwire_tokio::protocol::Json;

pub(crate) use self::check::{check, usage};
use crate::failure::Failure;
use crate::input::{read_file, read_stdin};
use crate::schema::{Node, Parameters};
use crate::text;

/// The arguments of a tool or prompt, as the command line gives them.
#[derive(Debug)]
pub(crate) enum Arguments {
    /// A JSON object.
    Object(Json),
    Words(Vec<Word>),
}

/// An argument that is given as a word, such as `city=Bern`.
#[derive(Debug)]
pub(crate) struct Word {
    name: String,
    value: Value,
}

#[derive(Debug)]
enum Value {
    /// From `NAME=TEXT`. The schema of the tool decides which JSON value the text becomes.
    Text(String),
    /// From `NAME:=JSON`.
    Json(Json),
}

impl Arguments {
    /// Reads the arguments of a command line. No words mean an empty object. Reads the files that the words name.
    ///
    /// # Errors
    /// If a file cannot be read, if JSON is invalid, or if a word is neither `NAME=VALUE` nor `NAME:=JSON`.
    pub(crate) fn read(words: &[String]) -> Result<Self, Failure> {
        match words {
            [] => object("the arguments", "{}").map(Self::Object),
            [word] if word == "-" || word.trim_start().starts_with(['{', '@']) => {
                read_object("the arguments", word).map(Self::Object)
            }
            words => words.iter().map(|word| Word::read(word)).collect::<Result<_, _>>().map(Self::Words),
        }
    }

    /// Returns whether the arguments are given as a JSON object, which needs no schema.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Returns the arguments as a JSON object. Where `parameters` is `None`, because the schema is not known, the values of
    /// `NAME=TEXT` are JSON strings.
    ///
    /// # Errors
    /// If a text is not of the type that the schema of the tool demands, or if a name is given twice and its value is no list.
    pub(crate) fn to_object(&self, parameters: Option<&Parameters<'_>>) -> Result<Json, Failure> {
        let words = match self {
            Self::Object(object) => return Ok(object.clone()),
            Self::Words(words) => words,
        };
        let mut names: Vec<&str> = Vec::new();
        for word in words {
            if !names.contains(&word.name.as_str()) {
                names.push(&word.name);
            }
        }
        let mut object = String::from("{");
        for name in names {
            let values: Vec<&Value> = words.iter().filter(|word| word.name == name).map(|word| &word.value).collect();
            let value = value_of(name, &values, parameters)?;
            if object.len() > 1 {
                object.push(',');
            }
            object += &string(name);
            object.push(':');
            object += &value;
        }
        object.push('}');
        Json::parse(&object).map_err(|error| wrong(format!("the arguments are not JSON: {error}")))
    }
}

impl Word {
    fn read(word: &str) -> Result<Self, Failure> {
        let Some((name, given)) = word.split_once('=').filter(|(name, _)| !name.is_empty() && *name != ":") else {
            let shown = text::short(word, 80);
            let is_name = word.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c));
            let message = if is_name {
                format!("the argument `{shown}` has no value: it must be {shown}=VALUE")
            } else {
                format!("the argument `{shown}` must be NAME=VALUE")
            };
            return Err(wrong(message).with_hint(HINT));
        };
        let (name, is_json) = name.strip_suffix(':').map_or((name, false), |name| (name, true));
        let given = match given.strip_prefix('@') {
            Some(path) => read_file("arguments", "", Path::new(path)).map_err(|failure| {
                failure.with_hint(format!(
                    "To pass the text itself: {}",
                    text::word(&format!("{name}:={}", string(given)))
                ))
            })?,
            None => given.to_owned(),
        };
        let value = if is_json {
            let json = Json::parse(given.trim());
            Value::Json(
                json.map_err(|error| wrong(format!("the value of `{}` is not JSON: {error}", text::name(name))))?,
            )
        } else {
            Value::Text(given)
        };
        Ok(Word { name: name.to_owned(), value })
    }
}

/// Returns the JSON text of the argument `name`, which was given with these values. Several values are the items of a list.
fn value_of(name: &str, values: &[&Value], parameters: Option<&Parameters<'_>>) -> Result<String, Failure> {
    let schema = parameters.and_then(|parameters| Some((parameters, parameters.get(name)?)));
    if let [value] = values {
        return json_of(name, value, schema);
    }
    let Some((parameters, items)) =
        schema.and_then(|(parameters, schema)| Some((parameters, parameters.items(schema)?)))
    else {
        return Err(wrong(format!("the argument `{}` is given twice, but it is no list", text::name(name))));
    };
    let items: Result<Vec<String>, Failure> =
        values.iter().map(|value| json_of(name, value, Some((parameters, items)))).collect();
    Ok(format!("[{}]", items?.join(",")))
}

/// Returns the JSON text of one value of the argument `name`. Without a schema, a text is a JSON string.
fn json_of(name: &str, value: &Value, schema: Option<(&Parameters<'_>, &Node)>) -> Result<String, Failure> {
    match (value, schema) {
        (Value::Json(json), _) => Ok(json.get().to_owned()),
        (Value::Text(text), None) => Ok(string(text)),
        (Value::Text(text), Some((parameters, schema))) => parameters.json_of(schema, text).map_err(|expected| {
            wrong(format!("the argument `{}` must be {expected}, not `{}`", text::name(name), text::short(text, 40)))
        }),
    }
}

/// Returns the text as a JSON string.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Reads a JSON object: the text itself, `@FILE`, or `-` for standard input. `what` is what the text itself is called in errors.
pub(crate) fn read_object(what: &str, word: &str) -> Result<Json, Failure> {
    if word == "-" {
        return object("standard input", &read_stdin("arguments")?);
    }
    match word.trim_start().strip_prefix('@') {
        Some(path) => object(&text::line(path), &read_file("arguments", "", Path::new(path))?),
        None => object(what, word),
    }
}

fn object(source: &str, text: &str) -> Result<Json, Failure> {
    let json =
        Json::parse(text.trim()).map_err(|error| wrong(format!("{source}: invalid JSON: {error}")).with_hint(HINT))?;
    if json.is_object() {
        Ok(json)
    } else {
        Err(wrong(format!("{source}: not a JSON object, such as {{\"name\":\"value\"}}")))
    }
}

/// How arguments are written.
const HINT: &str = "Arguments are words, such as message=hi, count:=3 or text=@notes.txt,\n\
    or one JSON object, such as '{\"message\":\"hi\"}', @FILE to read it from a file, or - to read it from standard input.";

fn wrong(message: String) -> Failure {
    Failure::usage("arguments", message)
}

#[cfg(test)]
mod tests;
