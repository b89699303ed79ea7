//! Lines that are no messages, before and between messages.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, on_every_adapter, server};

fn garbage_is_skipped<A: Adapter>() {
    assert_harmless::<A>("garbage");
}

fn text_and_json_that_is_no_message_are_skipped<A: Adapter>() {
    assert_harmless::<A>("noise");
}

fn carriage_returns_and_a_byte_order_mark_are_skipped<A: Adapter>() {
    assert_harmless::<A>("crlf");
}

on_every_adapter!(
    garbage_is_skipped,
    text_and_json_that_is_no_message_are_skipped,
    carriage_returns_and_a_byte_order_mark_are_skipped,
);

fn assert_harmless<A: Adapter>(habit: &str) {
    for era in ["", "--modern"] {
        let server = server!(&format!("{habit} {era}"));
        let mut client = server.open::<A>();
        assert!(client.list_tools().expect("the list is found").len() > 3);
        for _ in 0..3 {
            client.assert_alive();
            client.failure("refuse").assert(ErrorKind::Server, &["tools/call", "-32050", "not today"]);
        }
        client.shutdown().expect("it ends");
    }
}
