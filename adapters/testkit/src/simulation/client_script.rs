//! [`ClientScript`]: the messages that a simulated client sends to a server under test.

use std::fmt;
use std::time::Duration;

use mcpwire_driver::protocol::{Json, ProtocolVersion, Tool};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::MAX_STEPS;
use super::script::shorten;
use crate::strategies::{chunk_sizes, delay, json as any_json, name, nearly_valid, text};

/// The script of a simulated client: the messages that it sends to a server under test, and when.
///
/// The client sends `initialize` and waits for the response, sends `notifications/initialized`, takes the steps, waits for the
/// remaining responses, and closes its end.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientScript {
    /// The protocol revision that the client requests in `initialize`, at most 2025-11-25.
    pub version: ProtocolVersion,
    /// The messages of the client and the pauses between them, in order.
    pub steps: Vec<ClientStep>,
    /// How many messages the client sends in each write. The list repeats; if it is empty, each message is a write of its own.
    ///
    /// The first write includes `notifications/initialized`. A step that waits ends the write before it.
    pub messages_per_write: Vec<usize>,
    /// The sizes, in bytes, of the chunks in which a write arrives. The list repeats; if it is empty, all bytes of a write arrive
    /// at once.
    ///
    /// A chunk can hold several messages, and end in the middle of a message. It never holds bytes of two writes.
    pub chunk_sizes: Vec<usize>,
    /// Whether the client waits after each write until all its requests are answered. If `false`, it sends requests while others
    /// are in flight.
    pub waits_for_responses: bool,
}

/// A step of a [`ClientScript`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientStep {
    /// Sends a request.
    Request {
        /// The method of the request.
        method: String,
        /// The parameters of the request.
        params: Json,
    },
    /// Sends a notification.
    Notify {
        /// The method of the notification.
        method: String,
        /// The parameters of the notification.
        params: Json,
    },
    /// Cancels the last request. Has no effect if the client has only sent `initialize`.
    Cancel,
    /// Sends a line that may be an invalid message.
    Garbage(String),
    /// Waits for this time before the next step.
    Wait(Duration),
}

/// Generates scripts of a client that calls these tools, with arguments that match their schemas, nearly match them, or do not.
///
/// Messages arrive one by one, several at once, byte by byte, or in chunks that end in the middle of a message. Some clients wait
/// for each response, others do not. Scripts shrink to a client that sends one message per write and waits for the response.
pub fn client_script(tools: impl IntoIterator<Item = Tool>) -> impl Strategy<Value = ClientScript> {
    let tools: Vec<Tool> = tools.into_iter().collect();
    (vec(client_step(tools), 0..MAX_STEPS), writes()).prop_map(ClientScript::new)
}

/// How a client sends its messages: the values of [`ClientScript::messages_per_write`], [`ClientScript::chunk_sizes`] and
/// [`ClientScript::waits_for_responses`].
pub(crate) type Writes = (Vec<usize>, Vec<usize>, bool);

pub(crate) fn writes() -> impl Strategy<Value = Writes> {
    let messages_per_write = prop_oneof![
        2 => Just(Vec::new()),
        2 => vec(1..5_usize, 1..4),
        // One write holds all steps, and `notifications/initialized`.
        1 => Just(vec![MAX_STEPS + 1]),
    ];
    // Inverted, because values of `bool` shrink to `false`, and the simplest client waits.
    (messages_per_write, chunk_sizes(), any::<bool>().prop_map(|is_concurrent| !is_concurrent))
}

impl ClientScript {
    pub(crate) fn new(
        (steps, (messages_per_write, chunk_sizes, waits_for_responses)): (Vec<ClientStep>, Writes),
    ) -> Self {
        let version = ProtocolVersion::V2025_11_25;
        ClientScript { version, steps, messages_per_write, chunk_sizes, waits_for_responses }
    }

    /// Returns for each step whether its message is in the same write as the previous message. Before the first step, the
    /// previous message is `notifications/initialized`.
    pub(super) fn is_joined(&self) -> Vec<bool> {
        let mut sizes = self.messages_per_write.iter().copied().cycle();
        let mut next_size = || sizes.next().unwrap_or(1).max(1);
        // The number of messages that still belong to the current write.
        let mut left = next_size() - 1;
        let mut requests = 0;
        let joined = self.steps.iter().map(|step| {
            requests += usize::from(matches!(step, ClientStep::Request { .. }));
            match step {
                ClientStep::Wait(_) => left = 0,
                ClientStep::Cancel if requests == 0 => {}
                _ if left > 0 => {
                    left -= 1;
                    return true;
                }
                _ => left = next_size() - 1,
            }
            false
        });
        joined.collect()
    }

    /// Returns the parameters of `initialize`.
    pub(super) fn opening(&self) -> Json {
        let info = json!({ "name": "simulation", "version": "1" });
        json!({ "protocolVersion": self.version.as_str(), "capabilities": {}, "clientInfo": info }).into()
    }
}

/// Returns the id of the request with this number, such as `request-1`. `initialize` has the number 0.
///
/// The id is a string, so that an invalid line with any number as its id is not mistaken for the request.
pub(super) fn request_id(number: usize) -> String {
    format!("{ID_PREFIX}{number}")
}

/// Returns the number of the request with this id, or `None` if the script sends no request with it.
pub(super) fn request_number(id: &str) -> Option<usize> {
    id.strip_prefix(ID_PREFIX)?.parse().ok()
}

/// The beginning of the id of each request.
const ID_PREFIX: &str = "request-";

pub(crate) fn client_step(tools: Vec<Tool>) -> impl Strategy<Value = ClientStep> {
    let request = |method: &str, params: Value| ClientStep::Request { method: method.into(), params: params.into() };
    let known = if tools.is_empty() {
        Just(request("ping", json!({}))).boxed()
    } else {
        select(tools)
            .prop_flat_map(move |tool| {
                let name = tool.name.clone();
                arguments(&tool)
                    .prop_map(move |arguments| request("tools/call", json!({ "name": name, "arguments": arguments })))
            })
            .boxed()
    };
    let unknown = name().prop_map(move |name| request("tools/call", json!({ "name": format!("no_{name}") })));
    let method = select(vec!["ping", "tools/list", "prompts/list", "resources/list", "acme/unknown"]);
    let other = (method, any::<bool>(), any_json()).prop_map(move |(method, is_plain, params)| {
        request(method, if is_plain { json!({}) } else { json!({ "x": params }) })
    });
    let garbage = nearly_valid(any_json().prop_map(|value| {
        json!({ "jsonrpc": "2.0", "id": "garbage", "method": "ping", "params": { "x": value } }).into()
    }));
    prop_oneof![
        6 => known,
        1 => unknown,
        2 => other,
        1 => Just(ClientStep::Notify { method: "notifications/roots/list_changed".into(), params: json!({}).into() }),
        1 => Just(ClientStep::Cancel),
        1 => garbage.prop_map(|line| ClientStep::Garbage(line.replace(['\n', '\r'], " "))),
        1 => delay().prop_map(ClientStep::Wait),
    ]
}

/// Generates the arguments of a tool call. For each property of the tool's schema, there is a value of its type, sometimes a
/// value of another type, or none.
fn arguments(tool: &Tool) -> BoxedStrategy<Value> {
    let schema: Value = tool.input_schema.decode().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let members = properties.into_iter().map(|(name, schema)| {
        let value = match schema["type"].as_str() {
            Some("string") => text().prop_map(Value::from).boxed(),
            Some("integer") => prop_oneof![-10..10_i64, any::<i64>()].prop_map(Value::from).boxed(),
            Some("number") => (-1e6..1e6).prop_map(|number: f64| Value::from(number)).boxed(),
            Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
            _ => any_json().prop_map(|json| json.decode().unwrap_or_default()).boxed(),
        };
        let wrong = any_json().prop_map(|json| json.decode().unwrap_or_default());
        let value = prop_oneof![8 => value.prop_map(Some), 1 => wrong.prop_map(Some), 1 => Just(None)];
        value.prop_map(move |value| value.map(|value| (name.clone(), value)))
    });
    let members: Vec<_> = members.collect();
    members.prop_map(|members| members.into_iter().flatten().collect::<Map<_, _>>().into()).boxed()
}

impl fmt::Display for ClientScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a client of revision {}", self.version)?;
        if !self.waits_for_responses {
            f.write_str(" that does not wait for responses")?;
        }
        if !self.chunk_sizes.is_empty() {
            write!(f, ", whose writes arrive in chunks of {:?} bytes", self.chunk_sizes)?;
        }
        let opening = ClientStep::Request { method: "initialize".into(), params: self.opening() };
        f.write_str("\n  0. ")?;
        opening.write(f, 0)?;
        f.write_str("\n     sends the notification notifications/initialized {} after the response")?;
        let mut requests = 0;
        for (index, (step, is_joined)) in self.steps.iter().zip(self.is_joined()).enumerate() {
            requests += usize::from(matches!(step, ClientStep::Request { .. }));
            let place = if is_joined { "in the same write: " } else { "" };
            write!(f, "\n  {}. {place}", index + 1)?;
            step.write(f, requests)?;
        }
        Ok(())
    }
}

impl ClientStep {
    /// Writes the step as text. `number` is the number of the last request, including the request of this step.
    fn write(&self, f: &mut fmt::Formatter<'_>, number: usize) -> fmt::Result {
        match self {
            ClientStep::Request { .. } => write!(f, "{self} with the id {:?}", request_id(number)),
            ClientStep::Cancel if number == 0 => f.write_str("cancels nothing, because it has sent no request"),
            ClientStep::Cancel => write!(f, "cancels the request {:?}", request_id(number)),
            step => write!(f, "{step}"),
        }
    }
}

impl fmt::Display for ClientStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientStep::Request { method, params } => write!(f, "requests {method} {}", shorten(params)),
            ClientStep::Notify { method, params } => {
                write!(f, "sends the notification {method} {}", shorten(params))
            }
            ClientStep::Cancel => f.write_str("cancels the last request"),
            ClientStep::Garbage(line) => write!(f, "sends the line {line:?}"),
            ClientStep::Wait(duration) => write!(f, "waits {duration:?}"),
        }
    }
}
