//! The same failure of a server has the same kind and the same text through a client, through a hub, and through the
//! `ToolClient` of each.

use std::error::Error as _;
use std::time::Duration;

use mcpwire_core::{CallError, ErrorKind, Json, RpcError};
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::{Error, McpServerDef};
use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::secrets::{Secret, SecretRef};
use mcpwire_hub::tool_client::{ToolClient, ToolError};
use mcpwire_hub::{ConnectOptions, ErrorCode, Hub, HubError, HubOptions};
use mcpwire_testkit::{HttpAnswer, ScriptedHttp, ScriptedResponse, ScriptedServer};
use mcpwire_tokio::{McpClient, Tokio};
use serde_json::json;

use crate::in_process::{launcher, limit_calls};
use crate::soon;

const SHORT: Duration = Duration::from_millis(30);

fn server() -> ScriptedServer {
    let refused = |_: &Json| {
        let mut error = RpcError::new(-32099, "the moon is in the way");
        error.data = Some(Json::parse(r#"{"phase":"full"}"#).expect("it is JSON"));
        ScriptedResponse::new().refuse(error)
    };
    let rejected = |_: &Json| ScriptedResponse::new().refuse(RpcError::new(-32602, "`path` is required"));
    ScriptedServer::new()
        .tool("echo", |_: &Json| "hi")
        .tool("slow", |_: &Json| ScriptedResponse::new())
        .tool("crash", |_: &Json| ScriptedResponse::new().close())
        .tool("refused", refused)
        .tool("rejected", rejected)
        .tool("fail", |_: &Json| ScriptedResponse::new().error("no luck"))
        .tool("garbage", |_: &Json| ScriptedResponse::new().result(json!({"resultType": "riddle"})))
}

/// A client and a hub of a server `a`, in this process.
struct Both {
    client: McpClient,
    hub: Hub,
}

impl Both {
    /// Connects both over streams. Each has its own server.
    async fn streams() -> Self {
        let options = || ConnectOptions::default().launcher(launcher(server()));
        let def = McpServerDef::new("in-process").name("a");
        Both::new(&def, McpConfig::binary("a", "in-process"), options).await
    }

    /// Connects both over HTTP. Calls of the tool `refused` get this response.
    async fn http(answer: impl Fn() -> HttpAnswer + Clone + Send + 'static) -> Self {
        let options = || {
            let answer = answer.clone();
            let http = ScriptedHttp::new(server()).on_request(move |request| {
                (request.method() == "tools/call" && request.body.contains("refused")).then(&answer)
            });
            ConnectOptions::default().http(HttpOptions::default().client(http.client_on(Tokio::current())))
        };
        let def = McpServerDef::http(ScriptedHttp::URL).name("a");
        Both::new(&def, McpConfig::http("a", ScriptedHttp::URL), options).await
    }

    async fn new(def: &McpServerDef, config: McpConfig, options: impl Fn() -> ConnectOptions) -> Self {
        let client = soon(McpClient::connect_and_initialize_with(def, options())).await.expect("the client connects");
        soon(client.list_tools()).await.expect("the tools are listed");
        let hub = Hub::open(HubOptions::in_memory().connections(options())).await.expect("the hub opens");
        hub.upsert(config).await.expect("it is added");
        assert_eq!(soon(hub.boot()).await.expect("it boots").ready, 1, "{:?}", hub.details());
        Both { client, hub }
    }

    /// Calls a tool through the client, the hub, and the `ToolClient` of each.
    async fn errors(&self, tool: &str) -> Errors {
        let none = Json::parse("{}").expect("it is JSON");
        let exposed = format!("a__{tool}");
        Errors {
            client: soon(self.client.call_tool(tool, json!({})).send()).await.expect_err("the client's call fails"),
            hub: soon(self.hub.call(&exposed, json!({}))).await.expect_err("the hub's call fails"),
            tools: vec![
                soon(ToolClient::call_tool(&self.client, tool, &none)).await.expect_err("the call fails"),
                soon(ToolClient::call_tool(&self.hub, &exposed, &none)).await.expect_err("the call fails"),
            ],
        }
    }
}

struct Errors {
    client: Error,
    hub: HubError,
    tools: Vec<ToolError>,
}

impl Errors {
    /// Checks that all errors have this kind and this text. The text may be the beginning if it ends with `…`.
    #[track_caller]
    fn are(&self, kind: ErrorKind, text: &str) {
        let (client, hub) = (&self.client, &self.hub);
        assert_eq!((client.kind(), hub.kind()), (kind, kind), "{client}\n{hub}");
        let shown = without_id(client);
        match text.strip_suffix('…') {
            Some(start) => assert!(shown.starts_with(start), "{shown}"),
            None => assert_eq!(shown, text),
        }
        assert_eq!(without_id(hub), shown);
        assert_eq!((hub.server(), hub.tool()), (Some(client.server()), client.tool()));
        assert_eq!((hub.rpc_error(), hub.retry_after()), (client.rpc_error(), client.retry_after()));
        assert_eq!(hub.is_retryable(), client.is_retryable(), "{client}");
        for error in &self.tools {
            assert_eq!((error.server(), error.tool()), (hub.server(), hub.tool()));
            assert_eq!((error.is_retryable(), error.rpc_error()), (client.is_retryable(), client.rpc_error()));
            assert_eq!((error.kind(), error.retry_after()), (kind, hub.retry_after()));
            assert_eq!(without_id(error), shown);
        }
        let of_client = hub.client_error().and_then(|error| error.downcast_ref::<Error>());
        assert!(of_client.is_none_or(|error| without_id(error) == shown));
        assert!(hub.source().is_none() && client.source().is_none(), "the text would occur twice in a chain");
    }
}

/// Returns the text of an error without the id of the request, which an excerpt of its response contains.
fn without_id(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    match text.split_once("\"id\":") {
        Some((before, rest)) => format!("{before}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => text,
    }
}

#[tokio::test]
async fn calls_over_streams_fail_alike() {
    let both = Both::streams().await;
    let errors = both.errors("refused").await;
    errors.are(
        ErrorKind::Server,
        r#"server `a`: `tools/call` of `refused` failed: the server says: the moon is in the way (code -32099): {"phase":"full"}"#,
    );
    let data = errors.hub.rpc_error().and_then(|error| error.data.as_ref());
    assert_eq!(data.map(Json::get), Some(r#"{"phase":"full"}"#));
    assert_eq!(errors.hub.code(), ErrorCode::ServiceUnavailable);
    assert!(errors.hub.client_error().and_then(|error| error.downcast_ref::<Error>()).is_some());

    let errors = both.errors("rejected").await;
    errors.are(
        ErrorKind::Server,
        "server `a`: `tools/call` of `rejected` failed: the server says: `path` is required (code -32602)",
    );
    assert_eq!((errors.hub.code(), errors.hub.field()), (ErrorCode::ValidationError, "arguments"));

    let errors = both.errors("garbage").await;
    errors.are(ErrorKind::Protocol, "server `a`: `tools/call` of `garbage` got an answer that cannot be read: …");

    let errors = both.errors("nothing").await;
    errors.are(
        ErrorKind::ToolNotFound,
        "server `a`: tool not found: `nothing` (the server's list of tools does not have it)",
    );
    assert_eq!((errors.hub.code(), errors.hub.field()), (ErrorCode::NotFound, "tool_name"));
}

#[tokio::test]
async fn calls_that_time_out_or_are_cancelled_fail_alike() {
    let both = Both::streams().await;
    let client = soon(both.client.call_tool("slow", json!({})).total_timeout(SHORT).send()).await.expect_err("late");
    let hub = soon(both.hub.call("a__slow", json!({})).total_timeout(SHORT)).await.expect_err("late");
    let tools = vec![ToolError::from(client.clone())];
    let errors = Errors { client, hub, tools };
    errors.are(ErrorKind::Timeout, "server `a`: `tools/call` of `slow` timed out after 30 ms");
    assert!(!errors.hub.is_retryable(), "the tool may have run");
    assert_eq!((errors.hub.code(), errors.hub.field()), (ErrorCode::NetworkError, "timeout"));

    // The asynchronous client cancels a call whose future is dropped, which has no result.
    let client = Error::new("a", CallError::Cancelled { method: "tools/call".into() }).with_tool("slow");
    for hub in [
        soon(both.hub.call("a__slow", json!({})).cancel_when(async {})).await.expect_err("cancelled"),
        soon(both.hub.call("slow", json!({})).cancel_when(async {})).await.expect_err("cancelled"),
    ] {
        let tools = vec![ToolError::from(client.clone())];
        let errors = Errors { client: client.clone(), hub, tools };
        errors.are(ErrorKind::Cancelled, "server `a`: `tools/call` of `slow` was cancelled");
        assert_eq!(errors.hub.code(), ErrorCode::Conflict);
    }
}

#[tokio::test]
async fn a_tool_that_failed_has_the_same_text() {
    let both = Both::streams().await;
    let client = soon(both.client.call_tool("fail", json!({})).structured::<Json>()).await.expect_err("it failed");
    let hub = soon(both.hub.call("a__fail", json!({})).text()).await.expect_err("it failed");
    let errors = Errors { tools: vec![ToolError::from(client.clone())], client, hub };
    errors.are(ErrorKind::Tool, "server `a`: tool `fail`: the tool failed: no luck");
    assert_eq!(errors.hub.code(), ErrorCode::ServiceUnavailable);
    // Through `ToolClient`, a failed tool has a result.
    let none = Json::parse("{}").expect("it is JSON");
    let result = soon(ToolClient::call_tool(&both.hub, "a__fail", &none)).await.expect("a result");
    assert!(result.is_error && result.text().as_str() == "no luck");
}

#[tokio::test]
async fn a_server_that_ends_in_mid_call_fails_alike() {
    // Each call needs its own server, because it ends.
    let both = [Both::streams().await, Both::streams().await];
    let none = Json::parse("{}").expect("it is JSON");
    let [one, two] = &both;
    let errors = Errors {
        client: soon(one.client.call_tool("crash", json!({})).send()).await.expect_err("it ends"),
        hub: soon(one.hub.call("a__crash", json!({}))).await.expect_err("it ends"),
        tools: vec![
            soon(ToolClient::call_tool(&two.client, "crash", &none)).await.expect_err("it ends"),
            soon(ToolClient::call_tool(&two.hub, "a__crash", &none)).await.expect_err("it ends"),
        ],
    };
    errors.are(
        ErrorKind::Closed,
        "server `a`: `tools/call` of `crash` got no answer: the server closed the connection; its process …",
    );
    assert_eq!(errors.hub.code(), ErrorCode::ServiceUnavailable);
}

#[tokio::test]
async fn refusals_over_http_fail_alike() {
    for (status, kind, code) in [
        (401, ErrorKind::Unauthorized, ErrorCode::ValidationError),
        (429, ErrorKind::RateLimited, ErrorCode::ServiceUnavailable),
        (503, ErrorKind::Unavailable, ErrorCode::ServiceUnavailable),
        (500, ErrorKind::Unavailable, ErrorCode::ServiceUnavailable),
    ] {
        let both = Both::http(move || HttpAnswer::status(status).header("Retry-After", "17")).await;
        let errors = both.errors("refused").await;
        errors.are(kind, "server `a`: `tools/call` of `refused` failed: …");
        assert!(errors.client.to_string().contains(&status.to_string()), "{}", errors.client);
        assert_eq!(errors.hub.code(), code);
        assert_eq!(errors.hub.retry_after(), Some(Duration::from_secs(17)));
    }
}

#[tokio::test]
async fn a_missing_program_fails_alike() {
    let program = "/nowhere/mcpwire-no-such-program";
    let client = McpClient::connect(&McpServerDef::new(program).name("a")).map(drop).expect_err("there is none");
    let hub = Hub::open(HubOptions::in_memory()).await.expect("the hub opens");
    hub.upsert(McpConfig::binary("a", program)).await.expect("it is added");
    let hub = soon(hub.start(hub.list()[0].id)).await.expect_err("there is none");
    let errors = Errors { tools: vec![ToolError::from(client.clone())], client, hub };
    errors.are(ErrorKind::Start, "server `a`: command not found: `/nowhere/mcpwire-no-such-program` does not exist");
    assert_eq!((errors.hub.code(), errors.hub.field()), (ErrorCode::NotFound, "package.identifier"));
    assert!(errors.hub.client_error().and_then(|error| error.downcast_ref::<Error>()).is_some());
}

/// The tool did not run, because its server does not. The reason is that of the start, which the client reports.
#[tokio::test]
async fn a_call_of_a_server_whose_program_is_missing_says_why_it_does_not_run() {
    let hub = Hub::open(HubOptions::in_memory()).await.expect("the hub opens");
    hub.upsert(McpConfig::binary("a", "/nowhere/mcpwire-no-such-program")).await.expect("it is added");
    soon(hub.boot()).await.expect("it boots");
    let none = Json::parse("{}").expect("it is JSON");
    let error = soon(hub.call("a__echo", json!({}))).await.expect_err("it does not run");
    let tool_error = soon(ToolClient::call_tool(&hub, "a__echo", &none)).await.expect_err("it does not run");
    assert_eq!(
        error.to_string(),
        "server `a`: `tools/call` of `echo` was not sent: the MCP server has failed; start it again first: command not found: \
         `/nowhere/mcpwire-no-such-program` does not exist"
    );
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotRunning, ErrorCode::ServiceUnavailable));
    assert_eq!((error.server(), error.tool(), error.field()), (Some("a"), Some("echo"), "package.identifier"));
    let of_start = error.client_error().and_then(|error| error.downcast_ref::<Error>()).map(Error::kind);
    assert_eq!((of_start, error.is_retryable()), (Some(ErrorKind::Start), false));
    assert!(error.source().is_none(), "the text would occur twice in a chain");
    assert_eq!((tool_error.kind(), tool_error.to_string()), (error.kind(), error.to_string()));
    assert_eq!((tool_error.server(), tool_error.tool()), (Some("a"), Some("echo")));
}

/// The refusals of the hub name the tool, as the errors of the client do.
#[tokio::test]
async fn a_call_that_the_hub_does_not_send_names_the_tool() {
    let both = Both::streams().await;
    limit_calls(&both.hub).await;
    soon(both.hub.call("a__fail", json!({}))).await.expect("the first call is allowed");
    let error = soon(both.hub.call("a__refused", json!({}))).await.expect_err("it is refused");
    assert_eq!((error.kind(), error.tool(), error.is_retryable()), (ErrorKind::RateLimited, Some("refused"), true));
    let text = error.to_string();
    assert!(text.starts_with("server `a`: `tools/call` of `refused` was not sent: Rate limit of 1 calls"), "{text}");
}

/// Calls in flight fail when the hub stops their server: the tool may have run.
#[tokio::test]
async fn a_call_that_the_hub_ends_names_the_tool_and_is_not_repeated() {
    let both = Both::streams().await;
    let id = both.hub.list()[0].id;
    let call = tokio::spawn(both.hub.call("a__slow", json!({})).send());
    while both.hub.details()[0].calls_in_flight == 0 {
        tokio::task::yield_now().await;
    }
    soon(both.hub.stop(id)).await.expect("it ends");
    let error = soon(call).await.expect("it does not panic").expect_err("the server was stopped");
    assert_eq!((error.server(), error.tool(), error.is_retryable()), (Some("a"), Some("slow"), false), "{error}");
    assert!(error.message().starts_with("`tools/call` of `slow` got no answer: "), "{error}");
}

#[tokio::test]
async fn the_error_of_a_client_that_contains_a_secret_is_not_handed_out() {
    let refused = |_: &Json| {
        let mut error = RpcError::new(-32099, "no");
        // The text of the error shows at most 200 bytes of the data.
        error.data =
            Some(Json::from_value(&json!({"long": "x".repeat(400), "token": "hunter22"})).expect("it is JSON"));
        ScriptedResponse::new().refuse(error)
    };
    let server = ScriptedServer::new().tool("refused", refused);
    let options = HubOptions::in_memory().connections(ConnectOptions::default().launcher(launcher(server)));
    let hub = Hub::open(options).await.expect("the hub opens");
    hub.upsert(McpConfig::binary("a", "in-process")).await.expect("it is added");
    let mut config = hub.list().remove(0);
    let token = SecretRef::stored(config.id, "TOKEN").expect("it is a name");
    hub.secrets().set(&token, &Secret::new("hunter22")).expect("it is stored");
    config.env_vars.insert("TOKEN".into(), EnvVarConfig::secret("TOKEN", token));
    hub.upsert(config).await.expect("it is changed");
    assert_eq!(soon(hub.boot()).await.expect("it boots").ready, 1, "{:?}", hub.details());
    let error = soon(hub.call("a__refused", json!({}))).await.expect_err("it is refused");
    assert_eq!((error.kind(), error.message().contains("hunter22")), (ErrorKind::Server, false));
    let data = error.rpc_error().and_then(|error| error.data.clone()).expect("the rest of the data is there");
    assert!(data.get().contains("[secret]") && !data.get().contains("hunter22"), "{data:?}");
    assert!(error.client_error().is_none() && error.source().is_none());
    assert!(!format!("{error:?} {:?}", error.rpc_error()).contains("hunter22"));
}
