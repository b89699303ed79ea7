//! One handle for what servers tell of changes, in both eras and on every adapter.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{
    CloseReason, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter,
};
use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::new().tools().prompts().resources().resource("file:///a").resource("file:///b")
}

fn updated(uri: &str) -> SubscriptionEvent {
    SubscriptionEvent::ResourceUpdated { uri: uri.into() }
}

fn tell<A: Adapter>(client: &mut A, change: &str, uri: &str) {
    client.text("tell", json!({"change": change, "uri": uri}));
}

fn changes_are_told_in_order<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("changes - {era}"));
        let mut client = server.open::<A>();
        let agreed = client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        assert_eq!(agreed, everything());
        tell(&mut client, "resources/updated", "file:///b");
        tell(&mut client, "tools/list_changed", "");
        tell(&mut client, "resources/updated", "file:///a/part");
        tell(&mut client, "prompts/list_changed", "");
        tell(&mut client, "resources/list_changed", "");
        for event in [
            updated("file:///b"),
            SubscriptionEvent::ToolsChanged,
            updated("file:///a/part"),
            SubscriptionEvent::PromptsChanged,
            SubscriptionEvent::ResourcesChanged,
        ] {
            assert_eq!(client.next_change(), Some(event));
        }
    }
}

/// A hundred thousand of them cost nothing, and none of them is missed.
fn what_is_told_again_and_again_is_told_once<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("changes - {era}"));
        let mut client = server.open::<A>();
        client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        client.text("tell", json!({"change": "resources/updated", "uri": "file:///a", "times": 20_000}));
        client.text("tell", json!({"change": "tools/list_changed", "times": 20_000}));
        assert_eq!(client.next_change(), Some(updated("file:///a")));
        assert_eq!(client.next_change(), Some(SubscriptionEvent::ToolsChanged));
        tell(&mut client, "resources/updated", "file:///b");
        assert_eq!(client.next_change(), Some(updated("file:///b")));
    }
}

fn it_is_given_up_on_the_wire<A: Adapter>() {
    for (era, tally) in [("", "2 asked, 2 given up, 0 lists"), ("--modern", "1 asked, 1 given up, 0 lists")] {
        let server = server!(&format!("changes - {era}"));
        let mut client = server.open::<A>();
        client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        client.unsubscribe();
        assert_eq!(client.text("tally", json!({})), tally);
        tell(&mut client, "tools/list_changed", "");
        client.assert_alive();
    }
}

fn the_servers_end_is_told<A: Adapter>() {
    let server = server!("changes - --modern");
    let mut client = server.open::<A>();
    client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
    tell(&mut client, "tools/list_changed", "");
    client.text("end", json!({}));
    assert_eq!(client.next_change(), Some(SubscriptionEvent::ToolsChanged));
    assert_eq!(client.end_of_subscription(), None, "not before all is taken");
    assert_eq!(client.next_change(), None);
    assert_eq!(client.end_of_subscription(), Some(SubscriptionEnd::ByServer));
    assert_eq!(client.next_change(), None);
    client.assert_alive();
}

fn the_loss_of_the_connection_is_told<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("changes - {era}"));
        let mut client = server.open::<A>();
        client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        server.kill(client.pid());
        assert_eq!(client.next_change(), None);
        assert_eq!(client.end_of_subscription(), Some(SubscriptionEnd::Dropped(CloseReason::ByServer)));
        let failure = client.subscribe(&everything(), SubscribeOptions::new()).expect_err("there is nobody to ask");
        assert_eq!(failure.kind, ErrorKind::Closed, "{failure}");
    }
}

fn silence_is_no_agreement<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("changes silent {era}"));
        let mut client = server.open::<A>();
        let soon = SubscribeOptions::new().timeout(Duration::from_millis(50));
        let failure = client.subscribe(&everything(), soon).expect_err("nobody agrees");
        assert_eq!(failure.kind, ErrorKind::Timeout, "{failure}");
        client.assert_alive();
    }
}

fn a_refusal_says_why<A: Adapter>() {
    let server = server!("well-behaved --modern");
    let mut client = server.open::<A>();
    let failure =
        client.subscribe(&everything(), SubscribeOptions::new()).expect_err("it does not know of such things");
    failure.assert_says(&["subscriptions/listen", "Method not found"]);
    client.assert_alive();
}

/// What the server agreed to, and ended with the same breath, is no error.
fn one_that_ends_at_once_has_ended<A: Adapter>() {
    let server = server!("changes ends --modern");
    let mut client = server.open::<A>();
    client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
    assert_eq!(client.next_change(), None);
    assert_eq!(client.end_of_subscription(), Some(SubscriptionEnd::ByServer));
    assert_eq!(client.text("tally", json!({})), "1 asked, 0 given up, 0 lists");
}

/// A list that holds is not asked for again, until the server says that it has changed.
fn a_list_that_holds_is_not_asked_for_again<A: Adapter>() {
    let server = server!("changes - --modern");
    let mut client = server.open::<A>();
    for _ in 0..3 {
        assert_eq!(client.list_tools().expect("there is a list").len(), 3);
    }
    assert_eq!(client.text("tally", json!({})), "0 asked, 0 given up, 1 lists");
    client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
    tell(&mut client, "tools/list_changed", "");
    for _ in 0..3 {
        client.list_tools().expect("there is a list");
    }
    assert_eq!(client.text("tally", json!({})), "1 asked, 0 given up, 2 lists");
}

/// To tell what an error means, the list is asked for, whatever is kept of it.
fn an_error_is_reason_to_doubt_the_list<A: Adapter>() {
    let server = server!("changes - --modern");
    let mut client = server.open::<A>();
    client.request_raw("tools/list", None).expect("there is a list");
    client.failure("nonesuch").assert(ErrorKind::ToolNotFound, &["nonesuch"]);
    assert_eq!(client.text("tally", json!({})), "0 asked, 0 given up, 2 lists");
}

on_every_adapter!(
    changes_are_told_in_order,
    what_is_told_again_and_again_is_told_once,
    it_is_given_up_on_the_wire,
    the_servers_end_is_told,
    the_loss_of_the_connection_is_told,
    silence_is_no_agreement,
    a_refusal_says_why,
    one_that_ends_at_once_has_ended,
    a_list_that_holds_is_not_asked_for_again,
    an_error_is_reason_to_doubt_the_list,
);
