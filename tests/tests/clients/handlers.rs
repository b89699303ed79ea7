//! Handlers of what servers ask: which of them is asked, what it knows of the request, and the rounds of a request.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ::smol::channel::{Receiver, unbounded};
use ::smol::future::{or, zip};
use mcpwire_client::{ClientHandler, ConnectOptions, HandlerCapabilities};
use mcpwire_driver::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Json, Notification,
    Root, RpcError, ServerRequest,
};
use mcpwire_driver::{Error, ErrorKind, HandlerContext, McpClient, RequestHandler};
use mcpwire_tests::asynchronous::{Async, Host, eventually};
use mcpwire_tests::{Adapter, Answering, Call, Lines, OnDrop, Server, on_both_clients, on_every_adapter, server};
use serde_json::{Value, json};

fn options(server: &Server) -> ConnectOptions {
    ConnectOptions::new(server.config.clone())
}

/// The answer of the client to a request for this method.
fn ask_for<A: Adapter>(client: &mut A, method: &str, params: Value) -> Value {
    let arguments = Value::Object([("method".into(), method.into()), ("params".into(), params)].into_iter().collect());
    let text = client.text("ask_for", arguments);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

// Questions of a server in the middle of a call, each answered by whoever was named for it.

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

fn fill_in(form: &ElicitForm) -> Result<ElicitResult, RpcError> {
    match form.message.as_str() {
        "accept" => Ok(ElicitResult::accept(&json!({"name": "Ada"})).unwrap()),
        "decline" => Ok(ElicitResult::decline()),
        "refuse" => Err(RpcError::new(-32_099, "not now")),
        _ => Ok(ElicitResult::accept(&json!({"name": 7})).unwrap()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is a handler, which may refuse")]
fn visit(url: &ElicitUrl) -> Result<ElicitAction, RpcError> {
    assert_eq!(url.host(), Some("a.example"));
    Ok(ElicitAction::Accept)
}

#[expect(clippy::unnecessary_wraps, reason = "it is a handler, which may refuse")]
fn sample(params: &CreateMessageParams) -> Result<CreateMessageResult, RpcError> {
    let last = params.messages.items.last().map(|message| message.content.text()).unwrap_or_default();
    Ok(CreateMessageResult::text("m", format!("You said {last}")))
}

/// Answers with who it is.
struct Named(&'static str);

impl RequestHandler for Named {
    async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        by(self.0)
    }
}

fn each_question_goes_to_whoever_answers_it<A: Adapter>() {
    let server = server!("asks");
    let failed = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&failed);
    let options = options(&server)
        .on_elicitation(async |asked, _| fill_in(&asked))
        .on_url_elicitation(async |asked, _| visit(&asked))
        .on_sampling(async |asked, _| sample(&asked))
        .roots([Root::new("file:///a")])
        .answer(["vendor/first", "vendor/both"], async |_, _| by("the first"))
        .answer(["vendor/both"], Named("the second"))
        .on_answer_error(move |_, error| told.lock().unwrap().push(error.code));
    let mut client = A::open(&server.def, options);
    for (method, params, expected) in questions() {
        assert_eq!(ask_for(&mut client, method, params.clone()), expected, "{method} {params}");
    }
    assert_eq!(*failed.lock().unwrap(), FAILED);
    client.set_roots(vec![Root::new("file:///b"), Root::new("file:///c")]).expect("it is sent");
    let roots = ask_for(&mut client, "roots/list", json!({}));
    assert_eq!(roots, json!({"roots": [{"uri": "file:///b"}, {"uri": "file:///c"}]}));
    assert_eq!(client.text("roots_changed", json!({})), "1");
}

/// The client declares the capability, and has no handler for the request.
fn a_question_without_a_handler_is_refused<A: Adapter>() {
    let refused = json!({"code": -32_601, "message": "Method not found"});
    for has_roots in [false, true] {
        let mut server = server!("asks");
        server.config.answer("vendor/x");
        server.config.answer("sampling/createMessage");
        let options = options(&server);
        let options = if has_roots { options.roots([Root::new("file:///a")]) } else { options };
        let mut client = A::open(&server.def, options);
        assert_eq!(ask_for(&mut client, "vendor/x", json!({})), refused);
        assert_eq!(ask_for(&mut client, "sampling/createMessage", json!({"messages": [], "maxTokens": 1})), refused);
    }
}

// What handlers know of a request, how they wait, and when they are no longer needed.

fn form() -> Value {
    json!({"message": "?", "requestedSchema": {"type": "object", "properties": {}}, "_meta": {"key": "value"}})
}

fn named() -> ElicitResult {
    ElicitResult::accept(&json!({"name": "Ada"})).expect("it is an object")
}

/// What the handler knew: the server, the method, the tool, the method of the client's request, the `_meta`.
type Known = (String, String, Option<String>, Option<String>, Option<String>);

fn known(context: &HandlerContext) -> Known {
    let request = context.request().map(|request| request.method.to_string());
    let meta = context.meta().map(|meta| meta.get().to_owned());
    (context.server().into(), context.method().into(), context.tool().map(Into::into), request, meta)
}

fn a_modern_server_names_the_call<A: Adapter>() {
    let server = server!("rounds --modern");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let options = options(&server).roots([Root::new("file:///a")]).on_elicitation(move |_, context| {
        list.lock().unwrap().push(known(&context));
        async move { Ok(named()) }
    });
    let mut client = A::open(&server.def, options);
    client.text("interview", json!({}));
    let expected = (
        "bad-habits".to_owned(),
        "elicitation/create".to_owned(),
        Some("interview".to_owned()),
        Some("tools/call".to_owned()),
        None,
    );
    assert_eq!(*seen.lock().unwrap(), [expected.clone(), expected]);
}

fn a_legacy_server_names_no_call<A: Adapter>() {
    let server = server!("asks");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let options = options(&server).on_elicitation(move |_, context| {
        list.lock().unwrap().push(known(&context));
        async move { Ok(ElicitResult::decline()) }
    });
    let mut client = A::open(&server.def, options);
    assert_eq!(ask_for(&mut client, "elicitation/create", form()), json!({"action": "decline"}));
    let meta = Some(r#"{"key":"value"}"#.to_owned());
    assert_eq!(*seen.lock().unwrap(), [("bad-habits".to_owned(), "elicitation/create".to_owned(), None, None, meta)]);
}

/// The thread has the answer, and the client waits for both the server and the thread.
fn a_handler_may_wait_for_another_thread<A: Adapter>() {
    let server = server!("asks");
    let (answers, answer) = unbounded();
    let (asked, was_asked) = channel();
    let asked = Mutex::new(asked);
    let options = options(&server).on_elicitation(move |_, _| {
        asked.lock().unwrap().send(()).expect("the thread listens");
        let answer = answer.clone();
        async move { Ok(answer.recv().await.expect("the thread answers")) }
    });
    let person = thread::spawn(move || {
        for () in was_asked {
            // Long enough for the client to wait.
            thread::sleep(Duration::from_millis(20));
            answers.send_blocking(ElicitResult::cancel()).expect("the client listens");
        }
    });
    let mut client = A::open(&server.def, options);
    for _ in 0..3 {
        assert_eq!(ask_for(&mut client, "elicitation/create", form()), json!({"action": "cancel"}));
    }
    client.shutdown().expect("it ends");
    drop(person);
}

/// Tells when the answer is no longer needed, from a thread of its own.
fn watch(context: &HandlerContext, told: &Mutex<Sender<bool>>) {
    let (cancelled, told) = (context.cancelled(), told.lock().unwrap().clone());
    let context = context.clone();
    thread::spawn(move || {
        ::smol::block_on(cancelled);
        told.send(context.is_cancelled()).expect("the test listens");
    });
}

fn a_handler_notices_that_the_server_has_cancelled<A: Adapter>() {
    let server = server!("asks");
    let (told, cancelled) = channel();
    let told = Mutex::new(told);
    let (polled, was_polled) = channel();
    let polled = Mutex::new(polled);
    let options = options(&server).on_elicitation(move |_, context| {
        watch(&context, &told);
        let polled = polled.lock().unwrap().clone();
        async move {
            context.cancelled().await;
            polled.send(()).expect("the test listens");
            pending().await
        }
    });
    let mut client = A::open(&server.def, options);
    let ask = Call::new("ask_for").with(json!({"method": "elicitation/create", "params": form()}));
    let results = client.call_together(vec![ask, Call::new("give_up")]);
    let texts: Vec<String> = results.into_iter().map(|result| result.expect("it answers").text().to_string()).collect();
    assert_eq!(texts, ["given up", "given up"]);
    assert_eq!(cancelled.recv(), Ok(true));
    was_polled.recv().expect("the handler is polled once more");
    client.assert_alive();
}

/// On a busy machine, the time may be over before the handler is asked. Then the call is made again, with more time.
fn a_handler_notices_that_the_call_has_timed_out<A: Adapter>() {
    let server = server!("rounds --modern");
    let (told, cancelled) = channel();
    let told = Mutex::new(told);
    let (asked, given_up) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, dropped) = (Arc::clone(&asked), Arc::clone(&given_up));
    let options = options(&server).roots([Root::new("file:///a")]).on_elicitation(move |_, context| {
        count.fetch_add(1, Ordering::Relaxed);
        watch(&context, &told);
        let guard = OnDrop(Arc::clone(&dropped));
        async move {
            let _guard = guard;
            pending().await
        }
    });
    let mut client = A::open(&server.def, options);
    let mut timeouts =
        [(100, "timed out after 100 ms"), (1_000, "timed out after 1 s"), (100_000, "timed out after 100 s")]
            .into_iter();
    while asked.load(Ordering::Relaxed) == 0 {
        let (milliseconds, message) = timeouts.next().expect("the handler is asked within a minute");
        let call = Call::new("interview").total_timeout(Duration::from_millis(milliseconds));
        client.call(call).expect_err("nobody answers").assert(ErrorKind::Timeout, &[message]);
    }
    assert_eq!(cancelled.recv(), Ok(true));
    client.assert_alive();
    while !given_up.load(Ordering::SeqCst) {
        client.assert_alive();
    }
}

fn a_handler_that_waits_does_not_keep_the_caller_from_giving_up<A: Adapter>() {
    let server = server!("rounds --modern");
    let (asked, told) = (Lines::default(), channel());
    let (lines, watched) = (asked.clone(), Mutex::new(told.0));
    let options = options(&server).roots([Root::new("file:///a")]).on_elicitation(move |_, context| {
        watch(&context, &watched);
        lines.push("asked");
        pending()
    });
    let mut client = A::open(&server.def, options);
    client.call_and_cancel(Call::new("interview"), &asked, "asked").assert(ErrorKind::Cancelled, &[]);
    // Some runtimes drive the connection only while the program waits for them.
    client.assert_alive();
    assert_eq!(told.1.recv(), Ok(true));
}

/// Counts what it was asked.
#[derive(Default)]
struct Assistant {
    forms: AtomicUsize,
    logs: AtomicUsize,
}

impl ClientHandler for Assistant {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::new().form_elicitation().roots().method("vendor/both").method("vendor/object")
    }

    async fn elicit_form(&self, _: ElicitForm, context: HandlerContext) -> Result<ElicitResult, RpcError> {
        assert_eq!(context.method(), "elicitation/create");
        self.forms.fetch_add(1, Ordering::SeqCst);
        Ok(ElicitResult::of(ElicitAction::Decline))
    }

    async fn list_roots(&self, _: HandlerContext) -> Result<Vec<Root>, RpcError> {
        Ok(vec![Root::new("file:///object")])
    }

    async fn request(&self, request: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        by(&format!("the object, {}", request.method))
    }

    fn notification(&self, server: &str, notification: &Notification) {
        assert_eq!(server, "bad-habits");
        if matches!(notification, Notification::Log(_)) {
            self.logs.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn by(who: &str) -> Result<Json, RpcError> {
    Ok(Json::from_value(&json!({"by": who}))?)
}

fn an_object_answers_what_closures_do_not<A: Adapter>() {
    let server = server!("asks");
    let assistant = Arc::new(Assistant::default());
    let base = options(&server).handler(Arc::clone(&assistant));
    let both = base
        .clone()
        .on_elicitation(async |_, _| Ok(ElicitResult::cancel()))
        .answer(["vendor/both"], async |_, _| by("the closure"));
    let roots = json!({"roots": [{"uri": "file:///object"}]});
    let refused = json!({"code": -32_601, "message": "Method not found"});
    for (options, action, who) in [(base, "decline", "the object, vendor/both"), (both, "cancel", "the closure")] {
        let mut client = A::open(&server.def, options);
        assert_eq!(ask_for(&mut client, "elicitation/create", form()), json!({ "action": action }));
        assert_eq!(ask_for(&mut client, "vendor/both", json!({})), json!({ "by": who }));
        assert_eq!(ask_for(&mut client, "vendor/object", json!({})), json!({"by": "the object, vendor/object"}));
        assert_eq!(ask_for(&mut client, "roots/list", json!({})), roots);
        assert_eq!(ask_for(&mut client, "vendor/none", json!({})), refused);
        client.shutdown().expect("it ends");
    }
    assert_eq!(assistant.forms.load(Ordering::SeqCst), 1, "the program has the same object");
}

fn an_object_receives_notifications<A: Adapter>() {
    let server = server!("floods-notifications 20");
    let assistant = Arc::new(Assistant::default());
    let mut client = A::open(&server.def, options(&server).handler(Arc::clone(&assistant)));
    client.assert_alive();
    client.shutdown().expect("it ends");
    assert!(assistant.logs.load(Ordering::SeqCst) > 0);
}

#[test]
fn options_go_between_threads_and_can_be_used_again() {
    fn assert_shared<T: Send + Sync + Clone>() {}
    assert_shared::<ConnectOptions>();
}

// A modern server wants input before it answers: it gets it, and its client sees one call.

fn knows(ask: &ServerRequest) -> Result<Json, RpcError> {
    let answer = match ask.method.as_str() {
        "roots/list" => r#"{"roots":[]}"#,
        _ => r#"{"action":"accept","content":{"name":"x"}}"#,
    };
    Json::parse(answer).map_err(|error| RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()))
}

/// A server with rounds, whose client answers so.
fn rounds(answer: Answering) -> Server {
    let mut server = server!("rounds --modern");
    for method in ["roots/list", "elicitation/create"] {
        server.config.answer(method);
    }
    server.heard.answer = Some(answer);
    server
}

fn a_call_of_three_rounds_is_one_call<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let text = client.text("interview", json!({}));
    let (first, second) = text.split_once(" then ").expect("two answers");
    let first: Value = serde_json::from_str(first).expect("it is JSON");
    assert_eq!((&first["who"]["content"]["name"], &first["where"]["roots"]), (&json!("x"), &json!([])), "{text}");
    assert_eq!(second, r#"{"who":{"action":"accept","content":{"name":"x"}}}"#);
    assert_eq!(*server.heard.asked.lock().unwrap(), ["roots/list", "elicitation/create", "elicitation/create"]);
    client.assert_alive();
}

fn what_is_refused_fails_the_call<A: Adapter>() {
    let server = rounds(|_| Err(RpcError::new(-1, "not from here")));
    let mut client = server.open::<A>();
    client.failure("interview").assert(ErrorKind::Input, &["tools/call", "roots/list", "`where`", "not from here"]);
    assert!(!server.heard.asked.lock().unwrap().is_empty());
    client.assert_alive();
}

fn a_server_that_never_has_enough_fails_its_call<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    client.failure("endless").assert(ErrorKind::Input, &["sent again 10 times"]);
    client.failure("asks-too-much").assert(ErrorKind::Protocol, &["inputs at once"]);
    client.assert_alive();
}

fn a_second_round_is_given_up<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let failure = client.call_and_cancel(Call::new("leaves"), &server.heard.stderr, "let me think");
    assert_eq!(failure.kind, ErrorKind::Cancelled, "{failure}");
    client.assert_alive();
}

fn a_server_that_dies_between_two_rounds<A: Adapter>() {
    for tool in ["dies", "asks-and-dies"] {
        let server = rounds(knows);
        let failure = server.open::<A>().failure(tool);
        failure.assert(ErrorKind::Closed, &["tools/call"]);
    }
}

// Handlers of async clients, which are dropped when nobody waits for their answers any more.

/// Options whose handler of elicitations tells when it is called, thinks for ever, and tells when it is dropped.
fn pondering<H: Host>(options: ConnectOptions) -> (ConnectOptions, Receiver<()>, Arc<AtomicBool>) {
    let given_up = Arc::new(AtomicBool::new(false));
    let (asked, was_asked) = unbounded();
    let dropped = Arc::clone(&given_up);
    let options = options.on_elicitation(move |_, _| {
        let (asked, guard) = (asked.clone(), OnDrop(Arc::clone(&dropped)));
        async move {
            let _guard = guard;
            H::sleep(Duration::from_millis(1)).await;
            asked.send(()).await.expect("the test listens");
            pending().await
        }
    });
    (options, was_asked, given_up)
}

async fn ask_for_input<R>(client: &McpClient<R>) -> Result<String, Error> {
    let arguments = json!({"method": "elicitation/create", "params": form()});
    client.call_tool("ask_for", &arguments).await.map(|result| result.text().to_string())
}

/// Other calls go on while a person thinks; and when the server takes its question back, nobody thinks any more.
fn a_question_that_is_thought_about_holds_up_nobody_and_can_be_taken_back<H: Host>() {
    let server = server!("asks");
    let (options, was_asked, given_up) = pondering::<H>(options(&server));
    Async::<H>::open(&server.def, options).run(async |client| {
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
        let (told, ()) = zip(ask_for_input(&client), others).await;
        assert_eq!(told.expect("it answers"), "given up");
        assert!(given_up.load(Ordering::SeqCst), "the answer is not thought about any more");
        assert_eq!(client.call_tool("answered", json!({})).await.expect("it answers").text().as_str(), "0");
    });
}

/// Nothing waits for an answer: neither what else there is to do, nor the end.
fn an_answer_that_never_comes_is_given_up_at_the_end<H: Host>() {
    let server = server!("asks");
    let (options, was_asked, given_up) = pondering::<H>(options(&server));
    Async::<H>::open(&server.def, options).run(async |client| {
        let end = async {
            was_asked.recv().await.expect("it is asked");
            assert!(!given_up.load(Ordering::SeqCst));
            client.shutdown().await.expect("it ends");
        };
        let (outcome, ()) = zip(ask_for_input(&client), end).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Closed);
    });
    assert!(given_up.load(Ordering::SeqCst));
}

/// The call waits for input, and ends because it is dropped or because its server dies.
fn a_call_that_ends_takes_its_questions_with_it<H: Host>() {
    for dies in [false, true] {
        let server = server!("rounds --modern");
        let (options, was_asked, given_up) = pondering::<H>(options(&server).roots([Root::new("file:///a")]));
        Async::<H>::open(&server.def, options).run(async |client| {
            let mut call = Box::pin(client.call_tool("interview", ()).send());
            let asked = async {
                let () = was_asked.recv().await.expect("it is asked");
                Err(())
            };
            or(async { Ok(call.as_mut().await.map(drop)) }, asked).await.expect_err("nobody answers");
            if dies {
                server.kill(client.pid().expect("it is a process"));
                assert_eq!(call.await.expect_err("it is gone").kind(), ErrorKind::Closed);
            } else {
                drop(call);
                client.call_tool("echo", ()).await.expect("it answers");
            }
            eventually::<H>(|| given_up.load(Ordering::SeqCst)).await;
        });
    }
}

mod dropped {
    use super::{
        a_call_that_ends_takes_its_questions_with_it,
        a_question_that_is_thought_about_holds_up_nobody_and_can_be_taken_back,
        an_answer_that_never_comes_is_given_up_at_the_end,
    };

    mcpwire_tests::on_every_async_adapter!(
        a_question_that_is_thought_about_holds_up_nobody_and_can_be_taken_back,
        an_answer_that_never_comes_is_given_up_at_the_end,
        a_call_that_ends_takes_its_questions_with_it,
    );
}

on_every_adapter!(
    each_question_goes_to_whoever_answers_it,
    a_handler_may_wait_for_another_thread,
    a_handler_notices_that_the_call_has_timed_out,
);

on_both_clients!(
    a_question_without_a_handler_is_refused,
    a_modern_server_names_the_call,
    a_legacy_server_names_no_call,
    a_handler_notices_that_the_server_has_cancelled,
    a_handler_that_waits_does_not_keep_the_caller_from_giving_up,
    an_object_answers_what_closures_do_not,
    an_object_receives_notifications,
    a_call_of_three_rounds_is_one_call,
    what_is_refused_fails_the_call,
    a_server_that_never_has_enough_fails_its_call,
    a_second_round_is_given_up,
    a_server_that_dies_between_two_rounds,
);
