//! A server of one revision that has everything the revision has, and nothing else.

use mcpwire_driver::protocol::{Era, Json, ProtocolVersion, RpcError};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
use serde_json::{Value, json};

const V2: ProtocolVersion = ProtocolVersion::V2025_03_26;
const V3: ProtocolVersion = ProtocolVersion::V2025_06_18;
const V4: ProtocolVersion = ProtocolVersion::V2025_11_25;

pub(crate) const URI: &str = "file:///a";
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A server of this revision that has all of it.
pub(crate) fn everything(version: ProtocolVersion) -> ScriptedServer {
    let mut server =
        ScriptedServer::new().versions([version.as_str()]).page_size(2).capabilities(capabilities(version));
    for (name, definition) in tools(version) {
        // What it does, whoever calls it, is said below: of some tools it depends on more than their arguments.
        server = server.tool_with(definition, move |_| format!("{name} is not called by its handler"));
    }
    let server = lists(server, version);
    let server = server
        .on("tools/call", move |params| call(version, params))
        .on("resources/read", move |params| {
            let uri: String = params.member("uri").unwrap_or_default();
            done(version, json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": "what it says"}]}))
        })
        .on("prompts/get", move |params| {
            let name = params.member::<Value>("arguments").unwrap_or_default()["name"].clone();
            let text = format!("Greet {}.", name.as_str().unwrap_or("nobody"));
            done(version, json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
        })
        .on("completion/complete", move |params| {
            // Better with a context, and only where it came.
            let known = params.member::<Value>("context").unwrap_or_default()["arguments"]["language"].clone();
            let values = if known == "python" { json!(["flask"]) } else { json!(["flask", "flutter"]) };
            done(version, json!({"completion": {"values": values, "hasMore": false}}))
        });
    match version.era() {
        Era::Modern => listening(server),
        Era::Legacy => ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
            .into_iter()
            .fold(server, |server, method| server.on(method, |_| ScriptedResponse::new().result(json!({})))),
    }
    .also_tasks(version)
}

/// The same server, which does not declare any of it.
pub(crate) fn undeclaring(version: ProtocolVersion) -> ScriptedServer {
    everything(version).capabilities(json!({}))
}

/// A result, in the dress of its revision.
fn done(version: ProtocolVersion, mut result: Value) -> ScriptedResponse {
    if version.era() == Era::Modern {
        result["resultType"] = json!("complete");
    }
    ScriptedResponse::new().result(result)
}

fn capabilities(version: ProtocolVersion) -> Value {
    let mut all = json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "logging": {},
    });
    if version >= V2 {
        all["completions"] = json!({});
    }
    if version == V4 {
        all["tasks"] = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
    }
    if version > V4 {
        all["extensions"] = json!({EXTENSION: {}});
    }
    all
}

/// How the tools are listed.
fn tools(version: ProtocolVersion) -> Vec<(&'static str, Value)> {
    ["echo", "steps", "measure", "silent", "log", "job", "form", "visit", "sample", "roots"]
        .into_iter()
        .map(|name| {
            let mut tool = json!({"name": name, "description": "A tool.", "inputSchema": {"type": "object"}});
            if name == "measure" {
                if version >= V2 {
                    tool["annotations"] = json!({"title": "Annotated", "readOnlyHint": true});
                }
                if version >= V3 {
                    tool["title"] = json!("Titled");
                    tool["outputSchema"] = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
                }
                if version >= V4 {
                    tool["icons"] = json!([{"src": "https://a.example/i.png", "mimeType": "image/png"}]);
                }
            }
            if name == "job" && version == V4 {
                tool["execution"] = json!({"taskSupport": "optional"});
            }
            (name, tool)
        })
        .collect()
}

/// Lists of one page, which hold for an hour where a revision has a way to say so.
fn lists(server: ScriptedServer, version: ProtocolVersion) -> ScriptedServer {
    let page = move |mut page: Value| {
        if version.era() == Era::Modern {
            page["ttlMs"] = json!(3_600_000);
            page["cacheScope"] = json!("private");
        }
        move |_: &Json| done(version, page.clone())
    };
    server
        .on("resources/list", page(json!({"resources": [{"uri": URI, "name": "a"}]})))
        .on(
            "resources/templates/list",
            page(json!({"resourceTemplates": [{"uriTemplate": "file:///{p}", "name": "f"}]})),
        )
        .on("prompts/list", page(json!({"prompts": [{"name": "greet", "arguments": [{"name": "name"}]}]})))
}

/// It agrees to all that a client wants to be told (2026-07-28, basic/patterns/subscriptions).
fn listening(server: ScriptedServer) -> ScriptedServer {
    let itself = server.clone();
    server.on("subscriptions/listen", move |params| {
        let wanted: Value = params.member("notifications").unwrap_or_default();
        let id = itself.requests().pop().and_then(|listen| listen.id).unwrap_or_default();
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        ScriptedResponse::new()
            .notify("notifications/subscriptions/acknowledged", json!({"notifications": wanted, "_meta": meta}))
    })
}

fn call(version: ProtocolVersion, params: &Json) -> ScriptedResponse {
    let name: String = params.member("name").unwrap_or_default();
    let arguments: Value = params.member("arguments").unwrap_or_default();
    let text = |text: &str| done(version, json!({"content": [{"type": "text", "text": text}]}));
    match name.as_str() {
        "echo" => text(arguments["message"].as_str().unwrap_or("nothing")),
        "steps" => {
            let steps = ScriptedResponse::new().progress(1, 2).progress(2, 2);
            steps.result(json!({"resultType": "complete", "content": [{"type": "text", "text": "stepped"}]}))
        }
        "measure" => {
            let mut result = json!({"content": [{"type": "text", "text": "{\"n\":21}"}]});
            if version >= V3 {
                result["structuredContent"] = json!({"n": 21});
            }
            done(version, result)
        }
        "silent" => ScriptedResponse::new(),
        "log" => ScriptedResponse::new()
            .notify("notifications/message", json!({"level": "warning", "data": "hot"}))
            .result(json!({"resultType": "complete", "content": []})),
        "job" => match version.era() {
            Era::Modern if params.get().contains(EXTENSION) => {
                let mut task = task("working", true);
                task["resultType"] = json!("task");
                ScriptedResponse::new().result(task)
            }
            Era::Legacy if params.member::<Value>("task").is_some() => {
                ScriptedResponse::new().result(json!({"task": task("working", false)}))
            }
            _ => text("at once"),
        },
        question => asking(version, question, params),
    }
}

/// What the server asks for while it works on a call: with a request of its own, or before it answers.
fn question(name: &str) -> (&'static str, Value) {
    match name {
        "form" => {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            ("elicitation/create", json!({"mode": "form", "message": "Who?", "requestedSchema": schema}))
        }
        "visit" => {
            let url = json!({
                "mode": "url", "message": "Sign in.", "url": "https://a.example/sign-in", "elicitationId": "e1",
            });
            ("elicitation/create", url)
        }
        "sample" => {
            let said = json!([{"role": "user", "content": {"type": "text", "text": "2 + 2?"}}]);
            ("sampling/createMessage", json!({"messages": said, "maxTokens": 10}))
        }
        _ => ("roots/list", json!({})),
    }
}

fn asking(version: ProtocolVersion, name: &str, params: &Json) -> ScriptedResponse {
    let (method, asked) = question(name);
    if version.era() == Era::Legacy {
        let request = json!({"jsonrpc": "2.0", "id": "ask", "method": method, "params": asked});
        return ScriptedResponse::new()
            .line(request.to_string())
            .result(json!({"content": [{"type": "text", "text": "it was asked"}]}));
    }
    match params.member::<Value>("inputResponses") {
        None => {
            ScriptedResponse::new().input_required(json!({"ask": {"method": method, "params": asked}}), Some("state 1"))
        }
        Some(answers) => {
            let state: String = params.member("requestState").unwrap_or_default();
            done(
                version,
                json!({"content": [{"type": "text", "text": answers["ask"].to_string()}], "_meta": {"state": state}}),
            )
        }
    }
}

fn task(status: &str, modern: bool) -> Value {
    let mut task = json!({
        "taskId": "t1", "status": status,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
    });
    let (ttl, interval) = if modern { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
    task[ttl] = json!(60_000);
    task[interval] = json!(1);
    task
}

trait Tasks {
    /// With the tasks of the revision: each is done when it is asked for the second time.
    fn also_tasks(self, version: ProtocolVersion) -> Self;
}

impl Tasks for ScriptedServer {
    fn also_tasks(self, version: ProtocolVersion) -> Self {
        if version < V4 {
            return self;
        }
        let modern = version > V4;
        let mut asked = 0;
        let result = json!({"content": [{"type": "text", "text": "the job is done"}]});
        let related = json!({"io.modelcontextprotocol/related-task": {"taskId": "t1"}});
        let inlined = result.clone();
        let server = self.on("tasks/get", move |params| {
            if params.member::<String>("taskId").as_deref() != Some("t1") {
                return ScriptedResponse::from(RpcError::new(RpcError::INVALID_PARAMS, "Task not found"));
            }
            asked += 1;
            let mut task = task(if asked < 2 { "working" } else { "completed" }, modern);
            if modern && asked >= 2 {
                task["result"] = inlined.clone();
            }
            done(version, task)
        });
        if modern {
            return server
                .on("tasks/cancel", move |_| done(version, json!({})))
                .on("tasks/update", move |_| done(version, json!({})));
        }
        server
            .on("tasks/cancel", move |_| done(version, task("cancelled", false)))
            .on("tasks/list", move |_| done(version, json!({"tasks": [task("working", false)]})))
            .on("tasks/result", move |_| {
                let mut result = result.clone();
                result["_meta"] = related.clone();
                done(version, result)
            })
    }
}
