//! Nothing is wrong: both eras, chosen automatically and by hand.

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Era, Negotiate};
use mcpwire_tests::{Adapter, Failure, Server, on_every_adapter, server};
use serde_json::json;

fn a_legacy_server_is_recognised<A: Adapter>() {
    let server = server!("well-behaved");
    assert_serves::<A>(&server, Era::Legacy, "2025-11-25");
}

fn a_modern_server_is_recognised<A: Adapter>() {
    let server = server!("well-behaved --modern");
    assert_serves::<A>(&server, Era::Modern, "2026-07-28");
}

fn the_legacy_era_can_be_chosen<A: Adapter>() {
    let server = server!("well-behaved").configured(|config| config.negotiate = Negotiate::Legacy);
    assert_serves::<A>(&server, Era::Legacy, "2025-11-25");
}

fn the_modern_era_can_be_chosen<A: Adapter>() {
    let server = server!("well-behaved --modern").configured(|config| config.negotiate = Negotiate::Modern);
    assert_serves::<A>(&server, Era::Modern, "2026-07-28");
}

fn the_wrong_era_is_refused_in_words<A: Adapter>() {
    let legacy = server!("well-behaved").configured(|config| config.negotiate = Negotiate::Modern);
    assert_refused(&legacy.fail_to_open::<A>(), &["server/discover", "Method not found"]);
    let modern = server!("well-behaved --modern").configured(|config| config.negotiate = Negotiate::Legacy);
    assert_refused(&modern.fail_to_open::<A>(), &["2026-07-28"]);
}

fn the_bytes_of_a_message_come_back_as_they_were<A: Adapter>() {
    let server = server!("well-behaved");
    let mut client = server.open::<A>();
    for message in ["", "plain", "\"quoted\" \\ and\nbroken\r\n", "\u{0}\u{7f}\u{2028}", "grüße 𝄞 \u{10ffff}"] {
        assert_eq!(client.text("echo", json!({"message": message})), message);
    }
}

fn ten_thousand_calls_are_answered_in_turn<A: Adapter>() {
    let server = server!("well-behaved");
    let mut client = server.open::<A>();
    for number in 0..10_000 {
        let message = number.to_string();
        assert_eq!(client.text("echo", json!({"message": message})), message);
    }
}

on_every_adapter!(
    a_legacy_server_is_recognised,
    a_modern_server_is_recognised,
    the_legacy_era_can_be_chosen,
    the_modern_era_can_be_chosen,
    the_wrong_era_is_refused_in_words,
    the_bytes_of_a_message_come_back_as_they_were,
    ten_thousand_calls_are_answered_in_turn,
);

fn assert_serves<A: Adapter>(server: &Server, era: Era, version: &str) {
    let mut client = server.open::<A>();
    let info = client.server_info().expect("the server said who it is");
    assert_eq!((info.era, info.protocol_version.as_str(), info.name()), (era, version, "bad-habits"));
    assert_eq!(info.instructions.as_deref(), Some("Be patient."));

    let names: Vec<String> = client.list_tools().expect("it has tools").into_iter().map(|tool| tool.name).collect();
    assert_eq!(names[..2], ["echo", "fetch_data"]);
    assert!(client.rejected_tools().is_empty());
    assert_eq!(client.text("echo", json!({"message": "hello"})), "hello");
    assert!(client.is_running());
    client.shutdown().expect("it ends");
}

fn assert_refused(failure: &Failure, words: &[&str]) {
    failure.assert(ErrorKind::Connect, words);
    assert!(failure.connecting);
}
