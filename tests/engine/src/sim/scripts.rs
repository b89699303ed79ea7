//! Configurations, and servers that are made of others.

use mcpwire_core::Config;

use super::peer::{Peer, Sent, response};

/// The default configuration with a change.
pub fn configured<T>(change: impl FnOnce(&mut Config) -> T) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

/// A server that opens the legacy way, and does the rest as `rest` says.
pub fn legacy(mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    move |sent, peer| {
        match sent.method() {
        "server/discover" => peer.refuse(sent, -32601, "Method not found"),
        "initialize" => peer.answer(
            sent,
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}},"serverInfo":{"name":"sim","version":"1"}}"#,
        ),
        "notifications/initialized" => {}
        _ => rest(sent, peer),
    }
    }
}

/// A server that opens the modern way, and does the rest as `rest` says.
pub fn modern(mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    move |sent, peer| match sent.method() {
        "server/discover" => {
            peer.answer(
                sent,
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}}"#,
            );
        }
        "initialize" => peer.refuse(sent, -32601, "Method not found"),
        _ => rest(sent, peer),
    }
}

/// A server that answers each method with the line beside it: what follows the id (`"result":{}`), or the whole line if
/// that begins with `{`; the end of the stream if it is `EOF`. All else it meets with silence.
pub fn table<'t>(rows: &[(&'t str, &'t str)]) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let rows: Vec<(String, String)> = rows.iter().map(|(method, line)| ((*method).into(), (*line).into())).collect();
    move |sent, peer| {
        for (_, line) in rows.iter().filter(|(method, _)| method == sent.method()) {
            match line.as_str() {
                "EOF" => peer.end(),
                line if line.starts_with('{') => peer.say(line),
                rest => peer.say(response(sent, rest)),
            }
        }
    }
}
