//! Opening a connection in both eras, and the protocol fields of requests.

use serde_json::json;

use super::{Client, modern};

#[test]
fn initialize_agrees_on_each_legacy_revision() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start();
        let answer = client.request("initialize", &json!({ "protocolVersion": version, "capabilities": {} }));
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "mcpwire-demo");
        assert!(answer["result"].get("resultType").is_none(), "no modern words in a legacy answer");
    }
}

#[test]
fn initialize_offers_its_newest_handshake_for_any_other_version() {
    for version in ["1999-01-01", "2026-07-28", "2099-01-01"] {
        let mut client = Client::start();
        let answer = client.request("initialize", &json!({ "protocolVersion": version }));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    }
}

#[test]
fn ping_is_answered_before_and_after_the_handshake() {
    let mut client = Client::start();
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    client.request("initialize", &json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_second_initialize_is_refused() {
    let mut client = Client::legacy("2025-11-25");
    let answer = client.request("initialize", &json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(answer["error"]["code"], -32600);
}

#[test]
fn discover_says_who_and_what() {
    let mut client = Client::start();
    let result = &client.request("server/discover", &modern(json!({})))["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    let features = json!({
        "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {}, "extensions": tasks,
    });
    assert_eq!(result["capabilities"], features);
    assert_eq!(result["cacheScope"], "public");
    assert!(result["ttlMs"].is_u64());
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mcpwire-demo");
}

#[test]
fn modern_requests_must_have_their_meta() {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let info = "io.modelcontextprotocol/clientInfo";
    let mut client = Client::start();
    for params in [
        json!({}),
        json!({ "_meta": {} }),
        json!({ "_meta": [] }),
        json!({ "_meta": { version: "2026-07-28" } }),
        json!({ "_meta": { capabilities: {} } }),
        json!({ "_meta": { version: 1, capabilities: {} } }),
        json!({ "_meta": { version: "2026-07-28", capabilities: null } }),
        json!({ "_meta": { version: "2026-07-28", capabilities: {}, info: "me" } }),
    ] {
        for method in ["server/discover", "tools/list"] {
            assert_eq!(client.request(method, &params)["error"]["code"], -32602, "{method} {params}");
        }
    }
}

#[test]
fn an_unknown_version_is_refused_with_those_that_are_known() {
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let error = &Client::start().request("server/discover", &params)["error"];
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["requested"], "1900-01-01");
    assert_eq!(error["data"]["supported"][0], "2026-07-28");
}

#[test]
fn both_eras_are_served_in_one_process() {
    let mut client = Client::legacy("2025-11-25");
    let modern = client.request("tools/list", &modern(json!({})));
    assert_eq!(modern["result"]["resultType"], "complete");
    let legacy = client.request("tools/list", &json!({ "_meta": { "progressToken": 1 } }));
    assert!(legacy["result"].get("resultType").is_none());
}
