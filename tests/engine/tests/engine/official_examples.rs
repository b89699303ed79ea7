//! What the specification's own examples and schemas say of single blocks and members. That each example is read, and comes
//! out as it went in, is part of `schema_coverage`; that requests are sent as in the examples, of
//! `core_server_features_asked.rs`.

use std::fs;

use mcpwire_core::{AudioContent, ContentBlock, ImageContent, Json, ListToolsResult};
use mcpwire_engine_tests::spec;
use serde_json::Value;

#[test]
fn every_known_block_is_known() {
    let Some(folder) = spec::folder() else { return };
    for name in ["TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"] {
        for (file, value) in spec::examples(&folder, name) {
            let block = Json::from_value(&value).and_then(|json| json.decode::<ContentBlock>()).expect("it is a block");
            assert!(!matches!(block, ContentBlock::Unknown(_)), "{file}");
        }
    }
    let (image, audio) = (ImageContent::default(), AudioContent::default());
    assert_eq!((image.extra, audio.extra), Default::default());
}

/// The schema of each revision knows the members that the types here have; a member that was misspelt would be in none.
#[test]
fn every_member_is_in_a_schema() {
    let Some(folder) = spec::folder() else { return };
    let mut schemas = String::new();
    for revision in spec::folders(&folder) {
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
