//! What servers ask is answered by the program.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::smol::future::zip;
use mcpwire_driver::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Json, Root, RpcError,
    ServerRequest,
};
use mcpwire_driver::{ConnectOptions, ErrorKind, HandlerContext, McpClient, RequestHandler};
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{OnDrop, Server, on_every_async_adapter, server, watched};
use serde_json::{Value, json};

// Questions of a server in the middle of a call, each answered by whoever was named for it, on every adapter.

/// What is asked, and what the server is answered.
fn questions() -> Vec<(&'static str, Value, Value)> {
    let form = |message: &str| {
        let properties = json!({"name": {"type": "string"}, "age": {"type": "integer", "default": 3}});
        json!({"message": message, "requestedSchema": {"type": "object", "properties": properties, "required": ["name"]}})
    };
    let messages = json!([{"role": "user", "content": {"type": "text", "text": "Hi"}}]);
    let said = json!({"role": "assistant", "content": {"type": "text", "text": "You said Hi"}, "model": "m", "stopReason": "endTurn"});
    let error = |code: i64, message: &str| json!({"code": code, "message": message});
    vec![
        ("elicitation/create", form("accept"), json!({"action": "accept", "content": {"name": "Ada", "age": 3}})),
        ("elicitation/create", form("decline"), json!({"action": "decline"})),
        ("elicitation/create", form("refuse"), error(-32_099, "not now")),
        (
            "elicitation/create",
            form("a wrong answer"),
            error(-32_603, "the client's answer does not fit the form: `name` must be a string, not a number"),
        ),
        (
            "elicitation/create",
            json!({"message": "no schema"}),
            error(-32_602, "the parameters of `elicitation/create` cannot be read: `requestedSchema` is missing"),
        ),
        (
            "elicitation/create",
            json!({"mode": "url", "message": "x", "url": "https://a.example"}),
            json!({"action": "accept"}),
        ),
        ("sampling/createMessage", json!({"messages": messages, "maxTokens": 5}), said),
        (
            "sampling/createMessage",
            json!({"messages": messages, "maxTokens": 5, "tools": []}),
            error(-32_602, "this client has not declared `sampling.tools`"),
        ),
        ("roots/list", json!({}), json!({"roots": [{"uri": "file:///a"}]})),
        ("vendor/first", json!({}), json!({"by": "the first"})),
        ("vendor/both", json!({}), json!({"by": "the second"})),
        ("vendor/none", json!({}), error(-32_601, "Method not found")),
    ]
}

/// Those that could not be answered, as the program is told.
const FAILED: [i64; 3] = [-32_099, -32_603, -32_602];

fn form(form: &ElicitForm) -> Result<ElicitResult, RpcError> {
    match form.message.as_str() {
        "accept" => Ok(ElicitResult::accept(&json!({"name": "Ada"})).unwrap()),
        "decline" => Ok(ElicitResult::decline()),
        "refuse" => Err(RpcError::new(-32_099, "not now")),
        _ => Ok(ElicitResult::accept(&json!({"name": 7})).unwrap()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is a handler, which may refuse")]
fn url(url: &ElicitUrl) -> Result<ElicitAction, RpcError> {
    assert_eq!(url.host(), Some("a.example"));
    Ok(ElicitAction::Accept)
}

#[expect(clippy::unnecessary_wraps, reason = "it is a handler, which may refuse")]
fn sample(params: &CreateMessageParams) -> Result<CreateMessageResult, RpcError> {
    let last = params.messages.items.last().map(|message| message.content.text()).unwrap_or_default();
    Ok(CreateMessageResult::text("m", format!("You said {last}")))
}

fn by(who: &str) -> Json {
    Json::from_value(&json!({"by": who})).unwrap()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn blocking() {
    watched(|| {
        let server = server!("asks");
        let failed = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&failed);
        let options = ConnectOptions::new(server.config.clone())
            .on_elicitation(async |asked, _| form(&asked))
            .on_url_elicitation(async |asked, _| url(&asked))
            .on_sampling(async |asked, _| sample(&asked))
            .roots([Root::new("file:///a")])
            .answer(["vendor/first", "vendor/both"], async |_, _| Ok(by("the first")))
            .answer(["vendor/both"], async |_, _| Ok(by("the second")))
            .on_answer_error(move |_, error| told.lock().unwrap().push(error.code));
        let mut client = mcpwire_blocking::McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        for (method, params, expected) in questions() {
            let arguments = json!({"method": method, "params": params});
            let told = client.call_tool("ask_for", &arguments).send().expect("it answers").text().to_string();
            assert_eq!(parse(&told), expected, "{method} {params}");
        }
        assert_eq!(*failed.lock().unwrap(), FAILED);
        client.set_roots([Root::new("file:///b"), Root::new("file:///c")]).expect("it is sent");
        let told =
            client.call_tool("ask_for", json!({"method": "roots/list"})).send().expect("it answers").text().to_string();
        assert_eq!(parse(&told), json!({"roots": [{"uri": "file:///b"}, {"uri": "file:///c"}]}));
        assert_eq!(client.call_tool("roots_changed", json!({})).send().expect("it answers").text().as_str(), "1");
        client.shutdown().expect("it ends");
    });
}

/// Answers with who it is.
struct Named(&'static str);

impl RequestHandler for Named {
    async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        Ok(by(self.0))
    }
}

fn each_question_goes_to_whoever_answers_it<H: Host>() {
    let server = server!("asks");
    let failed = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&failed);
    let mut client = start::<H>(&server, |options| {
        options
            .on_elicitation(|asked, _| async move {
                H::sleep(Duration::from_millis(1)).await;
                form(&asked)
            })
            .on_url_elicitation(|asked, _| async move { url(&asked) })
            .on_sampling(|asked, _| async move { sample(&asked) })
            .roots([Root::new("file:///a")])
            .answer(["vendor/first", "vendor/both"], Named("the first"))
            .answer(["vendor/both"], Named("the second"))
            .on_answer_error(move |_, error| told.lock().unwrap().push(error.code))
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        for (method, params, expected) in questions() {
            let told = ask_for(&client, method, &params).await;
            assert_eq!(parse(&told), expected, "{method} {params}");
        }
        client.set_roots([Root::new("file:///b"), Root::new("file:///c")]).expect("it is sent");
        let roots = parse(&ask_for(&client, "roots/list", &json!({})).await);
        assert_eq!(roots, json!({"roots": [{"uri": "file:///b"}, {"uri": "file:///c"}]}));
        assert_eq!(client.call_tool("roots_changed", json!({})).await.expect("it answers").text().as_str(), "1");
    });
    assert_eq!(*failed.lock().unwrap(), FAILED);
}

/// The client declares the capability, and has no handler for the request.
fn a_question_without_a_handler_is_refused<H: Host>() {
    let refused = json!({"code": -32_601, "message": "Method not found"});
    for roots in [None, Some(Root::new("file:///a"))] {
        let mut server = server!("asks");
        server.config.answer("vendor/x");
        server.config.answer("sampling/createMessage");
        let mut client = start::<H>(&server, |options| {
            let options = ConnectOptions::new(options.config().clone());
            match roots {
                Some(root) => options.roots([root]),
                None => options,
            }
        });
        client.run(async |client| {
            client.initialize().await.expect("it answers");
            assert_eq!(parse(&ask_for(&client, "vendor/x", &json!({})).await), refused);
            let params = json!({"messages": [], "maxTokens": 1});
            assert_eq!(parse(&ask_for(&client, "sampling/createMessage", &params).await), refused);
        });
    }
}

/// Other calls go on while a person thinks; and when the server takes its question back, nobody thinks any more.
fn a_question_that_is_thought_about_holds_up_nobody_and_can_be_taken_back<H: Host>() {
    let server = server!("asks");
    let given_up = Arc::new(AtomicBool::new(false));
    let (asked, was_asked) = ::smol::channel::unbounded();
    let dropped = Arc::clone(&given_up);
    let mut client = start::<H>(&server, |options| {
        options.on_elicitation(move |_, _| {
            let (asked, guard) = (asked.clone(), OnDrop(Arc::clone(&dropped)));
            async move {
                let _guard = guard;
                asked.send(()).await.expect("the test listens");
                pending().await
            }
        })
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        let params = json!({"message": "?", "requestedSchema": {}});
        let others = async {
            was_asked.recv().await.expect("it is asked");
            for n in 0..3 {
                let message = format!("{n}");
                let echoed = client.call_tool("echo", json!({ "message": message })).await.expect("it answers");
                assert_eq!(echoed.text().as_str(), message);
            }
            assert!(!given_up.load(Ordering::SeqCst), "it is still thought about");
            client.call_tool("give_up", json!({})).await.expect("it answers");
        };
        let (told, ()) = zip(ask_for(&client, "elicitation/create", &params), others).await;
        assert_eq!(told, "given up");
        assert!(given_up.load(Ordering::SeqCst), "the answer is not thought about any more");
        assert_eq!(client.call_tool("answered", json!({})).await.expect("it answers").text().as_str(), "0");
    });
}

fn start<H: Host>(server: &Server, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Async<H> {
    Async::<H>::start_with(server, change)
}

async fn ask_for<R>(client: &McpClient<R>, method: &str, params: &Value) -> String {
    let arguments = json!({"method": method, "params": params});
    client.call_tool("ask_for", &arguments).await.expect("it answers").text().to_string()
}

// What a server asks its client for is answered by the program, in its own time.

/// Thinks, then answers with what the server asked for.
struct Thinks<H>(std::marker::PhantomData<fn() -> H>);

impl<H: Host> RequestHandler for Thinks<H> {
    async fn handle(&self, ask: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        H::sleep(Duration::from_millis(20)).await;
        Json::parse(format!(r#"{{"asked":"{}"}}"#, ask.method))
            .map_err(|error| RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()))
    }
}

/// Refuses, and says so with a code of its own.
struct Refuses;

impl RequestHandler for Refuses {
    async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        Err(RpcError::new(-32_099, "not from here"))
    }
}

/// Never comes to an answer.
struct Ponders {
    asked: ::smol::channel::Sender<()>,
    given_up: Arc<AtomicBool>,
}

impl RequestHandler for Ponders {
    async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        let _given_up = OnDrop(Arc::clone(&self.given_up));
        self.asked.send(()).await.expect("the test listens");
        pending().await
    }
}

fn an_answer_may_take_its_time<H: Host>() {
    let told = ask::<H>(Thinks::<H>(std::marker::PhantomData));
    assert_eq!(told, "ping: result; roots/list: result; vendor/never-heard-of: result");
}

fn an_answer_may_be_a_refusal<H: Host>() {
    assert_eq!(ask::<H>(Refuses), "ping: result; roots/list: error -32099; vendor/never-heard-of: error -32099");
}

/// Nothing waits for an answer: neither what else there is to do, nor the end.
fn an_answer_that_never_comes_is_given_up_at_the_end<H: Host>() {
    let server = server!("asks");
    let given_up = Arc::new(AtomicBool::new(false));
    let (asked, was_asked) = ::smol::channel::unbounded();
    let answer = Ponders { asked, given_up: Arc::clone(&given_up) };
    let mut client = Async::<H>::start_with(&server, |options| options.answer(["roots/list"], answer));
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        let end = async {
            was_asked.recv().await.expect("it is asked");
            assert!(!given_up.load(Ordering::SeqCst));
            client.shutdown().await.expect("it ends");
        };
        let (outcome, ()) = zip(client.call_tool("ask", ()).send(), end).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Closed);
    });
    assert!(given_up.load(Ordering::SeqCst));
}

/// What the server says it was answered.
fn ask<H: Host>(answer: impl RequestHandler) -> String {
    let server = server!("asks");
    let mut client =
        Async::<H>::start_with(&server, |options| options.answer(["roots/list", "vendor/never-heard-of"], answer));
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        client.call_tool("ask", ()).await.expect("it is answered").text().to_string()
    })
}

on_every_async_adapter!(
    each_question_goes_to_whoever_answers_it,
    a_question_without_a_handler_is_refused,
    a_question_that_is_thought_about_holds_up_nobody_and_can_be_taken_back,
    an_answer_may_take_its_time,
    an_answer_may_be_a_refusal,
    an_answer_that_never_comes_is_given_up_at_the_end,
);
