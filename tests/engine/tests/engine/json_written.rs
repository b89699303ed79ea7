//! The core's own writer writes what `serde_json` writes, byte for byte, for anything that serialises.

use std::collections::BTreeMap;
use std::fmt::Display;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallTool, CallToolParams, CallToolRaw, Config, Event, Json, Negotiate, RequestOptions, RpcError, Timestamp,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Clone, Debug, Serialize)]
struct Unit;

#[expect(clippy::option_option, reason = "what is inside of what is written is the point")]
#[derive(Clone, Debug, Serialize)]
struct New(Option<Option<i8>>);

#[derive(Clone, Debug, Serialize)]
struct Pair(u16, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Plain {
    First,
    #[serde(rename = "sec\"ond\n")]
    Second,
}

#[derive(Clone, Debug, Serialize)]
enum External {
    Unit,
    New(f32),
    Tuple(u8, Box<External>),
    Struct { text: String, nothing: Option<u8> },
    Empty {},
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind")]
enum Internal {
    Unit,
    New(Inner),
    Struct { value: Value },
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(char),
    Tuple(i16, u32),
    Struct { a: bool },
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Untagged {
    Unit,
    New(i128),
    Tuple(u128, ()),
    Struct { a: [u8; 3] },
}

#[derive(Clone, Debug, Serialize)]
struct Inner {
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u8>,
    #[serde(rename = "ä\\")]
    renamed: i64,
    #[serde(flatten)]
    more: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Serialize)]
struct All {
    unit: Unit,
    new: New,
    pair: Pair,
    plain: Vec<Plain>,
    external: Vec<External>,
    internal: Vec<Internal>,
    adjacent: Vec<Adjacent>,
    untagged: Vec<Untagged>,
    #[serde(flatten)]
    inner: Inner,
    by_number: BTreeMap<i64, u64>,
    by_char: BTreeMap<char, u64>,
    by_bool: BTreeMap<bool, u64>,
    by_large: BTreeMap<i128, u64>,
    by_variant: BTreeMap<Plain, u64>,
    by_new: BTreeMap<Box<u8>, u64>,
    bytes: Bytes,
    lengthless: Lengthless,
    displayed: Displayed,
    value: Value,
    json: Json,
    raw: Box<RawValue>,
}

/// Serialises as bytes.
#[derive(Clone, Debug)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

/// A sequence of maps whose lengths are not told.
#[derive(Clone, Debug)]
struct Lengthless(Vec<BTreeMap<u8, f32>>);

impl Serialize for Lengthless {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Map<'a>(&'a BTreeMap<u8, f32>);
        impl Serialize for Map<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                for (key, value) in self.0 {
                    map.serialize_key(key)?;
                    map.serialize_value(value)?;
                }
                map.end()
            }
        }
        let mut seq = serializer.serialize_seq(None)?;
        for map in &self.0 {
            seq.serialize_element(&Map(map))?;
        }
        seq.end()
    }
}

/// Serialises as what it displays.
#[derive(Clone, Debug)]
struct Displayed(String);

impl Serialize for Displayed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0 as &dyn Display)
    }
}

/// Any text, and texts that are full of what has an escape.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z \"\\\\\u{0}-\u{1f}\u{7f}-\u{a0}\u{2028}😀]{0,200}", "[a-zä]{0,300}\n?[a-z]{0,9}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::from),
            btree_map(text(), inner, 0..8).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn plain() -> impl Strategy<Value = Plain> {
    prop_oneof![Just(Plain::First), Just(Plain::Second)]
}

fn external() -> impl Strategy<Value = External> {
    let leaf = prop_oneof![
        Just(External::Unit),
        any::<f32>().prop_map(External::New),
        (text(), any::<Option<u8>>()).prop_map(|(text, nothing)| External::Struct { text, nothing }),
        Just(External::Empty {}),
    ];
    leaf.prop_recursive(3, 4, 1, |inner| {
        (any::<u8>(), inner).prop_map(|(n, external)| External::Tuple(n, Box::new(external)))
    })
}

fn inner() -> impl Strategy<Value = Inner> {
    (any::<Option<u8>>(), any::<i64>(), btree_map(text(), any::<f64>(), 0..4))
        .prop_map(|(left_out, renamed, more)| Inner { left_out, renamed, more })
}

fn internal() -> impl Strategy<Value = Internal> {
    prop_oneof![
        Just(Internal::Unit),
        inner().prop_map(Internal::New),
        value().prop_map(|value| Internal::Struct { value }),
    ]
}

fn adjacent() -> impl Strategy<Value = Adjacent> {
    prop_oneof![
        Just(Adjacent::Unit),
        any::<char>().prop_map(Adjacent::New),
        any::<(i16, u32)>().prop_map(|(a, b)| Adjacent::Tuple(a, b)),
        any::<bool>().prop_map(|a| Adjacent::Struct { a }),
    ]
}

fn untagged() -> impl Strategy<Value = Untagged> {
    prop_oneof![
        Just(Untagged::Unit),
        any::<i128>().prop_map(Untagged::New),
        any::<u128>().prop_map(|n| Untagged::Tuple(n, ())),
        any::<[u8; 3]>().prop_map(|a| Untagged::Struct { a }),
    ]
}

fn all() -> impl Strategy<Value = All> {
    let enums = (
        vec(plain(), 0..3),
        vec(external(), 0..3),
        vec(internal(), 0..3),
        vec(adjacent(), 0..3),
        vec(untagged(), 0..3),
    );
    let maps = (
        btree_map(any::<i64>(), any::<u64>(), 0..3),
        btree_map(any::<char>(), any::<u64>(), 0..3),
        btree_map(any::<bool>(), any::<u64>(), 0..3),
        btree_map(any::<i128>(), any::<u64>(), 0..3),
        btree_map(plain(), any::<u64>(), 0..3),
        btree_map(any::<u8>().prop_map(Box::new), any::<u64>(), 0..3),
    );
    let own = (vec(any::<u8>(), 0..3), vec(btree_map(any::<u8>(), any::<f32>(), 0..3), 0..3), text());
    let rest = (any::<Option<Option<i8>>>(), any::<u16>(), text(), inner(), value());
    (enums, maps, own, rest).prop_map(|(enums, maps, own, (new, number, text, inner, value))| All {
        unit: Unit,
        new: New(new),
        pair: Pair(number, text),
        plain: enums.0,
        external: enums.1,
        internal: enums.2,
        adjacent: enums.3,
        untagged: enums.4,
        inner,
        by_number: maps.0,
        by_char: maps.1,
        by_bool: maps.2,
        by_large: maps.3,
        by_variant: maps.4,
        by_new: maps.5,
        bytes: Bytes(own.0),
        lengthless: Lengthless(own.1),
        displayed: Displayed(own.2),
        json: Json::parse(value.to_string()).expect("it is JSON"),
        raw: RawValue::from_string(value.to_string()).expect("it is JSON"),
        value,
    })
}

fn same(value: &impl Serialize) {
    let theirs = serde_json::to_string(value).expect("it serialises");
    assert_eq!(Json::from_value(value).expect("it serialises").get(), theirs);
}

proptest! {
    #[test]
    fn values(value in value()) {
        same(&value);
    }

    #[test]
    fn types_of_all_shapes(all in all()) {
        same(&all);
    }

    #[test]
    fn floats(long in any::<f64>(), short in any::<f32>(), whole in any::<i32>()) {
        same(&(long, short, f64::from(whole), [-0.0, 1e21, f64::MIN_POSITIVE], f32::MAX));
    }
}

#[test]
fn what_is_not_finite_is_null() {
    same(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    same(&[f32::NAN, f32::INFINITY]);
}

#[test]
fn raw_json_is_passed_on_and_stays_on_one_line() {
    const LAID_OUT: &str = "{\r\n  \"a\": [1,\n2.50, \"\\n\\u00e4ä\"]\n}";
    const ON_ONE_LINE: &str = "{    \"a\": [1, 2.50, \"\\n\\u00e4ä\"] }";
    let json = Json::parse(LAID_OUT).expect("it is JSON");
    let raw = RawValue::from_string(LAID_OUT.into()).expect("it is JSON");
    let written = Json::from_value(&(json, raw, 1)).expect("it serialises");
    assert_eq!(written.get(), format!("[{ON_ONE_LINE},{ON_ONE_LINE},1]"));
}

/// JSON over several lines, as an HTTP body may have it, with both kinds of line breaks and an escaped one in a string.
fn over_lines() -> Json {
    Json::parse("{\r\n  \"a\" :\n[1,\r\"\\n\"\n],\n\"b\\n\":{\n}\n}").expect("it is JSON")
}

/// An engine that is open in one of the eras, and answers `x/ask`.
fn open(negotiate: Negotiate, result: &str) -> Engine {
    let mut config = Config::new("test", "1");
    config.negotiate = negotiate;
    config.answer("x/ask");
    let mut engine = Engine::new(config);
    engine.calls().initialize(Timestamp::ORIGIN).expect("it is new");
    say(&mut engine, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    assert_eq!(engine.poll_event(), Some(Event::Connected));
    engine
}

fn say(engine: &mut Engine, line: &str) {
    engine.receive(format!("{line}\n").as_bytes(), Timestamp::ORIGIN);
}

/// Takes what the engine sends, which must be so many lines, each of them JSON.
fn lines(engine: &mut Engine, count: usize) {
    let sent = String::from_utf8(engine.transmit().to_vec()).expect("it is UTF-8");
    engine.transmitted(usize::MAX);
    assert_eq!((sent.matches(['\n', '\r']).count(), sent.ends_with('\n')), (count, true), "{sent:?}");
    for line in sent.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
}

#[test]
fn no_raw_json_breaks_a_line() {
    let (json, now) = (over_lines(), Timestamp::ORIGIN);
    let mut options = RequestOptions::new();
    options.meta = Some(json.clone());
    let eras = [
        (Negotiate::Legacy, r#"{"protocolVersion":"2025-11-25"}"#, 2),
        (Negotiate::Modern, r#"{"supportedVersions":["2026-07-28"]}"#, 1),
    ];
    for (negotiate, result, opening) in eras {
        let mut engine = open(negotiate, result);
        lines(&mut engine, opening);
        let params = CallToolParams { name: "tool", arguments: &json };
        let _ = engine.calls().request::<CallTool>(&params, &options, now).expect("it is sent");
        let raw = RawValue::from_string(json.get().into()).expect("it is JSON");
        let params = CallToolParams { name: "tool", arguments: &raw };
        let _ = engine.calls().request::<CallToolRaw>(&params, &options, now).expect("it is sent");
        let _ = engine.calls().request_raw("x/y", Some(&json), &options, now).expect("it is sent");
        engine.calls().notify_raw("notifications/x", Some(&json), now).expect("it is sent");
        let read = json.decode::<BTreeMap<String, Json>>().expect("it is an object");
        engine.calls().notify_raw("notifications/x", Some(&Json::from_value(&read).unwrap()), now).expect("it is sent");
        lines(&mut engine, 5);
    }

    let mut engine = open(Negotiate::Legacy, r#"{"protocolVersion":"2025-11-25"}"#);
    lines(&mut engine, 2);
    let mut refusal = RpcError::new(-1, "two\nlines");
    refusal.data = Some(json.clone());
    for refuses in [false, true] {
        say(&mut engine, "{\"jsonrpc\":\"2.0\",\"method\":\"x/ask\",\r\"id\":\r\"a\\n\"\r}");
        let Some(Event::ServerRequest(ask)) = engine.poll_event() else { panic!("the server asks") };
        if refuses {
            assert!(engine.calls().refuse(ask.key, &refusal, now));
        } else {
            assert_eq!(engine.calls().answer(ask.key, &json, now), Ok(true));
        }
        lines(&mut engine, 1);
    }
}

#[test]
fn keys_must_be_text_or_become_it() {
    fn refused<K: Serialize + Ord>(key: K) {
        let map = BTreeMap::from([(key, 1)]);
        let error = Json::from_value(&map).expect_err("no key");
        assert!(error.to_string().contains("key"), "{error}");
        assert!(serde_json::to_string(&map).is_err());
    }
    /// A float that has an order.
    #[derive(PartialEq, PartialOrd, Serialize)]
    struct Float(f64);
    impl Eq for Float {}
    #[expect(clippy::derive_ord_xor_partial_ord, reason = "none of them is NaN together with another")]
    impl Ord for Float {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.0.total_cmp(&other.0)
        }
    }
    same(&BTreeMap::from([(Float(1.5), 1), (Float(2.0), 2)]));
    same(&BTreeMap::from([(Some("a"), 1)]));
    refused(Float(f64::NAN));
    refused(Float(f64::INFINITY));
    refused(());
    refused(None::<u8>);
    refused([1]);
    refused((1, 2));
    refused(BTreeMap::from([(1, 1)]));
    refused(Json::default().get().split('u').collect::<Vec<_>>());
}

#[test]
fn what_a_value_says_against_being_written_is_told() {
    struct Refuses;
    impl Serialize for Refuses {
        fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("not today"))
        }
    }
    let error = Json::from_value(&[Some(Refuses)]).expect_err("it refuses");
    assert_eq!(error.to_string(), "not today");
}
