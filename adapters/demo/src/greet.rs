//! The tool `greet`, which asks the user for a name before it answers. It shows how a server asks in each era.
//!
//! During the call, a legacy client receives a request. A modern client receives an `input_required` result, and calls the tool
//! again with the user's input.

use serde_json::{Value, json};

use crate::output::{Output, object};
use crate::revision::Revision;
use crate::rpc::{Failure, Params};

/// The key under which `inputRequests` and `inputResponses` contain the elicitation.
const KEY: &str = "person";
/// The value of `requestState`. The client returns it with the input, so the server stores no state for the call.
const STATE: &str = "greet";

/// Returns the tool's result for a legacy client, from the client's answer to the elicitation.
pub(crate) fn answered(message: &Value) -> Output {
    match (message.get("result"), message.get("error")) {
        (Some(answer), _) => greeting(answer),
        (None, error) => {
            let reason = error.and_then(|error| error.get("message")).and_then(Value::as_str);
            Output::error(format!("greet: the client did not ask: {}", reason.unwrap_or("no reason given")))
        }
    }
}

/// Returns the tool's result for a modern client: `input_required` at the first call, and the greeting when the client repeats
/// the call with the input.
pub(crate) fn modern(params: &Params, revision: Revision) -> Result<Value, Failure> {
    let Some(answers) = params.get("inputResponses") else {
        return Ok(json!({
            "resultType": "input_required",
            "inputRequests": { KEY: { "method": "elicitation/create", "params": question() } },
            "requestState": STATE,
        }));
    };
    if params.get("requestState").and_then(Value::as_str) != Some(STATE) {
        return Err(Failure::invalid_params("requestState must come back as it was sent"));
    }
    let answer = answers.get(KEY).ok_or_else(|| Failure::invalid_params(format!("inputResponses must have {KEY}")))?;
    Ok(greeting(answer).into_result(revision))
}

/// Returns whether the client's capabilities include elicitation by forms, so that the server may ask the user.
pub(crate) fn can_be_asked(capabilities: Option<&Value>) -> bool {
    let elicitation = capabilities.and_then(|capabilities| capabilities.get("elicitation"));
    elicitation.is_some_and(|modes| modes.get("form").is_some() || modes.get("url").is_none())
}

pub(crate) fn cannot_be_asked() -> Output {
    Output::error("greet: the client has not declared that it can ask the user (elicitation)")
}

/// Returns the definition of the tool `greet` for `tools/list`.
pub(crate) fn tool() -> Value {
    json!({
        "name": "greet",
        "title": "Greet",
        "description": "Asks the user who they are, and greets them.",
        "inputSchema": object(json!({}), &[]),
    })
}

pub(crate) fn question() -> Value {
    json!({
        "message": "Who is to be greeted, and how?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "first_name": { "type": "string", "title": "Your name", "minLength": 1, "maxLength": 40 },
                "times": {
                    "type": "integer", "title": "How often", "description": "How many greetings you want.",
                    "minimum": 1, "maximum": 5, "default": 1,
                },
                "language": {
                    "type": "string", "title": "Language", "enum": ["en", "pt", "de"],
                    "enumNames": ["English", "Português", "Deutsch"], "default": "en",
                },
                "loud": { "type": "boolean", "title": "Loudly", "default": false },
            },
            "required": ["first_name"],
        },
    })
}

fn greeting(answer: &Value) -> Output {
    let content = |name: &str| answer.get("content").and_then(|content| content.get(name));
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => {}
        Some("decline") => return Output::text("No greeting, then."),
        _ => return Output::text("Nobody was there to be greeted."),
    }
    let Some(name) = content("first_name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
        return Output::error("greet: the answer has no first_name");
    };
    let hello = match content("language").and_then(Value::as_str) {
        Some("pt") => "Olá",
        Some("de") => "Hallo",
        _ => "Hello",
    };
    let times = content("times").and_then(Value::as_u64).unwrap_or(1).clamp(1, 5);
    let greetings: Vec<String> = (0..times).map(|_| format!("{hello}, {name}!")).collect();
    let text = greetings.join(" ");
    let is_loud = content("loud").and_then(Value::as_bool).unwrap_or(false);
    Output::text(if is_loud { text.to_uppercase() } else { text })
}
