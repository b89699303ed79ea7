//! [`Object`]: generates an object of the protocol member by member.

use std::fmt::Debug;

use mcpwire_driver::protocol::{Era, Icon, Json, ProtocolVersion};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::basic::{meta, uri};

pub(super) const V03: ProtocolVersion = ProtocolVersion::V2025_03_26;
pub(super) const V06: ProtocolVersion = ProtocolVersion::V2025_06_18;
pub(super) const V11: ProtocolVersion = ProtocolVersion::V2025_11_25;

/// An object of one revision, whose members are generated.
pub(super) struct Object {
    version: ProtocolVersion,
    members: Vec<BoxedStrategy<Option<(&'static str, Value)>>>,
}

impl Object {
    pub(super) fn new(version: ProtocolVersion) -> Self {
        Object { version, members: Vec::new() }
    }

    /// Creates a result, with the type that results have from revision 2026-07-28 on.
    pub(super) fn result(version: ProtocolVersion) -> Self {
        let object = Object::new(version);
        if version.era() == Era::Modern { object.member("resultType", Just("complete")) } else { object }
    }

    /// Creates a result that clients may cache from revision 2026-07-28 on, but not for any time.
    pub(super) fn cacheable_result(version: ProtocolVersion) -> Self {
        let object = Object::result(version);
        match version.era() {
            Era::Modern => object.member("ttlMs", Just(0)).member("cacheScope", Just("private")),
            Era::Legacy => object,
        }
    }

    /// Adds a member that each object has.
    pub(super) fn member<S>(mut self, name: &'static str, value: S) -> Self
    where
        S: Strategy<Value: Serialize> + 'static,
    {
        self.members.push(value.prop_map(move |value| Some((name, to_value(&value)))).boxed());
        self
    }

    /// Adds a member that some objects have.
    pub(super) fn optional<S>(mut self, name: &'static str, value: S) -> Self
    where
        S: Strategy<Value: Serialize> + 'static,
    {
        let value = value.prop_map(move |value| (name, to_value(&value)));
        self.members.push(option::of(value).boxed());
        self
    }

    /// Adds a member that some objects have from the revision `first` on.
    pub(super) fn since<S>(self, first: ProtocolVersion, name: &'static str, value: S) -> Self
    where
        S: Strategy<Value: Serialize> + 'static,
    {
        if self.version < first { self } else { self.optional(name, value) }
    }

    /// Adds the icons that some objects have from revision 2025-11-25 on.
    pub(super) fn icons(self) -> Self {
        self.since(V11, "icons", vec(icon(), 0..3))
    }

    /// Adds the `_meta` that some objects have from revision 2025-06-18 on.
    pub(super) fn meta(self) -> Self {
        self.since(V06, "_meta", meta())
    }

    /// Generates the objects as values of their type.
    pub(super) fn generate<T: DeserializeOwned + Debug + 'static>(self) -> BoxedStrategy<T> {
        let object = |members: Vec<Option<(&str, Value)>>| {
            let members = members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value));
            parsed(members.collect::<Map<_, _>>().into())
        };
        self.members.prop_map(object).boxed()
    }
}

/// Generates an icon (from revision 2025-11-25).
pub fn icon() -> impl Strategy<Value = Icon> + Clone {
    Object::new(ProtocolVersion::LATEST)
        .member("src", uri())
        .optional("mimeType", select(vec!["image/png", "image/svg+xml"]))
        .member("sizes", vec(select(vec!["48x48", "any"]), 0..3))
        .optional("theme", select(vec!["light", "dark"]))
        .generate()
}

/// Converts generated JSON to its type.
pub(super) fn parsed<T: DeserializeOwned>(value: Value) -> T {
    Json::from(value).decode().expect("the strategies generate JSON of this type")
}

/// Converts a value of the protocol to JSON, which is always possible.
pub(super) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("it is JSON")
}
