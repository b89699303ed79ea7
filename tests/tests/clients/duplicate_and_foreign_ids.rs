//! Answers that come twice, that nobody asked for, or whose id is written another way.

use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

fn the_first_of_two_answers_counts<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("duplicate-ids {era}"));
        let mut client = server.open::<A>();
        client.list_tools().expect("the list comes twice");
        for message in ["one", "two", "three"] {
            assert_eq!(client.text("echo", json!({"message": message})), message);
        }
    }
}

fn answers_that_nobody_asked_for_are_skipped<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("foreign-ids {era}"));
        let mut client = server.open::<A>();
        client.list_tools().expect("the list is ours");
        client.assert_alive();
        client.assert_alive();
    }
}

fn an_id_that_comes_back_as_a_float_or_a_string_is_ours<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("foreign-ids {era}"));
        let mut client = server.open::<A>();
        assert_eq!(client.text("float", json!({})), "found");
        assert_eq!(client.text("string", json!({})), "found");
    }
}

on_every_adapter!(
    the_first_of_two_answers_counts,
    answers_that_nobody_asked_for_are_skipped,
    an_id_that_comes_back_as_a_float_or_a_string_is_ours,
);
