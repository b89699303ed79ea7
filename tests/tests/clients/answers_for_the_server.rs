//! What a server asks its client for is answered by the program, in its own time.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::smol::future::zip;
use mcpwire_driver::protocol::{Json, RpcError, ServerRequest};
use mcpwire_driver::{ErrorKind, HandlerContext, RequestHandler};
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{OnDrop, on_every_async_adapter, server};

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

on_every_async_adapter!(
    an_answer_may_take_its_time,
    an_answer_may_be_a_refusal,
    an_answer_that_never_comes_is_given_up_at_the_end,
);

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
