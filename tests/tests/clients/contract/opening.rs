//! How connections open, in both eras and all revisions, and why they do not.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Era, Negotiate, ProtocolVersion};
use mcpwire_tests::{Adapter, on_both_clients, on_every_adapter, process_exists, server, timed};
use serde::Deserialize;
use serde_json::json;

use super::{in_both_eras, open};

fn a_server_of_either_era_is_served<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        let info = client.server_info().expect("the server said who it is");
        assert_eq!((info.name(), info.instructions.as_deref()), ("bad-habits", Some("Be patient.")));
        let names: Vec<String> = client.list_tools().expect("it has tools").into_iter().map(|tool| tool.name).collect();
        assert_eq!(names[..2], ["echo", "fetch_data"]);
        assert!(client.rejected_tools().is_empty());
        client.ping().expect("it is there");
        for message in ["", "plain", "\"quoted\" \\ and\nbroken\r\n", "\u{0}\u{7f}\u{2028}", "grüße 𝄞 \u{10ffff}"]
        {
            assert_eq!(client.text("echo", json!({"message": message})), message);
        }
        assert!(client.is_running());
        client.shutdown().expect("it ends");
    });
}

fn ten_thousand_calls_are_answered_in_turn<A: Adapter>() {
    let (_server, mut client) = open::<A>("well-behaved");
    for number in 0..10_000 {
        let message = number.to_string();
        assert_eq!(client.text("echo", json!({"message": message})), message);
    }
}

// The era and the revision.

/// The habit, the chosen era or revision, and what is spoken then.
const OPENED: &[(&str, Negotiate, Era, &str)] = &[
    ("well-behaved", Negotiate::Auto, Era::Legacy, "2025-11-25"),
    ("well-behaved", Negotiate::Legacy, Era::Legacy, "2025-11-25"),
    ("well-behaved --modern", Negotiate::Auto, Era::Modern, "2026-07-28"),
    ("well-behaved --modern", Negotiate::Modern, Era::Modern, "2026-07-28"),
    ("versions 2024-11-05", Negotiate::Auto, Era::Legacy, "2024-11-05"),
    ("versions 2025-03-26", Negotiate::Auto, Era::Legacy, "2025-03-26"),
    ("versions 2025-06-18", Negotiate::Auto, Era::Legacy, "2025-06-18"),
    ("versions 2025-06-18", Negotiate::Version(ProtocolVersion::V2025_06_18), Era::Legacy, "2025-06-18"),
    ("versions 2026-07-28 --modern", Negotiate::Version(ProtocolVersion::V2026_07_28), Era::Modern, "2026-07-28"),
    ("versions 2099-01-01,2026-07-28 --modern", Negotiate::Auto, Era::Modern, "2026-07-28"),
    // The newest is assumed: a server that leaves it out does not know that there are others.
    ("versions none", Negotiate::Auto, Era::Legacy, "2025-11-25"),
    // An empty object is no answer to `server/discover`.
    ("echo-unknown", Negotiate::Auto, Era::Legacy, "2025-11-25"),
    // Some servers answer what they do not expect without an id.
    ("nameless-errors", Negotiate::Auto, Era::Legacy, "2025-11-25"),
];

/// The habit, the chosen era, and what the error says.
const REFUSED: &[(&str, Negotiate, &[&str])] = &[
    ("well-behaved", Negotiate::Modern, &["server/discover", "Method not found"]),
    ("well-behaved --modern", Negotiate::Legacy, &["2026-07-28"]),
    ("versions 1999-01-01", Negotiate::Auto, &["1999-01-01", "2025-11-25", "2024-11-05", "2026-07-28"]),
    ("versions 1999-01-01", Negotiate::Legacy, &["1999-01-01", "2025-11-25", "2024-11-05"]),
    ("versions 2099-01-01 --modern", Negotiate::Auto, &["2099-01-01", "2026-07-28"]),
    ("versions 2099-01-01 --modern", Negotiate::Modern, &["2099-01-01", "2026-07-28"]),
    ("refuses-handshake", Negotiate::Auto, &["initialize", "-32000", "no licence was found"]),
];

/// The same, of servers that have gone before the handshake.
const GONE: &[(&str, Negotiate, &[&str])] = &[
    ("exits 41", Negotiate::Auto, &["41", "cannot find my configuration"]),
    ("exits 41", Negotiate::Legacy, &["41", "cannot find my configuration"]),
    ("exits 41", Negotiate::Modern, &["41", "cannot find my configuration"]),
    ("exits 0", Negotiate::Auto, &["exit", "0", "cannot find my configuration"]),
    ("dies-on-probe", Negotiate::Modern, &["3", "expected initialize"]),
];

fn each_revision_is_spoken<A: Adapter>() {
    for (habit, negotiate, era, version) in OPENED {
        println!("{habit}, {negotiate:?}");
        let server = server!(habit).configured(|config| config.negotiate = *negotiate);
        let mut client = server.open::<A>();
        let info = client.server_info().expect("it said who it is");
        assert_eq!((info.era, info.protocol_version.as_str()), (*era, *version));
        client.assert_alive();
    }
}

fn what_cannot_be_spoken_is_refused_in_words<A: Adapter>() {
    assert_refused::<A>(REFUSED);
}

fn the_status_and_the_last_words_of_a_server_that_has_gone_are_told<A: Adapter>() {
    assert_refused::<A>(GONE);
}

fn assert_refused<A: Adapter>(servers: &[(&str, Negotiate, &[&str])]) {
    for (habit, negotiate, words) in servers {
        println!("{habit}, {negotiate:?}");
        let server = server!(habit).configured(|config| config.negotiate = *negotiate);
        let failure = server.fail_to_open::<A>();
        failure.assert(ErrorKind::Connect, words);
        failure.assert_says(&["bad-habits"]);
        assert!(failure.connecting);
        assert!(server.heard.stderr.all().len() <= 2, "it is started twice at most");
    }
}

/// What the tools answer that answer with a value.
#[derive(Debug, Deserialize)]
struct Number {
    n: u32,
}

fn a_value_becomes_a_type<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |_, mut client| {
        assert_eq!(client.structured::<Number>("number").expect("it is one").n, 5);
        let failure = client.structured::<Number>("numeral").expect_err("it is a word");
        failure.assert(ErrorKind::Protocol, &["tool `numeral`", "at `n`", "five"]);
        let failure = client.structured::<Number>("echo").expect_err("it has none");
        failure.assert(ErrorKind::Protocol, &["tool `echo`", "no structured content"]);
        let failure = client.structured::<Number>("fail").expect_err("it fails");
        failure.assert(ErrorKind::Tool, &["tool `fail`: the tool failed: the tool failed"]);
        client.assert_alive();
    });
}

// A server that cannot bear `server/discover` is started once more and asked in the legacy way.

fn it_is_started_once_more<A: Adapter>() {
    for habit in ["dies-on-probe", "error-then-dies-on-probe"] {
        println!("{habit}");
        let (server, mut client) = open::<A>(habit);
        assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
        let pid = client.text("pid", json!({}));
        assert_eq!(pid, client.pid().to_string(), "the client knows the second process");
        assert!(process_exists(client.pid()));
        assert!(server.processes().iter().all(|pid| *pid == client.pid()), "the first process is gone");
        client.assert_alive();
        client.shutdown().expect("it ends");
    }
}

fn a_chosen_legacy_era_does_not_provoke_it<A: Adapter>() {
    let server = server!("dies-on-probe").configured(|config| config.negotiate = Negotiate::Legacy);
    let mut client = server.open::<A>();
    client.assert_alive();
    assert!(client.stderr_tail().is_empty());
}

// Servers that do not answer the handshake, or not all of it, or not yet.

const SHORT: Duration = Duration::from_millis(100);

/// A server that reads nothing is killed by the signal that it does not ignore, when the client is dropped.
fn silence_ends_the_handshake_in_time<A: Adapter>() {
    for (habit, negotiate) in [
        ("silent", Negotiate::Auto),
        ("silent", Negotiate::Legacy),
        ("silent", Negotiate::Modern),
        ("never-reads", Negotiate::Auto),
    ] {
        println!("{habit}, {negotiate:?}");
        let timeout = Duration::from_millis(200);
        let server = server!(habit).configured(|config| {
            (config.negotiate, config.probe_timeout, config.connect_timeout) = (negotiate, SHORT, timeout);
        });
        let (failure, took) = timed(|| server.fail_to_open::<A>());
        failure.assert(ErrorKind::Timeout, &["bad-habits", "200 ms"]);
        assert!(failure.connecting, "{failure}");
        assert!(took >= timeout, "it took {took:?}");
    }
}

fn silence_on_the_probe_means_legacy<A: Adapter>() {
    let server = server!("silent-on-probe").configured(|config| config.probe_timeout = SHORT);
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    assert_eq!(client.text("pid", json!({})), client.pid().to_string());
    client.assert_alive();
}

fn a_server_that_starts_slowly_is_waited_for<A: Adapter>() {
    for (era, habit) in [(Era::Legacy, "slow-start 300"), (Era::Modern, "slow-start 300 --modern")] {
        let server = server!(habit).configured(|config| config.probe_timeout = SHORT);
        let mut client = server.open::<A>();
        assert_eq!(client.server_info().map(|info| info.era), Some(era), "{habit}");
        client.assert_alive();
    }
}

on_every_adapter!(
    a_server_of_either_era_is_served,
    the_status_and_the_last_words_of_a_server_that_has_gone_are_told,
    it_is_started_once_more,
    silence_ends_the_handshake_in_time,
);

on_both_clients!(
    ten_thousand_calls_are_answered_in_turn,
    each_revision_is_spoken,
    what_cannot_be_spoken_is_refused_in_words,
    a_value_becomes_a_type,
    a_chosen_legacy_era_does_not_provoke_it,
    silence_on_the_probe_means_legacy,
    a_server_that_starts_slowly_is_waited_for,
);
