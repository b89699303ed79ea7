//! A list of tools that does not hold any more is not believed.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

/// The client's list has `tool-0` only. It was told that there is another now, so it asks the server.
fn a_tool_that_came_after_the_list_can_be_called<A: Adapter>() {
    let server = server!("changing-tools");
    let mut client = server.open::<A>();
    assert_eq!(names(&mut client), ["tool-0"]);
    assert_eq!(client.text("tool-0", json!({})), "now there is tool-1");
    assert_eq!(client.text("tool-1", json!({})), "now there is tool-2");
    assert_eq!(names(&mut client), ["tool-2"]);
}

fn a_tool_that_has_gone_is_not_found<A: Adapter>() {
    let server = server!("changing-tools");
    let mut client = server.open::<A>();
    assert_eq!(names(&mut client), ["tool-0"]);
    assert_eq!(client.text("tool-0", json!({})), "now there is tool-1");
    client.failure("tool-0").assert(ErrorKind::ToolNotFound, &["tool-0"]);
}

on_every_adapter!(a_tool_that_came_after_the_list_can_be_called, a_tool_that_has_gone_is_not_found);

fn names<A: Adapter>(client: &mut A) -> Vec<String> {
    client.list_tools().expect("there is a list").into_iter().map(|tool| tool.name).collect()
}
