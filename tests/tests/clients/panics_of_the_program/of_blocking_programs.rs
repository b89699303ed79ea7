//! In the blocking client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mcpwire_blocking::protocol::{CallTool, CallToolParams, RequestOptions, ServerRequest, TraceContext};
use mcpwire_blocking::{ConnectOptions, McpClient, TraceSource};
use mcpwire_tests::{server, watched};
use serde_json::json;

use super::{CALLBACKS, INTERNAL, OF_THE_HANDLER, Told, ask, panics_at_times, refusal};

#[test]
fn tells_the_program_of_its_handlers() {
    watched(|| {
        let server = server!("asks");
        let told = Told::default();
        let errors = told.clone();
        let options = ConnectOptions::new(server.config.clone())
            .answer(["roots/list"], async |request: ServerRequest, _| panics_at_times(&request))
            .on_panic(told.hear())
            .on_answer_error(move |ask, error| {
                errors.push(refusal(ask, error));
                panic!("once more");
            });
        let mut client = McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        let result = client.call_tool("ask_for", ask(true).arguments).send().expect("it answers");
        assert_eq!(result.text().as_str(), INTERNAL);
        assert_eq!(
            told.all(),
            [
                OF_THE_HANDLER,
                &format!("roots/list: {OF_THE_HANDLER} (code -32603)"),
                "the callback `on_answer_error` panicked: once more",
            ]
        );
    });
}

#[test]
fn leaves_out_what_a_callback_panics_on() {
    watched(|| {
        let server = server!("floods-notifications 3");
        let told = Told::default();
        let options = ConnectOptions::new(server.config.clone())
            .on_panic(|_| panic!("nobody is told of this"))
            .on_panic(told.hear())
            .stderr(|_| panic!("of a line"))
            .trace(|_, _| panic!("of a message"))
            .on_notification(|_| panic!("of a notification"))
            .trace_context(TraceSource::new(|| -> Option<TraceContext> { panic!("of a trace") }));
        let mut client = McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        for _ in 0..3 {
            let result = client.call_tool("echo", json!({"message": "well"})).send().expect("it answers");
            assert_eq!(result.text().as_str(), "well");
        }
        let params = CallToolParams { name: "ponder", arguments: &() };
        let ponder = client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        while !told.all().iter().any(|panic| panic.contains("of a line")) {
            client.listen(Duration::from_millis(1)).expect("it goes on");
        }
        ponder.cancel(&mut client, "enough");
        client.call_tool("echo", ()).send().expect("it answers");
        client.shutdown().expect("it ends");
        told.assert(&CALLBACKS);
    });
}

#[test]
fn lets_a_callback_of_the_call_panic() {
    watched(|| {
        let server = server!("floods-notifications 50");
        let config = server.config.clone();
        let options = ConnectOptions::new(config);
        let mut client = McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        let params = CallToolParams { name: "echo", arguments: &json!({"message": "begun"}) };
        let other = client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        let call = client.call_tool("echo", json!({"message": "well"})).on_progress(|_| panic!("on purpose"));
        let panic = catch_unwind(AssertUnwindSafe(|| call.send())).expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(client.in_flight(), 0, "it was given up, and the other has been answered before");
        assert_eq!(other.wait(&mut client).expect("it answers").text().as_str(), "begun");
        assert_eq!(
            client.call_tool("echo", json!({"message": "well"})).send().expect("it answers").text().as_str(),
            "well"
        );
    });
}
