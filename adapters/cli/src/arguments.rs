//! Reads the JSON arguments of a tool or prompt from the command line, a file or standard input.

use std::fs;
use std::io::{self, Read};

use mcpwire_blocking::protocol::Json;

use crate::failure::Failure;

/// Reads the arguments of a tool or prompt. `argument` is a JSON object, `@FILE` for a file, or `-` for standard input. `None`
/// means an empty object.
pub(crate) fn read(argument: Option<&str>) -> Result<Json, Failure> {
    let (source, text) = match argument {
        None => return object("the arguments", "{}"),
        Some("-") => {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            ("standard input".to_owned(), read.map(|_| text))
        }
        Some(argument) => match argument.strip_prefix('@') {
            Some(path) => (path.to_owned(), fs::read_to_string(path)),
            None => return object("the arguments", argument),
        },
    };
    let text = text.map_err(|error| wrong(format!("could not read {source}: {error}")))?;
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
