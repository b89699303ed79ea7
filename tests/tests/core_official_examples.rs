//! The specification's own examples: each is read, and comes out as it went in.
//!
//! They lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/schema.json` and `<revision>/examples/<type>/*.json`.

use std::fs;
use std::path::{Path, PathBuf};

use mcpwire_core::{
    AudioContent, CallToolResult, ClientCapabilities, ContentBlock, DiscoverResult, ImageContent, Implementation,
    InitializeResult, InputRequiredResult, Json, ListToolsResult, LogMessage, Progress, ServerCapabilities, Tool,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn spec() -> Option<PathBuf> {
    let folder = std::env::var_os("MCPWIRE_SPEC");
    if folder.is_none() {
        println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
    }
    folder.map(PathBuf::from)
}

/// Reads a text as a `T`, and compares what is written of it with the text.
fn round_trip<T: DeserializeOwned + Serialize>(text: &str) -> Result<(), String> {
    let mut original: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let read: T = Json::parse(text).and_then(|json| json.decode()).map_err(|error| error.to_string())?;
    let mut written = serde_json::to_value(&read).map_err(|error| error.to_string())?;
    // What a member stands for when it is absent may be written out, or left out.
    for value in [&mut original, &mut written] {
        drop_defaults(value);
        floats(value);
    }
    if original == written { Ok(()) } else { Err(format!("read {original}\nwritten {written}")) }
}

fn drop_defaults(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in ["isError", "listChanged", "subscribe"] {
                if members.get(name) == Some(&Value::Bool(false)) {
                    members.remove(name);
                }
            }
            // Known only from an extension of the library's types.
            members.retain(|name, value| !(name == "resultType" && value == "complete"));
            members.values_mut().for_each(drop_defaults);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_defaults),
        _ => {}
    }
}

/// Numbers by their value: `50` is `50.0`.
fn floats(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().into(),
        Value::Object(members) => members.values_mut().for_each(floats),
        Value::Array(elements) => elements.iter_mut().for_each(floats),
        _ => {}
    }
}

type Check = fn(&str) -> Result<(), String>;

/// The types that have examples of their own, and how deep within them the type lies.
const TYPES: [(&str, &[&str], Check); 27] = [
    ("AudioContent", &[], round_trip::<ContentBlock>),
    ("CallToolResult", &[], round_trip::<CallToolResult>),
    ("CallToolResultResponse", &["result"], round_trip::<CallToolResult>),
    ("ClientCapabilities", &[], round_trip::<ClientCapabilities>),
    ("DiscoverResult", &[], round_trip::<DiscoverResult>),
    ("DiscoverResultResponse", &["result"], round_trip::<DiscoverResult>),
    ("EmbeddedResource", &[], round_trip::<ContentBlock>),
    ("ImageContent", &[], round_trip::<ContentBlock>),
    ("Implementation", &[], round_trip::<Implementation>),
    ("InputRequiredResult", &[], round_trip::<InputRequiredResult>),
    ("InitializeResult", &[], round_trip::<InitializeResult>),
    ("InitializeResultResponse", &["result"], round_trip::<InitializeResult>),
    ("InitializeRequest", &["params", "clientInfo"], round_trip::<Implementation>),
    ("InitializeRequestParams", &["capabilities"], round_trip::<ClientCapabilities>),
    ("ListToolsResult", &[], round_trip::<ListToolsResult>),
    ("ListToolsResultResponse", &["result"], round_trip::<ListToolsResult>),
    ("LoggingMessageNotification", &["params"], round_trip::<LogMessage>),
    ("LoggingMessageNotificationParams", &[], round_trip::<LogMessage>),
    ("ProgressNotification", &["params"], round_trip::<Progress>),
    ("ProgressNotificationParams", &[], round_trip::<Progress>),
    ("ResourceLink", &[], round_trip::<ContentBlock>),
    ("ServerCapabilities", &[], round_trip::<ServerCapabilities>),
    ("TextContent", &[], round_trip::<ContentBlock>),
    ("Tool", &[], round_trip::<Tool>),
    ("DiscoverRequest", &["params", "_meta", "io.modelcontextprotocol/clientInfo"], round_trip::<Implementation>),
    ("ToolResultContent", &[], round_trip::<ContentBlock>),
    ("ToolUseContent", &[], round_trip::<ContentBlock>),
];

#[test]
fn every_example_comes_out_as_it_went_in() {
    let Some(spec) = spec() else { return };
    let (mut seen, mut faults) = (0, Vec::new());
    for revision in folders(&spec) {
        for (name, path, check) in TYPES {
            for file in files(&revision.join("examples").join(name)) {
                let text = fs::read_to_string(&file).expect("it can be read");
                let whole: Value = serde_json::from_str(&text).expect("it is JSON");
                let part = path.iter().fold(&whole, |value, key| &value[key]);
                assert!(!part.is_null(), "{}: no {path:?}", file.display());
                seen += 1;
                if let Err(fault) = check(&part.to_string()) {
                    faults.push(format!("{}: {fault}", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(seen >= 30, "only {seen} examples under {}", spec.display());
    println!("{seen} examples");
}

#[test]
fn every_known_block_is_known() {
    let Some(spec) = spec() else { return };
    for revision in folders(&spec) {
        for name in ["TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"] {
            for file in files(&revision.join("examples").join(name)) {
                let text = fs::read_to_string(&file).expect("it can be read");
                let block: ContentBlock = Json::parse(text).and_then(|json| json.decode()).expect("it is a block");
                assert!(!matches!(block, ContentBlock::Unknown(_)), "{}", file.display());
            }
        }
    }
    let (image, audio) = (ImageContent::default(), AudioContent::default());
    assert_eq!((image.extra, audio.extra), Default::default());
}

/// The schema of each revision knows the members that the types here have; a member that was misspelt would be in none.
#[test]
fn every_member_is_in_a_schema() {
    let Some(spec) = spec() else { return };
    let mut schemas = String::new();
    for revision in folders(&spec) {
        schemas.push_str(&fs::read_to_string(revision.join("schema.json")).unwrap_or_default());
    }
    let full = r#"{"tools":[{"name":"n","title":"t","description":"d","inputSchema":{},"outputSchema":{},"annotations":{"title":"t","readOnlyHint":true,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true},"icons":[{"src":"s","mimeType":"m","sizes":["1"],"theme":"t"}],"_meta":{}}],"nextCursor":"c","resultType":"complete","ttlMs":1,"cacheScope":"c","_meta":{}}"#;
    let page: ListToolsResult = Json::parse(full).and_then(|json| json.decode()).expect("it is a page");
    assert!(page.extra.is_empty() && page.tools.items.iter().all(|tool| tool.extra.is_empty()));
    let mut names = Vec::new();
    keys(&serde_json::from_str(full).expect("it is JSON"), &mut names);
    for name in names {
        assert!(schemas.contains(&format!("\"{name}\":")), "no schema has {name}");
    }
}

fn keys(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                names.push(name.clone());
                keys(value, names);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| keys(element, names)),
        _ => {}
    }
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).unwrap_or_else(|error| panic!("MCPWIRE_SPEC, {}: {error}", of.display()));
    entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn files(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).into_iter().flatten();
    entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}
