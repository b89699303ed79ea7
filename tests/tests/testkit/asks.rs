//! A legacy server that asks in the middle of a call, over streams and over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_driver::protocol::{Config, Era, Json, RpcError, ServerRequest};
use mcpwire_driver::{ConnectOptions, ErrorKind, HandlerContext, RequestHandler};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit, VirtualTime};
use mcpwire_tests::watched;
use serde_json::{Value, json};

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

fn text_of(kit: &Testkit, options: ConnectOptions, tool: &str) -> Result<String, mcpwire_driver::Error> {
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
    watched(|| {
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
                    ScriptedResponse::new().wait(Duration::from_secs(1)).ask(method, &params, |answer| {
                        answer.map(|it| it.get().to_owned()).map_err(|error| error.message)
                    })
                })
            };
            over_both(server, |kit| {
                let options = options(kit, Duration::from_secs(3), answer.clone());
                let text = text_of(kit, options, "ask").expect("it is answered");
                assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), answer, "{method}");
                assert_eq!(kit.time().elapsed(), Duration::from_secs(4));
            });
        }
    });
}

#[test]
fn steps_after_a_question_follow_those_of_its_answer() {
    watched(|| {
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
    });
}

#[test]
fn an_answer_after_the_call_was_given_up_leads_to_nothing() {
    watched(|| {
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
    });
}
