//! Reads the JSON arguments of a tool or prompt from the command line, a file or standard input.

use std::path::Path;

use mcpwire_blocking::protocol::Json;

use crate::failure::Failure;
use crate::input;
use crate::text;

/// Reads the arguments of a tool or prompt. `argument` is a JSON object, `@FILE` for a file, or `-` for standard input. `None`
/// means an empty object.
pub(crate) fn read(argument: Option<&str>) -> Result<Json, Failure> {
    let (source, text) = match argument {
        None => return object("the arguments", "{}"),
        Some("-") => ("standard input".to_owned(), input::read_stdin("arguments")?),
        Some(argument) => match argument.strip_prefix('@') {
            Some(path) => (text::line(path), input::read_file("arguments", Path::new(path))?),
            None => return object("the arguments", argument),
        },
    };
    object(&source, &text)
}

fn object(source: &str, text: &str) -> Result<Json, Failure> {
    let json = Json::parse(text.trim()).map_err(|error| {
        wrong(format!("{source} are not JSON: {error}")).with_hint(
            "Arguments are one JSON object in quotes of the shell, such as '{\"message\":\"hi\"}',\n\
             or @FILE to read them from a file, or - to read them from standard input.",
        )
    })?;
    if json.is_object() {
        Ok(json)
    } else {
        Err(wrong(format!("{source} must be a JSON object, such as {{\"message\":\"hi\"}}")))
    }
}

fn wrong(message: String) -> Failure {
    Failure::usage("arguments", message)
}
