//! A server that cannot bear `server/discover` is started once more and asked in the legacy way.

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Era, Negotiate};
use mcpwire_tests::{Adapter, on_every_adapter, process_exists, server};
use serde_json::json;

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

on_every_adapter!(
    it_is_started_once_more,
    it_is_started_once_more_when_it_dies_after_an_answer,
    a_chosen_legacy_era_does_not_provoke_it,
    a_chosen_modern_era_does_not_start_it_again,
    a_server_that_always_dies_is_not_started_for_ever,
);

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
