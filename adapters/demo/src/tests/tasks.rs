//! Calls that run as tasks.

use serde_json::{Value, json};

use super::{Client, modern};

#[test]
fn slow_calls_become_tasks_of_the_extension_where_it_is_declared() {
    let mut client = Client::start();
    let with_tasks = |params: Value| {
        let mut params = modern(params);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        params
    };
    let slow = |seconds: f64| json!({ "name": "slow", "arguments": { "seconds": seconds } });
    let created = client.request("tools/call", &with_tasks(slow(3600.0)))["result"].clone();
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    let id = json!({ "taskId": created["taskId"] });
    let task = client.request("tasks/get", &with_tasks(id.clone()))["result"].clone();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("complete"), &json!("working")));
    assert!(task["ttlMs"].is_u64() && task["pollIntervalMs"].is_u64() && task.get("result").is_none());
    assert_eq!(client.request("tasks/get", &modern(id.clone()))["error"]["code"], -32021, "not declared");
    assert_eq!(client.request("tasks/result", &with_tasks(id.clone()))["error"]["code"], -32601);
    for _ in 0..2 {
        assert_eq!(client.request("tasks/cancel", &with_tasks(id.clone()))["result"]["resultType"], "complete");
    }
    assert_eq!(client.request("tasks/get", &with_tasks(id))["result"]["status"], "cancelled");

    let created = client.request("tools/call", &with_tasks(slow(0.0)))["result"].clone();
    let done = client.request("tasks/get", &with_tasks(json!({ "taskId": created["taskId"] })))["result"].clone();
    assert_eq!((&done["status"], &done["result"]["content"][0]["text"]), (&json!("completed"), &json!("Waited 0 s.")));
    let unknown = client.request("tasks/get", &with_tasks(json!({ "taskId": "nobody" })));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn slow_calls_become_tasks_of_2025_11_25_where_they_are_asked_for() {
    let mut client = Client::legacy("2025-11-25");
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let support: Vec<&Value> = (0..5).map(|at| &tools[at]["execution"]["taskSupport"]).collect();
    assert_eq!(support, [&Value::Null, &Value::Null, &json!("optional"), &Value::Null, &Value::Null]);
    let slow = |seconds: f64| json!({ "name": "slow", "arguments": { "seconds": seconds }, "task": { "ttl": 1000 } });
    let created = client.request("tools/call", &slow(3600.0))["result"]["task"].clone();
    assert_eq!(created["status"], "working");
    assert!(created["ttl"].is_u64() && created["pollInterval"].is_u64());
    let id = json!({ "taskId": created["taskId"] });

    // A request that waits for the result fails when the task is cancelled.
    let waiting = client.send("tasks/result", &id);
    assert_eq!(client.request("tasks/get", &id)["result"]["status"], "working", "it holds up nobody");
    let cancel = client.send("tasks/cancel", &id);
    let answers = [client.receive(), client.receive()];
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).expect("it is answered");
    assert_eq!((&of(cancel)["result"]["status"], &of(waiting)["error"]["code"]), (&json!("cancelled"), &json!(-32602)));
    assert_eq!(client.request("tasks/cancel", &id)["error"]["code"], -32602, "it is over already");

    let created = client.request("tools/call", &slow(0.05))["result"]["task"].clone();
    let result = client.request("tasks/result", &json!({ "taskId": created["taskId"] }))["result"].clone();
    assert_eq!(result["content"][0]["text"], "Waited 0.05 s.");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], created["taskId"]);
    assert_eq!(client.request("tasks/update", &id)["error"]["code"], -32601);
}

#[test]
fn earlier_revisions_have_no_tasks() {
    let mut client = Client::legacy("2025-06-18");
    let call = json!({ "name": "slow", "arguments": { "seconds": 0 }, "task": {} });
    assert_eq!(client.request("tools/call", &call)["result"]["content"][0]["text"], "Waited 0 s.");
    assert_eq!(client.request("tasks/get", &json!({ "taskId": "a" }))["error"]["code"], -32601);
}
