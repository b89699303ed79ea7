//! Handlers of what servers ask: what they know of the request, and the rounds of a request.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcpwire_client::{ClientHandler, ConnectOptions, HandlerCapabilities};
use mcpwire_driver::protocol::{
    ElicitAction, ElicitForm, ElicitResult, Json, Notification, Root, RpcError, ServerRequest,
};
use mcpwire_driver::{ErrorKind, HandlerContext, RequestHandler};
use mcpwire_tests::asynchronous::{Async, Host, Lines, begun, eventually};
use mcpwire_tests::{Adapter, Answering, Call, OnDrop, Server, on_every_adapter, server};
use serde_json::{Value, json};

// Handlers of the program: what they know of a request, how they wait, and when they are no longer needed. The same closures
// and objects on every adapter.

fn open<A: Adapter>(server: &Server, options: ConnectOptions) -> A {
    let mut client = A::connect_with(&server.def, options).expect("it starts");
    client.initialize().expect("it answers");
    client
}

fn options(server: &Server) -> ConnectOptions {
    ConnectOptions::new(server.config.clone())
}

/// The answer of the client to a request for this method.
fn ask_for<A: Adapter>(client: &mut A, method: &str, params: Value) -> Value {
    let arguments = Value::Object([("method".into(), method.into()), ("params".into(), params)].into_iter().collect());
    let text = client.text("ask_for", arguments);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

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
    let mut client = open::<A>(&server, options);
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
    let mut client = open::<A>(&server, options);
    assert_eq!(ask_for(&mut client, "elicitation/create", form()), json!({"action": "decline"}));
    let meta = Some(r#"{"key":"value"}"#.to_owned());
    assert_eq!(*seen.lock().unwrap(), [("bad-habits".to_owned(), "elicitation/create".to_owned(), None, None, meta)]);
}

/// The thread has the answer, and the client waits for both the server and the thread.
fn a_handler_may_wait_for_another_thread<A: Adapter>() {
    let server = server!("asks");
    let (answers, answer) = ::smol::channel::unbounded();
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
    let mut client = open::<A>(&server, options);
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
    let mut client = open::<A>(&server, options);
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
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let options = options(&server).roots([Root::new("file:///a")]).on_elicitation(move |_, context| {
        count.fetch_add(1, Ordering::Relaxed);
        watch(&context, &told);
        pending()
    });
    let mut client = open::<A>(&server, options);
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
    let mut client = open::<A>(&server, options);
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
        let mut client = open::<A>(&server, options);
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
    let mut client = open::<A>(&server, options(&server).handler(Arc::clone(&assistant)));
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
    rounds_with(&["roots/list", "elicitation/create"], answer)
}

/// The same, of a client that answers these methods.
fn rounds_with(methods: &[&str], answer: Answering) -> Server {
    let mut server = server!("rounds --modern");
    for method in methods {
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

fn prompts_resources_and_raw_requests_have_rounds<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let prompt = client.request_raw("prompts/get", Some(json!({"name": "p"}))).expect("it is answered");
    assert!(prompt.contains("prompted"), "{prompt}");
    let resource = client.request_raw("resources/read", Some(json!({"uri": "a:b"}))).expect("it is answered");
    assert!(resource.contains("read"), "{resource}");
    let call = client.request_raw("tools/call", Some(json!({"name": "large-state"}))).expect("it is answered");
    assert!(call.contains("it is the same"), "{call}");
    assert_eq!(server.heard.asked.lock().unwrap().len(), 3);
}

fn a_state_of_a_mebibyte_goes_back_as_it_came<A: Adapter>() {
    let server = rounds(knows);
    assert_eq!(server.open::<A>().text("large-state", json!({})), "it is the same");
}

fn what_is_refused_fails_the_call<A: Adapter>() {
    let server = rounds(|_| Err(RpcError::new(-1, "not from here")));
    let mut client = server.open::<A>();
    client.failure("interview").assert(ErrorKind::Input, &["tools/call", "roots/list", "`where`", "not from here"]);
    assert!(!server.heard.asked.lock().unwrap().is_empty());
    client.assert_alive();
}

fn what_is_not_offered_fails_the_call<A: Adapter>() {
    let server = rounds_with(&["elicitation/create"], knows);
    let mut client = server.open::<A>();
    client.failure("interview").assert(ErrorKind::Input, &["roots/list", "`where`", "does not answer"]);
    assert!(server.heard.asked.lock().unwrap().is_empty(), "nobody is asked for the rest");
    client.assert_alive();
}

fn a_server_that_never_has_enough_fails_its_call<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    client.failure("endless").assert(ErrorKind::Input, &["sent again 10 times"]);
    client.failure("asks-too-much").assert(ErrorKind::Protocol, &["inputs at once"]);
    client.assert_alive();
}

fn a_second_round_that_is_silent_times_out<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let failure = client.call(Call::new("leaves").timeout(Duration::from_millis(50))).expect_err("it is silent");
    failure.assert(ErrorKind::Timeout, &["tools/call", "50 ms"]);
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

fn calls_with_rounds_do_not_mix<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let tools = ["interview", "large-state", "echo", "interview", "endless"];
    let results = client.call_together(tools.map(Call::new).to_vec());
    assert_eq!(results.len(), tools.len());
    for (tool, result) in tools.iter().zip(results) {
        match result {
            Ok(result) if *tool == "interview" => assert!(result.text().to_string().contains(" then ")),
            Ok(result) => assert!(["it is the same", ""].contains(&&*result.text().to_string()), "{tool}"),
            Err(failure) => assert!(*tool == "endless" && failure.kind == ErrorKind::Input, "{tool}: {failure}"),
        }
    }
}

/// A person who never comes to an answer.
struct Ponders {
    asked: Arc<AtomicBool>,
    given_up: Arc<AtomicBool>,
}

impl RequestHandler for Ponders {
    async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        let _given_up = OnDrop(Arc::clone(&self.given_up));
        self.asked.store(true, Ordering::SeqCst);
        pending().await
    }
}

/// A client whose person is about to be asked, and what is known of that.
fn pondering<H: Host>(server: &Server) -> (Async<H>, Arc<AtomicBool>, Arc<AtomicBool>) {
    let (asked, given_up) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let answer = Ponders { asked: Arc::clone(&asked), given_up: Arc::clone(&given_up) };
    let mut client = Async::<H>::start_with(server, |options| {
        let methods = options.config().answers().to_vec();
        options.answer(methods, answer)
    });
    client.initialize().expect("it answers");
    (client, asked, given_up)
}

fn a_call_that_is_dropped_takes_its_questions_with_it<H: Host>() {
    let server = rounds(knows);
    let (mut client, asked, given_up) = pondering::<H>(&server);
    client.run(async |client| {
        let mut call = Box::pin(client.call_tool("interview", ()).send());
        assert!(begun(&mut call).await.is_none());
        eventually::<H>(|| asked.load(Ordering::SeqCst)).await;
        drop(call);
        eventually::<H>(|| given_up.load(Ordering::SeqCst)).await;
    });
    client.assert_alive();
}

fn the_total_deadline_runs<H: Host>() {
    let server = rounds(knows);
    let (mut client, asked, given_up) = pondering::<H>(&server);
    let call = Call::new("interview").total_timeout(Duration::from_millis(300));
    client.call(call).expect_err("nobody answers").assert(ErrorKind::Timeout, &["timed out after 300 ms"]);
    client.run(async |_| eventually::<H>(|| given_up.load(Ordering::SeqCst)).await);
    assert!(asked.load(Ordering::SeqCst), "the pause began");
    client.assert_alive();
}

fn the_end_of_the_server_ends_it<H: Host>() {
    let server = rounds(knows);
    let (mut client, asked, given_up) = pondering::<H>(&server);
    let pid = client.pid();
    client.run(async |client| {
        let mut call = Box::pin(client.call_tool("interview", ()).send());
        assert!(begun(&mut call).await.is_none());
        eventually::<H>(|| asked.load(Ordering::SeqCst)).await;
        server.kill(pid);
        assert_eq!(call.await.expect_err("it is gone").kind(), ErrorKind::Closed);
        eventually::<H>(|| given_up.load(Ordering::SeqCst)).await;
    });
}

mod in_the_pause {
    use super::{
        a_call_that_is_dropped_takes_its_questions_with_it, the_end_of_the_server_ends_it, the_total_deadline_runs,
    };

    mcpwire_tests::on_every_async_adapter!(
        a_call_that_is_dropped_takes_its_questions_with_it,
        the_total_deadline_runs,
        the_end_of_the_server_ends_it,
    );
}

on_every_adapter!(
    a_modern_server_names_the_call,
    a_legacy_server_names_no_call,
    a_handler_may_wait_for_another_thread,
    a_handler_notices_that_the_server_has_cancelled,
    a_handler_notices_that_the_call_has_timed_out,
    a_handler_that_waits_does_not_keep_the_caller_from_giving_up,
    an_object_answers_what_closures_do_not,
    an_object_receives_notifications,
    a_call_of_three_rounds_is_one_call,
    prompts_resources_and_raw_requests_have_rounds,
    a_state_of_a_mebibyte_goes_back_as_it_came,
    what_is_refused_fails_the_call,
    what_is_not_offered_fails_the_call,
    a_server_that_never_has_enough_fails_its_call,
    a_second_round_that_is_silent_times_out,
    a_second_round_is_given_up,
    a_server_that_dies_between_two_rounds,
    calls_with_rounds_do_not_mix,
);
