//! Each name of the protocol leads to something in the documentation: to the item of this name, or to one that has it as an
//! alias. The schemas lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/schema.json`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

/// Definitions that are parts of others, or that the library does not need.
const NO_ITEM: &[&str] = &[
    // Unions, and what several messages have in common.
    "BaseMetadata",
    "CacheableResult",
    "ClientResult",
    "EmptyResult",
    "Icons",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "JSONRPCResultResponse",
    "NotificationParams",
    "Request",
    "RequestParams",
    "ResourceRequestParams",
    "Result",
    "ServerResult",
    // The error of JSON-RPC, whose name would hide all other errors.
    "Error",
    // Strings and numbers.
    "Cursor",
    "ProgressToken",
    "RequestId",
    "ResultType",
    // Objects that are kept as JSON.
    "InputResponse",
    "InputResponseRequestParams",
    "InputResponses",
    "MetaObject",
    "NotificationMetaObject",
    "RelatedTaskMetadata",
    "RequestMetaObject",
    "ResultMetaObject",
    "SubscriptionsListenResultMetaObject",
];

/// Adds the names that the files of a folder export, and their aliases.
fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            for line in text.lines().map(str::trim_start) {
                if let Some(aliases) = line.strip_prefix("#[doc(alias") {
                    names.extend(aliases.split('"').skip(1).step_by(2).map(String::from));
                }
                let declared = ["pub struct ", "pub cacheable struct ", "pub enum ", "pub trait "];
                if let Some(name) = declared.iter().find_map(|keyword| line.strip_prefix(keyword)) {
                    names.extend(name.split(|c: char| !c.is_alphanumeric()).next().map(String::from));
                }
                // The list of methods in a macro that makes each an alias.
                if let Some((_, rest)) = line.split_once(" = \"").filter(|_| line.contains("=>")) {
                    names.extend(rest.split('"').next().map(String::from));
                }
            }
        }
    }
}

/// The methods of the requests and notifications of a schema.
fn methods(definitions: &Map<String, Value>) -> impl Iterator<Item = &str> {
    definitions.values().filter_map(|definition| definition["properties"]["method"]["const"].as_str())
}

#[test]
fn names_that_programs_look_for_are_found() {
    let mut names = BTreeSet::new();
    for folder in ["core", "adapters"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut names);
    }
    let wanted = [
        "from_stream",
        "HubError",
        "InvalidItem",
        "ListResult",
        "MessageObserver",
        "ProtocolMode",
        "RemoteClosed",
        "RequestHandler",
        "ServerRequest",
        "ShutdownTimeouts",
        "StderrHandler",
        "UnparsableMessage",
    ];
    let missing: Vec<_> = wanted.iter().filter(|name| !names.contains(**name)).collect();
    assert!(missing.is_empty(), "give an item the alias: {missing:?}");
}

#[test]
fn each_name_of_the_schema_is_found() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core");
    let mut names = BTreeSet::new();
    for package in ["text", "types", "engine"] {
        collect(&core.join(package).join("src"), &mut names);
    }
    let Some(spec) = std::env::var_os("MCPWIRE_SPEC") else {
        return println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
    };
    let mut in_schemas = BTreeSet::new();
    for revision in ["2025-11-25", "2026-07-28"] {
        let schema = fs::read_to_string(Path::new(&spec).join(revision).join("schema.json")).expect("a schema");
        let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
        let definitions = schema["$defs"].as_object().expect("definitions");
        in_schemas.extend(methods(definitions).map(String::from));
        in_schemas.extend(definitions.keys().cloned());
    }
    assert!(in_schemas.len() > 190, "{in_schemas:?}");
    let is_missing = |name: &&String| !names.contains(*name) && !NO_ITEM.contains(&&***name);
    let missing: Vec<_> = in_schemas.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "give an item the alias, or say why none has it: {missing:?}");
    let surplus: Vec<_> = NO_ITEM.iter().filter(|name| names.contains(**name)).collect();
    assert!(surplus.is_empty(), "these have an item: {surplus:?}");
}
