//! The operations that all clients run, in simulated time.

use mcpwire_core::internal::{
    ClientState, OpeningOutcome, Operation, PingServer, Prepared, RequestError, SetLogLevel, SingleRequest, Step,
    SubscriptionPoll, SubscriptionReader, ToolCall, send_complete,
};
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Calls, CloseReason, CompleteParams, CompletionReference, Config, ConnectError,
    LoggingLevel, Negotiate, ProtocolVersion, RequestOptions, SendError, SubscribeOptions, SubscriptionFilter,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured};

/// Runs an operation as a blocking client does.
fn run<O: Operation>(pair: &mut Pair, client: &mut ClientState, operation: &mut O) -> Result<O::Output, RequestError> {
    loop {
        let now = pair.now;
        match operation.poll(client, &mut pair.engine.calls(), now) {
            Step::Wait(key) => {
                pair.drive();
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
        let params = CallToolParams { name: "echo", arguments: &() };
        let call = ToolCall::<CallTool>::new("echo", Prepared::new(&params).expect("an object"), RequestOptions::new());
        let now = pair.now;
        let mut client = ClientState::default();
        let _ = call.send_now(&mut client, &mut pair.engine.calls(), now).expect("it is sent");
        pair.drive();
        assert_eq!(pair.methods()[before..], ["tools/call"]);
        pair.end();
        let call = ToolCall::<CallTool>::new("echo", Prepared::new(&params).expect("an object"), RequestOptions::new());
        let now = pair.now;
        let error = call.send_now(&mut client, &mut pair.engine.calls(), now).expect_err("it is closed");
        assert_eq!(error, RequestError::NotSent(SendError::Closed));
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
