//! One tool is looked for in a server's list, without the list.

use mcpwire_core::internal::{KnownTools, SearchProgress, ToolSearch};
use mcpwire_core::{CallError, ListParams, ListTools, RequestOptions, RpcError};
use mcpwire_engine_tests::sim::{Pair, Sent};

/// Looks for a tool on a server with these pages, and says how often it was asked.
fn looked_for(tool: &str, pages: Vec<String>) -> (SearchProgress, usize) {
    let (found, asked, _) = search(tool, pages);
    (found, asked)
}

/// The same, with the search.
fn search(tool: &str, pages: Vec<String>) -> (SearchProgress, usize, ToolSearch) {
    let mut pair = Pair::modern(move |sent, peer| peer.answer(sent, &pages[page_of(sent)]));
    let mut search = ToolSearch::new(tool);
    loop {
        let now = pair.now;
        let key =
            pair.engine.calls().send_prepared(&search.request(), &RequestOptions::new(), now).expect("it is sent");
        pair.drive();
        match search.receive_page(&pair.reply(key).expect("it has ended")) {
            SearchProgress::NextPage => {}
            found => return (found, pair.sent.len(), search),
        }
    }
}

/// Cursors are numbers of pages.
fn page_of(sent: &Sent) -> usize {
    assert_eq!(sent.method(), "tools/list");
    sent.params()["cursor"].as_str().map_or(0, |cursor| cursor.parse().expect("a cursor of ours"))
}

fn page(tools: &str, next: Option<usize>) -> String {
    let next = next.map(|next| format!(r#","nextCursor":"{next}""#)).unwrap_or_default();
    format!(r#"{{"resultType":"complete","ttlMs":60000,"tools":{tools}{next}}}"#)
}

#[test]
fn it_is_found_on_whatever_page_it_is_and_no_further_page_is_asked_for() {
    let pages = || {
        let first = r#"[7,{"name":7},{"title":"c"},{"name":"a"}]"#;
        let second = r#"[{"name":"b","execution":{"taskSupport":"required"}}]"#;
        vec![page(first, Some(1)), page(second, Some(2)), page(r#"[{"name":"\u0063\"","execution":null}]"#, None)]
    };
    assert_eq!(looked_for("a", pages()), (SearchProgress::Found, 1));
    assert_eq!(looked_for("b", pages()), (SearchProgress::Found, 2));
    assert_eq!(looked_for("c\"", pages()), (SearchProgress::Found, 3));
    assert_eq!(looked_for("c", pages()), (SearchProgress::NotFound, 3));
}

/// As whoever reads the whole list.
#[test]
fn of_members_of_a_name_the_last_counts() {
    let renamed =
        || vec![page(r#"[{"name":"a","name":"b","execution":null,"execution":{"taskSupport":"required"}}]"#, None)];
    assert_eq!(looked_for("a", renamed()), (SearchProgress::NotFound, 1));
    assert_eq!(looked_for("b", renamed()), (SearchProgress::Found, 1));
    assert_eq!(looked_for("a", vec![page(r#"[{"name":"a"}],"tools":[]"#, None)]), (SearchProgress::NotFound, 1));
}

#[test]
fn a_list_that_does_not_end_says_nothing() {
    assert_eq!(looked_for("a", vec![page("[]", Some(0))]), (SearchProgress::Unknown, 2));
    let circle = vec![page("[]", Some(1)), page("[]", Some(0))];
    assert_eq!(looked_for("a", circle), (SearchProgress::Unknown, 100));
    let many = (1..=200).map(|next| page("[]", Some(next))).collect();
    assert_eq!(looked_for("a", many), (SearchProgress::Unknown, 100));
}

#[test]
fn a_list_that_is_none_has_no_tools() {
    for tools in ["null", "7", "{}", r#""a""#, r#"{"name":"a"}"#] {
        assert_eq!(looked_for("a", vec![page(tools, None)]), (SearchProgress::NotFound, 1), "{tools}");
    }
}

#[test]
fn an_error_says_nothing() {
    let mut pair = Pair::modern(|sent, peer| peer.refuse(sent, -32603, "tools"));
    let mut search = ToolSearch::new("a");
    let now = pair.now;
    let key = pair.engine.calls().send_prepared(&search.request(), &RequestOptions::new(), now).expect("it is sent");
    pair.drive();
    assert_eq!(search.receive_page(&pair.reply(key).expect("it has ended")), SearchProgress::Unknown);
    let key = pair.engine.calls().send_prepared(&search.request(), &RequestOptions::new(), now).expect("it is sent");
    pair.engine.close();
    pair.drive();
    let reply = pair.reply(key).expect("it has ended");
    assert!(matches!(reply.error(), Some(CallError::Closed { .. })));
    assert_eq!(search.receive_page(&reply), SearchProgress::Unknown);
}

#[test]
fn a_list_that_was_kept_is_not_looked_at_and_not_believed_afterwards() {
    let pages = [page(r#"[{"name":"a"}]"#, None)];
    let mut pair = Pair::modern(move |sent, peer| peer.answer(sent, &pages[page_of(sent)]));
    let list = |pair: &mut Pair| {
        let now = pair.now;
        let params = ListParams { cursor: None };
        let ticket =
            pair.engine.calls().request::<ListTools>(&params, &RequestOptions::new(), now).expect("it is sent");
        pair.drive();
        pair.take(ticket).expect("it has ended").expect("it is a list");
        pair.sent.len()
    };
    assert_eq!((list(&mut pair), list(&mut pair)), (1, 1), "it is kept");
    let now = pair.now;
    let key = pair.engine.calls().send_prepared(&ToolSearch::new("b").request(), &RequestOptions::new(), now);
    pair.drive();
    assert!(pair.reply(key.expect("it is sent")).is_some());
    assert_eq!(pair.sent.len(), 2, "the server is asked");
    assert_eq!((list(&mut pair), list(&mut pair)), (3, 3));
}

#[test]
fn what_was_seen_explains_errors_until_the_tools_change() {
    let unknown =
        || CallError::Server { method: "tools/call".into(), error: RpcError::new(-32602, "Unknown tool").into() };
    let pages = || vec![page(r#"[{"name":"b"},{"name":"c"}]"#, Some(1)), page(r#"[{"name":"d"}]"#, None)];
    let mut known = KnownTools::default();
    assert!(known.needs_search_after_error("a", &unknown()));
    assert_eq!(known.explain("a", unknown()), unknown());
    known.note(search("b", pages()).2, false);
    assert_eq!(["a", "b", "c", "d"].map(|tool| known.knows(tool)), [None, Some(true), Some(true), None]);
    assert_eq!(["a", "b", "c"].map(|tool| known.needs_search_after_error(tool, &unknown())), [true, false, false]);
    known.note(search("a", pages()).2, true);
    assert_eq!(["a", "d"].map(|tool| known.knows(tool)), [None, Some(true)], "it may have come meanwhile");
    known.note(search("a", pages()).2, false);
    assert_eq!((known.knows("a"), known.needs_search_after_error("a", &unknown())), (Some(false), false));
    assert!(matches!(known.explain("a", unknown()), CallError::ToolNotFound { error: Some(_), .. }));
    assert_eq!(known.explain("b", unknown()), unknown());
    let other = CallError::Server { method: "tools/call".into(), error: RpcError::new(-32603, "Unknown tool").into() };
    assert!(!known.needs_search_after_error("e", &other));
    known.invalidate();
    assert_eq!((known.knows("a"), known.needs_search_after_error("a", &unknown())), (None, true));
}

#[test]
fn of_endless_tools_some_are_remembered() {
    let tools = |count: usize| {
        let tools: Vec<String> = (0..count).map(|tool| format!(r#"{{"name":"{tool}"}}"#)).collect();
        vec![page(&format!("[{}]", tools.join(",")), None)]
    };
    let mut known = KnownTools::default();
    known.note(search("4999", tools(5_000)).2, false);
    let remembered = |known: &KnownTools| (0..5_000).filter(|tool| known.knows(&tool.to_string()).is_some()).count();
    assert_eq!((known.knows("4999"), remembered(&known)), (Some(true), 999));
    known.note(search("none", tools(5_000)).2, false);
    assert_eq!((known.knows("none"), known.knows("4999"), remembered(&known)), (Some(false), None, 998));
    for nonesuch in 0..3_000 {
        known.note(search(&format!("x{nonesuch}"), vec![page("[]", None)]).2, false);
    }
    assert_eq!(known.knows("x2999"), Some(false));
    assert!((0..3_000).filter(|tool| known.knows(&format!("x{tool}")).is_some()).count() <= 1_000);
}
