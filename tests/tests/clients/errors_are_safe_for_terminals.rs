//! What a server says can be printed: no escape sequences and no control characters get into an error's message.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Failure, on_every_adapter, server};
use serde_json::json;

fn an_error_message_is_printable<A: Adapter>() {
    let server = server!("terminal-escapes");
    let mut client = server.open::<A>();
    let failure = client.failure("refuse");
    failure.assert(ErrorKind::Server, &["-32000", "red"]);
    assert_printable(&failure);
}

fn the_end_of_standard_error_is_printable<A: Adapter>() {
    let server = server!("terminal-escapes");
    let mut client = server.open::<A>();
    let failure = client.failure("die");
    failure.assert(ErrorKind::Closed, &["red on standard error"]);
    assert_printable(&failure);
}

fn a_result_is_what_the_server_sent<A: Adapter>() {
    let server = server!("terminal-escapes");
    let mut client = server.open::<A>();
    let text = client.text("echo", json!({}));
    assert_eq!(text, "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}\u{8}\u{9b}2J");
}

on_every_adapter!(
    an_error_message_is_printable,
    the_end_of_standard_error_is_printable,
    a_result_is_what_the_server_sent,
);

fn assert_printable(failure: &Failure) {
    assert!(!failure.text.chars().any(|character| character.is_control() && character != '\n'), "{:?}", failure.text);
}
