//! Servers over HTTP that are made of others, and what goes with them.

use core::time::Duration;

use mcpwire_core::{Config, Negotiate};

use super::{Asked, Says};

/// A modern server: discovers, and hands everything else to `rest`.
pub fn modern(mut rest: impl FnMut(&Asked, &mut Says) + 'static) -> impl FnMut(&Asked, &mut Says) + 'static {
    move |asked, says| match asked.method() {
        "server/discover" => {
            says.json(200, asked.result(r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#));
        }
        _ => rest(asked, says),
    }
}

/// A legacy server with sessions: `s1`, and `s2` once it has forgotten that; it has no stream of its own. Hands everything but
/// the opening to `rest`.
pub fn legacy(
    version: &'static str,
    mut rest: impl FnMut(&Asked, &mut Says) + 'static,
) -> impl FnMut(&Asked, &mut Says) + 'static {
    let mut sessions = 0;
    move |asked, says| match asked.line().as_str() {
        "POST server/discover" => {
            says.json(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#);
        }
        "POST initialize" => {
            sessions += 1;
            let session = format!("s{sessions}");
            let result = format!(r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}}}}"#);
            says.head(200, &[("content-type", "application/json"), ("Mcp-Session-Id", &session)])
                .body(asked.result(&result))
                .end();
        }
        "POST notifications/initialized" => says.empty(202),
        _ => rest(asked, says),
    }
}

/// The answer of a tool that says something.
pub fn said(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// The configuration of a client that speaks the legacy era only, and has an hour for each request.
pub fn patient() -> Config {
    let mut config = Config::default();
    config.negotiate = Negotiate::Legacy;
    config.request_timeout = Duration::from_secs(3600);
    config.total_timeout = Duration::from_secs(3600);
    config
}
