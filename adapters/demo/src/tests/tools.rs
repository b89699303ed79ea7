//! The results of the tools.

use serde_json::json;

use super::{Client, modern};

#[test]
fn tools_do_what_they_say() {
    let mut client = Client::start();
    assert_eq!(client.call("echo", &json!({ "message": "hi" }))["result"]["content"][0]["text"], "hi");
    assert_eq!(client.call("add", &json!({ "a": 0.5, "b": 1 }))["result"]["structuredContent"], json!({ "sum": 1.5 }));
    let sum = client.call("add", &json!({ "a": i64::MAX, "b": 1 }));
    assert_eq!(sum["result"]["structuredContent"]["sum"], json!(9_223_372_036_854_775_808_f64));
    assert_eq!(client.call("add", &json!({ "a": 1e308, "b": 1e308 }))["result"]["isError"], true);
    assert_eq!(client.call("fail", &json!({ "message": "no" }))["result"]["isError"], true);
    let weather = client.call("weather", &json!({ "city": "Lisbon" }))["result"].clone();
    assert_eq!(weather["structuredContent"]["demo"], true);
    assert_eq!(weather, client.call("weather", &json!({ "city": "Lisbon" }))["result"]);
}

#[test]
fn an_image_follows_its_text() {
    let result = Client::start().call("chart", &json!({}))["result"].clone();
    assert_eq!(result["content"][0]["type"], "text");
    let image = &result["content"][1];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    // The first bytes of a PNG file.
    assert!(image["data"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo")), "{image}");
}

#[test]
fn structured_output_is_left_out_where_the_revision_has_none() {
    for (version, expected) in [("2025-03-26", false), ("2025-06-18", true)] {
        let mut client = Client::legacy(version);
        let listed = client.request("tools/list", &json!({}));
        let add = &listed["result"]["tools"][1];
        assert_eq!(add["name"], "add");
        assert_eq!(add.get("outputSchema").is_some(), expected, "{version}");
        let called = client.request("tools/call", &json!({ "name": "add", "arguments": { "a": 2, "b": 40 } }));
        assert_eq!(called["result"]["content"][0]["text"], "42");
        assert_eq!(called["result"].get("structuredContent").is_some(), expected, "{version}");
    }
}

#[test]
fn wrong_arguments_are_the_tools_own_error() {
    let mut client = Client::start();
    for (name, arguments) in [
        ("echo", json!({})),
        ("echo", json!({ "message": 1 })),
        ("add", json!({ "a": "2", "b": 40 })),
        ("slow", json!({ "seconds": -1 })),
        ("slow", json!({ "seconds": 1e300 })),
        ("weather", json!({ "city": null })),
        ("fail", json!({ "message": {} })),
    ] {
        let result = client.call(name, &arguments)["result"].clone();
        assert_eq!(result["isError"], true, "{name} {arguments}");
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.starts_with(name)));
    }
}

#[test]
fn a_malformed_call_fails_as_a_request() {
    let mut client = Client::start();
    for params in
        [json!({ "name": "nonesuch" }), json!({ "name": 1 }), json!({}), json!({ "name": "echo", "arguments": ["hi"] })]
    {
        let answer = client.request("tools/call", &modern(params));
        assert_eq!(answer["error"]["code"], -32602);
    }
    assert_eq!(client.request("tools/unheard_of", &modern(json!({})))["error"]["code"], -32601);
}

#[test]
fn a_slow_call_reports_progress_that_grows() {
    let mut client = Client::start();
    let mut params = modern(json!({ "name": "slow", "arguments": { "seconds": 0.25 } }));
    params["_meta"]["progressToken"] = json!("p");
    let id = client.send("tools/call", &params);
    let mut last = 0.0;
    let answer = loop {
        let message = client.receive();
        if message["method"] != "notifications/progress" {
            break message;
        }
        assert_eq!(message["params"]["progressToken"], "p");
        let progress = message["params"]["progress"].as_f64().expect("progress is a number");
        assert!(progress > last);
        last = progress;
    };
    assert!((last - 0.25).abs() < 1e-9, "the last report is the whole");
    assert_eq!(answer["id"], id);
    assert_eq!(answer["result"]["content"][0]["text"], "Waited 0.25 s.");
}
