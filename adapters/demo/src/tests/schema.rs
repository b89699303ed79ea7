//! Checks all messages of the server against the official schema of the revision, `<revision>/schema.json` in the directory
//! `MCPWIRE_SPEC`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::calls::Simulation;
use crate::revision::Revision;

/// The schema of one revision.
struct Schema(Value);

impl Schema {
    fn read(folder: &Path, revision: Revision) -> Self {
        let path = folder.join(revision.as_str()).join("schema.json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(serde_json::from_str(&text).expect("a schema is JSON"))
    }

    #[track_caller]
    fn check(&self, definition: &str, value: &Value) {
        let keyword = if self.0.get("$defs").is_some() { "$defs" } else { "definitions" };
        assert!(self.0[keyword].get(definition).is_some(), "the schema has no {definition}");
        let mut schema = json!({ "$ref": format!("#/{keyword}/{definition}") });
        schema[keyword] = self.0[keyword].clone();
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{definition}: {errors:?}\n{value:#}");
    }
}

/// A client of one revision that checks each message.
struct Checked {
    simulation: Simulation,
    schema: Schema,
    revision: Revision,
    last_id: u64,
}

impl Checked {
    fn params(&self, mut params: Value) -> Value {
        if self.revision.is_modern() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision.as_str(),
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
                "progressToken": "p",
            });
        } else if params.get("_meta").is_none() {
            params["_meta"] = json!({ "progressToken": "p" });
        }
        params
    }

    /// Sends a request, and checks all messages that the server sends at once.
    fn send(&mut self, method: &str, params: Value) -> Vec<Value> {
        self.last_id += 1;
        let params = self.params(params);
        let messages = self.simulation.send(self.last_id, method, &params);
        for message in &messages {
            self.check_message(message);
        }
        messages
    }

    /// Sends a request that is answered at once, and checks its result against this definition of the schema.
    #[track_caller]
    fn request(&mut self, method: &str, params: Value, definition: &str) -> Value {
        let messages = self.send(method, params);
        let answer = messages.iter().find(|message| message["id"] == self.last_id).expect("an answer");
        self.schema.check(definition, &answer["result"]);
        answer["result"].clone()
    }

    fn refused(&mut self, method: &str, params: Value) {
        let answer = &self.send(method, params)[0];
        assert!(answer["error"].is_object(), "{answer}");
    }

    fn check_message(&self, message: &Value) {
        let definition = match message["method"].as_str() {
            Some("notifications/progress") => "ProgressNotification",
            Some("notifications/resources/updated") => "ResourceUpdatedNotification",
            Some("notifications/subscriptions/acknowledged") => "SubscriptionsAcknowledgedNotification",
            Some("notifications/cancelled") => "CancelledNotification",
            Some("elicitation/create") => "ElicitRequest",
            Some(other) => panic!("{other} is not expected"),
            None if message.get("error").is_none() => "JSONRPCMessage",
            None if self.revision >= Revision::V2025_11_25 => "JSONRPCErrorResponse",
            None => "JSONRPCError",
        };
        self.schema.check(definition, message);
    }
}

#[test]
fn every_message_is_valid_in_every_revision() {
    let Some(folder) = std::env::var_os("MCPWIRE_SPEC").map(PathBuf::from) else {
        println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
        return;
    };
    for revision in Revision::ALL {
        let schema = Schema::read(&folder, revision);
        let mut client = Checked { simulation: Simulation::new(), schema, revision, last_id: 0 };
        if revision.is_modern() {
            client.request("server/discover", json!({}), "DiscoverResult");
        } else {
            let params = json!({ "protocolVersion": revision.as_str(), "capabilities": { "elicitation": {} } });
            client.request("initialize", params, "InitializeResult");
            client.request("ping", json!({}), "EmptyResult");
        }
        let tools = client.request("tools/list", json!({}), "ListToolsResult");
        assert_eq!(tools["tools"].as_array().map(Vec::len), Some(7));
        for (name, arguments) in [
            ("echo", json!({ "message": "hi" })),
            ("add", json!({ "a": 1, "b": 2 })),
            ("fail", json!({})),
            ("weather", json!({ "city": "Porto" })),
            ("chart", json!({})),
        ] {
            client.request("tools/call", json!({ "name": name, "arguments": arguments }), "CallToolResult");
        }
        client.request("prompts/list", json!({}), "ListPromptsResult");
        client.request("prompts/get", json!({ "name": "greeting", "arguments": { "name": "Ada" } }), "GetPromptResult");
        client.request(
            "prompts/get",
            json!({ "name": "forecast", "arguments": { "city": "Oslo" } }),
            "GetPromptResult",
        );
        let listed = client.request("resources/list", json!({}), "ListResourcesResult");
        client.request("resources/templates/list", json!({}), "ListResourceTemplatesResult");
        for uri in listed["resources"].as_array().into_iter().flatten().map(|resource| resource["uri"].clone()) {
            client.request("resources/read", json!({ "uri": uri }), "ReadResourceResult");
        }
        client.request("resources/read", json!({ "uri": "demo://weather/Oslo" }), "ReadResourceResult");
        let reference = json!({ "type": "ref/resource", "uri": "demo://weather/{city}" });
        let question = json!({ "ref": reference, "argument": { "name": "city", "value": "P" } });
        client.request("completion/complete", question, "CompleteResult");
        for (method, params) in [
            ("unheard/of", json!({})),
            ("tools/call", json!({ "name": "nonesuch" })),
            ("prompts/get", json!({ "name": "nonesuch" })),
            ("resources/read", json!({ "uri": "demo://nonesuch" })),
            ("tools/list", json!({ "cursor": "nonesuch" })),
        ] {
            client.refused(method, params);
        }
        subscriptions(&mut client);
        questions(&mut client);
        client.send("tools/call", json!({ "name": "slow", "arguments": { "seconds": 1 } }));
        let messages = client.simulation.pass();
        assert_eq!(messages.len(), 11, "ten reports and the answer");
        for (_, message) in &messages {
            client.check_message(message);
        }
        client.schema.check("CallToolResult", &messages[10].1["result"]);
        if revision == Revision::V2025_11_25 {
            tasks(&mut client);
        }
    }
}

fn subscriptions(client: &mut Checked) {
    if client.revision.is_modern() {
        let filter = json!({ "notifications": { "resourceSubscriptions": ["demo://calls"] } });
        assert_eq!(client.send("subscriptions/listen", filter).len(), 1);
    } else {
        client.request("resources/subscribe", json!({ "uri": "demo://calls" }), "EmptyResult");
    }
    let messages = client.send("tools/call", json!({ "name": "chart" }));
    assert_eq!(messages[1]["method"], "notifications/resources/updated");
    if client.revision.is_modern() {
        client.simulation.cancel(client.last_id - 1);
    } else {
        client.request("resources/unsubscribe", json!({ "uri": "demo://calls" }), "EmptyResult");
    }
}

fn questions(client: &mut Checked) {
    if client.revision.is_modern() {
        let result = client.request("tools/call", json!({ "name": "greet" }), "InputRequiredResult");
        assert_eq!(result["resultType"], "input_required");
    } else if client.revision >= Revision::V2025_06_18 {
        client.send("tools/call", json!({ "name": "greet" }));
        let messages = client.simulation.cancel(client.last_id);
        assert_eq!(messages.len(), 1, "the question is withdrawn");
        client.check_message(&messages[0]);
    } else {
        let result = client.request("tools/call", json!({ "name": "greet" }), "CallToolResult");
        assert_eq!(result["isError"], true, "the revision has no elicitation");
    }
}

fn tasks(client: &mut Checked) {
    let call = json!({ "name": "slow", "arguments": { "seconds": 60 }, "task": {} });
    let created = client.request("tools/call", call, "CreateTaskResult");
    let id = json!({ "taskId": created["task"]["taskId"] });
    client.request("tasks/get", id.clone(), "GetTaskResult");
    client.request("tasks/cancel", id.clone(), "CancelTaskResult");
    client.refused("tasks/cancel", id);
}
