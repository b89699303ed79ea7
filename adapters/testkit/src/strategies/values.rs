//! Strategies for texts, names, numbers, JSON values, icons and content, and for objects that have the members of a protocol
//! revision.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use mcpwire_driver::protocol::{Annotations, ContentBlock, Era, Icon, Json, Number, ProtocolVersion, ResourceContents};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json as json_value};

/// Generates a text: mostly up to 12 lower-case letters and spaces, sometimes any characters.
pub fn text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![4 => "[a-z ]{0,12}", 1 => any::<String>()]
}

/// Generates the name of a tool, a prompt or a program: a lower-case letter, and up to 11 lower-case letters, digits and
/// underscores. All revisions recommend these characters.
pub fn name() -> impl Strategy<Value = String> + Clone {
    "[a-z][a-z0-9_]{0,11}"
}

/// Generates a URI with the scheme `file`, `https` or `test`.
pub fn uri() -> impl Strategy<Value = String> + Clone {
    (select(vec!["file:///", "https://example.com/", "test:"]), "[a-z]{1,8}")
        .prop_map(|(start, rest)| format!("{start}{rest}"))
}

/// Generates a number between -10⁹ and 10⁹, often a whole number.
pub fn number() -> impl Strategy<Value = Number> + Clone {
    prop_oneof![(-1000..1000).prop_map(f64::from), -1e9..1e9].prop_map(Number::from)
}

/// Generates any JSON value, nested at most four levels deep.
pub fn json() -> impl Strategy<Value = Json> + Clone {
    value().prop_map(Json::from)
}

/// Generates a JSON object with up to three members of any values.
pub fn json_object() -> impl Strategy<Value = Json> + Clone {
    object().prop_map(Json::from)
}

/// Generates a `_meta` object with up to two members. Their keys begin with `com.example/`, so that no specification defines
/// them.
pub fn meta() -> impl Strategy<Value = Json> + Clone {
    btree_map("com\\.example/[a-z]{1,5}", value(), 0..3).prop_map(|members| into_value(members).into())
}

/// Generates the JSON Schema of an object: with one to three properties of simple types, or without any properties.
pub(super) fn object_schema() -> impl Strategy<Value = Json> + Clone {
    let kind = select(vec!["string", "integer", "number", "boolean", "array", "object"]);
    let property = kind.prop_map(|kind| json_value!({ "type": kind }));
    let properties = btree_map(name(), (property, any::<bool>()), 1..4);
    let schema = prop_oneof![
        1 => Just(json_value!({ "type": "object" })),
        3 => properties.prop_map(|properties| schema_of(&properties)),
    ];
    schema.prop_map(Json::from)
}

/// Returns the JSON Schema of an object. `properties` maps the name of each property to its schema and to whether it is required.
pub(super) fn schema_of(properties: &BTreeMap<String, (Value, bool)>) -> Value {
    let required: Vec<_> = properties.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
    let mut schema = json_value!({ "type": "object", "required": required });
    let properties: Map<_, _> = properties.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
    schema["properties"] = properties.into();
    schema
}

pub(super) fn object() -> impl Strategy<Value = Value> + Clone {
    btree_map(name(), value(), 0..4).prop_map(into_value)
}

fn into_value(members: BTreeMap<String, Value>) -> Value {
    members.into_iter().collect()
}

pub(super) fn value() -> impl Strategy<Value = Value> + Clone {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(into_value),
        ]
    })
}

/// Generates the sizes, in bytes, of the chunks in which a byte stream arrives. The list repeats until the end of the stream.
///
/// An empty list means that all bytes arrive at once; other lists shrink to it. They contain single bytes, parts of messages, or
/// up to 512 bytes, which often end in the middle of a message after the first.
pub fn chunk_sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        2 => Just(Vec::new()),
        1 => Just(vec![1]),
        2 => vec(1..64_usize, 1..4),
        2 => vec(64..=512_usize, 1..4),
    ]
}

/// Generates a delay of a peer: often none or some milliseconds, sometimes up to two minutes.
pub fn delay() -> impl Strategy<Value = Duration> {
    prop_oneof![
        2 => Just(Duration::ZERO),
        2 => (0..100_u64).prop_map(Duration::from_millis),
        1 => (1..120_u64).prop_map(Duration::from_secs),
    ]
}

// Objects.

pub(super) const V03: ProtocolVersion = ProtocolVersion::V2025_03_26;
pub(super) const V06: ProtocolVersion = ProtocolVersion::V2025_06_18;
pub(super) const V11: ProtocolVersion = ProtocolVersion::V2025_11_25;

/// A builder of the strategy for an object of the protocol in one revision. Each member has a strategy of its own.
pub(super) struct Object {
    version: ProtocolVersion,
    members: Vec<BoxedStrategy<Option<(&'static str, Value)>>>,
}

impl Object {
    pub(super) fn new(version: ProtocolVersion) -> Self {
        Object { version, members: Vec::new() }
    }

    /// Creates a result without members. From revision 2026-07-28 on, it has a `resultType`.
    pub(super) fn result(version: ProtocolVersion) -> Self {
        let object = Object::new(version);
        if version.era() == Era::Modern { object.member("resultType", Just("complete")) } else { object }
    }

    /// Creates a result with the members for caching from revision 2026-07-28 on. Its lifetime is zero, so that clients do not
    /// cache it.
    pub(super) fn cacheable_result(version: ProtocolVersion) -> Self {
        let object = Object::result(version);
        match version.era() {
            Era::Modern => object.member("ttlMs", Just(0)).member("cacheScope", Just("private")),
            Era::Legacy => object,
        }
    }

    /// Adds a member that all generated objects have.
    pub(super) fn member<S>(mut self, name: &'static str, value: S) -> Self
    where
        S: Strategy<Value: Serialize> + 'static,
    {
        self.members.push(value.prop_map(move |value| Some((name, to_value(&value)))).boxed());
        self
    }

    /// Adds a member that some generated objects have, and others lack.
    pub(super) fn optional<S>(mut self, name: &'static str, value: S) -> Self
    where
        S: Strategy<Value: Serialize> + 'static,
    {
        let value = value.prop_map(move |value| (name, to_value(&value)));
        self.members.push(option::of(value).boxed());
        self
    }

    /// Adds an optional member that the protocol defines from the revision `first` on. Has no effect for earlier revisions.
    pub(super) fn since<S>(self, first: ProtocolVersion, name: &'static str, value: S) -> Self
    where
        S: Strategy<Value: Serialize> + 'static,
    {
        if self.version < first { self } else { self.optional(name, value) }
    }

    /// Adds the optional member `icons`. Has no effect before revision 2025-11-25, which introduced it.
    pub(super) fn icons(self) -> Self {
        self.since(V11, "icons", vec(icon(), 0..3))
    }

    /// Adds the optional member `_meta`. Has no effect before revision 2025-06-18.
    pub(super) fn meta(self) -> Self {
        self.since(V06, "_meta", meta())
    }

    /// Returns the strategy for the object. It converts each generated object to the type `T`.
    pub(super) fn generate<T: DeserializeOwned + Debug + 'static>(self) -> BoxedStrategy<T> {
        let object = |members: Vec<Option<(&str, Value)>>| {
            let members = members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value));
            parsed(members.collect::<Map<_, _>>().into())
        };
        self.members.prop_map(object).boxed()
    }
}

/// Generates an icon, such as the icon of a tool (from revision 2025-11-25).
pub fn icon() -> impl Strategy<Value = Icon> + Clone {
    Object::new(ProtocolVersion::LATEST)
        .member("src", uri())
        .optional("mimeType", select(vec!["image/png", "image/svg+xml"]))
        .member("sizes", vec(select(vec!["48x48", "any"]), 0..3))
        .optional("theme", select(vec!["light", "dark"]))
        .generate()
}

/// Converts generated JSON to a type of the protocol. Panics if the JSON is not valid for the type.
pub(super) fn parsed<T: DeserializeOwned>(value: Value) -> T {
    Json::from(value).decode().expect("the strategies generate JSON of this type")
}

/// Converts a value of a protocol type to JSON. This cannot fail, because these types serialize as JSON.
pub(super) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("it is JSON")
}

/// Generates the annotations of a content block or a resource, such as its audience and its priority.
pub fn annotations(version: ProtocolVersion) -> impl Strategy<Value = Annotations> {
    Object::new(version)
        .member("audience", vec(select(vec!["user", "assistant"]), 0..3))
        .optional("priority", 0.0..=1.0)
        .since(V06, "lastModified", Just("2025-01-12T15:00:58Z"))
        .generate()
}

/// Generates a content block of any type that the revision defines, mostly text.
pub fn content_block(version: ProtocolVersion) -> BoxedStrategy<ContentBlock> {
    let block = |kind| {
        let object = Object::new(version).member("type", Just(kind));
        object.optional("annotations", annotations(version)).meta()
    };
    let text_block = block("text").member("text", text()).generate();
    let image = block("image").member("data", base64()).member("mimeType", Just("image/png")).generate();
    let audio = block("audio").member("data", base64()).member("mimeType", Just("audio/wav")).generate();
    let resource = block("resource").member("resource", resource_contents(version)).generate();
    let link = block("resource_link")
        .member("uri", uri())
        .member("name", name())
        .optional("title", text())
        .optional("description", text())
        .optional("mimeType", text())
        .optional("size", 0..1_000_000_u64)
        .icons()
        .generate();
    let first = prop_oneof![4 => text_block, 1 => image, 1 => resource];
    match version {
        ProtocolVersion::V2024_11_05 => first.boxed(),
        ProtocolVersion::V2025_03_26 => prop_oneof![4 => first, 1 => audio].boxed(),
        _ => prop_oneof![4 => first, 1 => audio, 1 => link].boxed(),
    }
}

/// Generates the contents of a resource: a text, or binary data in base64.
pub fn resource_contents(version: ProtocolVersion) -> impl Strategy<Value = ResourceContents> {
    let contents = || Object::new(version).member("uri", uri()).optional("mimeType", text()).meta();
    prop_oneof![contents().member("text", text()).generate(), contents().member("blob", base64()).generate(),]
}

/// Generates up to 12 bytes of data in base64.
fn base64() -> impl Strategy<Value = String> {
    "([A-Za-z0-9+/]{4}){0,4}"
}
