//! `mcpwire demo-server`, used by commands other than `call`.
#![cfg(unix)]

use crate::support::http::Server;
use crate::support::mcpwire;

#[test]
fn only_loopback_addresses_are_listened_on() {
    let refused = mcpwire(&["demo-server", "--http", "0.0.0.0:0"]);
    assert_ne!(refused.code(), 0);
    assert!(refused.stderr.contains("loopback"), "{refused:?}");
    assert_eq!(refused.stdout, "");
}

#[test]
fn it_has_prompts_resources_and_completion_over_each_transport() {
    let server = Server::start();
    let sse = server.url.replace("/mcp", "/sse");
    for place in [&["--demo"][..], &["--demo", "--protocol", "legacy"], &["--url", &server.url], &["--url", &sse]] {
        for (words, expected) in [
            (&["prompts"][..], "greeting"),
            (&["prompt", "forecast", r#"{"city":"Porto"}"#], "What should I wear in Porto today?"),
            (&["resources"], "demo://calls"),
            (&["read", "demo://about"], "mcpwire-demo"),
            (&["read", "demo://weather/Porto"], "humidity"),
            (&["complete", "resource", "demo://weather/{city}", "city", "Po"], "Porto"),
            (&["call", "echo", r#"{"message":"hi"}"#], "hi"),
        ] {
            let finished = mcpwire(&[words, place].concat());
            assert_eq!(finished.code(), 0, "{finished:?}");
            assert!(finished.stdout.contains(expected), "{words:?} {place:?}: {finished:?}");
        }
    }
}
