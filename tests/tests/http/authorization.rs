//! Authorization over HTTP, and answers that belong to one login.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_authorization::{LoginRequest, MemoryStore, OAuth};
use mcpwire_blocking::http::{HttpClient, HttpOptions, HttpResponse, ResponseFuture, block_on};
use mcpwire_client::{ConnectOptions, ErrorKind, HttpSetupError, McpServerDef};
use mcpwire_core::http::{Exchange, Verb};
use mcpwire_reqwest::ReqwestClient;
use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint, ProtectedServer, Serving};
use mcpwire_testkit::{HttpAnswer, ScriptedServer};
use mcpwire_tests::asynchronous::{Async, TokioMulti};
use mcpwire_tests::authorization::AgreeingUser;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Allocated, Call, OverHttp, allocated, on_both_clients};
use serde_json::json;

// Servers that want a login, over real HTTP, on every adapter.

/// A server that wants tokens, and its authorization server.
struct Servers {
    authorization: AuthorizationServer,
    server: ProtectedServer,
    store: MemoryStore,
    _serving: (Serving, Serving),
}

const TOOLS: [&str; 4] = ["first", "second", "third", "fourth"];

impl Servers {
    fn start() -> Self {
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi").tool("extra", |_| "more"));
        let serving = (authorization.serve(0).expect("a port"), server.serve(0).expect("a port"));
        Servers { authorization, server, store: MemoryStore::new(), _serving: serving }
    }

    /// A server whose lists are valid for an hour. Each access token sees another tool beside `echo` and `extra`: `first` for the
    /// first token, and so on.
    fn start_with_lists(scope: &'static str) -> Self {
        let servers = Servers::start();
        let mut tokens: Vec<String> = Vec::new();
        servers.server.over_http(|http| {
            http.on_request(move |request| {
                if request.method() != "tools/list" {
                    return None;
                }
                let token = request.header("Authorization")?.to_owned();
                let known = tokens.iter().position(|other| *other == token).unwrap_or_else(|| {
                    tokens.push(token);
                    tokens.len() - 1
                });
                let tools = ["echo", TOOLS[known]].map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
                let result = json!({"resultType": "complete", "tools": tools, "ttlMs": 3_600_000, "cacheScope": scope});
                let id = request.message.member::<u64>("id");
                Some(HttpAnswer::json(200, json!({"jsonrpc": "2.0", "id": id, "result": result})))
            })
        });
        servers
    }

    fn def(&self) -> McpServerDef {
        McpServerDef::http(self.server.url())
    }

    /// Creates a client, perhaps with a user who logs in at once, and its authorizer.
    fn connect<A: Adapter>(&self, has_user: bool) -> (A, OAuth) {
        let (def, mut authorizer) = (self.def(), None);
        let connected = A::connect_authorized(&def, |runtime| {
            let mut builder = OAuth::for_server(&def, "test").store(self.store.clone());
            if has_user {
                builder = builder.prompt(AgreeingUser::new(runtime.http_client(&def).expect("a client")));
            }
            authorizer.insert(builder.build_on(runtime).expect("a client")).clone()
        });
        (connected.expect("the options are right"), authorizer.expect("it was built"))
    }

    /// Opens a connection with such a user, or with the login of the store.
    fn open<A: Adapter>(&self, has_user: bool) -> (A, OAuth) {
        let (mut client, authorizer) = self.connect::<A>(has_user);
        client.initialize().expect("there is a login");
        (client, authorizer)
    }

    /// Logs in as another process with the same store does.
    fn log_in_elsewhere(&self) -> OAuth {
        let (def, runtime) = (self.def(), mcpwire_blocking::http::runtime());
        let user = AgreeingUser::new(runtime.http_client(&def).expect("a client"));
        let oauth = OAuth::for_server(&def, "test").store(self.store.clone()).build_on(runtime).expect("a client");
        block_on(oauth.login_with(&user, LoginRequest::default())).expect("the user logs in");
        oauth
    }

    fn token_requests(&self) -> usize {
        self.authorization.requests_to(Endpoint::Token).len()
    }

    /// Returns how many lists were requested.
    fn lists(&self) -> usize {
        self.server.requests().iter().filter(|request| request.method() == "tools/list").count()
    }
}

fn a_call_logs_the_user_in_once<A: Adapter>() {
    let servers = Servers::start();
    let (mut client, _) = servers.open::<A>(true);
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!(servers.token_requests(), 1);
    // Another client of the same store needs no login.
    let (mut other, _) = servers.open::<A>(false);
    assert_eq!(other.text("echo", json!({})), "hi");
    assert_eq!(servers.token_requests(), 1);
    for client in [client, other] {
        client.shutdown().unwrap();
    }
}

fn o15_without_a_user_a_login_is_required<A: Adapter>() {
    let servers = Servers::start();
    let (mut client, _) = servers.connect::<A>(false);
    let failure = client.initialize().unwrap_err();
    failure.assert(ErrorKind::LoginRequired, &["log in first", &servers.server.url()]);
    assert_eq!(servers.authorization.requests().len(), 0);
}

fn o1_calls_at_once_share_one_refresh<A: Adapter>() {
    let servers = Servers::start();
    let (mut client, _) = servers.open::<A>(true);
    for round in 1..=2 {
        servers.authorization.revoke_access_tokens();
        let results = client.call_together((0..20).map(|_| Call::new("echo")).collect());
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(servers.token_requests(), 1 + round);
    }
    assert_eq!(servers.authorization.reused_refresh_tokens(), 0);
}

fn o2_a_refresh_outlives_the_call_that_needed_it<A: Adapter>() {
    let servers = Servers::start();
    let (mut client, _) = servers.open::<A>(true);
    servers.authorization.revoke_access_tokens();
    // Given up at once, perhaps in the middle of the refresh.
    let _ = client.call(Call::new("echo").total_timeout(Duration::from_millis(1)));
    client.call(Call::new("echo").total_timeout(Duration::from_secs(60))).unwrap();
    assert_eq!(servers.token_requests(), 2, "the new refresh token was not lost");
    assert_eq!(servers.authorization.reused_refresh_tokens(), 0);
}

#[test]
fn a_blocking_program_logs_in_before_its_first_call() {
    mcpwire_tests::watched(|| {
        let servers = Servers::start();
        let oauth = servers.log_in_elsewhere();
        servers.open::<mcpwire_tests::Blocking>(false);
        assert!(block_on(oauth.logout(true)).unwrap().had_token);
        assert_eq!(servers.authorization.requests_to(Endpoint::Revocation).len(), 2, "both tokens");
    });
}

/// A server that answers at once, as `mcpwire-http` would: it needs no copy of a request.
struct Answering;

impl HttpClient for Answering {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        assert!(!exchange.body.is_empty());
        answer()
    }

    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        assert!(!exchange.body.is_empty());
        answer()
    }
}

fn answer() -> ResponseFuture {
    let body: &[u8] = b"";
    Box::pin(ready(Ok(HttpResponse::new(200, Vec::new(), body))))
}

/// Returns what a request with a body of this size allocates.
fn cost(client: &dyn HttpClient, size: usize) -> Allocated {
    let mut cost = Allocated::default();
    for _ in 0..2 {
        let mut exchange = Exchange::new(Verb::Post, "https://mcp.test/mcp");
        exchange.body = vec![b'x'; size];
        exchange.headers = (0..8).map(|n| (format!("Header-{n}").into(), format!("value-{n}"))).collect();
        let (response, counted) = allocated(|| block_on(client.send(exchange)));
        assert_eq!(response.unwrap().status, 200);
        cost = counted;
    }
    cost
}

#[test]
fn a_request_with_a_valid_token_costs_little_more_than_its_header() {
    mcpwire_tests::watched(|| {
        let web = mcpwire_tests::authorization::Web::new();
        let oauth = web.build(web.oauth());
        web.time.run(oauth.login()).unwrap();
        let with_token = HttpOptions::default().client(Answering).authorizer(oauth);
        let with_token = with_token.into_client(|| Err(HttpSetupError::Missing)).unwrap();
        for size in [100, 1 << 20] {
            let (without, with) = (cost(&Answering, size), cost(&*with_token, size));
            let (times, bytes) = (with.times - without.times, with.bytes - without.bytes);
            println!("{size}: {times} allocations, {bytes} bytes more");
            assert!(times <= 6 && bytes <= 2048, "{with:?} {without:?}");
        }
    });
}

// Lists that a server keeps private for a time belong to the login that requested them, on every adapter.
// (2026-07-28, server/utilities/caching, "Cache Scope Field")

/// Returns the tool of the list that tells the token apart.
fn listed<A: Adapter>(client: &mut A) -> String {
    let tools = client.list_tools().expect("it lists its tools");
    assert_eq!(tools[0].name, "echo");
    tools[1].name.clone()
}

fn after_a_logout_a_list_is_requested_with_the_new_login<A: Adapter>() {
    let servers = Servers::start_with_lists("private");
    let (mut client, oauth) = servers.open::<A>(true);
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    assert_eq!(servers.lists(), 1, "the second time, the cache answers");
    block_on(oauth.logout(false)).expect("the token is deleted");
    assert_eq!([listed(&mut client), listed(&mut client)], ["second", "second"]);
    client.shutdown().expect("it ends");
}

fn after_a_logout_nobody_gets_the_old_list<A: Adapter>() {
    let servers = Servers::start_with_lists("private");
    servers.log_in_elsewhere();
    let (mut client, authorizer) = servers.open::<A>(false);
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    block_on(authorizer.logout(false)).expect("the token is deleted");
    let failure = client.list_tools().expect_err("nobody is logged in");
    failure.assert(ErrorKind::LoginRequired, &["log in first"]);
    client.shutdown().expect("it ends");
}

fn after_a_login_for_more_scopes_the_list_is_requested_again<A: Adapter>() {
    let servers = Servers::start_with_lists("private");
    servers.server.require("tools/call extra", "extra:run");
    let (mut client, _) = servers.open::<A>(true);
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    assert_eq!(client.failure("extra").kind, ErrorKind::ToolNotFound, "the list does not contain it");
    // The login for another tool changes the scopes, too.
    servers.server.require("tools/call echo", "echo:run");
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!(client.text("extra", json!({})), "more", "the old list says nothing any more");
    assert_eq!(listed(&mut client), "second");
    client.shutdown().expect("it ends");
}

fn a_refresh_keeps_the_list<A: Adapter>() {
    let servers = Servers::start_with_lists("private");
    let (mut client, _) = servers.open::<A>(true);
    assert_eq!(listed(&mut client), "first");
    servers.authorization.revoke_access_tokens();
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!(listed(&mut client), "first");
    assert_eq!(servers.lists(), 1);
    client.shutdown().expect("it ends");
}

fn the_login_of_another_process_gets_a_list_of_its_own<A: Adapter>() {
    let servers = Servers::start_with_lists("private");
    let (mut client, _) = servers.open::<A>(true);
    assert_eq!(listed(&mut client), "first");
    servers.authorization.revoke_access_tokens();
    servers.log_in_elsewhere();
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!([listed(&mut client), listed(&mut client)], ["second", "second"]);
    client.shutdown().expect("it ends");
}

fn a_public_list_is_for_all_logins<A: Adapter>() {
    let servers = Servers::start_with_lists("public");
    let (mut client, oauth) = servers.open::<A>(true);
    assert_eq!(listed(&mut client), "first");
    block_on(oauth.logout(false)).expect("the token is deleted");
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!(listed(&mut client), "first");
    assert_eq!(servers.lists(), 1);
    client.shutdown().expect("it ends");
}

/// A server that keeps its lists private for an hour, and names its tool as the token.
fn web() -> Web {
    Web::start(|request, reply| {
        let result = match request.method() {
            "server/discover" => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
            "tools/list" => {
                let name = request.header("authorization").map_or("nobody", |value| &value["Bearer ".len()..]);
                let tools = ["echo", name].map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
                json!({"resultType": "complete", "tools": tools, "ttlMs": 3_600_000, "cacheScope": "private"})
            }
            _ => said("hi"),
        };
        reply.json(200, &request.answer(result));
    })
}

fn another_token_of_the_program_gets_a_list_of_its_own<A: Adapter>() {
    let web = web();
    let token = Arc::new(Mutex::new(Some("first".to_owned())));
    let current = Arc::clone(&token);
    let http = HttpOptions::default().token(move || {
        let token = current.lock().unwrap().clone();
        async { Ok::<_, std::io::Error>(token) }
    });
    let mut client = A::open(&web.def(), OverHttp { http, ..OverHttp::default() }.into());
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    for other in [Some("second"), None, Some("first")] {
        *token.lock().unwrap() = other.map(str::to_owned);
        client.text("echo", json!({}));
        assert_eq!(listed(&mut client), other.unwrap_or("nobody"));
    }
    client.shutdown().expect("it ends");
}

fn another_header_of_the_program_gets_a_list_of_its_own<A: Adapter>() {
    let web = web();
    let user = Arc::new(Mutex::new("first"));
    let current = Arc::clone(&user);
    let options = ConnectOptions::default().on_request(move |_, head| {
        head.header("Authorization", format!("Bearer {}", current.lock().unwrap())).expect("it is a header");
    });
    let mut client = A::open(&web.def(), options);
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    *user.lock().unwrap() = "second";
    client.text("echo", json!({}));
    assert_eq!(listed(&mut client), "second");
    client.shutdown().expect("it ends");
}

#[test]
fn the_http_client_of_reqwest_is_no_exception() {
    mcpwire_tests::watched(|| {
        let servers = Servers::start_with_lists("private");
        let (def, runtime) = (servers.def(), mcpwire_blocking::http::runtime());
        let user = AgreeingUser::new(runtime.http_client(&def).expect("a client"));
        let oauth = OAuth::for_server(&def, "test").prompt(user).build_on(runtime).expect("a client");
        let client = ReqwestClient::from_builder(::reqwest::Client::builder()).expect("it is built");
        let http = HttpOptions::default().client(client).authorizer(oauth.clone());
        let opened = Async::<TokioMulti>::over_http(&def, OverHttp { http, ..OverHttp::default() });
        let mut client = opened.expect("the options are right");
        client.initialize().expect("the user logs in");
        assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
        block_on(oauth.logout(false)).expect("the token is deleted");
        assert_eq!(listed(&mut client), "second");
        client.shutdown().expect("it ends");
    });
}

on_both_clients!(
    a_call_logs_the_user_in_once,
    o15_without_a_user_a_login_is_required,
    o1_calls_at_once_share_one_refresh,
    o2_a_refresh_outlives_the_call_that_needed_it,
    after_a_logout_a_list_is_requested_with_the_new_login,
    after_a_logout_nobody_gets_the_old_list,
    after_a_login_for_more_scopes_the_list_is_requested_again,
    a_refresh_keeps_the_list,
    the_login_of_another_process_gets_a_list_of_its_own,
    a_public_list_is_for_all_logins,
    another_token_of_the_program_gets_a_list_of_its_own,
    another_header_of_the_program_gets_a_list_of_its_own,
);
