//! A scripted server over HTTP: sessions, streams, refusals, and time.

use std::time::Duration;

use mcpwire_driver::protocol::http::{FailureKind, Verb};
use mcpwire_driver::protocol::{Era, Notification, ProtocolVersion};
use mcpwire_driver::{ConnectOptions, ErrorKind};
use mcpwire_testkit::{
    HttpAnswer, HttpRequest, RecordedMessage, ScriptedHttp, ScriptedResponse, ScriptedServer, Testkit,
};
use mcpwire_tests::done_of_total;
use serde_json::json;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn is_call(request: &HttpRequest) -> bool {
    request.method() == "tools/call"
}

fn echo() -> ScriptedServer {
    ScriptedServer::new().tool("echo", |_| "hi")
}

/// A kit whose calls are answered by this function.
fn calls_answered(
    server: ScriptedServer,
    mut answer: impl FnMut(usize) -> Option<HttpAnswer> + Send + 'static,
) -> Testkit {
    let mut calls = 0;
    Testkit::new(server).over_http(|http| {
        http.on_request(move |request| {
            calls += usize::from(is_call(request));
            if is_call(request) { answer(calls) } else { None }
        })
    })
}

fn http(kit: &Testkit) -> &ScriptedHttp {
    kit.http().expect("it is over HTTP")
}

#[test]
fn both_eras_are_spoken_with_sessions_in_the_legacy_one() {
    for (era, version, has_session) in
        [(Era::Modern, ProtocolVersion::V2026_07_28, false), (Era::Legacy, ProtocolVersion::V2025_11_25, true)]
    {
        let kit = Testkit::new(echo().era(era)).over_http(|http| http);
        kit.run(async |client| {
            assert_eq!(client.server_info().expect("it is open").protocol_version, version);
            assert_eq!(client.call_tool("echo", ()).await.expect("it is answered").text().as_str(), "hi");
            client.shutdown().await.expect("it ends");
        });
        let requests = http(&kit).requests();
        let call = requests.iter().find(|request| is_call(request)).expect("a call");
        assert_eq!(call.header("mcp-session-id").is_some(), has_session);
        assert_eq!(requests.iter().any(|request| request.verb == Verb::Delete), has_session);
        assert_eq!(kit.server().calls("echo").len(), 1);
    }
}

#[test]
fn steps_that_take_time_come_on_a_stream() {
    for era in [Era::Legacy, Era::Modern] {
        let server = ScriptedServer::new()
            .era(era)
            .tool("slow", |_| ScriptedResponse::new().wait(secs(20)).progress(1, 2).wait(secs(20)).text("done"));
        let kit = Testkit::new(server).over_http(|http| http);
        let reports = kit.run(async |client| {
            let reports = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let told = std::sync::Arc::clone(&reports);
            let call = client.call_tool("slow", ()).on_progress(move |progress| {
                told.lock().unwrap().push(done_of_total(progress));
            });
            assert_eq!(call.await.expect("it is answered").text().as_str(), "done");
            reports.lock().unwrap().len()
        });
        assert_eq!((reports, kit.time().elapsed()), (1, secs(40)));
    }
}

#[test]
fn refusals_and_their_delays_are_told() {
    for (answer, words) in [
        (HttpAnswer::status(401).header("WWW-Authenticate", "Bearer"), &["401"][..]),
        (HttpAnswer::status(429).header("Retry-After", "30"), &["429", "30 s"]),
        (HttpAnswer::status(503).wait(secs(5)), &["503"]),
        (HttpAnswer::status(500).body("out of order"), &["500", "out of order"]),
        (HttpAnswer::failure(FailureKind::Unreachable, "no route"), &["no route"]),
        (HttpAnswer::events().wait(secs(5)).body(": nothing\n\n"), &["ended without an answer"]),
    ] {
        let scripted = answer.clone();
        let kit = calls_answered(echo().era(Era::Modern), move |call| (call == 1).then(|| scripted.clone()));
        kit.run(async |client| {
            let error = client.call_tool("echo", ()).await.expect_err("it is refused").to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
            assert_eq!(client.call_tool("echo", ()).await.expect("the next is answered").text().as_str(), "hi");
        });
        assert_eq!(kit.server().calls("echo").len(), 1, "the first never came to the server");
    }
}

#[test]
fn a_stream_that_is_cut_fails_its_call_alone() {
    let cut = || HttpAnswer::events().wait(secs(3)).event(json!({"jsonrpc": "2.0", "method": "notifications/x"})).cut();
    let kit = calls_answered(echo().era(Era::Modern), move |call| (call == 1).then(cut));
    kit.run(async |client| {
        assert_eq!(client.call_tool("echo", ()).await.expect_err("it is cut").kind(), ErrorKind::Network);
        assert!(client.call_tool("echo", ()).await.is_ok());
    });
    assert_eq!(kit.time().elapsed(), secs(3));
}

#[test]
fn a_session_that_expires_is_opened_anew() {
    let kit = Testkit::new(echo().era(Era::Legacy)).over_http(|http| http);
    kit.run(async |client| {
        http(&kit).expire_sessions();
        assert_eq!(client.call_tool("echo", ()).await.expect("in a new session").text().as_str(), "hi");
    });
    let opened = http(&kit).requests().iter().filter(|request| request.method() == "initialize").count();
    assert_eq!(opened, 2);
}

#[test]
fn without_sessions_there_is_no_stream_either() {
    let kit = Testkit::new(echo().era(Era::Legacy)).over_http(ScriptedHttp::without_sessions);
    let called = kit.run(async |client| client.call_tool("echo", ()).await.map(|result| result.text().to_string()));
    assert_eq!(called.expect("it is answered"), "hi");
    assert!(http(&kit).requests().iter().all(|request| request.header("Mcp-Session-Id").is_none()));
}

#[test]
fn what_belongs_to_no_request_comes_on_the_stream_of_a_get() {
    let kit = Testkit::new(echo().era(Era::Legacy)).over_http(|http| http);
    kit.run(async |client| {
        let mut notifications = client.notifications();
        kit.time().sleep(secs(1)).await;
        kit.server().notify("notifications/tools/list_changed", ());
        let told = notifications.next().await;
        assert!(matches!(told, Some(Notification::ToolsChanged)), "{told:?}");
        let id = kit.server().request("ping", ());
        kit.time().sleep(secs(1)).await;
        let answer = kit.recorded().into_iter().find(RecordedMessage::is_answer).expect("an answer");
        assert_eq!(answer.id, Some(id));
    });
}

#[test]
fn a_call_that_is_given_up_closes_its_response() {
    for era in [Era::Legacy, Era::Modern] {
        let server = ScriptedServer::new().era(era).tool("never", |_| ScriptedResponse::new());
        let kit = Testkit::new(server).over_http(|http| http);
        kit.run(async |client| {
            let error = client.call_tool("never", ()).timeout(secs(600)).await.expect_err("it never comes");
            assert_eq!(error.kind(), ErrorKind::Timeout);
        });
        assert_eq!(kit.time().elapsed(), secs(600));
        assert!(http(&kit).aborted().iter().any(is_call));
        assert_eq!(kit.server().cancellations().len(), usize::from(era == Era::Legacy));
    }
}

#[test]
fn what_a_notification_leads_to_comes_on_the_stream_of_a_get() {
    let server = ScriptedServer::new()
        .era(Era::Legacy)
        .tool("never", |_| ScriptedResponse::new())
        .on("notifications/cancelled", |_| {
            ScriptedResponse::new().wait(secs(5)).notify("notifications/tools/list_changed", ())
        });
    let kit = Testkit::new(server).over_http(|http| http);
    kit.run(async |client| {
        let mut notifications = client.notifications();
        assert!(client.call_tool("never", ()).timeout(secs(10)).await.is_err());
        assert!(matches!(notifications.next().await, Some(Notification::ToolsChanged)));
    });
    assert_eq!(kit.time().elapsed(), secs(15));
}

#[test]
fn clients_of_one_server_have_their_own_sessions() {
    let kit = Testkit::new(echo().era(Era::Legacy)).over_http(|http| http);
    let (one, other) = (kit.connect(), kit.connect_with(ConnectOptions::default()));
    kit.time().run(async {
        one.initialize().await.expect("it opens");
        other.initialize().await.expect("it opens");
        one.shutdown().await.expect("it ends");
        assert_eq!(other.call_tool("echo", ()).await.expect("it goes on").text().as_str(), "hi");
    });
}
