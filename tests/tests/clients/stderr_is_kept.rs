//! Standard error: never in the way, its end kept, its lines there to follow.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, on_every_adapter, server};

const MANY: usize = 8 << 20;

fn a_flood_blocks_nothing_and_its_end_is_kept<A: Adapter>() {
    let server = server!(&format!("floods-stderr {MANY}"));
    let mut client = server.open::<A>();
    client.assert_alive();
    let tail = client.stderr_tail();
    assert!(tail.len() <= 64 << 10, "the tail has {} bytes", tail.len());
    client.assert_alive();
}

fn every_line_can_be_followed<A: Adapter>() {
    let server = server!("floods-stderr 1000000");
    let mut client = server.open::<A>();
    client.assert_alive();
    client.shutdown().expect("it ends");
    let lines = server.heard.stderr.all();
    assert_eq!(lines.len(), 1_000_000 / 69 + 1);
    assert_eq!(lines.last().map(String::as_str), Some("the last of them"));
}

fn the_last_words_are_heard<A: Adapter>() {
    let server = server!("last-words 2000");
    let client = server.open::<A>();
    client.shutdown().expect("it ends");
    let lines = server.heard.stderr.all();
    assert_eq!(lines.len(), 2_000);
    assert_eq!(lines.last().map(String::as_str), Some("last words, line 2000"));
}

fn an_error_of_the_protocol_comes_without_it<A: Adapter>() {
    let server = server!("floods-stderr 1000");
    let mut client = server.open::<A>();
    client.failure("refuse").assert(ErrorKind::Server, &["-32050", "not today"]);
}

on_every_adapter!(
    a_flood_blocks_nothing_and_its_end_is_kept,
    every_line_can_be_followed,
    the_last_words_are_heard,
    an_error_of_the_protocol_comes_without_it,
);
