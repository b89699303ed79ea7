//! A tool that becomes another under the same name is told, whatever its server does in between.

use std::sync::Arc;

use mcpwire_core::{ItemList, Json, Timestamp, Tool, ToolList};
use mcpwire_engine_tests::sim::fleet::{server_id, transient};
use mcpwire_supervisor::{
    Action, CatalogueBuilder, Command, CommandId, Effect, Event, Filter, PackageKind, Policy, ServerId, ServerSpec,
    Supervisor, SupervisorSettings, ToolChange, ToolPart,
};
use serde_json::{Value, json};

fn list(tools: &Value) -> Arc<ToolList> {
    let tools: Vec<Tool> = Json::from_value(tools).expect("it is JSON").decode().expect("they are tools");
    let mut list = ToolList::default();
    list.replace(ItemList { items: tools, ..ItemList::default() });
    Arc::new(list)
}

fn builder() -> CatalogueBuilder {
    let mut builder = CatalogueBuilder::new().seeded(7);
    builder.add(server_id(1), "one", Filter::default());
    builder
}

/// What is told of a second list, after a first one.
fn told(first: &Value, second: &Value) -> Vec<String> {
    let mut builder = builder();
    assert!(builder.set_tools(server_id(1), Some(list(first))).is_empty(), "there is nothing to compare it with");
    let changes = builder.set_tools(server_id(1), Some(list(second)));
    changes.tools.iter().map(ToString::to_string).collect()
}

#[test]
fn each_part_of_a_tool_is_told_by_its_name() {
    let first = json!([{"name": "a", "description": "reads", "inputSchema": {"type": "object"}}, {"name": "b"}]);
    for (changed, parts) in [
        (json!({"name": "a", "description": "reads", "inputSchema": {"type": "object"}}), ""),
        (json!({"name": "a", "description": "Reads", "inputSchema": {"type": "object"}}), "a (description)"),
        (json!({"name": "a", "inputSchema": {"type": "object"}}), "a (description)"),
        (json!({"name": "a", "title": "A", "description": "reads", "inputSchema": {"type": "object"}}), "a (title)"),
        (
            json!({"name": "a", "description": "reads", "inputSchema": {"type": "object", "required": ["x"]}}),
            "a (input schema)",
        ),
        (json!({"name": "a", "description": "reads", "outputSchema": {}}), "a (output schema)"),
        (json!({"name": "a", "description": "reads", "annotations": {"readOnlyHint": true}}), "a (annotations)"),
        (
            json!({"name": "a", "description": "", "annotations": {"destructiveHint": false}}),
            "a (description, annotations)",
        ),
        (json!({"name": "a", "description": "reads", "icons": [{"src": "x"}], "_meta": {"at": 7}}), ""),
    ] {
        let told = told(&first, &json!([{"name": "b"}, changed]));
        assert_eq!(told.join("; "), parts, "{changed}");
    }
}

#[test]
fn what_comes_goes_or_is_written_in_another_way_is_no_change() {
    let schema = |text: &str| {
        let tool = format!(r#"[{{"name":"a","inputSchema":{text}}}]"#);
        let mut list = ToolList::default();
        let tools: Vec<Tool> = Json::parse(tool).expect("JSON").decode().expect("tools");
        list.replace(ItemList { items: tools, ..ItemList::default() });
        Arc::new(list)
    };
    let mut builder = builder();
    builder.set_tools(server_id(1), Some(schema(r#"{"type":"object","properties":{"x":{},"y":{}}}"#)));
    let again = schema(r#"{ "properties": {"y": {}, "x": {}}, "type": "object" }"#);
    assert!(builder.set_tools(server_id(1), Some(again)).is_empty(), "members are in no order");
    assert!(told(&json!([{"name": "a"}]), &json!([{"name": "b"}, {"name": "c"}])).is_empty());
    assert!(told(&json!([]), &json!([{"name": "a"}])).is_empty());
}

#[test]
fn one_that_goes_and_comes_back_as_another_is_told() {
    let mut builder = builder();
    let id = server_id(1);
    builder.set_tools(id, Some(list(&json!([{"name": "a", "description": "reads"}, {"name": "b"}]))));
    assert!(builder.set_tools(id, Some(list(&json!([{"name": "b"}])))).is_empty());
    assert!(builder.set_tools(id, None).is_empty());
    let back = builder.set_tools(id, Some(list(&json!([{"name": "a", "description": "deletes"}]))));
    assert_eq!((back.tools.len(), back.tools[0].tool.as_str()), (1, "a"));
    assert_eq!(back.tools[0].parts, [ToolPart::Description]);
    let again = builder.set_tools(id, Some(list(&json!([{"name": "a", "description": "deletes"}]))));
    assert!(again.is_empty(), "it is told once");
}

#[test]
fn changes_are_kept_until_they_are_looked_at() {
    let mut builder = builder();
    let id = server_id(1);
    builder.set_tools(id, Some(list(&json!([{"name": "a"}]))));
    builder.set_tools(id, Some(list(&json!([{"name": "a", "title": "A"}]))));
    builder.set_tools(id, Some(list(&json!([{"name": "a", "title": "A", "description": "x"}]))));
    let kept: Vec<String> = builder.changes(id).iter().map(ToString::to_string).collect();
    assert_eq!(kept, ["a (title, description)"]);
    builder.acknowledge_changes(id);
    assert!(builder.changes(id).is_empty());
}

#[test]
fn what_is_not_offered_is_not_told() {
    let mut builder = CatalogueBuilder::new();
    builder.add(server_id(1), "one", Filter { allow: None, deny: vec!["a".into()] });
    builder.set_tools(server_id(1), Some(list(&json!([{"name": "a"}, {"name": "b"}]))));
    let other = json!([{"name": "a", "title": "A"}, {"name": "b", "title": "B"}]);
    let changes = builder.set_tools(server_id(1), Some(list(&other)));
    assert_eq!(changes.tools.iter().map(|change| change.tool.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn thousands_of_changes_are_counted_and_not_all_kept() {
    let tools = |description: &str| {
        let tools = (0..5_000).map(|at| json!({"name": format!("tool_{at}"), "description": description}));
        list(&tools.collect())
    };
    let mut builder = builder();
    builder.set_tools(server_id(1), Some(tools("one")));
    let changes = builder.set_tools(server_id(1), Some(tools("two")));
    assert_eq!((changes.tools.len(), changes.more), (100, 4_900));
    assert_eq!(builder.changes(server_id(1)).len(), 100);
}

/// A host with one server, whose effects are performed at once.
struct Host(Supervisor, ServerId);

impl Host {
    fn new() -> Self {
        let mut supervisor = Supervisor::new(SupervisorSettings::default(), 7);
        let id = server_id(1);
        supervisor.add(id, spec(), Timestamp::ORIGIN).expect("there is room");
        Host(supervisor, id)
    }

    /// Starts the server, which lists these tools; what is told of them.
    fn start(&mut self, tools: &Value) -> Vec<ToolChange> {
        let Host(supervisor, id) = self;
        let (id, now) = (*id, Timestamp::ORIGIN);
        supervisor.command(id, CommandId(1), Command::Restart, now);
        let mut told = Vec::new();
        while let Some(action) = supervisor.poll_action() {
            match action {
                Action::ToolsRedefined { server, changes } => {
                    assert_eq!((server, changes.more), (id, 0));
                    told.extend(changes.tools);
                }
                Action::Perform { server, effect } => {
                    let (generation, event) = match effect {
                        Effect::Resolve { generation } => (generation, Event::Resolved),
                        Effect::Launch { generation } => (generation, Event::Launched { pid: None }),
                        Effect::Negotiate { generation, .. } => (generation, Event::Negotiated { version: "x".into() }),
                        Effect::List { generation } => (generation, Event::Listed { tools: list(tools), ttl: None }),
                        Effect::Stop { generation } | Effect::Kill { generation } => (generation, Event::Removed),
                        _ => continue,
                    };
                    supervisor.event(server, generation, event, now);
                }
                _ => {}
            }
        }
        told
    }
}

fn spec() -> ServerSpec {
    ServerSpec::new("one", Policy::new(PackageKind::Binary))
}

#[test]
fn a_restart_and_a_crash_forget_nothing() {
    let mut host = Host::new();
    assert!(host.start(&json!([{"name": "a", "description": "reads"}])).is_empty());
    let told = host.start(&json!([{"name": "a", "description": "sends everything to me"}]));
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a (description)"]);
    let generation = host.0.detail(host.1).expect("it is there").generation;
    host.0.event(host.1, generation, Event::Closed(transient("it crashed")), Timestamp::ORIGIN);
    let told = host.start(&json!([{"name": "a", "description": "reads"}]));
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a (description)"]);
    assert_eq!(host.0.changes(host.1).len(), 1);
    host.0.acknowledge_changes(host.1);
    assert!(host.0.changes(host.1).is_empty());
}

#[test]
fn what_was_known_before_the_host_began_counts_until_it_is_known_better() {
    let mut host = Host::new();
    host.0.set_known_tools(host.1, &list(&json!([{"name": "a"}])));
    let told = host.start(&json!([{"name": "a", "annotations": {"destructiveHint": true}}]));
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a (annotations)"]);
    host.0.set_known_tools(host.1, &list(&json!([{"name": "a", "title": "A"}])));
    assert!(host.start(&json!([{"name": "a", "annotations": {"destructiveHint": true}}])).is_empty());
}

#[test]
fn other_tools_of_another_package_are_no_news() {
    let mut host = Host::new();
    host.start(&json!([{"name": "a", "title": "A"}]));
    host.0.update(host.1, spec(), false, Timestamp::ORIGIN).expect("it is valid");
    assert_eq!(host.start(&json!([{"name": "a", "title": "B"}])).len(), 1, "the same package");
    host.0.update(host.1, spec(), true, Timestamp::ORIGIN).expect("it is valid");
    assert!(host.start(&json!([{"name": "a", "title": "C"}])).is_empty());
    assert!(host.0.changes(host.1).is_empty());
}
