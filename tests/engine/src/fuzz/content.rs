//! The core's own reader reads what `serde_json` reads, its writer writes what that writes, and the protocol's types
//! survive being written and read again.

use std::fmt::Debug;

use mcpwire_core::internal::{DiscoverResult, InitializeResult};
use mcpwire_core::{CallToolResult, ContentBlock, Json, JsonError, ListToolsResult, LogMessage, Progress, printable};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::trace::Trace;
use super::{describe, reference};

/// Reads any text as JSON, and as each type that servers answer with.
pub fn run(data: &[u8]) {
    trace(data, &Trace::default());
}

/// The same, and says what the text was read as.
pub fn trace(data: &[u8], trace: &Trace) {
    let Ok(text) = str::from_utf8(data) else { return };
    let depth = reference::depth(text);
    let parsed = Json::parse(text);
    trace.line(format_args!("JSON {}", parsed.is_ok()));
    if depth <= 128 {
        assert_eq!(parsed.is_ok(), reference::is_json(text), "whether it is JSON");
    }
    let Ok(json) = parsed else { return };
    assert_eq!(json.get(), text.trim_matches([' ', '\t', '\n', '\r']));
    // Beyond this depth the two differ in what they count.
    if depth > 100 {
        return;
    }
    values(&json, trace);
    typed::<ContentBlock>(&json, trace);
    typed::<CallToolResult>(&json, trace);
    typed::<ListToolsResult>(&json, trace);
    typed::<DiscoverResult>(&json, trace);
    typed::<InitializeResult>(&json, trace);
    typed::<Progress>(&json, trace);
    typed::<LogMessage>(&json, trace);
    if let Ok(result) = json.decode::<ListToolsResult>() {
        describe::result(&Ok(describe::listed(&result, &result.tools)), trace);
    }
    if let Ok(result) = json.decode::<CallToolResult>() {
        let text = result.text().into_string();
        let shown = printable(&text).to_string();
        let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
        assert!(shown.chars().all(harmless), "a control character is shown: {shown:?}");
        trace.line(format_args!("shown {shown}"));
        drop(result.into_output());
    }
}

/// Serializes an object with `flatten`. For this, [`Json`] is read token by token by the core's own reader, not by `serde_json`.
#[derive(Serialize)]
struct Flattened<'a> {
    #[serde(flatten)]
    object: &'a Json,
}

fn values(json: &Json, trace: &Trace) {
    let read = json.decode::<Value>();
    note(&read, trace);
    if json.get().contains("$serde_json") {
        // An object with this name can be a raw value to `serde_json::Value`.
        return;
    }
    let object = Json::parse(format!("{{\"member\":{json}}}")).expect("an object of JSON");
    let ours = serde_json::to_value(Flattened { object: &object }).map(|mut object| object["member"].take());
    match (&ours, &read) {
        (Ok(ours), Ok(theirs)) => {
            assert!(reference::same(ours, theirs), "{ours} is not {theirs}");
            written(ours);
        }
        (ours, theirs) => alike(json, ours.is_ok(), theirs.is_ok()),
    }
}

/// The core's own writer writes what `serde_json` writes, but for line breaks in opaque parts.
fn written<T: Serialize>(value: &T) -> Json {
    let ours = Json::from_value(value).expect("what was read can be written");
    let theirs = serde_json::to_string(value).expect("what was read can be written");
    assert_eq!(ours.get(), theirs.replace(['\n', '\r'], " "));
    ours
}

/// Says what was read.
fn note<T: Serialize>(read: &Result<T, JsonError>, trace: &Trace) {
    match read {
        Ok(value) => trace.line(format_args!("value {}", describe::json(value))),
        Err(error) => {
            trace.line(format_args!("no value"));
            describe::says(error, trace);
        }
    }
}

fn typed<T: DeserializeOwned + Serialize + PartialEq + Debug>(json: &Json, trace: &Trace) {
    let ours = json.decode::<T>();
    note(&ours, trace);
    let Ok(first) = ours else { return };
    let once = written(&first);
    let second: T = once.decode().unwrap_or_else(|error| panic!("{error}: {once}"));
    assert_eq!(once, written(&second), "written twice");
}

fn alike(json: &Json, ours: bool, theirs: bool) {
    if ours != theirs {
        let known = if ours {
            reference::may_have_lone_surrogates(json.get())
        } else {
            // With it, `serde_json` takes numbers of any size.
            cfg!(feature = "arbitrary-precision")
        };
        assert!(known, "read by {} only: {json}", if ours { "the core" } else { "serde_json" });
    }
}
