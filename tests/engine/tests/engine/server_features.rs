//! Resources, prompts, completion, log levels and roots, in every revision: what comes is read, what goes is as it should be.
//!
//! The official schemas and examples lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/schema.json` and
//! `<revision>/examples/<type>/*.json`.

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use mcpwire_core::{
    Annotations, CompleteResult, ContentBlock, GetPromptResult, Icon, Json, JsonError, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, LoggingLevel, Prompt, PromptArgument,
    PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ResourceUpdated, Role, Root,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

fn read<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    Json::parse(text).and_then(|json| json.decode())
}

fn good<T: DeserializeOwned>(text: &str) -> T {
    read(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Reads a value, and compares what is written of it with the value. Every member must be one that the type knows.
fn round_trip<T: DeserializeOwned + Serialize + Debug>(original: &Value) {
    let value: T = good(&original.to_string());
    assert!(!format!("{value:?}").contains("Extra([("), "a member is not known: {value:#?}");
    let mut written = serde_json::to_value(&value).expect("it can be written");
    let mut original = original.clone();
    // `false` is left out where it is what an absent member stands for.
    for value in [&mut original, &mut written] {
        drop_false(value);
    }
    assert_eq!(original, written);
}

fn drop_false(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| !(["required", "hasMore"].contains(&&**name) && value == &Value::Bool(false)));
            members.values_mut().for_each(drop_false);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_false),
        _ => {}
    }
}

type Check = fn(&Value);

/// What the schemas call a type, where its value lies in what they call so, and the type here.
const TYPES: [(&str, &[&str], Check); 28] = [
    ("Resource", &[], round_trip::<Resource>),
    ("ResourceTemplate", &[], round_trip::<ResourceTemplate>),
    ("ListResourcesResult", &[], round_trip::<ListResourcesResult>),
    ("ListResourcesResultResponse", &["result"], round_trip::<ListResourcesResult>),
    ("ListResourceTemplatesResult", &[], round_trip::<ListResourceTemplatesResult>),
    ("ListResourceTemplatesResultResponse", &["result"], round_trip::<ListResourceTemplatesResult>),
    ("TextResourceContents", &[], round_trip::<ResourceContents>),
    ("BlobResourceContents", &[], round_trip::<ResourceContents>),
    ("ReadResourceResult", &[], round_trip::<ReadResourceResult>),
    ("ReadResourceResultResponse", &["result"], round_trip::<ReadResourceResult>),
    ("ResourceUpdatedNotification", &["params"], round_trip::<ResourceUpdated>),
    ("ResourceUpdatedNotificationParams", &[], round_trip::<ResourceUpdated>),
    ("Prompt", &[], round_trip::<Prompt>),
    ("PromptArgument", &[], round_trip::<PromptArgument>),
    ("PromptMessage", &[], round_trip::<PromptMessage>),
    ("Role", &[], round_trip::<Role>),
    ("ListPromptsResult", &[], round_trip::<ListPromptsResult>),
    ("ListPromptsResultResponse", &["result"], round_trip::<ListPromptsResult>),
    ("GetPromptResult", &[], round_trip::<GetPromptResult>),
    ("GetPromptResultResponse", &["result"], round_trip::<GetPromptResult>),
    ("CompleteResult", &[], round_trip::<CompleteResult>),
    ("CompleteResultResponse", &["result"], round_trip::<CompleteResult>),
    ("Root", &[], round_trip::<Root>),
    ("ListRootsResult", &[], round_trip::<ListRootsResult>),
    ("Annotations", &[], round_trip::<Annotations>),
    ("Icon", &[], round_trip::<Icon>),
    ("LoggingLevel", &[], round_trip::<LoggingLevel>),
    ("ResourceLink", &[], round_trip::<ContentBlock>),
];

fn spec() -> Option<PathBuf> {
    let folder = std::env::var_os("MCPWIRE_SPEC");
    if folder.is_none() {
        println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
    }
    folder.map(PathBuf::from)
}

fn json_of(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn every_official_example_comes_out_as_it_went_in() {
    let Some(spec) = spec() else { return };
    let mut seen = 0;
    for (name, path, check) in TYPES {
        let entries = fs::read_dir(spec.join("2026-07-28/examples").join(name)).into_iter().flatten();
        for file in entries.filter_map(Result::ok) {
            let whole = json_of(&file.path());
            check(path.iter().fold(&whole, |value, key| &value[key]));
            seen += 1;
        }
    }
    assert!(seen >= 20, "only {seen} examples under {}", spec.display());
}

/// The largest value that each definition allows has no member that the type here does not know, in any revision.
#[test]
fn every_member_of_every_revision_is_known() {
    let Some(spec) = spec() else { return };
    for revision in REVISIONS {
        let schema = json_of(&spec.join(revision).join("schema.json"));
        let definitions = schema.get("$defs").or_else(|| schema.get("definitions")).expect("definitions");
        let mut seen = 0;
        for (name, path, check) in TYPES {
            // A response holds a result, of which there is a definition too, or a wish for input.
            let definition = definitions.get(name).filter(|_| !name.ends_with("ResultResponse"));
            let Some(definition) = definition else { continue };
            let whole = largest(definition, definitions);
            check(path.iter().fold(&whole, |value, key| &value[key]));
            seen += 1;
        }
        assert!(seen >= 18, "{revision}: only {seen} definitions");
    }
}

/// A value with every member that its schema names.
fn largest(schema: &Value, definitions: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return largest(&definitions[name], definitions);
    }
    let first = |key: &str| schema[key].get(0).map(|first| largest(first, definitions));
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let members = schema["properties"].as_object().into_iter().flatten();
            members
                .map(|(name, member)| match &**name {
                    // Any string, says the schema; any that the client knows, says the text.
                    "resultType" => (name.clone(), json!("complete")),
                    _ => (name.clone(), largest(member, definitions)),
                })
                .collect()
        }
        Some("array") => json!([largest(&schema["items"], definitions)]),
        Some("string") => json!("some"),
        Some("integer") => json!(7),
        Some("number") => json!(0.5),
        Some("boolean") => json!(true),
        _ => first("anyOf").or_else(|| first("allOf")).unwrap_or(json!({})),
    }
}

/// The shapes that the pages of each revision show, for where the schemas are not at hand.
#[test]
fn the_shapes_of_each_revision_are_read() {
    let of_2024 = json!({
        "resources": [{"uri": "file:///a", "name": "a", "description": "d", "mimeType": "text/plain"}],
        "nextCursor": "next"
    });
    let of_2025_03 = json!({"resources": [{"uri": "file:///a", "name": "a", "size": 3,
        "annotations": {"audience": ["user"], "priority": 0.5}}]});
    let of_2025_06 = json!({"resources": [{"uri": "file:///a", "name": "a", "title": "A", "_meta": {"k": 1},
        "annotations": {"lastModified": "2025-01-12T15:00:58Z"}}]});
    let of_2025_11 = json!({"resources": [{"uri": "file:///a", "name": "a",
        "icons": [{"src": "https://example.com/i.png", "sizes": ["48x48"]}]}]});
    let of_2026 = json!({"resultType": "complete", "resources": [], "ttlMs": 300_000, "cacheScope": "public"});
    for page in [of_2024, of_2025_03, of_2025_06, of_2025_11, of_2026] {
        round_trip::<ListResourcesResult>(&page);
    }
    round_trip::<GetPromptResult>(&json!({"messages": [
        {"role": "user", "content": {"type": "text", "text": "t"}},
        {"role": "assistant", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
        {"role": "user", "content": {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}},
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "r:a", "blob": "AA=="}}},
        {"role": "user", "content": {"type": "resource_link", "uri": "r:a", "name": "a"}},
    ]}));
    round_trip::<CompleteResult>(&json!({"completion": {"values": ["python"], "total": 10, "hasMore": true}}));
}

#[test]
fn a_bad_entry_spoils_only_itself() {
    let page: ListResourcesResult = good(
        r#"{"resources":[{"uri":"a:1","name":"one"},7,null,{"name":"x"},{"uri":5},{"uri":"","name":"y"},{"uri":"a:2"}]}"#,
    );
    let read: Vec<_> = page.resources.items.iter().map(|resource| (&*resource.uri, &*resource.name)).collect();
    assert_eq!(read, [("a:1", "one"), ("a:2", "a:2")], "one without a name goes by its address");
    let rejected: Vec<_> = page.resources.rejected.iter().map(ToString::to_string).collect();
    assert_eq!(
        rejected,
        [
            "entry 1: a number instead of a resource",
            "entry 2: null instead of a resource",
            "entry 3: `uri` is missing",
            "entry 4: `uri` is a number instead of a string",
            "entry 5 (y): `uri` is empty",
        ]
    );

    let page: ListResourceTemplatesResult = good(r#"{"resourceTemplates":[{"uriTemplate":"f:{p}"},{"uri":"f:a"},[]]}"#);
    assert_eq!(page.resource_templates.items[0].display_name(), "f:{p}");
    assert_eq!((page.resource_templates.items.len(), page.resource_templates.rejected.len()), (1, 2));

    let page: ListPromptsResult = good(
        r#"{"prompts":[{"name":"a","arguments":[{"name":"x","required":"yes"},{},7]},{"name":""},{"title":"b"},"c"]}"#,
    );
    assert_eq!((page.prompts.items.len(), page.prompts.rejected.len()), (1, 3));
    let arguments = &page.prompts.items[0].arguments;
    assert!(arguments.len() == 1 && arguments[0].name == "x" && !arguments[0].required);

    let prompt: GetPromptResult = good(
        r#"{"messages":[{"role":"user"},{"role":"user","content":null},{"content":{}},{"role":"user","content":"bare"}]}"#,
    );
    assert_eq!((prompt.messages.items.len(), prompt.messages.rejected.len()), (1, 3));
    assert!(matches!(&prompt.messages.items[0].content, ContentBlock::Unknown(block) if block.raw.get() == "\"bare\""));

    let read: ReadResourceResult = good(r#"{"contents":[{"uri":"a:1","text":"t"},"t",{"uri":"a:2","stream":"s:1"}]}"#);
    assert_eq!((read.contents.items.len(), read.contents.rejected.len()), (2, 1));
    assert_eq!(read.contents.items[1].extra.get("stream").map(Json::get), Some("\"s:1\""));
}

#[test]
fn null_stands_for_absent() {
    let nothing = json!({"title": null, "description": null, "mimeType": null, "size": null, "annotations": null,
        "icons": null, "arguments": null, "required": null, "_meta": null});
    let with = |members: Value| {
        let mut all = nothing.clone();
        all.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        all.to_string()
    };
    let resource: Resource = good(&with(json!({"uri": "a:1", "name": null})));
    assert_eq!((&*resource.name, resource.size, resource.meta), ("a:1", None, None));
    let template: ResourceTemplate = good(&with(json!({"uriTemplate": "a:{x}", "name": "n"})));
    assert_eq!((template.title, template.icons.len()), (None, 0));
    let prompt: Prompt = good(&with(json!({"name": "p"})));
    assert_eq!((prompt.arguments.len(), prompt.icons.len()), (0, 0));
    assert!(!good::<PromptArgument>(&with(json!({"name": "a"}))).required);
    assert_eq!(good::<Root>(&with(json!({"uri": "file:///", "name": null}))).name, None);

    let page = r#"{"resources":null,"resourceTemplates":null,"prompts":null,"contents":null,"messages":null,"completion":null,"roots":null,"nextCursor":null,"resultType":null,"ttlMs":null,"cacheScope":null,"_meta":null}"#;
    assert_eq!(good::<ListResourcesResult>(page).resources.sent(), 0);
    assert_eq!(good::<ListResourceTemplatesResult>(page).next_cursor, None);
    assert_eq!(good::<ListPromptsResult>(page).ttl_ms, None);
    assert_eq!(good::<ReadResourceResult>(page).contents.sent(), 0);
    assert_eq!(good::<GetPromptResult>(page).messages.sent(), 0);
    assert_eq!(good::<CompleteResult>(page).completion.values.len(), 0);
    assert_eq!(good::<ListRootsResult>(page).roots.len(), 0);
}

/// What a later revision may bring is kept, and written again.
#[test]
fn what_is_not_known_is_kept() {
    fn kept<T: DeserializeOwned + Serialize>(value: &Value) {
        assert_eq!(&serde_json::to_value(good::<T>(&value.to_string())).expect("it can be written"), value);
    }
    kept::<Resource>(
        &json!({"uri": "a:1", "name": "a", "x-new": {"y": [1, null]}, "annotations": {"audience": ["robot"], "x": 1}}),
    );
    kept::<ResourceTemplate>(&json!({"uriTemplate": "a:{x}", "name": "a", "x-new": 1}));
    kept::<Prompt>(&json!({"name": "a", "arguments": [{"name": "x", "schema": {}}], "x-new": null}));
    kept::<ReadResourceResult>(
        &json!({"contents": [{"uri": "a:1", "etag": "e"}], "cacheScope": "team", "x-new": true}),
    );
    kept::<GetPromptResult>(
        &json!({"x-new": 1, "messages": [{"role": "system", "when": 5, "content": {"type": "video", "x": 1}}]}),
    );
    kept::<CompleteResult>(&json!({"completion": {"values": ["a"], "x-new": 1}, "x-new": 2}));
    kept::<ListRootsResult>(&json!({"roots": [{"uri": "file:///a", "x-new": 1}], "x-new": 2}));
    kept::<ResourceUpdated>(&json!({"uri": "a:1", "x-new": 1}));
    let role: Role = good("\"tool\\u001b[2J\"");
    assert_eq!((role.as_str(), &*role.to_string()), ("tool\u{1b}[2J", "tool"));
}

#[test]
fn a_result_of_another_type_is_no_empty_one() {
    let text = r#"{"resultType":"input_required","inputRequests":{},"requestState":"s"}"#;
    let errors = [
        read::<ListResourcesResult>(text).err(),
        read::<ListResourceTemplatesResult>(text).err(),
        read::<ReadResourceResult>(text).err(),
        read::<ListPromptsResult>(text).err(),
        read::<GetPromptResult>(text).err(),
        read::<CompleteResult>(text).err(),
    ];
    for error in errors {
        let error = error.expect("it is none").to_string();
        assert!(error.contains("\"input_required\""), "{error}");
    }
}
