//! The core's own reader reads what `serde_json` reads, its writer writes what that writes, and the protocol's types
//! survive being written and read again.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Debug;

use mcpwire_core::internal::{DiscoverResult, InitializeResult};
use mcpwire_core::{CallToolResult, ContentBlock, Json, JsonError, ListToolsResult, LogMessage, Progress, printable};
use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::describe;
use super::trace::Trace;

/// Reads any text as JSON, and as each type that servers answer with.
pub fn run(data: &[u8], trace: &Trace) {
    let Ok(text) = str::from_utf8(data) else { return };
    let depth = depth(text);
    let parsed = Json::parse(text);
    trace.line(format_args!("JSON {}", parsed.is_ok()));
    if depth <= 128 {
        assert_eq!(parsed.is_ok(), is_json(text), "whether it is JSON");
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
            assert!(same(ours, theirs), "{ours} is not {theirs}");
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
            may_have_lone_surrogates(json.get())
        } else {
            // With it, `serde_json` takes numbers of any size.
            cfg!(feature = "arbitrary-precision")
        };
        assert!(known, "read by {} only: {json}", if ours { "the core" } else { "serde_json" });
    }
}

/// The members of an object, in their order, repeated ones too.
pub(crate) struct Members(pub(crate) Vec<(String, Box<RawValue>)>);

impl Members {
    /// The value of a member that stands there once. `Err` if it stands there more than once.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, ()> {
        let mut found = self.0.iter().filter(|(key, _)| key == name);
        let first = found.next().map(|(_, value)| value.get());
        if found.next().is_some() { Err(()) } else { Ok(first) }
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Whether a text is JSON. No limit of depth.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// How deep the text is nested, if it is JSON.
pub(crate) fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Whether there may be half of a surrogate pair in it: `serde_json` refuses those, the core reads U+FFFD.
pub(crate) fn may_have_lone_surrogates(text: &str) -> bool {
    text.as_bytes().windows(4).any(|w| matches!(w, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F']))
}

/// Whether two values are the same. With `arbitrary_precision` numbers keep their text, which is not compared.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    if !cfg!(feature = "arbitrary-precision") {
        return a == b;
    }
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// A key that an object of the text has twice, at any depth.
pub(crate) fn repeated_key(text: &str) -> Option<String> {
    struct Once;

    impl<'de> DeserializeSeed<'de> for Once {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_any(self)
        }
    }

    impl<'de> Visitor<'de> for Once {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value without repeated keys")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            let mut seen = BTreeSet::new();
            while let Some(key) = map.next_key::<String>()? {
                map.next_value_seed(Once)?;
                if !seen.insert(key.clone()) {
                    return Err(A::Error::custom(format!("repeated key {key:?}")));
                }
            }
            Ok(())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
            while seq.next_element_seed(Once)?.is_some() {}
            Ok(())
        }

        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
    }

    let mut reader = serde_json::Deserializer::from_str(text);
    Once.deserialize(&mut reader).err().map(|error| error.to_string())
}
