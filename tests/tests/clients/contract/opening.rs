//! How connections open, in both eras and all revisions, and why they do not.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Era, LoggingLevel, Negotiate, ProtocolVersion};
use mcpwire_tests::{Adapter, Failure, Server, on_every_adapter, process_exists, server, timed};
use serde_json::json;

use super::open;

// Nothing is wrong: both eras, chosen automatically and by hand.

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
    let (_server, mut client) = open::<A>("well-behaved");
    for message in ["", "plain", "\"quoted\" \\ and\nbroken\r\n", "\u{0}\u{7f}\u{2028}", "grüße 𝄞 \u{10ffff}"] {
        assert_eq!(client.text("echo", json!({"message": message})), message);
    }
}

fn ten_thousand_calls_are_answered_in_turn<A: Adapter>() {
    let (_server, mut client) = open::<A>("well-behaved");
    for number in 0..10_000 {
        let message = number.to_string();
        assert_eq!(client.text("echo", json!({"message": message})), message);
    }
}

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

// Revisions of the protocol: all five are spoken, others are refused by name.

fn every_legacy_revision_is_spoken<A: Adapter>() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = server!(&format!("versions {version}"));
        assert_speaks::<A>(&server, Era::Legacy, version);
    }
}

fn a_revision_can_be_chosen<A: Adapter>() {
    let server = server!("versions 2025-06-18")
        .configured(|config| config.negotiate = Negotiate::Version(ProtocolVersion::V2025_06_18));
    assert_speaks::<A>(&server, Era::Legacy, "2025-06-18");
    let server = server!("versions 2026-07-28 --modern")
        .configured(|config| config.negotiate = Negotiate::Version(ProtocolVersion::V2026_07_28));
    assert_speaks::<A>(&server, Era::Modern, "2026-07-28");
}

fn one_of_several_modern_revisions_is_chosen<A: Adapter>() {
    let server = server!("versions 2099-01-01,2026-07-28 --modern");
    assert_speaks::<A>(&server, Era::Modern, "2026-07-28");
}

fn an_unknown_legacy_revision_is_refused_by_name<A: Adapter>() {
    for era in [Negotiate::Auto, Negotiate::Legacy] {
        let server = server!("versions 1999-01-01").configured(|config| config.negotiate = era);
        let failure = server.fail_to_open::<A>();
        failure.assert(ErrorKind::Connect, &["bad-habits", "1999-01-01", "2025-11-25", "2024-11-05"]);
    }
}

fn an_unknown_modern_revision_is_refused_by_name<A: Adapter>() {
    for era in [Negotiate::Auto, Negotiate::Modern] {
        let server = server!("versions 2099-01-01 --modern").configured(|config| config.negotiate = era);
        server.fail_to_open::<A>().assert(ErrorKind::Connect, &["bad-habits", "2099-01-01", "2026-07-28"]);
    }
}

/// The newest is assumed: a server that leaves it out does not know that there are others.
fn a_server_that_names_no_revision_is_spoken_to_all_the_same<A: Adapter>() {
    let (_server, mut client) = open::<A>("versions none");
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    client.assert_alive();
}

fn assert_speaks<A: Adapter>(server: &Server, era: Era, version: &str) {
    let mut client = server.open::<A>();
    let info = client.server_info().expect("it said who it is");
    assert_eq!((info.era, info.protocol_version.as_str()), (era, version));
    client.assert_alive();
}

// What the eras do in different ways has one method in the client.

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

// A server that cannot bear `server/discover` is started once more and asked in the legacy way.

fn it_is_started_once_more<A: Adapter>() {
    assert_restarted::<A>("dies-on-probe");
}

fn it_is_started_once_more_when_it_dies_after_an_answer<A: Adapter>() {
    assert_restarted::<A>("error-then-dies-on-probe");
}

fn a_chosen_legacy_era_does_not_provoke_it<A: Adapter>() {
    let server = server!("dies-on-probe").configured(|config| config.negotiate = Negotiate::Legacy);
    let mut client = server.open::<A>();
    client.assert_alive();
    assert!(client.stderr_tail().is_empty());
}

fn a_chosen_modern_era_does_not_start_it_again<A: Adapter>() {
    let server = server!("dies-on-probe").configured(|config| config.negotiate = Negotiate::Modern);
    server.fail_to_open::<A>().assert(ErrorKind::Connect, &["3", "expected initialize"]);
}

/// It dies whatever it is asked, so it is not started for ever.
fn a_server_that_always_dies_is_not_started_for_ever<A: Adapter>() {
    let server = server!("exits 3");
    server.fail_to_open::<A>().assert(ErrorKind::Connect, &["3", "cannot find my configuration"]);
    assert!(server.heard.stderr.all().len() <= 2, "it is started twice at most");
}

fn assert_restarted<A: Adapter>(habit: &str) {
    let server = server!(habit);
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    let pid = client.text("pid", json!({}));
    assert_eq!(pid, client.pid().to_string(), "the client knows the second process");
    assert!(process_exists(client.pid()));
    assert!(server.processes().iter().all(|pid| *pid == client.pid()), "the first process is gone");
    client.assert_alive();
    client.shutdown().expect("it ends");
}

// A server that is gone before the handshake.

fn the_status_and_the_last_words_are_told<A: Adapter>() {
    for era in [Negotiate::Auto, Negotiate::Legacy, Negotiate::Modern] {
        let server = server!("exits 41").configured(|config| config.negotiate = era);
        let failure = server.fail_to_open::<A>();
        failure.assert(ErrorKind::Connect, &["bad-habits", "41", "cannot find my configuration"]);
        assert!(failure.connecting);
    }
}

fn an_exit_without_a_fault_is_a_failure_all_the_same<A: Adapter>() {
    let server = server!("exits 0");
    server.fail_to_open::<A>().assert(ErrorKind::Connect, &["exit", "0", "cannot find my configuration"]);
}

fn a_handshake_that_is_refused_is_told_in_the_words_of_the_server<A: Adapter>() {
    let server = server!("refuses-handshake");
    let failure = server.fail_to_open::<A>();
    failure.assert(ErrorKind::Connect, &["initialize", "-32000", "no licence was found"]);
    assert!(failure.connecting);
}

// Servers that do not answer the handshake, or not all of it, or not yet.

const SHORT: Duration = Duration::from_millis(300);

fn silence_ends_the_handshake_in_time<A: Adapter>() {
    let server = server!("silent");
    assert_times_out::<A>(server, Duration::from_secs(1));
}

fn silence_ends_the_handshake_of_a_chosen_era_in_time<A: Adapter>() {
    for era in [Negotiate::Legacy, Negotiate::Modern] {
        let server = server!("silent").configured(|config| config.negotiate = era);
        assert_times_out::<A>(server, Duration::from_secs(1));
    }
}

/// It is killed by the signal that it does not ignore, when the client is dropped.
fn a_server_that_reads_nothing_ends_the_handshake_in_time<A: Adapter>() {
    let server = server!("never-reads");
    assert_times_out::<A>(server, Duration::from_secs(1));
}

fn silence_on_the_probe_means_legacy<A: Adapter>() {
    let server = server!("silent-on-probe").configured(|config| config.probe_timeout = SHORT);
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    assert_eq!(client.text("pid", json!({})), client.pid().to_string());
    client.assert_alive();
}

fn a_modern_server_that_starts_slowly_is_still_modern<A: Adapter>() {
    let server = server!("slow-start 900 --modern").configured(|config| config.probe_timeout = SHORT);
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Modern));
    client.assert_alive();
}

fn a_legacy_server_that_starts_slowly_is_waited_for<A: Adapter>() {
    let server = server!("slow-start 900").configured(|config| config.probe_timeout = SHORT);
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    client.assert_alive();
}

fn assert_times_out<A: Adapter>(server: Server, timeout: Duration) {
    let server = server.configured(|config| {
        config.probe_timeout = SHORT;
        config.connect_timeout = timeout;
    });
    let (failure, took) = timed(|| server.fail_to_open::<A>());
    failure.assert(ErrorKind::Timeout, &["bad-habits", "1 s"]);
    assert!(failure.connecting, "{failure}");
    assert!(took >= timeout, "it took {took:?}");
}

on_every_adapter!(
    a_legacy_server_is_recognised,
    a_modern_server_is_recognised,
    the_legacy_era_can_be_chosen,
    the_modern_era_can_be_chosen,
    the_wrong_era_is_refused_in_words,
    the_bytes_of_a_message_come_back_as_they_were,
    ten_thousand_calls_are_answered_in_turn,
    every_legacy_revision_is_spoken,
    a_revision_can_be_chosen,
    one_of_several_modern_revisions_is_chosen,
    an_unknown_legacy_revision_is_refused_by_name,
    an_unknown_modern_revision_is_refused_by_name,
    a_server_that_names_no_revision_is_spoken_to_all_the_same,
    a_value_becomes_a_type,
    a_server_of_either_era_is_asked_whether_it_is_there,
    the_level_of_logs_is_set_in_either_era,
    what_the_server_does_not_offer_is_not_sent,
    it_is_started_once_more,
    it_is_started_once_more_when_it_dies_after_an_answer,
    a_chosen_legacy_era_does_not_provoke_it,
    a_chosen_modern_era_does_not_start_it_again,
    a_server_that_always_dies_is_not_started_for_ever,
    the_status_and_the_last_words_are_told,
    an_exit_without_a_fault_is_a_failure_all_the_same,
    a_handshake_that_is_refused_is_told_in_the_words_of_the_server,
    silence_ends_the_handshake_in_time,
    silence_ends_the_handshake_of_a_chosen_era_in_time,
    a_server_that_reads_nothing_ends_the_handshake_in_time,
    silence_on_the_probe_means_legacy,
    a_modern_server_that_starts_slowly_is_still_modern,
    a_legacy_server_that_starts_slowly_is_waited_for,
);
