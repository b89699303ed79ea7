//! What the testkit's server does about what it is sent, what it asks for in the middle of a call, and what it remembers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_driver::protocol::{
    CallError, CallTool, CallToolParams, Config, ConnectError, Era, Json, Negotiate, Notification, ProtocolVersion,
    RequestOptions, RpcError, ServerRequest,
};
use mcpwire_driver::{ConnectOptions, Error, ErrorKind, HandlerContext, RequestHandler};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit, VirtualTime};
use mcpwire_tests::done_of_total;
use serde_json::{Value, json};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn it_speaks_whichever_era_is_asked_for() {
    let modern = ["server/discover", "tools/list"];
    let legacy = ["initialize", "notifications/initialized", "tools/list"];
    let fallback = ["server/discover", "initialize", "notifications/initialized", "tools/list"];
    let both = || ScriptedServer::new().server_info("both", "2.1").instructions("Ask.");
    let cases = [
        (both(), Negotiate::Auto, ProtocolVersion::V2026_07_28, &modern[..]),
        (both(), Negotiate::Legacy, ProtocolVersion::V2025_11_25, &legacy),
        (both(), Negotiate::Version(ProtocolVersion::V2024_11_05), ProtocolVersion::V2024_11_05, &legacy),
        (both().era(Era::Modern), Negotiate::Auto, ProtocolVersion::V2026_07_28, &modern),
        (both().era(Era::Legacy), Negotiate::Auto, ProtocolVersion::V2025_11_25, &fallback),
        (both().versions(["2025-03-26"]), Negotiate::Auto, ProtocolVersion::V2025_03_26, &fallback),
    ];
    for (server, negotiate, version, methods) in cases {
        let mut config = Config::new("tester", "3.0");
        config.negotiate = negotiate;
        let kit = Testkit::new(server).config(config);
        let info = kit.run(async |client| client.server_info().cloned()).expect("it is open");
        assert_eq!(info.protocol_version, version);
        assert_eq!((info.name(), info.instructions.as_deref()), ("both", Some("Ask.")));
        assert!(info.capabilities.expect("it has some").tools.expect("and tools").list_changed);
        let recorded = kit.recorded();
        assert_eq!(recorded.iter().map(|message| message.method.as_str()).collect::<Vec<_>>(), methods);
        let text = recorded[0].message.get();
        assert!(text.contains("tester") && text.contains("3.0"), "{text}");
    }
}

#[test]
fn versions_without_any_in_common_do_not_open() {
    for (version, negotiate) in [("1999-12-31", Negotiate::Auto), ("2026-07-28", Negotiate::Legacy)] {
        let mut config = Config::default();
        config.negotiate = negotiate;
        let kit = Testkit::new(ScriptedServer::new().versions([version])).config(config);
        let client = kit.connect();
        let error = kit.time().run(client.initialize()).expect_err("nothing is in common");
        assert!(error.connect_error().is_some() && error.to_string().contains(version), "{error}");
    }
}

#[test]
fn a_handshake_can_be_scripted() {
    let server = ScriptedServer::new()
        .on("server/discover", |_| ScriptedResponse::new())
        .on("initialize", |_| RpcError::new(-32000, "the licence has expired"));
    let kit = Testkit::new(server);
    let client = kit.connect();
    let error = kit.time().run(client.initialize()).expect_err("it does not open");
    let Some(&ConnectError::Timeout { after }) = error.connect_error() else { panic!("{error}") };
    assert_eq!(kit.time().elapsed(), after);
    let requests: Vec<_> = kit.server().requests().into_iter().map(|request| (request.method, request.at)).collect();
    let probe = Config::default().probe_timeout;
    assert_eq!(requests, [("server/discover".into(), Duration::ZERO), ("initialize".into(), probe)]);
}

#[test]
fn input_can_be_wanted_first() {
    struct Roots;
    impl RequestHandler for Roots {
        async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
            Ok(Json::parse(r#"{"roots":[]}"#).expect("it is JSON"))
        }
    }
    let server = ScriptedServer::new().on("tools/call", |params| {
        match (params.member::<String>("requestState"), params.member::<Value>("inputResponses")) {
            (None, _) => ScriptedResponse::new().input_required(json!({}), Some("\"patience\"")),
            (Some(state), None) => {
                assert_eq!(state, "\"patience\"");
                ScriptedResponse::new()
                    .wait(secs(20))
                    .input_required(json!({"where": {"method": "roots/list"}}), Some("2"))
            }
            (_, Some(answers)) => ScriptedResponse::new().wait(secs(20)).text(answers.to_string()),
        }
    });
    let kit = Testkit::new(server);
    let client = kit.connect_with(ConnectOptions::default().answer(["roots/list"], Roots));
    let text = kit.time().run(async {
        client.initialize().await?;
        client.call_tool("t", ()).await.map(|result| result.text().to_string())
    });
    assert_eq!(text.expect("it is answered"), r#"{"where":{"roots":[]}}"#);
    assert_eq!(kit.time().elapsed(), secs(40), "longer than one round may take");
}

#[test]
fn a_tool_answers_in_every_way() {
    for era in [Era::Legacy, Era::Modern] {
        let server = ScriptedServer::new()
            .era(era)
            .tool("text", |args| format!("{} \"quoted\"\n", args.member::<String>("name").unwrap_or_default()))
            .tool("error", |_| Err::<&str, _>("no such city"))
            .tool("refusal", |_| RpcError::new(-32000, "out of order"))
            .tool("result", |_| {
                ScriptedResponse::new().result(json!({
                    "content": [], "structuredContent": {"degrees": 21}, "resultType": "complete",
                }))
            })
            .tool("silence", |_| ScriptedResponse::new())
            .tool("garbage", |_| {
                ScriptedResponse::new().line("Listening on stdio...").raw("\u{feff}\r\n").text("and an answer")
            });
        let kit = Testkit::new(server);
        kit.run(async |client| {
            let call = async |tool: &str| client.call_tool(tool, json!({"name": "Ann"})).await;
            let error = async |tool: &str| match call(tool).await {
                Err(error) => error.call_error().expect(tool).clone(),
                Ok(result) => panic!("{tool}: {result:?}"),
            };
            assert_eq!(call("text").await.unwrap().text().as_str(), "Ann \"quoted\"\n");
            let failed = call("error").await.unwrap();
            assert!(failed.is_error && failed.text().as_str() == "no such city");
            let CallError::Server { error: refused, .. } = error("refusal").await else { panic!("it is refused") };
            assert_eq!((refused.code, refused.message.as_str()), (-32000, "out of order"));
            let structured: Value = call("result").await.unwrap().structured().unwrap();
            assert_eq!(structured, json!({"degrees": 21}));
            assert!(matches!(error("silence").await, CallError::Timeout { .. }));
            assert_eq!(call("garbage").await.unwrap().text().as_str(), "and an answer");
            assert!(client.stats().invalid >= 1);
        });
        assert_eq!(kit.server().calls("text")[0].get(), r#"{"name":"Ann"}"#);
        assert!(kit.server().calls("other").is_empty());
    }
}

#[test]
fn json_of_several_lines_is_one_line_on_the_wire() {
    let pretty = serde_json::to_string_pretty(&json!({"content": [{"type": "text", "text": "a\nb"}]})).unwrap();
    let pretty = Json::parse(pretty).unwrap();
    let kit = Testkit::new(ScriptedServer::new().tool("pretty", move |_| ScriptedResponse::new().result(&pretty)));
    let result = kit.run(async |client| client.call_tool("pretty", json!({})).await).expect("it is answered");
    assert_eq!(result.text().as_str(), "a\nb");
}

#[test]
fn steps_are_taken_in_order_and_in_their_time() {
    let server = ScriptedServer::new().latency(secs(1)).tool("build", |_| {
        ScriptedResponse::new()
            .notify("notifications/message", json!({"level": "info", "data": "begun"}))
            .wait(secs(10))
            .progress(1, 2)
            .wait(secs(10))
            .progress_message(2, "linking")
            .text("built")
            .wait(secs(10))
            .notify("notifications/tools/list_changed", ())
    });
    let kit = Testkit::new(server);
    let clock = kit.time().clock();
    kit.run(async |client| {
        let mut notifications = client.notifications();
        let begun = clock.now();
        let since = || clock.now().duration_since(begun);
        let mut heard = Vec::new();
        let call = client.call_tool("build", json!({})).on_progress(|progress| {
            heard.push((since(), done_of_total(progress), progress.message.clone()));
        });
        assert_eq!(call.await.unwrap().text().as_str(), "built");
        let halfway = (secs(11), (1.0, Some(2.0)), None);
        assert_eq!(heard, [halfway, (secs(21), (2.0, None), Some("linking".into()))]);
        assert!(matches!(notifications.next().await, Some(Notification::Log(log)) if log.text() == "begun"));
        while !matches!(notifications.next().await, Some(Notification::ToolsChanged)) {}
        assert_eq!(since(), secs(31));
        // Who does not ask for progress gets none.
        client.call_tool("build", json!({})).await.unwrap();
        assert!(matches!(notifications.next().await, Some(Notification::Log(_))));
        assert!(matches!(notifications.next().await, Some(Notification::ToolsChanged)));
    });
}

#[test]
fn what_is_cancelled_is_recorded_and_left_where_it_stands() {
    let slow = |_: &_| ScriptedResponse::new().wait(secs(60)).text("too late");
    let polite = Testkit::new(ScriptedServer::new().tool("slow", slow));
    let rude = Testkit::new(ScriptedServer::new().tool("slow", slow).ignore_cancellations());
    for (kit, late) in [(&polite, 0), (&rude, 1)] {
        let time = kit.time().clone();
        kit.run(async |client| {
            client.call_tool("slow", json!({})).timeout(secs(5)).await.expect_err("it is slow");
            time.sleep(secs(100)).await;
            assert_eq!(client.stats().late, late);
        });
        let call = kit.server().requests().pop().expect("there was a call");
        let [cancellation] = &kit.server().cancellations()[..] else { panic!("one call was given up") };
        assert_eq!(Some(&cancellation.id), call.id.as_ref());
        assert_eq!(cancellation.at, call.at + secs(5));
        assert!(cancellation.reason.is_some());
        assert_eq!(kit.server().notifications().pop().unwrap().method, "notifications/cancelled");
    }
}

#[test]
fn a_call_that_is_dropped_last_of_all_is_cancelled() {
    let kit = Testkit::new(ScriptedServer::new().tool("silence", |_| ScriptedResponse::new()));
    kit.run(async |client| {
        let params = CallToolParams { name: "silence", arguments: &json!({}) };
        drop(client.begin::<CallTool>(&params, &RequestOptions::new()).unwrap());
    });
    assert_eq!(kit.server().cancellations().len(), 1);
    assert_eq!(kit.server().connections(), 0, "the client is gone as well");
}

#[test]
fn a_list_of_tools_may_have_pages_and_change() {
    let mut server = ScriptedServer::new().page_size(3);
    for n in 0..10 {
        server = server.tool(format!("tool_{n}"), |_| "done");
    }
    let server = server.tool_with(json!({"name": "tool_3", "description": "The third."}), |_| "done by another");
    let kit = Testkit::new(server.clone());
    kit.run(async |client| {
        assert_eq!(client.tools().len(), 10);
        assert_eq!(server.requests().iter().filter(|request| request.method == "tools/list").count(), 4);
        assert_eq!(client.get_tool("tool_3").unwrap().description.as_deref(), Some("The third."));
        assert_eq!(client.call_tool("tool_3", json!({})).await.unwrap().text().as_str(), "done by another");
        let mut notifications = client.notifications();
        server.remove_tool("tool_3");
        server.clone().tool("tool_10", |_| "new").notify("notifications/tools/list_changed", ());
        assert_eq!(notifications.next().await, Some(Notification::ToolsChanged));
        let error = client.call_tool("tool_3", json!({})).await.expect_err("it is gone");
        assert_eq!(error.kind(), ErrorKind::ToolNotFound);
        assert_eq!(client.call_tool("tool_10", json!({})).await.unwrap().text().as_str(), "new");
    });
}

#[test]
fn other_methods_can_be_answered_and_are_refused_otherwise() {
    let server = ScriptedServer::new()
        .on("resources/list", |_| ScriptedResponse::new().result(json!({"resources": []})))
        .on("notifications/hello", |params| {
            let params: Value = params.decode().unwrap();
            ScriptedResponse::new().text("nobody asked").notify("notifications/hello/back", params)
        });
    let kit = Testkit::new(server);
    kit.run(async |client| {
        assert_eq!(client.request_raw("resources/list", None).await.unwrap().get(), r#"{"resources":[]}"#);
        client.request_raw("ping", None).await.expect("it is answered");
        let error = client.request_raw("resources/read", None).await.expect_err("it is not known");
        let Some(CallError::Server { error, .. }) = error.call_error() else { panic!("{error}") };
        assert_eq!(error.code, RpcError::METHOD_NOT_FOUND);
        let mut notifications = client.notifications();
        let params = Json::parse(r#"{"from":"us"}"#).unwrap();
        client.notify_raw("notifications/hello", Some(&params)).unwrap();
        let back = Notification::Other { method: "notifications/hello/back".into(), params: Some(params) };
        assert_eq!(notifications.next().await, Some(back));
    });
}

#[test]
fn the_answers_to_its_own_requests_are_recorded() {
    let kit = Testkit::new(ScriptedServer::new().era(Era::Legacy));
    let time = kit.time().clone();
    let ids = kit.run(async |_client| {
        let ids = [kit.server().request("ping", ()), kit.server().request("roots/list", json!({}))];
        time.sleep(secs(1)).await;
        ids
    });
    let recorded = kit.recorded();
    let answers: Vec<_> = recorded.iter().filter(|message| message.is_answer()).collect();
    assert_eq!(answers.iter().map(|answer| answer.id.clone().unwrap()).collect::<Vec<_>>(), ids);
    assert_eq!(answers[0].message.member::<Value>("result"), Some(json!({})));
    assert_eq!(answers[1].message.member::<Value>("error").unwrap()["code"], -32601);
}

#[test]
fn a_connection_may_be_closed_at_any_time() {
    let server = ScriptedServer::new().tool("crash", |_| ScriptedResponse::new().raw("{\"jsonrpc\":\"2.0\",").close());
    let kit = Testkit::new(server.tool("silence", |_| ScriptedResponse::new()));
    kit.run(async |client| {
        let error = client.call_tool("crash", json!({})).await.expect_err("there is no answer");
        assert_eq!(error.kind(), ErrorKind::Closed);
    });
    let (time, server) = (kit.time().clone(), kit.server().clone());
    let sleep = time.sleep(secs(7));
    time.spawn(async move {
        sleep.await;
        server.close();
    });
    kit.run(async |client| {
        let error = client.call_tool("silence", json!({})).await.expect_err("there is no answer");
        assert_eq!((error.kind(), time.elapsed()), (ErrorKind::Closed, secs(7)));
        assert!(!client.is_running());
    });
    assert_eq!(kit.server().connections(), 0);
    assert_eq!(kit.recorded().last().unwrap().connection, 1);
}

#[test]
fn a_server_may_stop_to_read_for_a_while() {
    let kit = Testkit::new(ScriptedServer::new().tool("size", |args| args.get().len().to_string())).capacity(1_000);
    let (time, server) = (kit.time().clone(), kit.server().clone());
    kit.run(async |client| {
        server.set_reading(false);
        let large = json!({"text": "x".repeat(100_000)});
        let error = client.call_tool("size", &large).timeout(secs(3)).await.expect_err("nobody reads");
        assert_eq!((error.kind(), time.elapsed()), (ErrorKind::Timeout, secs(3)));
        server.set_reading(true);
        assert_eq!(client.call_tool("size", &large).await.unwrap().text().as_str(), "100011");
    });
    // The call that timed out, as it was being sent; that it was cancelled; and the second one.
    assert_eq!((kit.server().calls("size").len(), kit.server().cancellations().len()), (2, 1));
}

#[test]
fn what_was_recorded_can_be_taken() {
    let kit = Testkit::new(ScriptedServer::new());
    kit.run(async |_client| {});
    assert_eq!(kit.server().take_recorded().len(), 2);
    assert!(kit.recorded().is_empty());
}

#[test]
fn a_server_that_says_it_has_no_tools_is_not_asked_for_them() {
    let kit = Testkit::new(ScriptedServer::new().capabilities(json!({"logging": {}})));
    let capabilities = kit.run(async |client| client.capabilities().cloned()).expect("it has some");
    assert!(capabilities.tools.is_none() && capabilities.logging.is_some());
    assert_eq!(kit.server().requests().len(), 1);
}

// A legacy server that asks in the middle of a call, over streams and over HTTP.

/// Answers each method with a value, after some time.
struct User(VirtualTime, Duration, Value);

impl RequestHandler for User {
    async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        self.0.sleep(self.1).await;
        Ok(Json::from_value(&self.2).expect("it is JSON"))
    }
}

/// Runs the same test over streams and over HTTP.
fn over_both(server: impl Fn() -> ScriptedServer, test: impl Fn(&Testkit)) {
    test(&Testkit::new(server()));
    test(&Testkit::new(server()).over_http(|http| http));
}

fn text_of(kit: &Testkit, options: ConnectOptions, tool: &str) -> Result<String, Error> {
    let client = kit.connect_with(options);
    kit.time().run(async {
        client.initialize().await?;
        client.call_tool(tool, json!({})).await.map(|result| result.text().to_string())
    })
}

fn options(kit: &Testkit, takes: Duration, answer: Value) -> ConnectOptions {
    let mut config = Config::new("tester", "1");
    config.answer_elicitation(true, false);
    config.capabilities = std::mem::take(&mut config.capabilities).with_sampling(true, false);
    config.answer_sampling();
    config.answer_roots();
    let methods = ["elicitation/create", "sampling/createMessage", "roots/list"];
    ConnectOptions::new(config).answer(methods, User(kit.time().clone(), takes, answer))
}

#[test]
fn the_call_goes_on_with_the_clients_answer() {
    let form = json!({
        "message": "Who?",
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    });
    let sample =
        json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "?" } }], "maxTokens": 5 });
    let elicited = json!({ "action": "accept", "content": { "name": "Ada" } });
    let sampled = json!({ "role": "assistant", "content": { "type": "text", "text": "!" }, "model": "m" });
    for (method, params, answer) in [
        ("elicitation/create", form, elicited),
        ("sampling/createMessage", sample, sampled),
        ("roots/list", Value::Null, json!({ "roots": [{ "uri": "file:///here" }] })),
    ] {
        let server = || {
            let params = params.clone();
            ScriptedServer::new().era(Era::Legacy).tool("ask", move |_| {
                ScriptedResponse::new()
                    .wait(Duration::from_secs(1))
                    .ask(method, &params, |answer| answer.map(|it| it.get().to_owned()).map_err(|error| error.message))
            })
        };
        over_both(server, |kit| {
            let options = options(kit, Duration::from_secs(3), answer.clone());
            let text = text_of(kit, options, "ask").expect("it is answered");
            assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), answer, "{method}");
            assert_eq!(kit.time().elapsed(), Duration::from_secs(4));
        });
    }
}

#[test]
fn steps_after_a_question_follow_those_of_its_answer() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let server = || {
        let heard = Arc::clone(&heard);
        ScriptedServer::new().era(Era::Legacy).tool("twice", move |_| {
            let (first, second) = (Arc::clone(&heard), Arc::clone(&heard));
            let first = move |answer: Result<Json, RpcError>| {
                first.lock().unwrap().push(answer.is_ok());
                let second = Arc::clone(&second);
                ScriptedResponse::new().ask("unheard/of", (), move |answer| {
                    second.lock().unwrap().push(answer.is_ok());
                    ScriptedResponse::new().wait(Duration::from_secs(7))
                })
            };
            ScriptedResponse::new().ask("ping", (), first).text("done")
        })
    };
    over_both(server, |kit| {
        heard.lock().unwrap().clear();
        assert_eq!(text_of(kit, ConnectOptions::default(), "twice").expect("it is answered"), "done");
        assert_eq!(*heard.lock().unwrap(), [true, false], "a ping is answered, and an unknown method is refused");
        assert_eq!(kit.time().elapsed(), Duration::from_secs(7));
    });
}

#[test]
fn an_answer_after_the_call_was_given_up_leads_to_nothing() {
    let server = || {
        ScriptedServer::new()
            .era(Era::Legacy)
            .tool("ask", |_| ScriptedResponse::new().ask("roots/list", (), |_| "too late"))
            .tool("other", |_| "here")
    };
    over_both(server, |kit| {
        let client = kit.connect_with(options(kit, Duration::from_secs(60), json!({ "roots": [] })));
        kit.time().run(async {
            client.initialize().await.expect("it opens");
            let call = client.call_tool("ask", json!({})).total_timeout(Duration::from_secs(10)).await;
            assert_eq!(call.expect_err("it takes too long").kind(), ErrorKind::Timeout);
            kit.time().sleep(Duration::from_secs(100)).await;
            assert_eq!(client.call_tool("other", json!({})).await.expect("it goes on").text().as_str(), "here");
        });
    });
}
