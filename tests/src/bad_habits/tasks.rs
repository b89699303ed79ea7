//! A server that makes tasks of calls, and remembers nothing: where a task is to end is in its name. So it can be asked about
//! tasks that another process of it has begun.

use crate::json::Raw;
use crate::server::{self, Manners};
use crate::wire::{Message, Wire};

/// The tool `job` becomes a task that is seen at work twice, and then ends as its argument `message` says: `cancelled`,
/// `failed`, or with that for a text; one that is to end `unheard` goes on for ever, and `tasks/cancel` for it is not
/// answered. No tool answers plainly to `silence`. In 2025-11-25, the tool `must` can be called so only, and `echo` cannot be.
#[derive(Default)]
pub(crate) struct Tasks {
    seen: u32,
    cancelled: bool,
}

const TIMES: &str = r#""createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z""#;

impl Manners for Tasks {
    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        if wire.modern {
            return server::initialize(wire, request);
        }
        wire.result(
            request,
            r#""protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"bad-habits","version":"1.0"}"#,
        );
    }

    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        let tool = |name: &str, support: &str| {
            format!(
                r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"execution":{{"taskSupport":"{support}"}}}}"#
            )
        };
        let tools = [tool("job", "optional"), tool("must", "required"), tool("echo", "forbidden")];
        server::list_tools(wire, request, &tools.join(","));
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let end = request.argument("message").map_or("", Raw::text);
        let task = request.at(&["params", "task"]).is_some();
        match (request.tool(), wire.modern, task) {
            ("echo", false, true) => wire.error(request, -32601, "echo is no task"),
            ("must", false, false) => wire.error(request, -32601, "must is a task"),
            ("job" | "must", false, true) => {
                wire.result(request, &format!(r#""task":{{{}}}"#, state(end, "working", false)));
            }
            ("job" | "must", true, _) if has_declared(request) => {
                let id = request.id();
                let task = state(end, "working", true);
                wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"task",{task}}}}}"#));
            }
            _ if end == "silence" => {}
            _ => wire.text(request, end),
        }
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        let id = message.at(&["params", "taskId"]).map_or("", Raw::text);
        let Some(end) = id.strip_prefix("ends-") else {
            if message.method() == "tasks/list" {
                return wire.result(message, &format!(r#""tasks":[{{{}}}]"#, state("a", "working", false)));
            } else if message.method().starts_with("tasks/") {
                return wire.error(message, -32602, "Failed to retrieve task: Task not found");
            }
            return server::WellBehaved.other(wire, message);
        };
        let modern = wire.modern;
        if modern && !has_declared(message) {
            return wire.error(message, -32021, "Missing required client capability");
        }
        match message.method() {
            "tasks/get" => {
                self.seen += 1;
                let status = match end {
                    _ if self.cancelled => "cancelled",
                    "unheard" => "working",
                    _ if self.seen <= 2 => "working",
                    "cancelled" | "failed" => end,
                    _ => "completed",
                };
                let detail = match status {
                    "completed" if modern => format!(r#","result":{{{}}}"#, text(end)),
                    "failed" if modern => r#","error":{"code":-32099,"message":"it has failed"}"#.to_owned(),
                    _ => String::new(),
                };
                wire.result(message, &(state(end, status, modern) + &detail));
            }
            "tasks/result" if !modern && end == "failed" => wire.error(message, -32099, "it has failed"),
            "tasks/result" if !modern => wire.result(message, &text(end)),
            "tasks/cancel" if end == "unheard" => {}
            "tasks/cancel" => {
                self.cancelled = true;
                let task = if modern { String::new() } else { state(end, "cancelled", false) };
                wire.result(message, &task);
            }
            _ => server::WellBehaved.other(wire, message),
        }
    }
}

fn has_declared(request: &Message) -> bool {
    let capabilities = ["params", "_meta", "io.modelcontextprotocol/clientCapabilities"];
    let capabilities = request.at(&capabilities);
    capabilities.is_some_and(|all| all.at(&["extensions", "io.modelcontextprotocol/tasks"]).is_some())
}

fn state(end: &str, status: &str, modern: bool) -> String {
    let (ttl, interval) = if modern { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
    format!(
        r#""taskId":"ends-{end}","status":"{status}","statusMessage":"{status} on it",{TIMES},"{ttl}":60000,"{interval}":1"#
    )
}

fn text(text: &str) -> String {
    format!(r#""content":[{{"type":"text","text":"{text}"}}],"isError":false"#)
}
