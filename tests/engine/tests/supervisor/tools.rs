//! The tools of many servers under one roof: their names, how they are found, and how much of what they answer is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcpwire_core::{CallToolResult, ItemList, Json, Timestamp, Tool, ToolList};
use mcpwire_engine_tests::sim::fleet::{server_id, tools, transient};
use mcpwire_supervisor::{
    Action, Catalogue, CatalogueBuilder, Command, CommandId, Effect, Event, Filter, PackageKind, Policy, ResultLimits,
    ServerId, ServerSpec, Supervisor, SupervisorSettings, ToolChange, ToolPart, Truncation, estimate_tokens,
    search_tools,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

fn catalogue(servers: &[(u64, &str, &[&str])]) -> Arc<Catalogue> {
    let mut builder = CatalogueBuilder::new();
    for (id, name, list) in servers {
        builder.add(server_id(*id), name, Filter::default());
        builder.set_tools(server_id(*id), Some(tools(list.iter())));
    }
    builder.catalogue()
}

fn exposed(catalogue: &Catalogue) -> Vec<&str> {
    catalogue.tools().map(|tool| tool.exposed).collect()
}

#[test]
fn tools_are_named_after_their_server_and_in_order() {
    let catalogue = catalogue(&[(1, "Web search", &["find", "again"]), (2, "GitHub", &["search"])]);
    assert_eq!(exposed(&catalogue), ["github__search", "web_search__again", "web_search__find"]);
}

#[test]
fn a_name_finds_its_tool_and_a_bare_one_only_if_there_is_one() {
    let catalogue = catalogue(&[(1, "a", &["read", "only_a"]), (2, "b", &["read"])]);
    let found = |name: &str| catalogue.find(name).map(|tool| (tool.server, tool.tool.name.as_str()));
    assert_eq!(found("a__read"), Some((server_id(1), "read")));
    assert_eq!(found("b__read"), Some((server_id(2), "read")));
    assert_eq!(found("only_a"), Some((server_id(1), "only_a")));
    assert_eq!(found("read"), None, "there are two");
    let providers: Vec<ServerId> = catalogue.providers("read").map(|tool| tool.server).collect();
    assert_eq!(providers, [server_id(1), server_id(2)]);
    for name in ["", "__", "a__", "__read", "a__nope", "c__read", "a_read"] {
        assert_eq!(found(name), None, "{name}");
    }
}

#[test]
fn a_name_belongs_to_its_server_also_while_that_offers_nothing() {
    let mut builder = CatalogueBuilder::new();
    builder.add(server_id(1), "Web search", Filter::default());
    builder.add(server_id(2), "x", Filter::default());
    for (name, server) in [
        ("web_search__find", Some(server_id(1))),
        ("x__a__b", Some(server_id(2))),
        ("x__", Some(server_id(2))),
        ("web_search", None),
        ("find", None),
        ("y__find", None),
        ("__find", None),
    ] {
        assert_eq!(builder.server_of(name), server, "{name}");
    }
    // Two that look alike both have a hash in their names then.
    builder.add(server_id(3), "X!", Filter::default());
    assert_eq!(builder.server_of("x__a"), None);
    builder.set_tools(server_id(3), Some(tools(["a"])));
    let exposed = builder.catalogue().tools().map(|tool| tool.exposed.to_owned()).collect::<Vec<_>>();
    assert_eq!(builder.server_of(&exposed[0]), Some(server_id(3)));
    builder.remove(server_id(3));
    assert_eq!(builder.server_of("x__a"), Some(server_id(2)));
}

#[test]
fn a_shown_name_comes_before_a_bare_one() {
    // The second server calls a tool as the first one's is shown.
    let catalogue = catalogue(&[(1, "a", &["x"]), (2, "b", &["a__x"])]);
    assert_eq!(catalogue.find("a__x").map(|tool| tool.server), Some(server_id(1)));
    assert_eq!(catalogue.find("b__a__x").map(|tool| tool.server), Some(server_id(2)));
}

#[test]
fn names_that_look_alike_get_a_hash_and_the_plain_one_keeps_its_name() {
    let catalogue = catalogue(&[(1, "s", &["a.b", "a_b", "a b", "c.d"])]);
    let names: BTreeMap<&str, &str> = catalogue.tools().map(|tool| (tool.tool.name.as_str(), tool.exposed)).collect();
    assert_eq!(names["a_b"], "s__a_b");
    assert_eq!(names["c.d"], "s__c_d", "nobody else wants it");
    assert!(names["a.b"].starts_with("s__a_b_") && names["a b"].starts_with("s__a_b_"));
    assert_ne!(names["a.b"], names["a b"]);
}

#[test]
fn a_long_name_is_cut_and_told_apart() {
    let (one, two) = (format!("{}1", "x".repeat(200)), format!("{}2", "x".repeat(200)));
    let server = "a server with a name that is much too long to stand in front of each tool of it";
    let catalogue = catalogue(&[(1, server, &[&one, &two, "short"])]);
    let names = exposed(&catalogue);
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn a_name_does_not_depend_on_what_else_runs_is_allowed_or_came_first() {
    let servers: [(u64, &str, &[&str]); 3] =
        [(1, "x y", &["a.b", "a_b", "q"]), (2, "x-y", &["b"]), (3, "x.y", &["c", "a.b"])];
    let all: BTreeMap<(ServerId, String), String> = catalogue(&servers)
        .tools()
        .map(|tool| ((tool.server, tool.tool.name.clone()), tool.exposed.to_owned()))
        .collect();
    let mut builder = CatalogueBuilder::new();
    for (id, name, _) in servers.iter().rev() {
        builder.add(server_id(*id), name, Filter { allow: None, deny: vec!["a_b".into()] });
    }
    for (id, _, list) in servers.iter().rev() {
        builder.set_tools(server_id(*id), Some(tools(list.iter().rev())));
        for tool in builder.catalogue().tools() {
            assert_eq!(tool.exposed, all[&(tool.server, tool.tool.name.clone())]);
        }
    }
    for (id, ..) in servers {
        builder.set_tools(server_id(id), None);
        for tool in builder.catalogue().tools() {
            assert_eq!(tool.exposed, all[&(tool.server, tool.tool.name.clone())]);
        }
    }
    assert!(builder.catalogue().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_usable_unique_and_found_again(
        servers in vec((".{0,40}", btree_set("[a-c._ -]{1,6}|\\PC{1,80}|[a_]{50,70}", 0..12)), 1..6),
    ) {
        let mut builder = CatalogueBuilder::new();
        for (n, (name, list)) in (0..).zip(&servers) {
            builder.add(server_id(n), name, Filter::default());
            builder.set_tools(server_id(n), Some(tools(list)));
        }
        let catalogue = builder.catalogue();
        prop_assert_eq!(catalogue.len(), servers.iter().map(|(_, list)| list.len()).sum::<usize>());
        let mut seen = BTreeSet::new();
        for tool in catalogue.tools() {
            let usual = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            prop_assert!(tool.exposed.len() <= 64 && tool.exposed.bytes().all(usual), "{}", tool.exposed);
            prop_assert!(seen.insert(tool.exposed), "{} twice", tool.exposed);
            let found = catalogue.find(tool.exposed).expect("it is found");
            prop_assert_eq!((found.server, &found.tool.name), (tool.server, &tool.tool.name));
        }
    }

    #[test]
    fn a_cut_text_is_within_its_limit_and_says_so(text in "\\PC{0,600}", bytes in 64_usize..700, tokens in 16_usize..700) {
        let limits = ResultLimits { bytes: Some(bytes), tokens: Some(tokens) };
        let cut = limits.cut_text(text.clone());
        prop_assert!(cut.len() <= bytes && estimate_tokens(&cut) <= tokens, "{} {}", cut.len(), estimate_tokens(&cut));
        if cut != text {
            prop_assert!(text.len() > bytes || estimate_tokens(&text) > tokens);
            let (kept, word) = cut.rsplit_once("\n[truncated: ").expect("it says so");
            prop_assert!(text.starts_with(kept));
            prop_assert_eq!(word, format!("{} of {} bytes are left out]", text.len() - kept.len(), text.len()));
        }
    }
}

#[test]
fn a_change_of_one_server_leaves_the_others_and_old_catalogues_alone() {
    let mut builder = CatalogueBuilder::new();
    for n in 0..3 {
        builder.add(server_id(n), &format!("s{n}"), Filter::default());
        builder.set_tools(server_id(n), Some(tools(["a", "b"])));
    }
    let before = builder.catalogue();
    assert!(Arc::ptr_eq(&before, &builder.catalogue()), "nothing has changed");
    builder.set_tools(server_id(1), Some(tools(["c"])));
    let after = builder.catalogue();
    assert_eq!((before.len(), after.len()), (6, 5));
    assert!(after.version() > before.version());
    let name = |catalogue: &Catalogue| catalogue.tools_of(server_id(0)).next().map(|tool| tool.exposed.as_ptr());
    assert_eq!(name(&before), name(&after), "it is the same, and no copy");
    builder.remove(server_id(1));
    builder.set_tools(server_id(1), Some(tools(["d"])));
    assert_eq!(builder.catalogue().len(), 4);
}

fn decoded(tools: &Json) -> Arc<ToolList> {
    let items: Vec<Tool> = tools.decode().expect("they are tools");
    let mut list = ToolList::default();
    list.replace(ItemList { items, ..ItemList::default() });
    Arc::new(list)
}

fn list(tools: &Value) -> Arc<ToolList> {
    decoded(&Json::from_value(tools).expect("it is JSON"))
}

fn described(entries: &[(&str, &str)]) -> Arc<Catalogue> {
    let tools = entries.iter().map(|(name, text)| json!({"name": name, "description": text}));
    let mut builder = CatalogueBuilder::new();
    builder.add(server_id(1), "git host", Filter::default());
    builder.set_tools(server_id(1), Some(list(&tools.collect())));
    builder.catalogue()
}

#[test]
fn words_find_tools_and_the_best_come_first() {
    let catalogue = described(&[
        ("create_issue", "Opens a new issue in a repository"),
        ("listIssues", "Lists issues"),
        ("read_file", "Reads a file of a repository"),
        ("write_file", "Writes a file"),
        ("ping", ""),
    ]);
    let found = |query: &str| {
        search_tools(&catalogue, query, 10).iter().map(|found| found.offered.tool.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(found("create issue")[0], "create_issue");
    assert_eq!(found("ISSUE create")[0], "create_issue");
    assert_eq!(found("list issues")[0], "listIssues");
    assert_eq!(found("read"), ["read_file"]);
    assert_eq!(found("files"), ["read_file", "write_file"], "as good as each other, in the catalogue's order");
    assert_eq!(found("repository"), ["create_issue", "read_file"]);
    assert_eq!(found("git").len(), 5, "the server's name counts");
    assert!(found("quantum").is_empty() && found("").is_empty() && found("?!").is_empty());
    assert_eq!(search_tools(&catalogue, "git", 2).len(), 2);
}

#[test]
fn a_rare_word_counts_for_more_than_a_common_one() {
    let entries: Vec<(String, String)> = (0..100)
        .map(|n| (format!("tool_{n}"), if n == 77 { "about zebras".into() } else { "data data".to_owned() }))
        .collect();
    let entries: Vec<(&str, &str)> = entries.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let catalogue = described(&entries);
    assert_eq!(search_tools(&catalogue, "data zebra", 1)[0].offered.tool.name, "tool_77");
}

#[test]
fn a_long_query_and_a_long_description_are_bounded() {
    let text = format!("{}needle", "hay ".repeat(2_000));
    let catalogue = described(&[("t", &text)]);
    assert!(search_tools(&catalogue, "needle", 1).is_empty(), "it is not read to its end");
    let mut query: Vec<String> = (0..1_000).map(|n| format!("w{n}")).collect();
    query.push("hay".into());
    let query = query.join(" ");
    assert!(search_tools(&catalogue, &query, 1).is_empty(), "not all words count");
    assert_eq!(search_tools(&catalogue, "hay hay hay", 1).len(), 1);
}

fn result(value: &Value) -> CallToolResult {
    Json::from_value(value).unwrap().decode().unwrap()
}

/// Cuts a result that is larger than so many bytes.
fn cut(bytes: usize, value: &Value) -> (CallToolResult, Truncation) {
    let mut large = result(value);
    let cut = ResultLimits { bytes: Some(bytes), tokens: None }.apply(&mut large).expect("it is too large");
    (large, cut)
}

#[test]
fn a_result_that_fits_is_left_as_it_is() {
    let mut fits = result(&json!({"content": [{"type": "text", "text": "ok"}], "structuredContent": {"a": 1}}));
    let before = fits.clone();
    assert_eq!(ResultLimits::default().apply(&mut fits), None);
    assert_eq!(fits, before);
}

#[test]
fn blocks_that_do_not_fit_are_named() {
    let image = json!({"type": "image", "data": "A".repeat(500), "mimeType": "image/png"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let (large, cut) = cut(300, &json!({"content": [text("first"), image, text("x")]}));
    assert!(cut.bytes > 500 && cut.kept <= 300);
    assert!(large.text().as_str().starts_with("first\n[truncated: a block of "), "{:?}", large.text());
    assert_eq!(large.content.len(), 2);
}

#[test]
fn structured_content_is_whole_or_not_there() {
    let of = |text: &str, structured: &str| json!({"content": [{"type": "text", "text": text}], "structuredContent": {"a": structured}});
    let (large, _) = cut(300, &of("ok", &"b".repeat(500)));
    assert_eq!(large.structured_content, None);
    assert!(large.text().as_str().starts_with("ok\n[truncated: structured content of "), "{:?}", large.text());
    let (small, _) = cut(300, &of(&"b".repeat(500), "1"));
    assert!(small.structured_content.is_some());
}

#[test]
fn metadata_is_no_way_around_the_limit() {
    let content = json!([{"type": "text", "text": "ok"}]);
    let (large, cut) = cut(300, &json!({"content": content, "_meta": {"a": "b".repeat(500)}, "more": "c".repeat(500)}));
    assert!(cut.kept <= 300 && Json::from_value(&large).unwrap().get().len() < 300);
    assert_eq!(large.text().as_str(), "ok");
}

#[test]
fn a_result_without_blocks_is_cut_as_text() {
    let (bare, _) = cut(200, &json!({"rows": "r".repeat(1_000)}));
    let text = bare.text();
    assert!(text.as_str().len() <= 200 && text.as_str().contains("[truncated: "), "{text:?}");
}

#[test]
fn tokens_are_counted_by_characters() {
    assert_eq!(estimate_tokens(""), 0);
    assert_eq!(estimate_tokens("abcdefgh"), 2);
    assert_eq!(estimate_tokens("日本語"), 3);
    let limits = ResultLimits { bytes: None, tokens: Some(50) };
    let mut large = result(&json!({"content": [{"type": "text", "text": "日".repeat(500)}]}));
    limits.apply(&mut large).expect("it is too large");
    assert!(estimate_tokens(large.text().as_str()) <= 50);
}

// A tool that becomes another under the same name is told, whatever its server does in between.

fn one_server() -> CatalogueBuilder {
    let mut builder = CatalogueBuilder::new().seeded(7);
    builder.add(server_id(1), "one", Filter::default());
    builder
}

/// What is told of a second list, after a first one.
fn told(first: &Value, second: &Value) -> Vec<String> {
    let mut builder = one_server();
    assert!(builder.set_tools(server_id(1), Some(list(first))).is_empty(), "there is nothing to compare it with");
    let changes = builder.set_tools(server_id(1), Some(list(second)));
    texts(&changes.tools)
}

fn texts(changes: &[ToolChange]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
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
        decoded(&Json::parse(tool).expect("it is JSON"))
    };
    let mut builder = one_server();
    builder.set_tools(server_id(1), Some(schema(r#"{"type":"object","properties":{"x":{},"y":{}}}"#)));
    let again = schema(r#"{ "properties": {"y": {}, "x": {}}, "type": "object" }"#);
    assert!(builder.set_tools(server_id(1), Some(again)).is_empty(), "members are in no order");
    assert!(told(&json!([{"name": "a"}]), &json!([{"name": "b"}, {"name": "c"}])).is_empty());
    assert!(told(&json!([]), &json!([{"name": "a"}])).is_empty());
}

#[test]
fn one_that_goes_and_comes_back_as_another_is_told() {
    let mut builder = one_server();
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
    let mut builder = one_server();
    let id = server_id(1);
    builder.set_tools(id, Some(list(&json!([{"name": "a"}]))));
    builder.set_tools(id, Some(list(&json!([{"name": "a", "title": "A"}]))));
    builder.set_tools(id, Some(list(&json!([{"name": "a", "title": "A", "description": "x"}]))));
    assert_eq!(texts(&builder.changes(id)), ["a (title, description)"]);
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
    let mut builder = one_server();
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
    assert_eq!(texts(&told), ["a (description)"]);
    let generation = host.0.detail(host.1).expect("it is there").generation;
    host.0.event(host.1, generation, Event::Closed(transient("it crashed")), Timestamp::ORIGIN);
    let told = host.start(&json!([{"name": "a", "description": "reads"}]));
    assert_eq!(texts(&told), ["a (description)"]);
    assert_eq!(host.0.changes(host.1).len(), 1);
    host.0.acknowledge_changes(host.1);
    assert!(host.0.changes(host.1).is_empty());
}

#[test]
fn what_was_known_before_the_host_began_counts_until_it_is_known_better() {
    let mut host = Host::new();
    host.0.set_known_tools(host.1, &list(&json!([{"name": "a"}])));
    let told = host.start(&json!([{"name": "a", "annotations": {"destructiveHint": true}}]));
    assert_eq!(texts(&told), ["a (annotations)"]);
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
