//! In async clients.

use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use ::smol::future::{FutureExt as _, zip};
use mcpwire_driver::protocol::{CallError, InputError, Json, RpcError, ServerRequest, TraceContext};
use mcpwire_driver::{ConnectOptions, HandlerContext, McpClient, RequestHandler, TraceSource};
use mcpwire_tests::asynchronous::{Async, Host, begun, eventually};
use mcpwire_tests::{Server, on_every_async_adapter, server};
use serde_json::{Value, json};

use super::{CALLBACKS, INTERNAL, OF_THE_HANDLER, Told, ask, panics_at_times, refusal};

/// Panics once it has thought for a while, if it is to think at all.
struct Thinks<H> {
    time: Option<Duration>,
    host: PhantomData<fn() -> H>,
}

impl<H: Host> RequestHandler for Thinks<H> {
    async fn handle(&self, request: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        if let Some(time) = self.time {
            H::sleep(time).await;
        }
        panics_at_times(&request)
    }
}

fn the_program_is_told_of_its_handlers<H: Host>() {
    for time in [None, Some(Duration::from_millis(1))] {
        let server = server!("asks");
        let told = Told::default();
        let errors = told.clone();
        let mut client = start::<H>(&server, |options| {
            options
                .answer(["roots/list"], Thinks::<H> { time, host: PhantomData })
                .on_panic(told.hear())
                .on_answer_error(move |ask, error| {
                    errors.push(refusal(ask, error));
                    panic!("once more");
                })
        });
        client.run(async |client| {
            client.initialize().await.expect("it answers");
            assert_eq!(ask_and_echo(&client, ask(true).arguments).await, INTERNAL);
            assert_eq!(ask_and_echo(&client, ask(false).arguments).await, r#"{"roots":[]}"#);
        });
        assert_eq!(
            told.all(),
            [
                OF_THE_HANDLER,
                &format!("roots/list: {OF_THE_HANDLER} (code -32603)"),
                "the callback `on_answer_error` panicked: once more",
            ]
        );
    }
}

/// The call of a handler panics, or the future that it gives.
fn both_parts_of_a_handler_may_panic<H: Host>() {
    let server = server!("asks");
    let mut client = start::<H>(&server, |options| {
        options.on_elicitation(|form, _| {
            assert_ne!(form.message, "at once", "the handler's secret");
            async move {
                H::sleep(Duration::from_millis(1)).await;
                panic!("the handler's secret, {}", form.message)
            }
        })
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        for message in ["at once", "later", "at once"] {
            let schema = json!({"type": "object", "properties": {}});
            let params = json!({"message": message, "requestedSchema": schema});
            let arguments = json!({"method": "elicitation/create", "params": params});
            assert_eq!(ask_and_echo(&client, arguments).await, INTERNAL, "{message}");
        }
    });
}

fn the_error_of_the_modern_call_has_the_message<H: Host>() {
    let server = server!("rounds --modern");
    let told = Told::default();
    let mut client = start::<H>(&server, |options| {
        options
            .answer(["roots/list"], Thinks::<H> { time: None, host: PhantomData })
            .on_elicitation(async |_, _| panic!("of a person"))
            .on_panic(told.hear())
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        let mut other = Box::pin(client.call_tool("ponder", ()).send());
        assert!(begun(&mut other).await.is_none());
        let error = client.call_tool("interview", ()).await.expect_err("it has no input");
        let Some(CallError::Input { error, .. }) = error.call_error() else { panic!("{error}") };
        let expected = InputError::Panicked {
            name: "who".into(),
            asked: "elicitation/create".into(),
            message: "of a person".into(),
        };
        assert_eq!(**error, expected);
        assert!(begun(&mut other).await.is_none(), "it waits as before");
    });
    assert_eq!(told.all(), ["the handler of `elicitation/create` panicked: of a person"]);
}

fn what_a_callback_panics_on_is_left_out<H: Host>() {
    let server = server!("well-behaved");
    let told = Told::default();
    let mut client = start::<H>(&server, |options| {
        options
            .stderr(|_| panic!("of a line"))
            .trace(|_, _| panic!("of a message"))
            .on_notification(|_| panic!("of a notification"))
            .trace_context(TraceSource::new(|| -> Option<TraceContext> { panic!("of a trace") }))
            .on_panic(|_| panic!("nobody is told of this"))
            .on_panic(told.hear())
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        let mut ponder = Box::pin(client.call_tool("ponder", ()).send());
        assert!(begun(&mut ponder).await.is_none());
        eventually::<H>(|| told.all().iter().any(|line| line.contains("of a line"))).await;
        let result = client.call_tool("echo", json!({"message": "well"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "well");
        assert!(begun(&mut ponder).await.is_none(), "it waits as before");
        client.shutdown().await.expect("it ends");
    });
    told.assert(&CALLBACKS[1..]);
}

fn a_callback_of_a_call_panics_in_the_task_of_the_call<H: Host>() {
    let server = server!("floods-notifications 50");
    server.open::<Async<H>>().run(async |client| {
        let other = client.call_tool("echo", json!({"message": "other"})).send();
        let call = client.call_tool("echo", json!({"message": "well"})).on_progress(|_| panic!("on purpose")).send();
        let (panic, other) = zip(AssertUnwindSafe(call).catch_unwind(), other).await;
        assert_eq!(panic.expect_err("it panics").downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(other.expect("it answers").text().as_str(), "other");
        assert_eq!(client.in_flight(), 0);
        assert_eq!(client.call_tool("echo", json!({"message": "on"})).await.expect("it answers").text().as_str(), "on");
    });
}

on_every_async_adapter!(
    the_program_is_told_of_its_handlers,
    both_parts_of_a_handler_may_panic,
    the_error_of_the_modern_call_has_the_message,
    what_a_callback_panics_on_is_left_out,
    a_callback_of_a_call_panics_in_the_task_of_the_call,
);

fn start<H: Host>(server: &Server, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Async<H> {
    Async::<H>::start_with(server, change)
}

/// Lets the server ask something while another call is under way. What it was answered.
async fn ask_and_echo<R>(client: &McpClient<R>, arguments: Value) -> String {
    let others = async {
        for n in 0..3 {
            let message = n.to_string();
            let result = client.call_tool("echo", json!({"message": message})).await.expect("it answers");
            assert_eq!(result.text().as_str(), message);
        }
    };
    let (told, ()) = zip(client.call_tool("ask_for", &arguments).send(), others).await;
    told.expect("it answers").text().to_string()
}
