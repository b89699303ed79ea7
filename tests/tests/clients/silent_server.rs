//! Servers that do not answer the handshake, or not all of it, or not yet.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Era, Negotiate};
use mcpwire_tests::{Adapter, Server, on_every_adapter, server, timed};
use serde_json::json;

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

on_every_adapter!(
    silence_ends_the_handshake_in_time,
    silence_ends_the_handshake_of_a_chosen_era_in_time,
    a_server_that_reads_nothing_ends_the_handshake_in_time,
    silence_on_the_probe_means_legacy,
    a_modern_server_that_starts_slowly_is_still_modern,
    a_legacy_server_that_starts_slowly_is_waited_for,
);

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
