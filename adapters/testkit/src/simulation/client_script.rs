//! [`ClientScript`]: what a client sends to a server under test.

use std::fmt;
use std::time::Duration;

use mcpwire_driver::protocol::{Json, ProtocolVersion, Tool};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::MAX_STEPS;
use super::script::write_steps;
use crate::strategies::{chunk_sizes, delay, json as any_json, name, nearly_valid, text};

/// What a client sends to a server: it opens the connection by `initialize`, takes the steps, and closes its end.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientScript {
    /// The revision that the client asks for, up to 2025-11-25.
    pub version: ProtocolVersion,
    /// What the client sends, in order.
    pub steps: Vec<ClientStep>,
    /// The sizes of the chunks in which the bytes are sent, in turn. Empty if all are sent at once.
    pub chunk_sizes: Vec<usize>,
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
    /// Cancels the last request.
    Cancel,
    /// Sends a line that may not be a message.
    Garbage(String),
    /// Waits before the next step.
    Wait(Duration),
}

/// Generates scripts of a client that calls these tools, with arguments that match their schemas, nearly match them, or do not.
pub fn client_script(tools: impl IntoIterator<Item = Tool>) -> impl Strategy<Value = ClientScript> {
    let tools: Vec<Tool> = tools.into_iter().collect();
    (vec(client_step(tools), 0..MAX_STEPS), chunk_sizes()).prop_map(|(steps, chunk_sizes)| ClientScript {
        version: ProtocolVersion::V2025_11_25,
        steps,
        chunk_sizes,
    })
}

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

/// Generates arguments of a tool: for each property of its schema, a value of its type, sometimes of another type or absent.
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
        if !self.chunk_sizes.is_empty() {
            write!(f, " that sends chunks of {:?} bytes", self.chunk_sizes)?;
        }
        write_steps(f, &self.steps)
    }
}

impl fmt::Display for ClientStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientStep::Request { method, params } => write!(f, "requests {method} {params}"),
            ClientStep::Notify { method, params } => write!(f, "sends the notification {method} {params}"),
            ClientStep::Cancel => f.write_str("cancels the last request"),
            ClientStep::Garbage(line) => write!(f, "sends the line {line:?}"),
            ClientStep::Wait(duration) => write!(f, "waits {duration:?}"),
        }
    }
}
