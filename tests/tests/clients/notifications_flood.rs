//! Very many notifications before an answer.

use std::sync::{Arc, Mutex};

use mcpwire_tests::{Adapter, Call, done_of_total, on_every_adapter, server};
use serde_json::json;

const MANY: u32 = 50_000;

fn the_answer_is_found_behind_a_flood<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("floods-notifications {MANY} {era}"));
        let mut client = server.open::<A>();
        assert_eq!(client.text("echo", json!({"message": "ashore"})), "ashore");
    }
}

/// Some may be dropped when there are too many at once. Those that come are in order.
fn progress_comes_in_order<A: Adapter>() {
    let server = server!(&format!("floods-notifications {MANY}"));
    let mut client = server.open::<A>();
    let seen = Arc::new(Mutex::new(Vec::new()));
    client.call(Call::new("echo").progress(&seen)).expect("the answer is found");
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty());
    assert!(seen.windows(2).all(|pair| pair[0].progress.as_f64() < pair[1].progress.as_f64()));
    assert!(seen.iter().all(|progress| done_of_total(progress).1 == Some(f64::from(MANY))));
}

on_every_adapter!(the_answer_is_found_behind_a_flood, progress_comes_in_order);
