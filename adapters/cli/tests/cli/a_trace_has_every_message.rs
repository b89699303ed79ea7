//! `--trace`: every message, one JSON object per line.
#![cfg(unix)]

use crate::support::{mcpwire, scratch, scripted};
use serde_json::Value;

#[test]
fn messages_are_traced_in_order_with_time_and_direction() {
    let path = scratch("trace");
    let path = path.to_str().expect("a path of text");
    let noise = "this is no JSON\n";
    let result = r#"{"content":[]}"#;
    let finished = mcpwire(&scripted(&["call", "t", "--trace", path], "{}", result, noise));
    assert_eq!(finished.code(), 0, "{finished:?}");
    let trace = std::fs::read_to_string(path).expect("a trace");
    let entries: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).expect("JSON Lines")).collect();
    let shown: Vec<(&str, &str)> = entries
        .iter()
        .map(|entry| {
            let time = entry["time"].as_str().expect("a time");
            assert!(time.ends_with('Z') && time.contains('T'), "{time}");
            let message = &entry["message"];
            let what = message.as_str().or(message["method"].as_str()).unwrap_or("an answer");
            (entry["direction"].as_str().expect("a direction"), what)
        })
        .filter(|(_, what)| *what != "logging/setLevel")
        .collect();
    let call = shown.iter().position(|entry| *entry == ("sent", "tools/call")).expect("the call");
    assert_eq!(shown[0], ("sent", "server/discover"));
    assert!(shown.contains(&("sent", "initialize")) && shown.contains(&("sent", "notifications/initialized")));
    assert_eq!(shown[call + 1..], [("received", "this is no JSON"), ("received", "an answer")]);
}
