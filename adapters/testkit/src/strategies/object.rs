//! [`Object`]: builds the strategy for an object of the protocol, member by member.

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
