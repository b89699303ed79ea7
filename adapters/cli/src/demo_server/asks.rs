//! `greet`: a tool that has to ask the person first, in the words of either era.
//!
//! A legacy client is sent a request in the middle of the call; a modern one is told in the result what is needed, and
//! calls once more with the answers.

use std::collections::HashMap;
use std::io;

use serde_json::{Map, Value, json};

use super::outbox::Outbox;
use super::revision::Revision;
use super::tools::{Output, object};
use super::{Failure, INVALID_PARAMS};

/// What the question is called among those of one call.
const KEY: &str = "person";
/// Comes back with the answers: nothing has to be remembered here.
const STATE: &str = "greet";

/// The calls that wait for an answer, by the id of the question.
#[derive(Default)]
pub(super) struct Asks {
    waiting: HashMap<String, Waiting>,
    asked: u64,
}

struct Waiting {
    call: Value,
    revision: Revision,
    /// Where the call is answered: the answer to its question may come another way.
    outbox: Outbox,
}

impl Asks {
    /// Asks a legacy client, whose call is answered later.
    pub(super) fn ask(&mut self, outbox: &Outbox, call: &Value, revision: Revision) -> io::Result<()> {
        self.asked += 1;
        let id = format!("greet-{}", self.asked);
        self.waiting.insert(id.clone(), Waiting { call: call.clone(), revision, outbox: outbox.clone() });
        outbox.request(&id, "elicitation/create", &question())
    }

    /// Answers the call that an answer is for. One to nothing belongs to nobody.
    pub(super) fn answered(&mut self, message: &Value) -> io::Result<()> {
        let id = message.get("id").and_then(Value::as_str);
        let Some(Waiting { call, revision, outbox }) = id.and_then(|id| self.waiting.remove(id)) else {
            return Ok(());
        };
        let output = match (message.get("result"), message.get("error")) {
            (Some(answer), _) => greeting(answer),
            (None, error) => {
                let why =
                    error.and_then(|error| error.get("message")).and_then(Value::as_str).unwrap_or("no reason given");
                Output::error(format!("greet: the client did not ask: {why}"))
            }
        };
        outbox.result(&call, &output.into_result(revision))
    }

    /// The call was given up; what its question is answered is of no interest, and the client is told so.
    pub(super) fn cancel(&mut self, call: &Value) -> io::Result<()> {
        let id = self.waiting.iter().find(|(_, waiting)| waiting.call == *call).map(|(id, _)| id.clone());
        let Some((id, waiting)) = id.and_then(|id| self.waiting.remove_entry(&id)) else {
            return Ok(());
        };
        let params = json!({ "requestId": id, "reason": "the call was cancelled" });
        let told = waiting.outbox.notification("notifications/cancelled", &params);
        waiting.outbox.give_up();
        told
    }
}

/// What a modern client is told: what is needed, or what came of it.
pub(super) fn modern(params: &Map<String, Value>, revision: Revision) -> Result<Value, Failure> {
    let Some(answers) = params.get("inputResponses") else {
        return Ok(json!({
            "resultType": "input_required",
            "inputRequests": { KEY: { "method": "elicitation/create", "params": question() } },
            "requestState": STATE,
        }));
    };
    if params.get("requestState").and_then(Value::as_str) != Some(STATE) {
        return Err(Failure::new(INVALID_PARAMS, "requestState must come back as it was sent"));
    }
    let answer =
        answers.get(KEY).ok_or_else(|| Failure::new(INVALID_PARAMS, format!("inputResponses must have {KEY}")))?;
    Ok(greeting(answer).into_result(revision))
}

/// Whether the client has declared that it can be asked with forms.
pub(super) fn can_be_asked(capabilities: Option<&Value>) -> bool {
    let elicitation = capabilities.and_then(|capabilities| capabilities.get("elicitation"));
    elicitation.is_some_and(|modes| modes.get("form").is_some() || modes.get("url").is_none())
}

pub(super) fn cannot_be_asked() -> Output {
    Output::error("greet: the client has not declared that it can ask the user (elicitation)")
}

/// The tool as `tools/list` has it.
pub(super) fn tool() -> Value {
    json!({
        "name": "greet",
        "title": "Greet",
        "description": "Asks the user who they are, and greets them.",
        "inputSchema": object(json!({}), &[]),
    })
}

fn question() -> Value {
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
