//! Handlers of the program: what they know of a request, how they wait, and when they are no longer needed. The same closures
//! and objects on every adapter.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcpwire_client::{ClientHandler, ConnectOptions, HandlerCapabilities, HandlerContext};
use mcpwire_driver::ErrorKind;
use mcpwire_driver::protocol::{ElicitAction, ElicitForm, ElicitResult, Notification, Root, RpcError, ServerRequest};
use mcpwire_tests::asynchronous::Lines;
use mcpwire_tests::{Adapter, Call, Server, on_every_adapter, server};
use serde_json::{Value, json};

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

    async fn request(
        &self,
        request: ServerRequest,
        _: HandlerContext,
    ) -> Result<mcpwire_driver::protocol::Json, RpcError> {
        by(&format!("the object, {}", request.method))
    }

    fn notification(&self, server: &str, notification: &Notification) {
        assert_eq!(server, "bad-habits");
        if matches!(notification, Notification::Log(_)) {
            self.logs.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn by(who: &str) -> Result<mcpwire_driver::protocol::Json, RpcError> {
    Ok(mcpwire_driver::protocol::Json::from_value(&json!({"by": who}))?)
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

on_every_adapter!(
    a_modern_server_names_the_call,
    a_legacy_server_names_no_call,
    a_handler_may_wait_for_another_thread,
    a_handler_notices_that_the_server_has_cancelled,
    a_handler_notices_that_the_call_has_timed_out,
    a_handler_that_waits_does_not_keep_the_caller_from_giving_up,
    an_object_answers_what_closures_do_not,
    an_object_receives_notifications,
);

#[test]
fn options_go_between_threads_and_can_be_used_again() {
    fn assert_shared<T: Send + Sync + Clone>() {}
    assert_shared::<ConnectOptions>();
}
