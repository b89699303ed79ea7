//! The operations that all clients run, in simulated time.

use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::internal::{
    ClientState, KnownTools, OpeningOutcome, Operation, PingServer, Prepared, RequestError, SearchProgress,
    SetLogLevel, SingleRequest, Step, SubscriptionPoll, SubscriptionReader, ToolCall, ToolListing, ToolSearch,
    send_complete,
};
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Calls, CloseReason, CompleteParams, CompletionReference, Config, ConnectError,
    Event, ListParams, ListTools, LoggingLevel, Negotiate, Notification, ProtocolVersion, RequestOptions, RpcError,
    SendError, SubscribeOptions, SubscriptionFilter, TaskMode,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured};
use serde_json::json;

use crate::tasks::{HELLO, experimental, stood};

/// Runs an operation as a blocking client does.
fn run<O: Operation>(pair: &mut Pair, client: &mut ClientState, operation: &mut O) -> Result<O::Output, RequestError> {
    loop {
        let now = pair.now;
        match operation.poll(client, &mut pair.engine.calls(), now) {
            Step::Wait(key) => {
                pair.drive();
                // A task is polled every two seconds.
                while pair.engine.session().is_waiting(key) {
                    pair.pass(Duration::from_secs(1));
                }
                operation.receive(&mut pair.reply(key).expect("it has ended"));
            }
            Step::Drain => pair.drive(),
            Step::Done(result) => return result,
        }
    }
}

fn answers_everything(sent: &Sent, peer: &mut Peer) {
    if sent.id().is_some() {
        peer.answer(sent, r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#);
    }
}

fn pairs() -> [Pair; 2] {
    [Pair::legacy(answers_everything), Pair::modern(answers_everything)]
}

#[test]
fn a_ping_is_what_the_server_knows() {
    let sent: Vec<_> = pairs()
        .into_iter()
        .map(|mut pair| {
            let before = pair.sent.len();
            run(&mut pair, &mut ClientState::default(), &mut PingServer::new(&RequestOptions::new()))
                .expect("it answers");
            pair.methods()[before..].iter().map(|method| (*method).to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(sent, [["ping"], ["server/discover"]]);
}

#[test]
fn a_raw_request_ends_with_the_result_as_it_was_sent() {
    for mut pair in pairs() {
        let request = || {
            SingleRequest::new(|calls: &mut Calls<'_>, now| {
                calls.request_raw("vendor/thing", None, &RequestOptions::new(), now)
            })
        };
        let mut operation = request();
        let result = run(&mut pair, &mut ClientState::default(), &mut operation).expect("it answers");
        assert!(result.get().contains("supportedVersions"));
        // It has ended: polled again, it sends nothing.
        let again = run(&mut pair, &mut ClientState::default(), &mut operation);
        assert!(matches!(again, Err(RequestError::Failed(CallError::WrongTicket { .. }))));
        pair.end();
        let error = run(&mut pair, &mut ClientState::default(), &mut request());
        assert_eq!(error, Err(RequestError::NotSent(SendError::Closed)));
    }
}

#[test]
fn a_completion_has_a_context_only_where_the_version_has_one() {
    for (version, has_context) in [(ProtocolVersion::V2025_03_26, false), (ProtocolVersion::V2025_06_18, true)] {
        let mut pair = Pair::open(
            configured(|config| config.negotiate = Negotiate::Version(version)),
            move |sent: &Sent, peer: &mut Peer| {
                match sent.method() {
            "initialize" => peer.answer(
                sent,
                &format!(
                    r#"{{"protocolVersion":"{version}","capabilities":{{"completions":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
                ),
            ),
            "completion/complete" => peer.answer(sent, r#"{"completion":{"values":["a"]}}"#),
            _ => {}
        }
            },
        );
        let mut params = CompleteParams::new(CompletionReference::Prompt { name: "p" }, "name", "a");
        params.context = &[("other", "value")];
        let options = RequestOptions::new();
        let mut operation =
            SingleRequest::new(|calls: &mut Calls<'_>, now| send_complete(&params, calls, &options, now));
        run(&mut pair, &mut ClientState::default(), &mut operation).expect("it answers");
        let sent = pair.sent.last().expect("it was sent");
        assert_eq!(sent.params().get("context").is_some(), has_context, "{version}");
    }
}

#[test]
fn a_log_level_is_a_request_or_part_of_later_ones() {
    let logging = |version: &'static str| {
        move |sent: &Sent, peer: &mut Peer| {
            match sent.method() {
            "initialize" => peer.answer(
                sent,
                &format!(
                    r#"{{"protocolVersion":"{version}","capabilities":{{"logging":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
                ),
            ),
            "server/discover" if version == "2026-07-28" => {
                peer.answer(sent, r#"{"supportedVersions":["2026-07-28"],"capabilities":{"logging":{}}}"#);
            }
            "server/discover" => peer.refuse(sent, -32601, "unknown"),
            _ if sent.id().is_some() => peer.answer(sent, r#"{"resultType":"complete"}"#),
            _ => {}
        }
        }
    };
    let options = RequestOptions::new();
    let mut pair = Pair::open(Config::default(), logging("2025-11-25"));
    run(&mut pair, &mut ClientState::default(), &mut SetLogLevel::new(&LoggingLevel::Error, &options))
        .expect("it is set");
    assert_eq!(pair.methods().last(), Some(&"logging/setLevel"));
    let mut pair = Pair::open(Config::default(), logging("2026-07-28"));
    let before = pair.sent.len();
    run(&mut pair, &mut ClientState::default(), &mut SetLogLevel::new(&LoggingLevel::Error, &options))
        .expect("it is set");
    assert_eq!(pair.sent.len(), before);
}

#[test]
fn a_call_that_is_sent_at_once_does_not_look_for_the_tool() {
    for mut pair in pairs() {
        let before = pair.sent.len();
        let now = pair.now;
        let mut client = ClientState::default();
        let call = call_of("echo", RequestOptions::new());
        let _ = call.send_now(&mut client, &mut pair.engine.calls(), now).expect("it is sent");
        pair.drive();
        assert_eq!(pair.methods()[before..], ["tools/call"]);
        pair.end();
        let call = call_of("echo", RequestOptions::new());
        let now = pair.now;
        let error = call.send_now(&mut client, &mut pair.engine.calls(), now).expect_err("it is closed");
        assert_eq!(error, RequestError::NotSent(SendError::Closed));
    }
}

/// Returns the operation that calls a tool without arguments.
fn call_of(tool: &str, options: RequestOptions) -> ToolCall<CallTool> {
    ToolCall::new(tool, Prepared::new(&CallToolParams { name: tool, arguments: &() }).expect("an object"), options)
}

/// A modern server with the tool `echo`, whose list of tools may be cached as `cache_scope` says.
fn with_echo(cache_scope: &'static str) -> Pair {
    Pair::modern(move |sent, peer| match sent.method() {
        "tools/list" => peer.answer(
            sent,
            &format!(
                r#"{{"resultType":"complete","ttlMs":60000,"cacheScope":"{cache_scope}","tools":[{{"name":"echo"}}]}}"#
            ),
        ),
        _ => peer.answer(sent, r#"{"resultType":"complete","content":[]}"#),
    })
}

fn listed(pair: &mut Pair) -> ClientState {
    let mut client = ClientState::default();
    run(pair, &mut client, &mut ToolListing::new(RequestOptions::new())).expect("it answers");
    client
}

#[test]
fn a_tool_that_is_not_listed_is_called_only_if_the_tools_have_changed_in_the_meantime() {
    for changed in [false, true] {
        let mut pair = with_echo("private");
        let mut client = listed(&mut pair);
        let before = pair.sent.len();
        let mut call = call_of("new", RequestOptions::new());
        let now = pair.now;
        let step = call.poll(&mut client, &mut pair.engine.calls(), now);
        assert!(matches!(step, Step::Drain), "the notification of a change may not have been read yet: {step:?}");
        if changed {
            client.handle_event(&Event::Notification(Notification::ToolsChanged), &mut pair.engine.calls());
        }
        let result = run(&mut pair, &mut client, &mut call);
        if changed {
            assert!(result.is_ok(), "{result:?}");
            assert_eq!(pair.methods()[before..], ["tools/call"]);
        } else {
            let missing = CallError::ToolNotFound { tool: "new".into(), error: None };
            assert_eq!(result.err(), Some(RequestError::Failed(missing)));
            assert_eq!(pair.sent.len(), before, "nothing is sent");
        }
    }
}

#[test]
fn another_authorization_makes_a_list_stale_that_is_not_public() {
    for (cache_scope, stays_fresh) in [("public", true), ("private", false)] {
        let mut client = listed(&mut with_echo(cache_scope));
        let list = Arc::clone(client.tools.list());
        assert!(list.is_fresh());
        client.authorization_changed();
        assert_eq!((list.is_fresh(), client.tools.knows("echo")), (stays_fresh, stays_fresh.then_some(true)));
    }
}

/// Specification: protocol revision 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation".
#[test]
fn a_tool_is_called_as_a_task_if_the_tool_and_the_client_allow_it() {
    use TaskMode::{Follow, Session};
    fn list() -> String {
        let tool = |support| json!({"name": support, "execution": {"taskSupport": support}});
        let tools = [tool("required"), tool("optional"), tool("forbidden"), json!({"name": "silent"})];
        json!({"tools": tools}).to_string()
    }
    // Whether the call is sent as a task, or `None` if it is not sent.
    for (tool, mode, follows_tasks, expected) in [
        ("required", Session, false, None),
        ("required", Session, true, Some(true)),
        ("required", Follow, false, Some(true)),
        ("optional", Session, true, Some(false)),
        ("optional", Follow, false, Some(true)),
        ("forbidden", Follow, true, Some(false)),
        ("silent", Follow, true, Some(false)),
        ("silent", Session, true, Some(false)),
    ] {
        for is_listed in [true, false] {
            let case = format!("{tool}, {mode:?}, {follows_tasks}, listed: {is_listed}");
            let config = configured(|config| {
                if follows_tasks {
                    config.follow_tasks();
                }
            });
            let server = experimental(|sent, peer| match sent.method() {
                "tools/list" => peer.answer(sent, &list()),
                "tools/call" => peer.answer(sent, HELLO),
                "tasks/get" => peer.answer(sent, &stood("completed")),
                "tasks/result" => peer.answer(sent, HELLO),
                other => panic!("{other}"),
            });
            let mut pair = Pair::open(config, server);
            let mut client = if is_listed { listed(&mut pair) } else { ClientState::default() };
            let mut call = call_of(tool, RequestOptions::new().task(mode));
            let result = run(&mut pair, &mut client, &mut call);
            let sent = pair.sent.iter().find(|sent| sent.method() == "tools/call");
            assert_eq!(sent.map(|sent| sent.params()["task"].is_object()), expected, "{case}");
            match result {
                Ok(result) => assert_eq!(result.text().as_str(), "hello", "{case}"),
                Err(RequestError::NotSent(error)) => {
                    assert_eq!(error, SendError::TaskRequired { tool: tool.into() }, "{case}");
                    assert_eq!(error.method(), Some("tools/call"), "{case}");
                }
                Err(error) => panic!("{case}: {error:?}"),
            }
        }
    }
}

#[test]
fn a_subscription_that_ends_before_its_acknowledgment_has_an_error() {
    let mut pair = Pair::modern(|sent: &Sent, peer: &mut Peer| {
        if sent.method() == "subscriptions/listen" {
            peer.refuse(sent, -32601, "unknown");
        }
    });
    let (wanted, options) = (SubscriptionFilter::new().tools(), SubscribeOptions::new());
    let now = pair.now;
    let mut reader =
        SubscriptionReader::subscribe(&wanted, &options, &mut pair.engine.calls(), now).expect("it is sent");
    assert!(matches!(reader.poll(&mut pair.engine.calls()), SubscriptionPoll::Pending));
    assert_eq!((reader.end(), reader.opening_error()), (None, None));
    pair.drive();
    assert!(matches!(reader.poll(&mut pair.engine.calls()), SubscriptionPoll::Ended));
    assert!(matches!(reader.opening_error(), Some(CallError::Server { .. })), "{:?}", reader.end());
    assert!(matches!(reader.poll(&mut pair.engine.calls()), SubscriptionPoll::Ended), "and stays so");
}

#[test]
fn an_opening_that_cannot_be_restarted_is_closed() {
    assert_eq!(OpeningOutcome::Connected.into_error(), None);
    assert_eq!(OpeningOutcome::Restart.into_error(), Some(ConnectError::Closed));
    assert_eq!(OpeningOutcome::Closed(CloseReason::ByServer).into_error(), Some(ConnectError::Closed));
}

// One tool is searched for in a server's list, without the list.

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
