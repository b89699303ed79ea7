//! The default answers of a scripted server.

use mcpwire_driver::protocol::{Json, ProtocolVersion, RpcError};

use crate::response::ScriptedResponse;
use crate::server::{Handler, State};
use crate::wire::{json, trusted};

/// How a request is answered. The handler is called later, without the lock.
pub(crate) enum Plan {
    ScriptedResponse(ScriptedResponse),
    Call(Handler, Json),
}

/// The key in `_meta` of a request's revision (2026-07-28, basic/index, "Per-request protocol fields").
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The first revision of the modern era. Revisions are dates, which sort as text.
const MODERN: &str = ProtocolVersion::V2026_07_28.as_str();

impl State {
    /// Decides how to answer a request. `version` is the modern revision that the request names, if any.
    pub(crate) fn plan(&self, method: &str, params: &Json, version: Option<&str>) -> Plan {
        if let Some(handler) = self.methods.get(method) {
            return Plan::Call(handler.clone(), params.clone());
        }
        // A server of the legacy era alone does not look for a modern revision.
        let speaks_modern = self.versions.iter().any(|known| is_modern(known));
        if let Some(version) = version.filter(|version| speaks_modern && !self.versions.iter().any(|v| v == version)) {
            return Plan::ScriptedResponse(self.unsupported(version).into());
        }
        Plan::ScriptedResponse(match method {
            "server/discover" if speaks_modern => self.discover(),
            "initialize" => self.initialize(params),
            "ping" => ScriptedResponse::new().complete(trusted("{}".into())),
            "tools/list" => self.list_tools(params, version.is_some()),
            "tools/call" => return self.call_tool(params),
            _ => RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found").into(),
        })
    }

    fn discover(&self) -> ScriptedResponse {
        ScriptedResponse::new().complete(trusted(format!(
            r#"{{"supportedVersions":{},"capabilities":{},{}"ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{}}}}}"#,
            json(&self.versions),
            self.capabilities,
            self.instructions_member(),
            self.info(),
        )))
    }

    fn initialize(&self, params: &Json) -> ScriptedResponse {
        let asked: String = params.member("protocolVersion").unwrap_or_default();
        let legacy = || self.versions.iter().filter(|version| !is_modern(version));
        // The revision that was asked for, or the newest of ours (2025-11-25, basic/lifecycle, "Version Negotiation").
        let Some(version) = legacy().find(|version| **version == asked).or_else(|| legacy().max()) else {
            return self.unsupported(&asked).into();
        };
        ScriptedResponse::new().complete(trusted(format!(
            r#"{{"protocolVersion":{},"capabilities":{},{}"serverInfo":{}}}"#,
            json(version),
            self.capabilities,
            self.instructions_member(),
            self.info(),
        )))
    }

    fn list_tools(&self, params: &Json, modern: bool) -> ScriptedResponse {
        let cursor: Option<String> = params.member("cursor");
        let Ok(begin) = cursor.map_or(Ok(0), |cursor| cursor.parse::<usize>()) else {
            return RpcError::new(RpcError::INVALID_PARAMS, "Invalid cursor").into();
        };
        let end = begin.saturating_add(self.page_size).min(self.tools.len());
        let page: Vec<&Json> = self.tools.get(begin..end).unwrap_or_default().iter().map(|(_, tool, _)| tool).collect();
        let page = json(&page);
        let next = if end < self.tools.len() { format!(r#","nextCursor":"{end}""#) } else { String::new() };
        let caching = if modern { r#","ttlMs":0,"cacheScope":"private""# } else { "" };
        ScriptedResponse::new().complete(trusted(format!(r#"{{"tools":{page}{next}{caching}}}"#)))
    }

    fn call_tool(&self, params: &Json) -> Plan {
        let name: String = params.member("name").unwrap_or_default();
        match self.tools.iter().find(|(known, ..)| *known == name) {
            Some((_, _, handler)) => {
                let arguments = params.member("arguments").unwrap_or_else(|| trusted("{}".into()));
                Plan::Call(handler.clone(), arguments)
            }
            None => {
                Plan::ScriptedResponse(RpcError::new(RpcError::INVALID_PARAMS, format!("Unknown tool: {name}")).into())
            }
        }
    }

    fn unsupported(&self, requested: &str) -> RpcError {
        let mut error = RpcError::new(RpcError::UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version");
        let (supported, requested) = (json(&self.versions), json(requested));
        error.data = Some(trusted(format!(r#"{{"supported":{supported},"requested":{requested}}}"#)));
        error
    }

    fn info(&self) -> Json {
        trusted(format!(r#"{{"name":{},"version":{}}}"#, json(&self.name), json(&self.version)))
    }

    fn instructions_member(&self) -> String {
        self.instructions.as_ref().map(|text| format!(r#""instructions":{},"#, json(text))).unwrap_or_default()
    }
}

fn is_modern(version: &str) -> bool {
    version >= MODERN
}
