//! The engine is told that later requests have another authorization: it forgets what was private.
//! (2026-07-28, server/utilities/caching, "Cache Scope Field")

use std::time::Duration;

use mcpwire_core::{Config, Event, ListParams, ListTools, RequestOptions, Ticket};
use mcpwire_engine_tests::sim::web::{Asked, Says, Web, legacy, modern, said};

/// A server that counts its lists. It answers to each after a second, if it is slow.
fn counting(scope: &'static str, is_slow: bool) -> impl FnMut(&Asked, &mut Says) + 'static {
    let mut count = 0;
    move |asked, says| {
        if asked.method() != "tools/list" {
            says.json(200, asked.result(&said("hi")));
            return;
        }
        count += 1;
        let tools = format!(r#"[{{"name":"{count}","inputSchema":{{}}}}]"#);
        let result = format!(r#"{{"tools":{tools},"ttlMs":60000,"cacheScope":"{scope}","resultType":"complete"}}"#);
        if is_slow {
            says.later(Duration::from_secs(1));
        }
        says.json(200, asked.result(&result));
    }
}

fn begin(web: &mut Web, options: &RequestOptions) -> Ticket<ListTools> {
    let ticket = web.engine.calls().request(&ListParams::default(), options, web.now).expect("it is sent");
    web.drive();
    ticket
}

fn end(web: &mut Web, ticket: Ticket<ListTools>) -> String {
    let page = web.take(ticket).expect("it has ended").expect("it went well");
    page.tools.items[0].name.clone()
}

fn list(web: &mut Web) -> String {
    let ticket = begin(web, &RequestOptions::new());
    end(web, ticket)
}

fn changes(web: &Web) -> usize {
    web.events.iter().filter(|(_, event)| *event == Event::AuthorizationChanged).count()
}

#[test]
fn private_answers_are_forgotten_and_public_ones_stay() {
    for (scope, then) in [("private", "2"), ("none of both", "2"), ("public", "1")] {
        let mut web = Web::ready(Config::default(), modern(counting(scope, false)));
        assert_eq!([list(&mut web), list(&mut web)], ["1", "1"], "{scope}");
        web.engine.authorization_changed();
        web.drive();
        assert_eq!(changes(&web), 1, "{scope}");
        assert_eq!([list(&mut web), list(&mut web)], [then, then], "{scope}");
    }
}

#[test]
fn an_answer_to_a_request_with_the_old_authorization_is_not_kept() {
    let mut web = Web::ready(Config::default(), modern(counting("private", true)));
    let ticket = begin(&mut web, &RequestOptions::new());
    web.engine.authorization_changed();
    web.pass(Duration::from_secs(1));
    assert_eq!(end(&mut web, ticket), "1", "the caller gets it");
    let ticket = begin(&mut web, &RequestOptions::new());
    web.pass(Duration::from_secs(1));
    assert_eq!(end(&mut web, ticket), "2", "the next caller does not");
    assert_eq!(list(&mut web), "2");
}

#[test]
fn an_answer_to_a_request_in_the_queue_is_not_kept() {
    let mut web = Web::ready(Config::default(), modern(counting("private", false)));
    let ticket = begin_only(&mut web);
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(end(&mut web, ticket), "1");
    assert_eq!(list(&mut web), "2");
}

#[test]
fn an_old_private_answer_is_no_better_than_an_error() {
    let mut answers = counting("private", false);
    let mut lists = 0;
    let mut web = Web::ready(
        Config::default(),
        modern(move |asked, says| {
            lists += usize::from(asked.method() == "tools/list");
            if lists == 2 {
                says.empty(500);
            } else {
                answers(asked, says);
            }
        }),
    );
    assert_eq!(list(&mut web), "1");
    web.engine.authorization_changed();
    let ticket = begin(&mut web, &RequestOptions::new().stale_if_error());
    web.take(ticket).expect("it has ended").expect_err("the list of somebody else is no answer");
}

#[test]
fn the_event_is_for_open_connections_only() {
    let mut web = Web::opening(Config::default(), |_, _| {});
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(changes(&web), 0);
    let mut web = Web::ready(Config::default(), legacy("2025-11-25", counting("private", false)));
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(changes(&web), 1, "also with legacy servers, whose lists may depend on the user, too");
    web.engine.close();
    web.engine.authorization_changed();
    web.drive();
    assert_eq!(changes(&web), 1);
}

/// A server that wants the argument `region` of the tool `echo` in a header.
fn with_header(asked: &Asked, says: &mut Says) {
    let tools = r#"{"tools":[{"name":"echo","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}"#;
    let result = if asked.method() == "tools/list" { tools.to_owned() } else { said("hi") };
    says.json(200, asked.result(&result));
}

#[test]
fn headers_for_parameters_of_the_old_tools_are_no_longer_sent() {
    let mut web = Web::ready(Config::default(), modern(with_header));
    let region = |web: &mut Web| {
        let call = web.call("echo", r#"{"region":"north"}"#, &RequestOptions::new()).expect("it is sent");
        web.drive();
        web.text(call);
        web.last("POST tools/call").header("Mcp-Param-Region").map(str::to_owned)
    };
    list(&mut web);
    assert_eq!(region(&mut web).as_deref(), Some("north"));
    web.engine.authorization_changed();
    assert_eq!(region(&mut web), None);
    list(&mut web);
    assert_eq!(region(&mut web).as_deref(), Some("north"));
}

#[test]
fn a_list_that_arrives_after_the_change_tells_nothing_about_headers() {
    let mut web = Web::ready(
        Config::default(),
        modern(|asked, says| {
            if asked.method() == "tools/list" {
                says.later(Duration::from_secs(1));
            }
            with_header(asked, says);
        }),
    );
    let ticket = begin(&mut web, &RequestOptions::new());
    web.engine.authorization_changed();
    web.pass(Duration::from_secs(1));
    assert_eq!(end(&mut web, ticket), "echo");
    let call = web.call("echo", r#"{"region":"north"}"#, &RequestOptions::new()).expect("it is sent");
    web.drive();
    web.text(call);
    assert_eq!(web.last("POST tools/call").header("Mcp-Param-Region"), None);
}

/// Sends a request that stays in the queue.
fn begin_only(web: &mut Web) -> Ticket<ListTools> {
    web.engine.calls().request(&ListParams::default(), &RequestOptions::new(), web.now).expect("it is sent")
}
