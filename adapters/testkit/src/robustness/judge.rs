//! Decides what is a finding, from what a server has done after a message.

use mcpwire_driver::protocol::{
    CallToolResult, Era, Json, ProtocolVersion, StructuredErrorKind, Tool, ValidationError, Validator as _,
};
use mcpwire_jsonschema::JsonSchema;
use serde_json::Value;

use super::messages::{Body, Response, excerpt};
use super::misuse::{Check, Expected};
use super::report::{FindingKind, Severity};

/// What a server has done after a message.
#[derive(Debug)]
pub(super) struct Observation {
    pub(super) outcome: Outcome,
    pub(super) responses: Vec<Response>,
    /// What has arrived that is no message.
    pub(super) noise: Vec<String>,
    /// The first line of a trace on standard error.
    pub(super) trace: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The server has answered what it must, and a sign of life after that.
    Alive,
    /// The server has ended. The text says how.
    Ended(String),
    /// A request got no answer in time, but a sign of life after it did.
    NoAnswer,
    /// Not even a sign of life was answered in time.
    Dead,
    /// The program has stopped the test, or the server could not be started.
    Nothing,
}

/// A finding without its input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    pub(super) severity: Severity,
    pub(super) kind: FindingKind,
    pub(super) what: String,
    pub(super) why: &'static str,
}

fn failure(kind: FindingKind, what: String, why: &'static str) -> Problem {
    Problem { severity: Severity::Failure, kind, what, why }
}

fn remark(kind: FindingKind, what: String, why: &'static str) -> Problem {
    Problem { severity: Severity::Remark, ..failure(kind, what, why) }
}

const ANSWERS: &str = "JSON-RPC 2.0, section 5: the server must answer each request";
const IN_TIME: &str = "JSON-RPC 2.0, section 5: the server must answer each request; if this call may take so long, test with a longer timeout";
const RESPONSES: &str = "basic, \"Responses\": a response must have the id of its request, and either a result or an error with an integer code";
const STDOUT: &str =
    "basic, \"Transports\", \"stdio\": the server must not write anything to stdout that is not a valid MCP message";
const TRACE: &str = "an exception that nobody catches may end the server, or leave it in an unknown state";
const OUTPUT: &str =
    "server, \"Tools\", \"Output Schema\": servers must provide structured results that conform to this schema";
const INPUT: &str = "server, \"Tools\", \"Security Considerations\": servers must validate all tool inputs; models and clients rely on the schema";
const TOOL_ERRORS: &str = "server, \"Tools\", \"Error Handling\": failures of a tool and invalid input are results with isError, which a model can read";

/// Returns the findings that do not depend on the kind of message. `why` says why the server must answer it, and `why_in_time` why
/// within `seconds`.
fn general(
    observation: &Observation,
    what: &str,
    why: &'static str,
    why_in_time: &'static str,
    seconds: f64,
) -> Vec<Problem> {
    let Observation { outcome, noise, trace, .. } = observation;
    let mut problems = match outcome {
        Outcome::Ended(how) => vec![failure(FindingKind::Crash, format!("the server {how} after {what}"), why)],
        Outcome::NoAnswer => {
            let text = format!("no answer to {what} within {seconds} s; the server still answers other requests");
            vec![failure(FindingKind::Hang, text, why_in_time)]
        }
        Outcome::Dead => {
            let text =
                format!("the server answers nothing any more after {what}, not even a sign of life within {seconds} s");
            vec![failure(FindingKind::Hang, text, why_in_time)]
        }
        Outcome::Alive | Outcome::Nothing => Vec::new(),
    };
    if let Some(line) = noise.first() {
        problems.push(failure(
            FindingKind::Noise,
            format!("stdout contains something that is no message: {line}"),
            STDOUT,
        ));
    }
    if let Some(line) = trace {
        problems.push(remark(FindingKind::Trace, format!("stderr has a trace after {what}: {line}"), TRACE));
    }
    problems
}

/// Returns the findings of responses that answer no request, or one request twice.
fn unwanted(responses: &[Response], allowed: &[Value], why: &'static str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, response) in responses.iter().enumerate() {
        let id = &response.id;
        if !allowed.contains(id) {
            let what = format!("there is a response with the id {id}, which no open request has");
            problems.push(failure(FindingKind::UnwantedAnswer, what, why));
        } else if !id.is_null() && responses[..number].iter().any(|other| other.id == *id) {
            problems.push(failure(
                FindingKind::UnwantedAnswer,
                format!("the request {id} was answered twice"),
                RESPONSES,
            ));
        }
    }
    problems
}

/// Judges calls of tools.
pub(super) struct CallJudge {
    pub(super) validator: JsonSchema,
    pub(super) version: ProtocolVersion,
    pub(super) seconds: f64,
}

impl CallJudge {
    /// Returns the findings of a call with these arguments.
    pub(super) fn judge(&self, tool: &Tool, arguments: &Value, id: &Value, observation: &Observation) -> Vec<Problem> {
        let what = format!("a call of `{}`", tool.name);
        let mut problems = general(observation, &what, ANSWERS, IN_TIME, self.seconds);
        problems.extend(unwanted(&observation.responses, std::slice::from_ref(id), RESPONSES));
        let invalid = match self.validator.validate(&tool.input_schema, &Json::from(arguments)) {
            Ok(()) => Some(None),
            Err(ValidationError::Value { at, reason, .. }) => {
                let place = if at.is_empty() { String::new() } else { format!("{at}: ") };
                Some(Some(format!("{place}{}", excerpt(reason.as_bytes()))))
            }
            // The schema cannot be used, so it is not known what is valid.
            Err(_) => None,
        };
        let Some(response) = observation.responses.iter().find(|response| response.id == *id) else { return problems };
        match &response.body {
            Body::Invalid(reason) => {
                let what = format!("the answer to {what} is invalid: {reason}");
                problems.push(failure(FindingKind::InvalidAnswer, what, RESPONSES));
            }
            // The test declares no capabilities of a client, and revision 2026-07-28 has this error for tools that need one.
            Body::Error { code: -32021, .. } if self.version.era() == Era::Modern => {}
            Body::Error { code, message } => {
                let message = excerpt(message.as_bytes());
                let text = match invalid {
                    Some(None) => format!("a valid call of `{}` got the JSON-RPC error {code}: {message}", tool.name),
                    // Before revision 2025-11-25, invalid arguments were JSON-RPC errors.
                    Some(Some(_)) if self.version >= ProtocolVersion::V2025_11_25 => {
                        format!("invalid arguments of `{}` got the JSON-RPC error {code}: {message}", tool.name)
                    }
                    _ => return problems,
                };
                problems.push(remark(FindingKind::ErrorKind, text, TOOL_ERRORS));
            }
            Body::Result(result) => {
                problems.extend(self.judge_result(tool, &Json::from(Value::Object(result.clone())), invalid.flatten()));
            }
        }
        problems
    }

    fn judge_result(&self, tool: &Tool, json: &Json, invalid: Option<String>) -> Vec<Problem> {
        let kind: Option<String> = json.member("resultType");
        let mut problems = Vec::new();
        if self.version.era() == Era::Modern && kind.is_none() {
            let why = "basic, \"Responses\": the result must include a resultType";
            problems.push(failure(
                FindingKind::InvalidAnswer,
                format!("a result of `{}` has no resultType", tool.name),
                why,
            ));
        }
        // The server wants input first, which the test does not give.
        if kind.is_some_and(|kind| kind != "complete") {
            return problems;
        }
        let result: CallToolResult = match json.decode() {
            Ok(result) => result,
            Err(error) => {
                let what = format!("a result of `{}` cannot be read: {error}", tool.name);
                let why = "server, \"Tools\", \"Tool Result\": the schema of the specification says what a result is";
                problems.push(failure(FindingKind::InvalidAnswer, what, why));
                return problems;
            }
        };
        if let Some(reason) = invalid.filter(|_| !result.is_error) {
            let what = format!("`{}` accepts arguments that its inputSchema forbids: {reason}", tool.name);
            problems.push(remark(FindingKind::AcceptedInvalid, what, INPUT));
        }
        let unusable =
            |kind: &StructuredErrorKind| matches!(kind, StructuredErrorKind::Invalid(ValidationError::Schema { .. }));
        if let Err(error) = tool.check_output(&result, &self.validator)
            && !unusable(&error.kind)
        {
            problems.push(failure(FindingKind::OutputSchema, error.to_string(), OUTPUT));
        }
        problems
    }
}

/// Returns the findings of a check of the protocol.
pub(super) fn judge_check(check: &Check, observation: &Observation, seconds: f64) -> Vec<Problem> {
    let mut problems = general(observation, check.name, check.why, check.why, seconds);
    let allowed = [&check.must_answer[..], &check.may_answer].concat();
    problems.extend(unwanted(&observation.responses, &allowed, check.why));
    for response in &observation.responses {
        let wrong = |what: &str| format!("the answer to {} is {what}", check.name);
        match &response.body {
            Body::Invalid(reason) => {
                problems.push(failure(FindingKind::InvalidAnswer, wrong(&format!("invalid: {reason}")), RESPONSES));
            }
            _ if !check.must_answer.contains(&response.id) => {}
            Body::Error { code, message } => {
                let shown = wrong(&format!("the error {code}: {}", excerpt(message.as_bytes())));
                match check.expected {
                    Expected::Result => problems.push(failure(FindingKind::ErrorKind, shown, check.why)),
                    Expected::Code(expected) if expected != *code => {
                        problems.push(remark(FindingKind::ErrorKind, shown, check.why));
                    }
                    _ => {}
                }
            }
            Body::Result(_) => match check.expected {
                Expected::Error => problems.push(failure(FindingKind::ErrorKind, wrong("a result"), check.why)),
                Expected::Code(_) => problems.push(remark(FindingKind::ErrorKind, wrong("a result"), check.why)),
                _ => {}
            },
        }
    }
    problems
}
