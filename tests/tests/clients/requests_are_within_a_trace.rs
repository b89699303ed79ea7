//! A program's own tracing is asked where each request belongs.

use std::sync::atomic::{AtomicU32, Ordering};

use mcpwire_blocking::TraceSource;
use mcpwire_blocking::protocol::TraceContext;
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{Adapter, on_every_async_adapter, server, watched};

/// Another span for each request, and none for the first.
fn source() -> impl Fn() -> Option<TraceContext> + Send + Sync + 'static {
    let asked = AtomicU32::new(0);
    move || {
        let span = asked.fetch_add(1, Ordering::Relaxed);
        TraceContext::new(parent(span)).ok().filter(|_| span > 0)
    }
}

fn parent(span: u32) -> String {
    format!("00-0af7651916cd43dd8448eb211c80319c-00f067aa{span:08x}-01")
}

fn each_request_asks_where_it_belongs<H: Host>() {
    let server = server!("well-behaved --modern");
    let mut client = Async::<H>::start_with(&server, |options| options.trace_context(TraceSource::new(source())));
    client.initialize().expect("it answers");
    client.run(async |client| {
        let call = async || client.call_tool("trace", ()).await.expect("it answers").text().into_string();
        assert_eq!(call().await, "none");
        assert_eq!(call().await, parent(1));
        let named = TraceContext::new(parent(0x77)).expect("it is good");
        let options = mcpwire_blocking::protocol::RequestOptions::new().trace_context(&named);
        let call_options = client.call_tool("trace", ()).meta(options.meta.expect("it has some"));
        assert_eq!(call_options.await.expect("it answers").text().as_str(), parent(0x77), "named by the caller");
        assert_eq!(call().await, parent(3));
    });
}

on_every_async_adapter!(each_request_asks_where_it_belongs);

#[test]
fn blocking() {
    watched(|| {
        let server = server!("well-behaved --modern");
        let options =
            mcpwire_blocking::ConnectOptions::new(server.config.clone()).trace_context(TraceSource::new(source()));
        let mut client = mcpwire_blocking::McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        let mut call = || client.call_tool("trace", ()).send().expect("it answers").text().into_string();
        assert_eq!((call(), call(), call()), ("none".into(), parent(1), parent(2)));
    });
}
