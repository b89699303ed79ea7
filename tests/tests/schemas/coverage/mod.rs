//! Every definition of the official schemas, and what carries it here: a type that reads and writes it, a method that sends
//! it, or a place within another.
//!
//! The schemas lie in the folder that `MCPWIRE_SPEC` names.

use std::collections::BTreeSet;

use carriers::{CARRIERS, Params, Part, Refusal, Sent, Told, Type, UNTYPED, reads};
use mcpwire_core::ProtocolVersion::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcpwire_core::internal::{DiscoverResult, SubscriptionsListenResult, client_methods};
use mcpwire_core::{
    CallToolResult, CompleteResult, Config, Event, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, Notification, ReadResourceResult, RequestOptions,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use mcpwire_engine_tests::spec::{self, Schema};
use serde_json::{Value, json};

mod carriers;

#[test]
fn every_definition_has_a_carrier() {
    let Some(folder) = spec::folder() else { return };
    let listed: BTreeSet<&str> = CARRIERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed.len(), CARRIERS.len(), "a definition is listed twice");
    let mut defined = BTreeSet::new();
    for schema in spec::schemas(&folder) {
        for name in schema.definitions().keys() {
            assert!(listed.contains(name.as_str()), "{name} of {} is not listed", schema.name);
            defined.insert(name.clone());
        }
    }
    let gone: Vec<_> = listed.iter().filter(|name| !defined.contains(**name)).collect();
    assert!(gone.is_empty(), "no schema has {gone:?}");
    for (name, carrier) in CARRIERS {
        if let Part(words) = carrier {
            assert!(!words.is_empty(), "{name}: where, or why?");
        }
    }
}

/// Each value that a definition allows is read by its type, each member has a field of its own, and it is written as it was.
#[test]
fn every_type_carries_all_that_its_definition_allows() {
    let Some(folder) = spec::folder() else { return };
    let (mut checked, mut faults) = (0, Vec::new());
    for schema in spec::schemas(&folder) {
        for (name, carrier) in CARRIERS {
            if schema.definition(name).is_none() {
                continue;
            }
            for (full, choice) in (0..12).map(|n| (n % 2 == 0, n / 2)) {
                let mut value = schema.instance(name, full, choice);
                let check = match carrier {
                    Type(check) => check,
                    Params(check) => {
                        value = value["params"].take();
                        check
                    }
                    _ => break,
                };
                checked += 1;
                let fault = match check(&value) {
                    Ok(shown) => unknown(name, &shown),
                    Err(fault) => Some(fault),
                };
                faults.extend(fault.map(|fault| format!("{name} of {}: {fault}", schema.name)));
            }
        }
    }
    faults.dedup();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n\n"));
    println!("{checked} values");
    assert!(checked > 500, "only {checked}");
}

/// What of a value was not known to its type.
fn unknown(definition: &str, shown: &str) -> Option<String> {
    if shown.contains("Unknown(") || shown.contains("Other(") {
        return Some(format!("a variant is not known: {shown}"));
    }
    let members = shown.split("extra: {\"").skip(1);
    let names = members.filter_map(|rest| rest.split('"').next());
    let mut names = names.filter(|name| *name != "other" && !UNTYPED.contains(&(definition, name)));
    names.next().map(|name| format!("`{name}` has no field of its own: {shown}"))
}

/// The official examples, of whatever type has some, are read and written as they are.
#[test]
fn every_example_comes_out_as_it_went_in() {
    let Some(folder) = spec::folder() else { return };
    let (mut seen, mut faults) = (0, Vec::new());
    for (name, carrier) in CARRIERS {
        for (file, mut value) in spec::examples(&folder, name) {
            let check = match carrier {
                Type(check) => check,
                Params(check) => {
                    value = value["params"].take();
                    check
                }
                Told(event) => {
                    seen += 1;
                    let said = told(&value);
                    if !said.starts_with(event) {
                        faults.push(format!("{file}: {said} instead of {event}"));
                    }
                    continue;
                }
                Refusal => {
                    seen += 1;
                    faults.extend(refused(&value).err().map(|fault| format!("{file}: {fault}")));
                    continue;
                }
                _ => continue,
            };
            seen += 1;
            faults.extend(check(&value).err().map(|fault| format!("{file}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(seen >= 85, "only {seen} examples under {}", folder.display());
    println!("{seen} examples");
}

/// Results within responses, as a server sends them.
#[test]
fn every_example_of_a_response_is_a_result() {
    let Some(folder) = spec::folder() else { return };
    let mut seen = 0;
    for (name, check) in [
        ("CallToolResultResponse", reads::<CallToolResult> as fn(&Value) -> Result<String, String>),
        ("CompleteResultResponse", reads::<CompleteResult>),
        ("DiscoverResultResponse", reads::<DiscoverResult>),
        ("GetPromptResultResponse", reads::<GetPromptResult>),
        ("ListPromptsResultResponse", reads::<ListPromptsResult>),
        ("ListResourceTemplatesResultResponse", reads::<ListResourceTemplatesResult>),
        ("ListResourcesResultResponse", reads::<ListResourcesResult>),
        ("ListToolsResultResponse", reads::<ListToolsResult>),
        ("ReadResourceResultResponse", reads::<ReadResourceResult>),
        ("SubscriptionsListenResultResponse", reads::<SubscriptionsListenResult>),
    ] {
        for (file, value) in spec::examples(&folder, name) {
            seen += 1;
            check(&value["result"]).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        }
    }
    assert!(seen >= 10, "only {seen}");
}

#[test]
fn every_notification_is_an_event() {
    let Some(folder) = spec::folder() else { return };
    for schema in spec::schemas(&folder) {
        for (name, carrier) in CARRIERS {
            let Told(event) = carrier else { continue };
            if schema.definition(name).is_none() {
                continue;
            }
            for full in [true, false] {
                let mut message = schema.instance(name, full, 0);
                message["jsonrpc"] = "2.0".into();
                let said = told(&message);
                assert!(said.starts_with(event), "{name} of {}: {said} instead of {event}", schema.name);
            }
        }
    }
}

/// What a notification becomes.
fn told(message: &Value) -> String {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    pair.say(message.to_string());
    match pair.happened().last() {
        Some(Event::Notification(notification)) => {
            if let Notification::Other { method, params } = notification {
                assert_eq!(Some(method.as_str()), message["method"].as_str());
                assert_eq!(params.is_some(), message.get("params").is_some());
            }
            format!("{notification:?}")
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn every_error_is_an_error_of_its_request() {
    let Some(folder) = spec::folder() else { return };
    for schema in spec::schemas(&folder) {
        for (name, _) in CARRIERS.iter().filter(|(_, carrier)| matches!(carrier, Refusal)) {
            if schema.definition(name).is_some() {
                for full in [true, false] {
                    let value = schema.instance(name, full, 0);
                    refused(&value).unwrap_or_else(|fault| panic!("{name} of {}: {fault}", schema.name));
                }
            }
        }
    }
}

/// Answers a call with an error, alone or in its response.
fn refused(value: &Value) -> Result<(), String> {
    let error = value.get("error").unwrap_or(value).clone();
    let said = error.clone();
    let answer = move |sent: &mcpwire_engine_tests::sim::Sent, peer: &mut mcpwire_engine_tests::sim::Peer| {
        peer.say(json!({"jsonrpc": "2.0", "id": sent.message["id"], "error": said}).to_string());
    };
    let mut pair = Pair::open(Config::default(), modern(answer));
    let ticket = pair.call("t", &RequestOptions::new()).map_err(|error| error.to_string())?;
    pair.drive();
    let mcpwire_core::CallError::Server { error: read, .. } = pair.error(ticket) else {
        return Err("it is no error of the server's".into());
    };
    let same = error.get("code").is_none_or(|code| *code == read.code)
        && error.get("message").is_none_or(|message| *message == read.message)
        && error.get("data").is_some() == read.data.is_some();
    if same { Ok(()) } else { Err(format!("{read:?} instead of {error}")) }
}

/// The tables of revisions say of each method, notification and member what the schemas say.
#[test]
fn the_table_of_revisions_agrees_with_the_schemas() {
    let Some(folder) = spec::folder() else { return };
    let schemas = spec::schemas(&folder);
    for version in ProtocolVersion::ALL {
        let schema = schemas.iter().find(|schema| schema.name == version.as_str()).expect("each has one");
        for (kind, unions) in [
            (Kind::ClientRequest, &["ClientRequest"][..]),
            (Kind::ClientNotification, &["ClientNotification"]),
            (Kind::ServerRequest, &["ServerRequest", "InputRequest"]),
            (Kind::ServerNotification, &["ServerNotification"]),
        ] {
            let mut defined: BTreeSet<String> = unions.iter().flat_map(|union| methods(schema, union)).collect();
            if version == V2026_07_28 {
                // What the extension for tasks adds, whose schema has no union of them.
                let extension: &[&str] = match kind {
                    Kind::ClientRequest => &["tasks/get", "tasks/cancel", "tasks/update"],
                    Kind::ServerNotification => &["notifications/tasks"],
                    _ => &[],
                };
                defined.extend(extension.iter().map(ToString::to_string));
            }
            let rows = rows().filter(|(other, _, (from, until))| *other == kind && (*from..=*until).contains(&version));
            let listed: BTreeSet<String> = rows.map(|(_, name, _)| name.to_string()).collect();
            assert_eq!(listed, defined, "{kind:?} in {version}");
        }
        for (_, name, (from, until)) in rows().filter(|(kind, ..)| *kind == Kind::Definition) {
            assert_eq!((from..=until).contains(&version), member(schema, name), "{name} in {version}");
        }
    }
    for (kind, name, (from, until)) in rows() {
        assert!(from <= until, "{name}");
        assert_eq!(rows().filter(|other| (other.0, other.1) == (kind, name)).count(), 1, "{name}");
    }
}

/// The engine's table of what clients send, and the table of all else.
fn rows() -> impl Iterator<Item = (Kind, &'static str, Revisions)> {
    let sent = client_methods().iter().map(|method| {
        let is_notification = method.name.starts_with("notifications/");
        let kind = if is_notification { Kind::ClientNotification } else { Kind::ClientRequest };
        (kind, method.name, (method.from, method.until))
    });
    sent.chain(WITHOUT_CLIENT_METHODS.iter().copied())
}

/// The methods of a union of messages.
fn methods(schema: &Schema, union: &str) -> Vec<String> {
    let Some(definition) = schema.definition(union) else { return Vec::new() };
    let alone = std::slice::from_ref(definition);
    let parts = definition["anyOf"].as_array().map_or(alone, Vec::as_slice);
    let constant = |part: &Value| schema.member(part, "method")?["const"].as_str().map(ToOwned::to_owned);
    parts.iter().filter_map(constant).collect()
}

/// Whether a schema has a definition, or a member of one. Parameters have definitions of their own from 2025-11-25 on.
fn member(schema: &Schema, name: &str) -> bool {
    let Some((definition, member)) = name.split_once('.') else { return schema.definition(name).is_some() };
    let of = |value: &Value| schema.member(value, member).is_some();
    let within = definition.strip_suffix("Params").and_then(|request| schema.definition(request));
    schema.definition(definition).is_some_and(of)
        || within.and_then(|request| schema.member(request, "params")).is_some_and(of)
}

#[test]
fn what_is_sent_is_called_as_in_the_schemas() {
    let Some(folder) = spec::folder() else { return };
    let schemas = spec::schemas(&folder);
    for (name, carrier) in CARRIERS {
        let Sent(method) = carrier else { continue };
        for schema in &schemas {
            if let Some(definition) = schema.definition(name) {
                let known = schema.member(definition, "method").expect("it has a method");
                assert_eq!(known["const"], *method, "{name} of {}", schema.name);
            }
        }
    }
}

// What clients do not send, with the revisions of the protocol that have it. The table of what they send is the engine's.

/// What an entry of a table describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ClientRequest,
    ClientNotification,
    /// A request from the server to the client. From protocol revision 2026-07-28 on, it is in an `input_required` result
    /// (basic/patterns/mrtr).
    ServerRequest,
    ServerNotification,
    /// A type in the official schema of the protocol, such as `Icon`, or a property of a type, such as `Tool.title`.
    Definition,
}

/// The first and the last revision.
type Revisions = (ProtocolVersion, ProtocolVersion);

const ALL: Revisions = (V2024_11_05, V2026_07_28);
const LEGACY: Revisions = (V2024_11_05, V2025_11_25);
const MODERN: Revisions = (V2026_07_28, V2026_07_28);
const FIRST_TASKS: Revisions = (V2025_11_25, V2025_11_25);

/// The requests and notifications that servers send, and the schema definitions that some protocol revisions do not have.
const WITHOUT_CLIENT_METHODS: &[(Kind, &str, Revisions)] = &[
    // Requests of servers.
    (Kind::ServerRequest, "ping", LEGACY),
    (Kind::ServerRequest, "sampling/createMessage", ALL),
    (Kind::ServerRequest, "roots/list", ALL),
    (Kind::ServerRequest, "elicitation/create", (V2025_06_18, V2026_07_28)),
    (Kind::ServerRequest, "tasks/get", FIRST_TASKS),
    (Kind::ServerRequest, "tasks/result", FIRST_TASKS),
    (Kind::ServerRequest, "tasks/list", FIRST_TASKS),
    (Kind::ServerRequest, "tasks/cancel", FIRST_TASKS),
    // Notifications of servers.
    (Kind::ServerNotification, "notifications/message", ALL),
    (Kind::ServerNotification, "notifications/progress", ALL),
    (Kind::ServerNotification, "notifications/cancelled", ALL),
    (Kind::ServerNotification, "notifications/tools/list_changed", ALL),
    (Kind::ServerNotification, "notifications/prompts/list_changed", ALL),
    (Kind::ServerNotification, "notifications/resources/list_changed", ALL),
    (Kind::ServerNotification, "notifications/resources/updated", ALL),
    (Kind::ServerNotification, "notifications/elicitation/complete", FIRST_TASKS),
    (Kind::ServerNotification, "notifications/tasks/status", FIRST_TASKS),
    (Kind::ServerNotification, "notifications/tasks", MODERN),
    (Kind::ServerNotification, "notifications/subscriptions/acknowledged", MODERN),
    // Parts of messages. The client reads them in every revision, and sends them only in the revisions that have them.
    (Kind::Definition, "JSONRPCBatchRequest", (V2025_03_26, V2025_03_26)),
    (Kind::Definition, "AudioContent", (V2025_03_26, V2026_07_28)),
    (Kind::Definition, "ToolAnnotations", (V2025_03_26, V2026_07_28)),
    (Kind::Definition, "ServerCapabilities.completions", (V2025_03_26, V2026_07_28)),
    (Kind::Definition, "ResourceLink", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "CallToolResult.structuredContent", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Tool.outputSchema", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Tool.title", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Tool._meta", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "ClientCapabilities.elicitation", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "CompleteRequestParams.context", (V2025_06_18, V2026_07_28)),
    (Kind::Definition, "Icon", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "Implementation.description", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "CreateMessageRequestParams.tools", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "ElicitRequestURLParams", (V2025_11_25, V2026_07_28)),
    (Kind::Definition, "ElicitRequestURLParams.elicitationId", FIRST_TASKS),
    (Kind::Definition, "ServerCapabilities.tasks", FIRST_TASKS),
    (Kind::Definition, "ClientCapabilities.tasks", FIRST_TASKS),
    (Kind::Definition, "Tool.execution", FIRST_TASKS),
    (Kind::Definition, "ServerCapabilities.extensions", MODERN),
    (Kind::Definition, "ClientCapabilities.extensions", MODERN),
    (Kind::Definition, "InputRequiredResult", MODERN),
    (Kind::Definition, "CacheableResult", MODERN),
];
