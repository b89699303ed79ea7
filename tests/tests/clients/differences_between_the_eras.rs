//! What the eras do in different ways has one method in the client.

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::LoggingLevel;
use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

fn a_server_of_either_era_is_asked_whether_it_is_there<A: Adapter>() {
    for line in ["well-behaved", "well-behaved --modern"] {
        let server = server!(line);
        server.open::<A>().ping().expect("it is there");
    }
}

fn the_level_of_logs_is_set_in_either_era<A: Adapter>() {
    let legacy = server!("well-behaved");
    let mut client = legacy.open::<A>();
    client.set_log_level(&LoggingLevel::Notice).expect("it takes the level");
    client.shutdown().expect("it ends");
    legacy.heard.stderr.wait_for("bad-habits: log level notice");

    let modern = server!("well-behaved --modern");
    let mut client = modern.open::<A>();
    assert_eq!(client.text("log_level", json!({})), "none");
    client.set_log_level(&LoggingLevel::Warning).expect("it can be set");
    assert_eq!(client.text("log_level", json!({})), "warning");
    client.set_log_level(&LoggingLevel::Debug).expect("it can be set again");
    assert_eq!(client.text("log_level", json!({})), "debug");
}

fn what_the_server_does_not_offer_is_not_sent<A: Adapter>() {
    for line in ["well-behaved", "well-behaved --modern"] {
        let server = server!(line);
        let mut client = server.open::<A>();
        let failure = client.count_prompts().expect_err("it has none");
        failure.assert(ErrorKind::Usage, &["prompts/list", "capability `prompts`"]);
        let refused = client.request_raw("prompts/list", None).expect_err("it is asked, and says so");
        refused.assert(ErrorKind::Server, &["Method not found"]);
        client.assert_alive();
    }
}

fn a_value_becomes_a_type<A: Adapter>() {
    for line in ["well-behaved", "well-behaved --modern"] {
        let server = server!(line);
        let mut client = server.open::<A>();
        assert_eq!(client.structured("number").expect("it is one"), 5);
        let failure = client.structured("numeral").expect_err("it is a word");
        failure.assert(ErrorKind::Protocol, &["tool `numeral`", "at `n`", "five"]);
        let failure = client.structured("echo").expect_err("it has none");
        failure.assert(ErrorKind::Protocol, &["tool `echo`", "no structured content"]);
        let failure = client.structured("fail").expect_err("it fails");
        failure.assert(ErrorKind::Tool, &["tool `fail`: the tool failed: the tool failed"]);
        client.assert_alive();
    }
}

on_every_adapter!(
    a_value_becomes_a_type,
    a_server_of_either_era_is_asked_whether_it_is_there,
    the_level_of_logs_is_set_in_either_era,
    what_the_server_does_not_offer_is_not_sent,
);
