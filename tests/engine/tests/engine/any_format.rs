//! Every type of the protocol is read from every self-describing format, not only from JSON text in memory.

use std::collections::BTreeSet;
use std::fmt::Debug;

use mcpwire_core::internal::{
    DiscoverResult, InitializeParams, InitializeResult, InputRequiredResult, SubscriptionsAcknowledged,
    SubscriptionsListenResult,
};
use mcpwire_core::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that is checked of each type.
trait Check {
    fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(name: &str, text: &str);
}

/// Lists the types, each with a value as JSON. The members of what is kept as JSON stand in alphabetical order, which is that of
/// a `serde_json::Value`.
macro_rules! types {
    ($( $Type:ty: $text:expr, )*) => {
        const LISTED: &[&str] = &[$( stringify!($Type) ),*];

        fn each<C: Check>() {
            $( C::check::<$Type>(stringify!($Type), $text); )*
        }
    };
}

types! {
    Json: r#"{"a":[1,-2,0.5,null,true,"ä\n",{}],"b":{"c":[]}}"#,
    Number: "-2.5",
    ResourceUi: r#"{"csp":{"connectDomains":["https://a"]},"permissions":{"camera":{}},"prefersBorder":true,"x":1}"#,
    ToolUi: r#"{"resourceUri":"ui://a","visibility":["model"],"x":{"y":[]}}"#,
    UiCsp: r#"{"connectDomains":["https://a"],"frameDomains":["https://b"]}"#,
    ClientCapabilities: r#"{"roots":{"listChanged":true},"sampling":{},"extensions":{"com.example/x":{"a":1}}}"#,
    ListCapability: r#"{"listChanged":true}"#,
    ResourcesCapability: r#"{"listChanged":true,"subscribe":true}"#,
    ServerCapabilities: r#"{"tools":{"listChanged":true},"logging":{},"completions":{},"x":[]}"#,
    CompleteResult: r#"{"completion":{"values":["a"],"total":1,"hasMore":true},"resultType":"complete"}"#,
    Completion: r#"{"values":["a","b"],"total":7}"#,
    Annotations: r#"{"audience":["user"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"}"#,
    AudioContent: r#"{"type":"audio","data":"AAAA","mimeType":"audio/wav","_meta":{"a":1}}"#,
    ContentBlock: r#"{"type":"text","text":"a","annotations":{"priority":1},"x":"y"}"#,
    EmbeddedResource: r#"{"type":"resource","resource":{"uri":"file:///a","text":"b"}}"#,
    ImageContent: r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#,
    ResourceContents: r#"{"uri":"file:///a","mimeType":"text/plain","text":"b","x":1}"#,
    ResourceLink: r#"{"type":"resource_link","uri":"file:///a","name":"a","size":12,"icons":[{"src":"data:,"}]}"#,
    TextContent: r#"{"type":"text","text":"a"}"#,
    ErrorKind: "\"tool_not_found\"",
    ElicitAction: "\"accept\"",
    ElicitForm: r#"{"mode":"form","message":"a","requestedSchema":{"type":"object","properties":{"b":{"type":"boolean"}}}}"#,
    ElicitParams: r#"{"mode":"url","message":"a","url":"https://b"}"#,
    ElicitResult: r#"{"action":"accept","content":{"a":[1,"b"]}}"#,
    ElicitUrl: r#"{"mode":"url","message":"a","url":"https://b","elicitationId":"c"}"#,
    ElicitationComplete: r#"{"elicitationId":"a"}"#,
    BooleanSchema: r#"{"type":"boolean","title":"a","default":true}"#,
    EnumOption: r#"{"const":"a","title":"b"}"#,
    EnumSchema: r#"{"type":"string","enum":["a"],"enumNames":["b"]}"#,
    FieldSchema: r#"{"type":"integer","minimum":1,"default":2}"#,
    FormFields: r#"{"b":{"type":"string"},"c":{"type":"odd"}}"#,
    FormSchema: r#"{"type":"object","properties":{"b":{"type":"number","maximum":1.5}},"required":["b"]}"#,
    MultiSelectItems: r#"{"anyOf":[{"const":"a","title":"b"}]}"#,
    MultiSelectSchema: r#"{"type":"array","minItems":1,"items":{"enum":["a","b"]},"default":["a"]}"#,
    NumberKind: "\"integer\"",
    NumberSchema: r#"{"type":"number","maximum":1.5,"default":1}"#,
    StringFormat: "\"date-time\"",
    StringSchema: r#"{"type":"string","minLength":1,"format":"email"}"#,
    Icon: r#"{"src":"data:,","sizes":["any"],"theme":"dark"}"#,
    Implementation: r#"{"name":"a","version":"1","icons":[{"src":"data:,"}],"x":{"y":null}}"#,
    InputRequiredResult: r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":{}}},"requestState":"s"}"#,
    DiscoverResult: r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":5}"#,
    InitializeParams: r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#,
    InitializeResult: r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"},"_meta":{}}"#,
    ItemList<Tool>: r#"[{"name":"a","inputSchema":{"type":"object"}}]"#,
    LogMessage: r#"{"level":"error","logger":"a","data":{"b":[1]}}"#,
    LoggingLevel: "\"warning\"",
    Progress: r#"{"progressToken":7,"progress":0.5,"total":2.0,"message":"a"}"#,
    GetPromptResult: r#"{"description":"a","messages":[{"role":"user","content":{"type":"text","text":"b"}}]}"#,
    ListPromptsResult: r#"{"prompts":[{"name":"a"}],"nextCursor":"b","cacheScope":"public"}"#,
    Prompt: r#"{"name":"a","arguments":[{"name":"b","required":true}]}"#,
    PromptArgument: r#"{"name":"b","title":"c"}"#,
    PromptMessage: r#"{"role":"assistant","content":{"type":"odd","x":1}}"#,
    Role: "\"assistant\"",
    ListResourceTemplatesResult: r#"{"resourceTemplates":[{"uriTemplate":"file:///{a}","name":"a"}]}"#,
    ListResourcesResult: r#"{"resources":[{"uri":"file:///a","name":"a","size":1}],"ttlMs":5}"#,
    ReadResourceResult: r#"{"contents":[{"uri":"file:///a","blob":"AAAA"}]}"#,
    Resource: r#"{"uri":"file:///a","name":"a","annotations":{"audience":["user"]}}"#,
    ResourceTemplate: r#"{"uriTemplate":"file:///{a}","name":"a","mimeType":"text/plain"}"#,
    ResourceUpdated: r#"{"uri":"file:///a","_meta":{"a":"b"}}"#,
    ListRootsResult: r#"{"roots":[{"uri":"file:///a"}]}"#,
    Root: r#"{"uri":"file:///a","name":"a"}"#,
    CreateMessageParams: r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"modelPreferences":{"costPriority":0.5},"maxTokens":9}"#,
    CreateMessageResult: r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m","stopReason":"endTurn"}"#,
    IncludeContext: "\"thisServer\"",
    ModelHint: r#"{"name":"a"}"#,
    ModelPreferences: r#"{"hints":[{"name":"a"}],"speedPriority":1.0}"#,
    SamplingMessage: r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
    StopReason: "\"a reason of the model's own\"",
    ToolChoice: r#"{"mode":"required"}"#,
    ToolChoiceMode: "\"none\"",
    SamplingContent: r#"{"type":"tool_use","id":"a","name":"b","input":{"c":1}}"#,
    SamplingContents: r#"[{"type":"text","text":"a"},{"type":"odd"}]"#,
    ToolResultContent: r#"{"type":"tool_result","toolUseId":"a","content":[{"type":"text","text":"b"}],"isError":true}"#,
    ToolUseContent: r#"{"type":"tool_use","id":"a","name":"b","input":{"c":1}}"#,
    SubscriptionFilter: r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#,
    SubscriptionsAcknowledged: r#"{"notifications":{"promptsListChanged":true},"_meta":{"a":1}}"#,
    SubscriptionsListenResult: r#"{"resultType":"complete","_meta":{"a":1}}"#,
    CallToolOutcome: r#"{"content":[{"type":"text","text":"a"}],"isError":false}"#,
    CancelTaskResult: r#"{"taskId":"a","status":"cancelled","ttl":5}"#,
    CreateTaskResult: r#"{"task":{"taskId":"a","status":"working","ttl":5},"_meta":{"b":1},"x":2}"#,
    ListTasksResult: r#"{"tasks":[{"taskId":"a","status":"odd"}]}"#,
    Task: r#"{"taskId":"a","status":"completed","result":{"content":[]}}"#,
    TaskProtocol: "\"experimental\"",
    TaskHandle: r#"{"taskId":"a","form":"extension","status":"working","createdAt":"2025-01-12T15:00:58Z","ttlMs":5,"pollIntervalMs":7}"#,
    TaskStatus: "\"input_required\"",
    TaskSupport: "\"optional\"",
    TasksCapability: r#"{"list":{},"requests":{"tools":{"call":{}}}}"#,
    ToolExecution: r#"{"taskSupport":"required"}"#,
    CallToolResult: r#"{"content":[{"type":"text","text":"a"},{"type":"odd","x":[1]}],"structuredContent":{"b":{"c":0.5}},"isError":true,"_meta":{"d":null}}"#,
    CallToolResult: r#"{"rows":3,"_meta":{"d":{"e":null}}}"#,
    CallToolResult: "[1,2]",
    ListToolsResult: r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"b","ttlMs":5,"cacheScope":"private"}"#,
    Tool: r#"{"name":"a","description":"b","inputSchema":{"properties":{"c":{"type":"string"}},"type":"object"},"annotations":{"readOnlyHint":true},"x":-1}"#,
    ToolAnnotations: r#"{"title":"a","destructiveHint":false}"#,
    RpcError: r#"{"code":-32602,"message":"a","data":{"b":[1.5]}}"#,
    Era: "\"modern\"",
    ProtocolVersion: "\"2025-11-25\"",
}

/// The types that are not read, and why.
const NOT_READ: [(&str, &str); 7] = [
    (
        "parameters of the client's requests, which borrow",
        "CallToolParams CompleteParams CompletionReference GetPromptParams ListParams ReadResourceParams SetLevelParams \
         SubscribeParams SubscriptionsListenParams TaskParams UnsubscribeParams UpdateTaskParams",
    ),
    ("read as parts of other types", "ElicitOther Extra FormField InputRequest InvalidItem UnknownContent"),
    ("headers of a trace", "TraceContext"),
    (
        "errors",
        "Base64Error FieldError FieldProblem FormError JsonError NameIssue PeerError PeerErrorKind StructuredError \
         StructuredErrorKind ToolFailure TraceContextError UnknownVersion ValidationError",
    ),
    ("views of a tool's result", "ToolOutput ToolText"),
    ("what a method requires of a server", "Requirement"),
    ("traits", "Validator PagedList"),
];

#[test]
fn no_type_is_forgotten() {
    let exports = include_str!("../../../../core/types/src/lib.rs");
    let exports = exports.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    // Methods are no data.
    let exports = exports.filter(|list| !list.starts_with("method::"));
    let names = exports.flat_map(|list| list.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let is_type = |name: &&str| name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    let exported: BTreeSet<&str> = names.filter(is_type).collect();
    assert!(exported.len() > 100, "the exports of the types are elsewhere: {exported:?}");
    let read = LISTED.iter().map(|name| name.split('<').next().unwrap_or(name).trim());
    let listed: BTreeSet<&str> = read.chain(NOT_READ.iter().flat_map(|(_, names)| names.split(' '))).collect();
    let forgotten: Vec<_> = exported.difference(&listed).collect();
    assert!(forgotten.is_empty(), "say how these are read, or why they are not: {forgotten:?}");
}

/// What JSON text in memory says, by this crate's own reader and by that of `serde_json`.
fn expected<T: DeserializeOwned + PartialEq + Debug>(name: &str, text: &str) -> T {
    let ours: T = Json::parse(text).and_then(|json| json.decode()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(serde_json::from_str::<T>(text).unwrap_or_else(|error| panic!("{name}: {error}")), ours, "{name}");
    ours
}

#[test]
fn from_a_value_and_from_a_stream() {
    struct InMemory;
    impl Check for InMemory {
        fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(name: &str, text: &str) {
            let expected: T = expected(name, text);
            let value: Value = serde_json::from_str(text).expect("it is JSON");
            assert_eq!(serde_json::from_value::<T>(value.clone()).ok().as_ref(), Some(&expected), "{name}: a value");
            assert_eq!(T::deserialize(&value).ok().as_ref(), Some(&expected), "{name}: a borrowed value");
            assert_eq!(serde_json::from_reader(text.as_bytes()).ok().as_ref(), Some(&expected), "{name}: a stream");
            assert_eq!(serde_json::from_slice(text.as_bytes()).ok().as_ref(), Some(&expected), "{name}: bytes");
            let written = serde_json::to_string(&expected).expect("it can be written");
            assert_eq!(Json::from_value(&expected).expect("it can be written").get(), written, "{name}: both writers");
            let value = serde_json::to_value(&expected).expect("it can be written");
            assert_eq!(value, serde_json::from_str::<Value>(&written).expect("it is JSON"), "{name}: to a value");
        }
    }
    each::<InMemory>();
}

#[test]
fn from_the_buffers_of_other_types() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged<T> {
        Value(T),
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flat<T> {
        outer: u8,
        #[serde(flatten)]
        inner: T,
    }
    struct Buffered;
    impl Check for Buffered {
        fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(name: &str, text: &str) {
            let expected: T = expected(name, text);
            let untagged: Untagged<T> = serde_json::from_str(text).unwrap_or_else(|e| panic!("{name} untagged: {e}"));
            assert_eq!(untagged, Untagged::Value(expected), "{name}");
            let Untagged::Value(inner) = untagged;
            if text.starts_with('{') {
                let flat = Flat { outer: 1, inner };
                let written = serde_json::to_string(&flat).unwrap_or_else(|e| panic!("{name} flat: {e}"));
                assert_eq!(Json::from_value(&flat).expect("it can be written").get(), written, "{name}");
                let read: Flat<T> = serde_json::from_str(&written).unwrap_or_else(|e| panic!("{name} flat: {e}"));
                assert_eq!(read, flat, "{name}");
                let read: Flat<T> = Json::parse(written).expect("JSON").decode().expect("our reader buffers too");
                assert_eq!(read, flat, "{name}");
            }
        }
    }
    each::<Buffered>();
}

#[test]
fn yaml_message_pack_and_cbor() {
    struct Formats;
    impl Check for Formats {
        fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(name: &str, text: &str) {
            let expected: T = expected(name, text);
            let yaml = serde_yaml_ng::to_string(&expected).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!yaml.contains("$serde_json"), "{name}: {yaml}");
            assert_eq!(serde_yaml_ng::from_str::<T>(&yaml).ok().as_ref(), Some(&expected), "{name}: {yaml}");
            for packed in [rmp_serde::to_vec(&expected), rmp_serde::to_vec_named(&expected)] {
                let packed = packed.unwrap_or_else(|error| panic!("{name}: {error}"));
                let read: T = rmp_serde::from_slice(&packed).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(read, expected, "{name}");
            }
            let mut cbor = Vec::new();
            ciborium::into_writer(&expected, &mut cbor).unwrap_or_else(|error| panic!("{name}: {error}"));
            let read: T = ciborium::from_reader(&*cbor).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(read, expected, "{name}");
        }
    }
    each::<Formats>();
}

#[test]
fn a_tool_in_yaml_is_what_a_person_would_write() {
    let tool = "name: add\ninputSchema:\n  type: object\n  properties:\n    a: {type: integer, minimum: 1}\nx: [0.5, ~, yes]\n";
    let tool: Tool = serde_yaml_ng::from_str(tool).expect("a tool");
    assert_eq!(tool.name, "add");
    assert_eq!(tool.input_schema.get(), r#"{"type":"object","properties":{"a":{"type":"integer","minimum":1}}}"#);
    assert_eq!(tool.extra.get("x").map(Json::get), Some(r#"[0.5,null,"yes"]"#));
    let written = serde_yaml_ng::to_string(&tool).expect("it can be written");
    let schema = "inputSchema:\n  type: object\n  properties:\n    a:\n      type: integer\n      minimum: 1\n";
    assert_eq!(written, format!("name: add\n{schema}x:\n- 0.5\n- null\n- yes\n"));
}

#[test]
fn keys_that_are_no_strings_become_strings() {
    let json: Json = serde_yaml_ng::from_str("1: a\ntrue: b\n-2: {c: .inf}\n").expect("a value");
    assert_eq!(json.get(), r#"{"1":"a","true":"b","-2":{"c":null}}"#);
}

#[test]
fn names_that_are_private_to_serde_json_are_only_text() {
    let hostile = r#"{"$serde_json::private::RawValue":"{\"admin\":true} x"}"#;
    let text = format!(r#"{{"name":"a","inputSchema":{{}},"x":{hostile}}}"#);
    let tool: Tool = serde_json::from_reader(text.as_bytes()).expect("a tool");
    assert_eq!(tool.extra.get("x").map(Json::get), Some(hostile));
    let yaml = serde_yaml_ng::to_string(&tool).expect("it can be written");
    assert_eq!(serde_yaml_ng::from_str::<Tool>(&yaml).expect("a tool"), tool);
    // A map that is shown without a newtype around it cannot be told from raw text, but text that is not JSON is refused.
    let pairs = [("$serde_json::private::RawValue", "1} x")].into_iter();
    let map = serde::de::value::MapDeserializer::<_, serde_json::Error>::new(pairs);
    assert!(Json::deserialize(map).is_err());
}

#[test]
fn what_is_too_deep_is_refused() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let packed = |depth: usize| [vec![0x91; depth], vec![1]].concat();
    assert_eq!(rmp_serde::from_slice::<Json>(&packed(128)).expect("not too deep").get(), deep(128));
    for depth in [129, 1000] {
        assert!(rmp_serde::from_slice::<Json>(&packed(depth)).is_err(), "{depth}");
    }
}

#[test]
fn formats_that_do_not_describe_themselves_are_refused() {
    struct Opaque;
    impl<'de> serde::Deserializer<'de> for Opaque {
        type Error = serde::de::value::Error;
        fn deserialize_any<V: serde::de::Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(serde::de::Error::custom("the format does not say what comes next"))
        }
        fn deserialize_newtype_struct<V: serde::de::Visitor<'de>>(
            self,
            _: &'static str,
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            visitor.visit_newtype_struct(self)
        }
        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
            tuple tuple_struct map struct enum identifier ignored_any
        }
    }
    assert!(Tool::deserialize(Opaque).is_err());
}
