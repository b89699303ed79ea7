//! A server of a few lines, for the examples whose server is in the same program.

use serde_json::{Value, json};

/// Returns the response to a message of the client, or `None` if the message is a notification.
pub(crate) fn answer(message: &str) -> Option<String> {
    let Ok(message) = serde_json::from_str::<Value>(message) else {
        return Some(error(&Value::Null, -32700, "the message is not JSON"));
    };
    let id = message.get("id")?;
    let params = &message["params"];
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            // A server for one revision names that revision, whatever the client has asked for.
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small-server", "version": "1.0"},
        }),
        Some("ping") => json!({}),
        Some("tools/list") => json!({"tools": [{
            "name": "reverse",
            "description": "Reverses a text.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }]}),
        Some("tools/call") if params["name"] == "reverse" => match params["arguments"]["text"].as_str() {
            Some(text) => {
                let reversed: String = text.chars().rev().collect();
                json!({"content": [{"type": "text", "text": reversed}]})
            }
            None => json!({"content": [{"type": "text", "text": "`text` is missing"}], "isError": true}),
        },
        Some("tools/call") => return Some(error(id, -32602, "no such tool")),
        // `server/discover` of newer revisions too: the client then continues with `initialize`.
        _ => return Some(error(id, -32601, "no such method")),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

fn error(id: &Value, code: i32, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}
