//! Results that are much larger than a pipe.

use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;

const MIB: usize = 1 << 20;

fn a_result_of_20_mib_arrives<A: Adapter>() {
    let server = server!(&format!("huge {}", 20 * MIB));
    let mut client = server.open::<A>();
    assert_eq!(client.text("echo", json!({})).len(), 20 * MIB);
    assert_eq!(client.text("echo", json!({"bytes": 3})), "xxx");
}

fn a_result_of_60_mib_arrives<A: Adapter>() {
    let server = server!(&format!("huge {} --modern", 60 * MIB));
    let mut client = server.open::<A>();
    assert_eq!(client.text("echo", json!({})).len(), 60 * MIB);
    assert_eq!(client.text("echo", json!({"bytes": 3})), "xxx");
}

fn the_limit_is_configurable<A: Adapter>() {
    let server = server!("huge 1000").configured(|config| config.max_message = MIB);
    let mut client = server.open::<A>();
    assert_eq!(client.text("echo", json!({"bytes": MIB - 1000})).len(), MIB - 1000);
    let failure = client.call(Call::new("echo").with(json!({"bytes": MIB}))).unwrap_err();
    failure.assert_says(&["tools/call", "1048576"]);
    assert_eq!(client.text("echo", json!({"bytes": 3})), "xxx");
}

on_every_adapter!(a_result_of_20_mib_arrives, a_result_of_60_mib_arrives, the_limit_is_configurable);
