//! `ToolClient` does the same for the async client and for the hub.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use ::smol::block_on;
use ::smol::future::zip;
use mcpwire_driver::{ConnectOptions, McpClient};
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::{Hub, HubOptions, McpService};
use mcpwire_tests::asynchronous::{Async, Host, all, begun};
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Server, server, watched};
use mcpwire_tool_client::types::Json;
use mcpwire_tool_client::{CallOptions, ErrorKind, ToolClient, ToolError};

/// A kind of client.
trait Kind {
    /// What precedes the server's own names of tools.
    const PREFIX: &'static str = "";
    /// The timeout of calls, if there is one, is that of the server's definition.
    fn run(server: &Server, f: impl AsyncFnOnce(&dyn ToolClient));
}

impl<H: Host> Kind for Async<H> {
    fn run(server: &Server, f: impl AsyncFnOnce(&dyn ToolClient)) {
        let options = ConnectOptions::new(server.config.clone());
        H::start().block_on(async {
            let opened = McpClient::<H::Runtime>::connect_and_initialize_with(&server.def, options).await;
            let client = opened.expect("it opens");
            f(&client).await;
            client.shutdown().await.expect("it ends");
        });
    }
}

struct TheHub;

impl Kind for TheHub {
    const PREFIX: &'static str = "server__";

    fn run(server: &Server, f: impl AsyncFnOnce(&dyn ToolClient)) {
        with_hub(server, async |hub| f(&hub).await);
    }
}

/// A program that knows the hub only as a service.
struct Service;

impl Kind for Service {
    const PREFIX: &'static str = "server__";

    fn run(server: &Server, f: impl AsyncFnOnce(&dyn ToolClient)) {
        with_hub(server, async |hub| {
            let service: Arc<dyn McpService> = Arc::new(hub);
            f(&service).await;
        });
    }
}

fn with_hub(server: &Server, f: impl AsyncFnOnce(Hub)) {
    let place = tempfile::tempdir().expect("a directory");
    block_on(async {
        let options = HubOptions::on(mcpwire_smol::Smol, Layout::below(place.path()));
        let hub = Hub::open(options).await.expect("the hub opens");
        let mut config = match &server.def.url {
            Some(url) => McpConfig::http("server", url),
            None => McpConfig::binary("server", &server.def.command).args(server.def.args.clone()),
        };
        config.timeouts.call = server.def.timeout;
        hub.create(config).await.expect("it is created");
        hub.boot().await.expect("it boots");
        f(hub.clone()).await;
        hub.shutdown_all().await.expect("it ends");
    });
}

macro_rules! on_every_tool_client {
    ($($case:ident),+ $(,)?) => {
        on_every_tool_client!(@kind client, Async<mcpwire_tests::asynchronous::TokioMulti>, $($case),+);
        on_every_tool_client!(@kind hub, TheHub, $($case),+);
        on_every_tool_client!(@kind service, Service, $($case),+);
    };
    (@kind $name:ident, $Kind:ty, $($case:ident),+) => {
        mod $name {
            use super::*;
            $(
                #[test]
                fn $case() {
                    watched(super::$case::<$Kind>);
                }
            )+
        }
    };
}

fn name<K: Kind>(tool: &str) -> String {
    format!("{}{tool}", K::PREFIX)
}

async fn text<K: Kind>(client: &dyn ToolClient, tool: &str, arguments: &str) -> Result<String, ToolError> {
    let arguments = Json::parse(arguments).expect("it is JSON");
    Ok(client.call_tool(&name::<K>(tool), &arguments).await?.text().into_string())
}

async fn failure<K: Kind>(client: &dyn ToolClient, tool: &str) -> ToolError {
    text::<K>(client, tool, "{}").await.expect_err("it fails")
}

fn tools_are_listed_and_called<K: Kind>() {
    for era in ["", "--modern"] {
        K::run(&server!(&format!("well-behaved {era}")), async |client| {
            let tools = client.list_tools().await.expect("they are listed");
            let echo = tools.iter().find(|tool| tool.name == name::<K>("echo")).expect("there is an echo");
            assert_eq!(echo.description.as_deref(), Some("Says what it is told."));
            assert_eq!(text::<K>(client, "echo", r#"{"message":"hi"}"#).await.expect("it answers"), "hi");
        });
    }
}

fn a_tool_that_fails_has_a_result<K: Kind>() {
    K::run(&server!("well-behaved"), async |client| {
        let arguments = Json::parse("{}").expect("it is JSON");
        let result = client.call_tool(&name::<K>("fail"), &arguments).await.expect("a result");
        assert!(result.is_error);
        assert_eq!(result.text().into_string(), "the tool failed");
    });
}

fn failures_have_a_kind<K: Kind>() {
    K::run(&server!("well-behaved"), async |client| {
        for (tool, kind) in [("nonsense", ErrorKind::ToolNotFound), ("picky", ErrorKind::Server)] {
            assert_kind::<K>(client, tool, kind).await;
        }
        let refused = failure::<K>(client, "picky").await;
        assert_eq!(refused.rpc_error().map(|error| (error.code, &*error.message)), Some((-32602, "no such colour")));
        assert_eq!(text::<K>(client, "echo", r#"{"message":"still here"}"#).await.expect("it answers"), "still here");
        let error = client.call_tool(&name::<K>("echo"), &Json::parse("7").expect("it is JSON")).await;
        assert_eq!(error.expect_err("it is no object").kind(), ErrorKind::Usage);
    });
}

/// Only the call is limited to a short time: the server says nothing at all to it.
fn a_timeout_has_a_kind<K: Kind>() {
    let server = server!("well-behaved").defined(|def| def.timeout(Duration::from_millis(500)));
    K::run(&server, async |client| assert_kind::<K>(client, "ponder", ErrorKind::Timeout).await);
}

async fn assert_kind<K: Kind>(client: &dyn ToolClient, tool: &str, kind: ErrorKind) {
    let error = failure::<K>(client, tool).await;
    assert_eq!(error.kind(), kind, "{tool}: {error}");
    assert_eq!((error.tool(), error.is_retryable()), (Some(tool), false), "{error}");
    assert!(
        error.server().is_some_and(|server| error.to_string().starts_with(&format!("server `{server}`: "))),
        "{error}"
    );
    assert!(error.client_error().is_some_and(|client_error| client_error.to_string() == error.to_string()));
}

/// The call of `ponder` is never answered: only its own timeout ends it.
fn a_call_has_its_own_timeouts<K: Kind>() {
    K::run(&server!("well-behaved"), async |client| {
        let (ponder, arguments) = (name::<K>("ponder"), Json::parse("{}").expect("it is JSON"));
        let short = Duration::from_millis(50);
        for options in [
            CallOptions::new().timeout(short),
            CallOptions::new().timeout(Duration::from_secs(600)).total_timeout(short),
        ] {
            let error = client.call_tool_with(&ponder, &arguments, options).await.expect_err("it is not answered");
            assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
            assert!(error.to_string().contains("50 ms"), "{error}");
        }
    });
}

fn the_progress_of_a_call_is_reported_in_order<K: Kind>() {
    K::run(&server!("slow 0"), async |client| {
        let (echo, mut steps) = (name::<K>("echo"), Vec::new());
        let arguments = Json::parse(r#"{"message":"hi","steps":5}"#).expect("it is JSON");
        let options = CallOptions::new().on_progress(|progress| steps.push(progress.message.clone()));
        let result = client.call_tool_with(&echo, &arguments, options).await.expect("it answers");
        assert_eq!(result.text().as_str(), "hi");
        let expected: Vec<_> = (1..=5).map(|step| Some(format!("step {step} of 5"))).collect();
        assert_eq!(steps, expected);
        // A call without the callback asks for no progress.
        let result = client.call_tool_with(&echo, &arguments, CallOptions::new()).await.expect("it answers");
        assert_eq!(result.text().as_str(), "hi");
    });
}

fn a_call_is_cancelled_by_a_signal<K: Kind>() {
    K::run(&server!("gathers"), async |client| {
        let (wait, arguments) = (name::<K>("wait"), Json::parse("{}").expect("it is JSON"));
        let signalled = AtomicBool::new(false);
        let signal = poll_fn(|_| if signalled.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending });
        let mut call = client.call_tool_with(&wait, &arguments, CallOptions::new().cancel_when(signal));
        assert!(begun(&mut call).await.is_none());
        assert_eq!(text::<K>(client, "tally", "{}").await.expect("it answers"), "1 waits, 0 cancelled");
        signalled.store(true, Ordering::Relaxed);
        let error = call.await.expect_err("it is cancelled");
        assert_eq!((error.kind(), error.tool()), (ErrorKind::Cancelled, Some("wait")), "{error}");
        let server = error.server().expect("it is known");
        assert_eq!(error.to_string(), format!("server `{server}`: `tools/call` of `wait` was cancelled"));
        assert_eq!(text::<K>(client, "tally", "{}").await.expect("it answers"), "1 waits, 1 cancelled");
    });
}

fn metadata_of_a_call_is_sent<K: Kind>() {
    let web = Web::modern(|request, reply| {
        let meta = &request.body["params"]["_meta"];
        reply.json(200, &request.answer(said(meta["example.com/user"].as_str().unwrap_or("nobody"))));
    });
    let server = server!("").defined(|_| web.def());
    K::run(&server, async |client| {
        let tools = client.list_tools().await.expect("they are listed");
        let arguments = Json::parse("{}").expect("it is JSON");
        let meta = Json::parse(r#"{"example.com/user":"ada"}"#).expect("it is JSON");
        for (options, user) in [(CallOptions::new().meta(meta), "ada"), (CallOptions::new(), "nobody")] {
            let result = client.call_tool_with(&tools[0].name, &arguments, options).await.expect("it answers");
            assert_eq!(result.text().as_str(), user);
        }
        let options = CallOptions::new().meta(Json::parse("7").expect("it is JSON"));
        let error = client.call_tool_with(&tools[0].name, &arguments, options).await.expect_err("it is no object");
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    });
}

fn ten_calls_run_at_once<K: Kind>() {
    K::run(&server!("gathers"), async |client| {
        let messages: Vec<String> = (0..10).map(|number| format!(r#"{{"message":"{number}"}}"#)).collect();
        // None of them is answered before all have arrived.
        let waits = all(messages.iter().map(|message| Box::pin(text::<K>(client, "wait", message))));
        let (texts, answer) = zip(waits, text::<K>(client, "answer", r#"{"waits":10}"#)).await;
        for (number, text) in texts.into_iter().enumerate() {
            assert_eq!(text.expect("it is answered"), number.to_string());
        }
        answer.expect("it is answered");
    });
}

fn a_dropped_call_is_cancelled<K: Kind>() {
    K::run(&server!("gathers"), async |client| {
        let (wait, arguments) = (name::<K>("wait"), Json::parse("{}").expect("it is JSON"));
        drop(client.call_tool(&wait, &arguments));
        assert_eq!(text::<K>(client, "tally", "{}").await.expect("it answers"), "0 waits, 0 cancelled");
        let mut call = client.call_tool(&wait, &arguments);
        assert!(begun(&mut call).await.is_none());
        assert_eq!(text::<K>(client, "tally", "{}").await.expect("it answers"), "1 waits, 0 cancelled");
        drop(call);
        assert_eq!(text::<K>(client, "tally", "{}").await.expect("it answers"), "1 waits, 1 cancelled");
    });
}

fn calls_fail_when_the_server_dies<K: Kind>() {
    K::run(&server!("gathers"), async |client| {
        let (waits, dies) = zip(failure::<K>(client, "wait"), failure::<K>(client, "die")).await;
        for error in [waits, dies] {
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
            assert!(!error.is_retryable(), "the tool may have run: {error}");
        }
    });
}

fn a_rate_limit_says_when_to_call_again<K: Kind>() {
    let web = Web::modern(|_, reply| reply.full(429, "Retry-After: 17\r\n", "slow down"));
    let server = server!("").defined(|_| web.def());
    K::run(&server, async |client| {
        let tools = client.list_tools().await.expect("they are listed");
        let tool = tools[0].name.strip_prefix(K::PREFIX).expect("it has the prefix");
        let error = failure::<K>(client, tool).await;
        let expected = (ErrorKind::RateLimited, Some(Duration::from_secs(17)));
        assert_eq!((error.kind(), error.retry_after()), expected, "{error}");
        assert!(error.is_retryable(), "the server says when to call again: {error}");
    });
}

on_every_tool_client!(
    tools_are_listed_and_called,
    a_tool_that_fails_has_a_result,
    failures_have_a_kind,
    a_timeout_has_a_kind,
    a_call_has_its_own_timeouts,
    the_progress_of_a_call_is_reported_in_order,
    a_call_is_cancelled_by_a_signal,
    metadata_of_a_call_is_sent,
    ten_calls_run_at_once,
    a_dropped_call_is_cancelled,
    calls_fail_when_the_server_dies,
    a_rate_limit_says_when_to_call_again,
);
