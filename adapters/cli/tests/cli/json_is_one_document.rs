//! What `--json` prints, command by command, in both eras.
#![cfg(unix)]

use crate::support::{mcpwire, mcpwire_with_input, scratch, scripted};
use serde_json::{Value, json};

#[test]
fn info_says_who_and_what_was_agreed() {
    let info = mcpwire(&["info", "--demo", "--json"]).json();
    assert_eq!(keys(&info), ["capabilities", "era", "instructions", "protocolVersion", "serverInfo"]);
    assert_eq!((&info["era"], &info["protocolVersion"]), (&json!("modern"), &json!("2026-07-28")));
    assert_eq!(info["serverInfo"]["name"], "mcpwire-demo");
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    let capabilities = json!({
        "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {}, "extensions": extensions,
    });
    assert_eq!(info["capabilities"], capabilities);
    assert!(info["instructions"].is_string());

    for revision in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let info = mcpwire(&["info", "--demo", "--json", "--protocol", revision]).json();
        assert_eq!((&info["era"], &info["protocolVersion"]), (&json!("legacy"), &json!(revision)));
        assert_eq!(info["serverInfo"]["name"], "mcpwire-demo");
    }
    let legacy = mcpwire(&["info", "--demo", "--json", "--protocol", "legacy"]).json();
    assert_eq!(legacy["protocolVersion"], "2025-11-25");
}

#[test]
fn tools_are_listed_with_what_was_rejected() {
    let tools = mcpwire(&["tools", "--demo", "--json"]).json();
    let names: Vec<&str> =
        tools["tools"].as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["echo", "add", "slow", "fail", "weather", "chart", "greet"]);
    assert_eq!(tools["tools"][1]["outputSchema"]["required"], json!(["sum"]));
    assert_eq!(tools["rejected"], json!([]));

    let list = r#"{"tools":[{"name":"good","inputSchema":{"type":"object"},"vendor":{"kept":1}},{"name":7},{"name":"bad","inputSchema":"none"}]}"#;
    let finished = mcpwire(&scripted(&["tools", "--json"], list, "{}", ""));
    assert_eq!(finished.code(), 0, "{finished:?}");
    let tools = finished.json();
    assert_eq!(
        tools["tools"],
        json!([{ "name": "good", "inputSchema": { "type": "object" }, "vendor": { "kept": 1 } }])
    );
    assert_eq!(tools["rejected"][0]["index"], 1);
    assert_eq!(tools["rejected"][0]["name"], Value::Null);
    assert_eq!((&tools["rejected"][1]["index"], &tools["rejected"][1]["name"]), (&json!(2), &json!("bad")));
    assert!(tools["rejected"][1]["reason"].is_string());
}

#[test]
fn a_result_is_as_the_server_sent_it() {
    let result = r#"{"vendor":1.0,"content":[{"type":"hologram","deep":[null]}],"isError":false,"structuredContent":{"b":1,"a":2}}"#;
    let finished = mcpwire(&scripted(&["call", "t", "--json"], "{}", result, ""));
    assert_eq!((finished.code(), finished.stdout.trim_end()), (0, result), "{finished:?}");
}

#[test]
fn structured_content_comes_where_the_revision_has_it() {
    let called =
        |protocol| mcpwire(&["call", "add", r#"{"a":2,"b":40}"#, "--demo", "--json", "--protocol", protocol]).json();
    assert_eq!(called("modern")["structuredContent"], json!({ "sum": 42 }));
    assert_eq!(called("2025-06-18")["structuredContent"], json!({ "sum": 42 }));
    assert_eq!(called("2024-11-05")["content"], json!([{ "type": "text", "text": "42" }]));
}

#[test]
fn the_demo_is_one_document_too() {
    let finished = mcpwire(&["demo", "--json"]);
    assert_eq!(finished.code(), 0, "{finished:?}");
    let demo = finished.json();
    assert_eq!(demo["server"]["serverInfo"]["name"], "mcpwire-demo");
    assert_eq!(demo["calls"].as_array().map(Vec::len), Some(3));
    assert_eq!(demo["calls"][0]["result"]["isError"], false);
}

#[test]
fn arguments_come_from_the_command_line_a_file_or_standard_input() {
    let file = scratch("arguments.json");
    std::fs::write(&file, "{\n  \"message\": \"from a file\"\n}\n").expect("a file");
    let at_file = format!("@{}", file.display());
    let finished = mcpwire(&["call", "echo", &at_file, "--demo"]);
    assert_eq!(finished.stdout, "from a file\n", "{finished:?}");

    let finished = mcpwire_with_input(&["call", "echo", "-", "--demo"], r#"{"message":"from standard input"}"#);
    assert_eq!(finished.stdout, "from standard input\n", "{finished:?}");

    let finished = mcpwire(&["call", "fail", "--demo", "--json"]);
    assert_eq!(finished.json()["content"][0]["text"], "failed, as it was asked to", "{finished:?}");
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}
