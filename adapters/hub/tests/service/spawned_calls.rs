//! Calls of a hub that are spawned: they borrow neither the hub nor the names and arguments of the caller.

use mcpwire_hub::service::CallDecision;
use mcpwire_hub::{ErrorKind, HubOptions};
use serde::{Serialize, Serializer, ser};
use serde_json::json;
use tokio::task::JoinSet;

use crate::in_process::{echo, hub};
use crate::support::soon;

#[tokio::test]
async fn a_call_outlives_what_it_was_made_of() {
    let hub = hub(HubOptions::in_memory(), echo()).await;
    let mut calls = JoinSet::new();
    for number in 0..10 {
        // As a model names its tools: both are gone before the call is sent.
        let (name, arguments) = (String::from("a__echo"), json!({"message": number.to_string()}));
        calls.spawn(hub.call(&name, &arguments).send());
    }
    // The pending calls keep the hub.
    drop(hub);
    let mut texts = Vec::new();
    while let Some(call) = soon(calls.join_next()).await {
        texts.push(call.expect("it does not panic").expect("it answers").text());
    }
    texts.sort();
    assert_eq!(texts, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

/// Arguments that do not serialize.
struct Broken;

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom("the disk is gone"))
    }
}

#[tokio::test]
async fn the_error_of_serializing_arguments_is_that_of_sending() {
    for hooks in [false, true] {
        let options = HubOptions::in_memory();
        let options = if hooks { options.before_call(|_| CallDecision::Allow) } else { options };
        let hub = hub(options, echo()).await;
        let call = hub.call("a__echo", Broken);
        let error = soon(call.send()).await.expect_err("it cannot be sent");
        assert_eq!((error.kind(), error.field()), (ErrorKind::Usage, "arguments"), "{error}");
        assert!(error.message().contains("the disk is gone"), "{error}");
        assert_eq!((error.server(), error.tool()), (Some("a"), Some("echo")), "{error}");
    }
}
