//! The tools of many servers: 10,000 of them, of 200 servers that are asleep, so that no process runs. What a host does for
//! each turn of a language model is to cost it nothing; what one server's new list costs is in here, too.
//!
//! ```text
//! cargo bench -p mcpwire-benches --bench hub
//! ```

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use mcpwire_core::{ItemList, Json, Tool, ToolList};
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::{Hub, HubOptions, McpService};
use mcpwire_supervisor::{CatalogueBuilder, Filter, ServerId};
use serde_json::{Value, json};

const SERVERS: usize = 200;
const TOOLS: usize = 50;

/// The tools of a server, each as long as tools usually are. One of them is of that server alone.
fn tools(server: usize, told: &str) -> Value {
    let tool = |at: usize| {
        let name = if at == 0 { format!("only_{server}") } else { format!("tool_{at}") };
        let properties: Value = (0..8)
            .map(|at| {
                (format!("argument_{at}"), json!({"type": "string", "description": "what it is for, in some words"}))
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        let schema = json!({"type": "object", "properties": properties, "required": ["argument_0"]});
        json!({"name": name, "description": format!("Does thing {at} of server {server}; {told}."), "inputSchema": schema})
    };
    (0..TOOLS).map(tool).collect()
}

/// A hub that knows what all its servers offer from when they ran last.
async fn hub(directory: &Path) -> Hub {
    let layout = Layout::below(directory);
    let options = || HubOptions::new(layout.clone());
    let hub = Hub::open(options()).await.expect("it opens");
    for server in 0..SERVERS {
        let mut config = McpConfig::binary(format!("server {server}"), "/is/never/started");
        config.lazy = true;
        let file = layout.catalog(config.id);
        fs::create_dir_all(file.parent().expect("a directory")).expect("it is made");
        let kept = json!({"config_hash": config.hash(), "is_public": false, "tools": tools(server, "of old")});
        fs::write(file, kept.to_string()).expect("it is written");
        hub.create(config).await.expect("it is created");
    }
    drop(hub);
    let hub = Hub::open(options()).await.expect("it opens");
    hub.boot().await.expect("it boots");
    assert_eq!(hub.available_tools().len(), SERVERS * TOOLS, "{:?}", hub.details().first());
    hub
}

fn looks(c: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let hub = runtime.block_on(hub(directory.path()));
    let names: Vec<String> = hub.available_tools().iter().map(|tool| tool.name.to_owned()).collect();
    let mut group = c.benchmark_group("10,000 tools of 200 servers");
    group.bench_function("available_tools", |b| b.iter(|| black_box(hub.available_tools())));
    group.bench_function("available_tools, every name read", |b| {
        b.iter(|| hub.available_tools().iter().map(|tool| tool.name.len()).sum::<usize>());
    });
    group.bench_function("available_tools, copied for a request", |b| b.iter(|| hub.available_tools().to_vec().len()));
    let mut next = names.iter().cycle().step_by(77);
    group.bench_function("find_tool_provider, the name that is shown", |b| {
        b.iter(|| hub.find_tool_provider(black_box(next.next().expect("a cycle"))).expect("it is there"));
    });
    for (what, name, is_there) in [
        ("the server's own name", "only_123", true),
        ("a name of all servers", "tool_1", false),
        ("a name of none", "nothing", false),
    ] {
        group.bench_function(format!("find_tool_provider, {what}"), |b| {
            b.iter(|| assert_eq!(hub.find_tool_provider(black_box(name)).is_some(), is_there));
        });
    }
    group.sample_size(20);
    group.bench_function("search_tools", |b| b.iter(|| hub.search_tools("thing of server 123", 5).len()));
    group.finish();
    runtime.block_on(hub.shutdown_all()).expect("it ends");
}

/// One server lists its tools anew: the others cost nothing, and each of its own is held against what it was.
fn lists(c: &mut Criterion) {
    let list = |server: usize, told: &str| {
        let tools: Vec<Tool> = Json::from_value(&tools(server, told)).expect("JSON").decode().expect("tools");
        let mut list = ToolList::default();
        list.replace(ItemList { items: tools, ..ItemList::default() });
        Arc::new(list)
    };
    let id = |server: usize| ServerId::from_random(server as u128);
    let mut builder = CatalogueBuilder::new().seeded(7);
    for server in 0..SERVERS {
        builder.add(id(server), &format!("server {server}"), Filter::default());
        builder.set_tools(id(server), Some(list(server, "of old")));
    }
    assert_eq!(builder.catalogue().len(), SERVERS * TOOLS);
    let mut group = c.benchmark_group("one of 200 servers lists its 50 tools anew");
    let (old, new) = (list(9, "of old"), list(9, "and more"));
    group.bench_function("as before", |b| {
        b.iter(|| {
            assert!(builder.set_tools(id(9), Some(Arc::clone(&old))).is_empty());
            builder.catalogue()
        });
    });
    let mut turn = [&new, &old].into_iter().cycle();
    group.bench_function("all described in another way", |b| {
        b.iter(|| {
            let list = turn.next().map(Arc::clone);
            assert_eq!(builder.set_tools(id(9), list).tools.len(), TOOLS);
            builder.catalogue()
        });
    });
    group.finish();
}

criterion_group!(benches, looks, lists);
criterion_main!(benches);
