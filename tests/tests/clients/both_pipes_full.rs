//! Client and server write at once, each more than a pipe holds, and neither waits for the other for ever.

use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

const MANY: usize = 8 << 20;

fn eight_mebibytes_go_each_way_at_once<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("both-pipes-full {MANY} {era}"));
        let mut client = server.open::<A>();
        client.list_tools().expect("the list comes before the flood");
        assert_eq!(client.text("measure", json!({"message": "y".repeat(MANY)})), MANY.to_string());
        client.assert_alive();
    }
}

on_every_adapter!(eight_mebibytes_go_each_way_at_once);
