//! Lists of tools: malformed entries among good ones, and pages.

use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

fn good_tools_are_listed_and_bad_ones_reported<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("bad-tools {era}"));
        let mut client = server.open::<A>();
        let tools = client.list_tools().expect("there are good ones");
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["first", "second", "third"]);
        assert_eq!(tools[2].title.as_deref(), Some("Third"));

        let rejected = client.rejected_tools();
        let places: Vec<usize> = rejected.iter().map(|rejected| rejected.index).collect();
        assert_eq!(places, [1, 2, 3, 4, 5, 7, 8]);
        assert!(rejected.iter().all(|rejected| !rejected.reason.is_empty()));
        assert_eq!(rejected[3].name.as_deref(), Some("schema-is-a-string"));
        assert!(rejected[3].reason.contains("inputSchema"), "{}", rejected[3].reason);
        assert!(rejected[1].reason.contains("name"), "{}", rejected[1].reason);

        assert_eq!(client.text("second", json!({})), "second was called");
    }
}

fn all_pages_are_read<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("pages 25 {era}"));
        let mut client = server.open::<A>();
        for _ in 0..2 {
            let tools = client.list_tools().expect("there are tools");
            let names: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
            assert_eq!(names, (1..=25).map(|number| format!("tool-{number}")).collect::<Vec<_>>());
        }
    }
}

/// A limit ends the list. What came up to it is there.
fn pages_without_end_come_to_an_end<A: Adapter>() {
    let server = server!("endless-pages");
    let mut client = server.open::<A>();
    let tools = client.list_tools().expect("there are tools");
    assert_eq!((tools.len(), tools[0].name.as_str()), (1_000, "tool-1"));
    client.request_raw("ping", None).expect("it still answers");
}

fn pages_that_lead_in_a_circle_come_to_an_end<A: Adapter>() {
    let server = server!("circular-pages 3");
    let mut client = server.open::<A>();
    let names: Vec<String> = client.list_tools().expect("there are tools").into_iter().map(|tool| tool.name).collect();
    assert_eq!(names[..3], ["tool-1", "tool-2", "tool-3"]);
    assert!(names.len() <= 4, "{names:?}");
    client.request_raw("ping", None).expect("it still answers");
}

on_every_adapter!(
    good_tools_are_listed_and_bad_ones_reported,
    all_pages_are_read,
    pages_without_end_come_to_an_end,
    pages_that_lead_in_a_circle_come_to_an_end,
);
