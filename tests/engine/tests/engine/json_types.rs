//! The core's own writer writes what `serde_json` writes, byte for byte, for any type of a program; and `Json::decode`,
//! `structured` and methods of vendors read that back.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::{Debug, Display};

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallTool, CallToolParams, CallToolRaw, CallToolResult, Config, Event, Json, Method, Negotiate, Params,
    RequestOptions, RpcError, StructuredErrorKind, Timestamp,
};
use mcpwire_engine_tests::sim::Pair;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct New(Option<i8>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pair16(u16, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Plain {
    First,
    #[serde(rename = "sec\"ond\n")]
    Second,
}

/// A float that can be a key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Float(f64);

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Id(u64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum External {
    Unit,
    New(f32),
    Tuple(u8, Box<External>),
    Struct { text: String, nothing: Option<u8> },
    Empty {},
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Internal {
    Unit,
    New(Inner),
    Struct { list: Vec<i64> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(char),
    Tuple(i128, u128),
    Struct { number: f64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Unit,
    New(i64),
    Tuple(u64, bool),
    Struct { text: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u8>,
    #[serde(rename = "ä\\")]
    renamed: i64,
    #[serde(flatten)]
    more: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Keys {
    integers: BTreeMap<i64, u64>,
    large: BTreeMap<i128, u128>,
    bools: BTreeMap<bool, (Unit, u8)>,
    chars: BTreeMap<char, New>,
    variants: BTreeMap<Plain, Pair16>,
    floats: BTreeMap<Float, Float>,
    ids: BTreeMap<Id, BTreeMap<Option<u8>, bool>>,
    texts: BTreeMap<String, Vec<Keys>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct All {
    keys: Keys,
    external: Vec<External>,
    internal: Vec<Internal>,
    adjacent: Vec<Adjacent>,
    untagged: Vec<Untagged>,
    inner: Inner,
    json: Json,
    tuple: (u128, i128, f32, f64, [bool; 2], Option<Box<All>>),
}

/// What is only written: other values may have the same text.
#[expect(clippy::option_option, reason = "what is inside of what is written is the point")]
#[derive(Clone, Debug, Serialize)]
struct Written {
    all: All,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    floats: BTreeMap<String, f64>,
    boxed: BTreeMap<Box<u8>, u64>,
    external: External,
    internal: WrittenInternal,
    adjacent: WrittenAdjacent,
    untagged: WrittenUntagged,
    options: Option<Option<i8>>,
    bytes: Bytes,
    lengthless: Lengthless,
    displayed: Displayed,
    value: Value,
    json: Json,
    raw: Box<RawValue>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind")]
enum WrittenInternal {
    Struct { value: Value },
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "t", content = "c")]
enum WrittenAdjacent {
    Tuple(i16, u32),
    Struct { a: bool },
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum WrittenUntagged {
    New(i128),
    Tuple(u128, ()),
    Struct { a: [u8; 3] },
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

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z \"\\\\\u{0}-\u{1f}\u{7f}-\u{a0}\u{2028}😀]{0,40}"]
}

/// A float that JSON can express.
fn float() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE
}

fn single() -> impl Strategy<Value = f32> {
    use proptest::num::f32::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE
}

fn keys() -> impl Strategy<Value = Keys> {
    let numbers = (
        btree_map(any::<i64>(), any::<u64>(), 0..3),
        btree_map(any::<i128>(), any::<u128>(), 0..3),
        btree_map(float().prop_map(Float), float().prop_map(Float), 0..3),
        btree_map(any::<u64>().prop_map(Id), btree_map(any::<u8>().prop_map(Some), any::<bool>(), 0..3), 0..3),
    );
    let others = (
        btree_map(any::<bool>(), (Just(Unit), any::<u8>()), 0..3),
        btree_map(any::<char>(), any::<Option<i8>>().prop_map(New), 0..3),
        btree_map(
            prop_oneof![Just(Plain::First), Just(Plain::Second)],
            (any::<u16>(), text()).prop_map(|(number, text)| Pair16(number, text)),
            0..3,
        ),
    );
    let leaf = (numbers, others).prop_map(|((integers, large, floats, ids), (bools, chars, variants))| Keys {
        integers,
        large,
        bools,
        chars,
        variants,
        floats,
        ids,
        texts: BTreeMap::new(),
    });
    leaf.prop_recursive(3, 6, 2, |inner| {
        (inner.clone(), btree_map(text(), vec(inner, 0..2), 0..2)).prop_map(|(keys, texts)| Keys { texts, ..keys })
    })
}

fn inner() -> impl Strategy<Value = Inner> {
    (any::<Option<u8>>(), any::<i64>(), btree_map("[xyz\"]{0,3}", text(), 0..3))
        .prop_map(|(left_out, renamed, more)| Inner { left_out, renamed, more })
}

fn all() -> impl Strategy<Value = All> {
    let external = prop_oneof![
        Just(External::Unit),
        single().prop_map(External::New),
        (text(), any::<Option<u8>>()).prop_map(|(text, nothing)| External::Struct { text, nothing }),
        Just(External::Empty {}),
    ];
    let external = external.prop_recursive(3, 4, 1, |inner| {
        (any::<u8>(), inner).prop_map(|(number, external)| External::Tuple(number, Box::new(external)))
    });
    let internal = prop_oneof![
        Just(Internal::Unit),
        inner().prop_map(Internal::New),
        vec(any::<i64>(), 0..3).prop_map(|list| Internal::Struct { list }),
    ];
    let adjacent = prop_oneof![
        Just(Adjacent::Unit),
        any::<char>().prop_map(Adjacent::New),
        any::<(i128, u128)>().prop_map(|(signed, unsigned)| Adjacent::Tuple(signed, unsigned)),
        float().prop_map(|number| Adjacent::Struct { number }),
    ];
    let untagged = prop_oneof![
        Just(Untagged::Unit),
        any::<i64>().prop_map(Untagged::New),
        any::<(u64, bool)>().prop_map(|(number, flag)| Untagged::Tuple(number, flag)),
        text().prop_map(|text| Untagged::Struct { text }),
    ];
    let enums = (vec(external, 0..3), vec(internal, 0..3), vec(adjacent, 0..3), vec(untagged, 0..3));
    let numbers = (any::<u128>(), any::<i128>(), single(), float(), any::<[bool; 2]>());
    let leaf = (keys(), enums, inner(), numbers, text()).prop_map(|(keys, enums, inner, numbers, text)| All {
        keys,
        external: enums.0,
        internal: enums.1,
        adjacent: enums.2,
        untagged: enums.3,
        json: Json::from_value(&inner).and_then(|inner| Json::from_value(&(inner, text))).expect("it is written"),
        inner,
        tuple: (numbers.0, numbers.1, numbers.2, numbers.3, numbers.4, None),
    });
    leaf.prop_recursive(2, 3, 1, |inner| {
        (inner.clone(), inner).prop_map(|(mut all, inner)| {
            all.tuple.5 = Some(Box::new(inner));
            all
        })
    })
}

/// Texts that are longer than the writer's steps.
fn long_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z \"\\\\\u{0}-\u{1f}\u{7f}-\u{a0}\u{2028}😀]{0,200}", "[a-zä]{0,300}\n?[a-z]{0,9}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        long_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::from),
            btree_map(long_text(), inner, 0..8).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn written() -> impl Strategy<Value = Written> {
    let own = (vec(any::<u8>(), 0..3), vec(btree_map(any::<u8>(), any::<f32>(), 0..3), 0..3), long_text());
    let floats = btree_map(long_text(), any::<f64>(), 0..4);
    let boxed = btree_map(any::<u8>().prop_map(Box::new), any::<u64>(), 0..3);
    let external = prop_oneof![
        any::<f32>().prop_map(External::New),
        (long_text(), any::<Option<u8>>()).prop_map(|(text, nothing)| External::Struct { text, nothing }),
    ];
    let internal = value().prop_map(|value| WrittenInternal::Struct { value });
    let adjacent = prop_oneof![
        any::<(i16, u32)>().prop_map(|(a, b)| WrittenAdjacent::Tuple(a, b)),
        any::<bool>().prop_map(|a| WrittenAdjacent::Struct { a }),
    ];
    let untagged = prop_oneof![
        any::<i128>().prop_map(WrittenUntagged::New),
        any::<u128>().prop_map(|n| WrittenUntagged::Tuple(n, ())),
        any::<[u8; 3]>().prop_map(|a| WrittenUntagged::Struct { a }),
    ];
    let shapes = (floats, boxed, external, internal, adjacent, untagged);
    let rest = (any::<Option<Option<i8>>>(), own, value());
    (all(), inner(), shapes, rest).prop_map(|(all, inner, shapes, (options, own, value))| Written {
        all,
        inner,
        floats: shapes.0,
        boxed: shapes.1,
        external: shapes.2,
        internal: shapes.3,
        adjacent: shapes.4,
        untagged: shapes.5,
        options,
        bytes: Bytes(own.0),
        lengthless: Lengthless(own.1),
        displayed: Displayed(own.2),
        json: Json::parse(value.to_string()).expect("it is JSON"),
        raw: RawValue::from_string(value.to_string()).expect("it is JSON"),
        value,
    })
}

// What is written.

fn same(value: &impl Serialize) {
    let theirs = serde_json::to_string(value).expect("it serialises");
    assert_eq!(Json::from_value(value).expect("it serialises").get(), theirs);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values(value in value()) {
        same(&value);
    }

    #[test]
    fn types_of_all_shapes(written in written()) {
        same(&written);
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

// What is read back.

/// Returns the result of a tool whose structured content is the value.
fn result_with(content: &Json) -> CallToolResult {
    let text = format!(r#"{{"content":[],"structuredContent":{content}}}"#);
    Json::parse(text).and_then(|json| json.decode()).expect("it is a result")
}

fn is_read_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = Json::from_value(value).expect("it is written");
    assert_eq!(json.decode::<T>().as_ref(), Ok(value), "{json}");
    let object = Json::from_value(&BTreeMap::from([("member", value)])).expect("it is written");
    assert_eq!(object.member::<T>("member").as_ref(), Some(value), "{json}");
    if json.get() != "null" {
        assert_eq!(result_with(&json).structured::<T>().as_ref(), Ok(value), "{json}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(all in all()) {
        is_read_back(&all);
    }

    #[test]
    fn numbers_are_read_back(signed: i128, unsigned: u128, float in float(), single in single()) {
        is_read_back(&signed);
        is_read_back(&unsigned);
        is_read_back(&float);
        is_read_back(&single);
    }
}

#[test]
fn the_ends_of_each_type_are_read_back() {
    is_read_back(&BTreeMap::from([(u128::MAX, i128::MIN), (0, i128::MAX)]));
    is_read_back(&BTreeMap::from([(u64::MAX, i64::MIN)]));
    is_read_back(&BTreeMap::from([(false, '\u{10ffff}'), (true, '"')]));
    is_read_back(&[f64::MAX, f64::MIN_POSITIVE, -0.0, 5e-324]);
    is_read_back(&(f32::MAX, f32::MIN_POSITIVE, 1e-45f32));
    is_read_back(&((), Some([Unit])));
}

#[test]
fn a_method_of_a_vendor_is_read_back() {
    enum Count {}
    impl Method for Count {
        const NAME: &'static str = "acme/count";
        type Result = BTreeMap<u8, u128>;
    }
    impl Params<Count> for CountParams {}
    #[derive(Serialize)]
    struct CountParams {
        words: u8,
    }
    let answered = |text: &'static str| {
        let mut pair = Pair::modern(move |sent, peer| peer.answer(sent, text));
        let now = Timestamp::ORIGIN + pair.elapsed();
        let mut calls = pair.engine.calls();
        let ticket =
            calls.request::<Count>(&CountParams { words: 1 }, &RequestOptions::new(), now).expect("it is sent");
        pair.drive();
        pair.take(ticket).expect("it has ended")
    };
    let large = answered(r#"{"7":340282366920938463463374607431768211455}"#);
    assert_eq!(large.expect("it is a result"), BTreeMap::from([(7, u128::MAX)]));
    let CallError::Invalid { error, .. } = answered(r#"{"7":1,"8":[-1]}"#).expect_err("it is no number") else {
        panic!("another error")
    };
    assert_eq!(error.at, "result.8", "{error}");
    assert!(error.to_string().contains("invalid number"), "{error}");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'a> {
    id: u8,
    #[serde(borrow)]
    name: &'a str,
    #[serde(borrow, default)]
    raw: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Rows<'a> {
    #[serde(borrow)]
    rows: Vec<Row<'a>>,
}

#[test]
fn texts_and_raw_values_are_borrowed() {
    let json = Json::parse(r#"{"rows":[{"id":1,"name":"a","raw": [1, {"b":2e400}] }]}"#).expect("it is JSON");
    let rows: Rows<'_> = json.decode().expect("rows");
    let row = &rows.rows[0];
    assert_eq!((row.id, row.name, row.raw.map(RawValue::get)), (1, "a", Some(r#"[1, {"b":2e400}]"#)));
    for part in [row.name, row.raw.expect("it has one").get()] {
        assert!(json.get().as_bytes().as_ptr_range().contains(&part.as_ptr()), "{part}");
    }
}

#[test]
fn an_error_says_where_and_what() {
    let cases = [
        (r#"{"rows":[{"id":1,"name":"a"},{"id":"\u001b[2J","name":"a"}]}"#, "rows[1].id", "expected u8"),
        (r#"{"rows":[{"id":-1,"name":"a"}]}"#, "rows[0].id", "-1"),
        ("{\"rows\":[\n{\"id\":1,\n\"name\":5}]}", "rows[0].name", "integer `5`"),
        (r#"{"rows":[{"id":1,"name":"x\ty"}]}"#, "rows[0].name", "borrowed string"),
        (r#"{"rows":[{"id":1,"name":"a\ud83d"}]}"#, "rows[0].name", "hex escape"),
        (r#"{"rows":[{"id":1,"id":2,"name":"a"}]}"#, "rows[0]", "duplicate field `id`"),
        (r#"{"rows":[{"id":1,"\u001b[2J":2,"name":"a"}]}"#, "rows[0]", "unknown field"),
        (r#"{"rows":[{"id":1}]}"#, "rows[0]", "missing field `name`"),
        (r#"{"rows":[{"id":1e999,"name":"a"}]}"#, "rows[0].id", "out of range"),
        (r#"{"rows":{}}"#, "rows", "expected a sequence"),
        (r#"{"rows":[{"id":[1],"name":"a"}]}"#, "rows[0].id", "expected u8"),
    ];
    for (text, place, what) in cases {
        // Only without the feature, a float of any size is none.
        let what = if what == "out of range" && cfg!(feature = "arbitrary-precision") { "id" } else { what };
        let json = Json::parse(text).expect("it is JSON");
        let shown = json.decode::<Rows<'_>>().expect_err("it does not fit").to_string();
        assert!(shown.contains(&format!("at `{place}")) && shown.contains(what), "{text}: {shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        let result = result_with(&json);
        let error = result.structured::<Rows<'_>>().expect_err("it does not fit");
        assert!(matches!(&error.kind, StructuredErrorKind::Mismatch(place_of) if place_of.at == place), "{error:?}");
        assert!(error.to_string().contains(what) && !error.to_string().contains('\u{1b}'), "{text}: {error}");
    }
    assert_eq!(Json::parse("[1,x]").expect_err("it is no JSON").to_string(), "not a value at `[1]`");
    assert_eq!(Json::parse("x").expect_err("it is no JSON").to_string(), "not a value");
}

#[test]
fn half_of_a_surrogate_pair_is_refused_only_where_it_is_read_as_text() {
    #[derive(Deserialize)]
    struct Parts {
        raw: Box<RawValue>,
        text: String,
    }
    let json = Json::parse(r#"{"skipped":"\ud83d","raw":"\ud83d","text":"\ud83d\ude00"}"#).expect("it is JSON");
    let parts: Parts = json.decode().expect("the parts");
    assert_eq!((parts.raw.get(), parts.text.as_str()), (r#""\ud83d""#, "\u{1f600}"));
    let error = json.decode::<BTreeMap<String, String>>().expect_err("it has half of a pair").to_string();
    assert!(error.contains("hex escape") && error.contains("at `skipped`"), "{error}");
}

#[test]
fn all_that_a_message_can_nest_is_read() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let answered = |text: String| {
        let mut pair = Pair::modern(move |sent, peer| peer.answer(sent, &text));
        let ticket = pair.raw("x/y", None).expect("it is sent");
        pair.drive();
        pair.take(ticket).expect("it has ended")
    };
    let deepest = answered(nested(127)).expect("it is within the limit");
    assert!(deepest.decode::<Value>().is_ok());
    assert!(answered(nested(128)).is_err());
    let deeper = Json::parse(nested(128)).expect("it is within the limit");
    let error = deeper.decode::<Value>().expect_err("`serde_json` has another limit").to_string();
    assert!(error.contains("recursion limit"), "{error}");
}
