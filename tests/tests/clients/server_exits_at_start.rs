//! A server that is gone before the handshake.

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::Negotiate;
use mcpwire_tests::{Adapter, on_every_adapter, server};

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

on_every_adapter!(
    the_status_and_the_last_words_are_told,
    an_exit_without_a_fault_is_a_failure_all_the_same,
    a_handshake_that_is_refused_is_told_in_the_words_of_the_server,
);
