//! The prompts of the demo server, and the completion of arguments for prompts and the resource template.

use serde_json::{Value, json};

use crate::resources::weather_contents;
use crate::revision::Revision;
use crate::rpc::{Failure, Params, object, text};
use crate::tools::{CITIES, URI_TEMPLATE};

const LANGUAGES: [&str; 3] = ["English", "German", "Portuguese"];

/// Maximum number of values in the answer to `completion/complete` (2026-07-28, server/utilities/completion).
const MAX_VALUES: usize = 100;

/// Returns the definitions of all prompts for `prompts/list`, in the form of a protocol revision.
pub(crate) fn list(revision: Revision) -> Vec<Value> {
    let all = vec![
        json!({
            "name": "greeting",
            "title": "Greeting",
            "description": "Asks for a greeting.",
            "arguments": [
                { "name": "name", "description": "Who is to be greeted.", "required": true },
                { "name": "language", "description": "The language of the greeting. By default, English." },
            ],
        }),
        json!({
            "name": "forecast",
            "title": "Forecast",
            "description": "Asks what to wear in a city, with its weather as a resource.",
            "arguments": [{ "name": "city", "description": "The name of a city.", "required": true }],
        }),
    ];
    revision.without_unknown_titles(all)
}

/// Returns the result of `prompts/get`: the messages of a prompt, with the arguments filled in.
pub(crate) fn get(params: &Params) -> Result<Value, Failure> {
    let name = text(params, "name")?.unwrap_or_default();
    let arguments = &object(params, "arguments")?;
    let required = |argument: &str| {
        text(arguments, argument)?.ok_or_else(|| Failure::invalid_params(format!("argument {argument} is missing")))
    };
    match name {
        "greeting" => {
            let (name, language) = (required("name")?, text(arguments, "language")?.unwrap_or(LANGUAGES[0]));
            Ok(json!({
                "description": format!("A greeting for {name}"),
                "messages": [user_text(&format!("Write a short greeting for {name} in {language}."))],
            }))
        }
        "forecast" => {
            let city = required("city")?;
            let weather = json!({ "type": "resource", "resource": weather_contents(city) });
            Ok(json!({
                "description": format!("What to wear in {city}"),
                "messages": [
                    { "role": "user", "content": weather },
                    user_text(&format!("What should I wear in {city} today?")),
                ],
            }))
        }
        _ => Err(Failure::invalid_params(format!("Unknown prompt: {name}"))),
    }
}

fn user_text(text: &str) -> Value {
    json!({ "role": "user", "content": { "type": "text", "text": text } })
}

/// Returns the result of `completion/complete`: suggested values for an argument of a prompt or of the resource template.
pub(crate) fn complete(params: &Params) -> Result<Value, Failure> {
    let part = |name: &str| params.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
    let (reference, argument) = (&part("ref"), &part("argument"));
    let name = text(argument, "name")?.ok_or_else(|| Failure::invalid_params("argument must have a name"))?;
    let value = text(argument, "value")?.ok_or_else(|| Failure::invalid_params("argument must have a value"))?;
    let candidates: &[&str] = match (text(reference, "type")?, text(reference, "name")?, text(reference, "uri")?) {
        (Some("ref/prompt"), Some("greeting"), _) => match name {
            "language" => &LANGUAGES,
            "name" => &[],
            _ => return Err(unknown_argument(name)),
        },
        (Some("ref/prompt"), Some("forecast"), _) | (Some("ref/resource"), _, Some(URI_TEMPLATE)) => match name {
            "city" => &CITIES,
            _ => return Err(unknown_argument(name)),
        },
        _ => return Err(Failure::invalid_params("there is no prompt or resource template of this name")),
    };
    let prefix = value.to_lowercase();
    let matches: Vec<&str> =
        candidates.iter().copied().filter(|candidate| candidate.to_lowercase().starts_with(&prefix)).collect();
    let values = matches.get(..MAX_VALUES).unwrap_or(&matches);
    Ok(json!({
        "completion": { "values": values, "total": matches.len(), "hasMore": values.len() < matches.len() },
    }))
}

fn unknown_argument(name: &str) -> Failure {
    Failure::invalid_params(format!("Unknown argument: {name}"))
}
