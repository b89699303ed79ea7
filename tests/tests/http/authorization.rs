//! Servers that want a login, over real HTTP, on every adapter.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_authorization::{LoginRequest, MemoryStore, OAuth};
use mcpwire_blocking::http::{HttpClient, HttpOptions, HttpResponse, ResponseFuture, block_on};
use mcpwire_client::{ErrorKind, HttpSetupError, McpServerDef};
use mcpwire_core::http::{Exchange, Verb};
use mcpwire_testkit::ScriptedServer;
use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint, ProtectedServer, Serving};
use mcpwire_tests::authorization::AgreeingUser;
use mcpwire_tests::{Adapter, Allocated, Call, allocated, on_every_adapter};
use serde_json::json;

/// A server that wants tokens, and its authorization server.
struct Servers {
    authorization: AuthorizationServer,
    server: ProtectedServer,
    store: MemoryStore,
    _serving: (Serving, Serving),
}

impl Servers {
    fn start() -> Self {
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
        let serving = (authorization.serve(0).expect("a port"), server.serve(0).expect("a port"));
        Servers { authorization, server, store: MemoryStore::new(), _serving: serving }
    }

    fn connect<A: Adapter>(&self, has_user: bool) -> A {
        let def = McpServerDef::http(self.server.url());
        let connected = A::connect_authorized(&def, |runtime| {
            let mut builder = OAuth::for_server(&def, "test").store(self.store.clone());
            if has_user {
                builder = builder.prompt(AgreeingUser::new(runtime.http_client(&def).expect("a client")));
            }
            builder.build_on(runtime).expect("a client")
        });
        connected.expect("the options are right")
    }

    fn token_requests(&self) -> usize {
        self.authorization.requests_to(Endpoint::Token).len()
    }
}

fn a_call_logs_the_user_in_once<A: Adapter>() {
    let servers = Servers::start();
    let mut client: A = servers.connect(true);
    client.initialize().unwrap();
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!(servers.token_requests(), 1);
    // Another client of the same store needs no login.
    let mut other: A = servers.connect(false);
    other.initialize().unwrap();
    assert_eq!(other.text("echo", json!({})), "hi");
    assert_eq!(servers.token_requests(), 1);
    for client in [client, other] {
        client.shutdown().unwrap();
    }
}

fn o15_without_a_user_a_login_is_required<A: Adapter>() {
    let servers = Servers::start();
    let mut client: A = servers.connect(false);
    let failure = client.initialize().unwrap_err();
    failure.assert(ErrorKind::LoginRequired, &["log in first", &servers.server.url()]);
    assert_eq!(servers.authorization.requests().len(), 0);
}

fn o1_calls_at_once_share_one_refresh<A: Adapter>() {
    let servers = Servers::start();
    let mut client: A = servers.connect(true);
    client.initialize().unwrap();
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
    let mut client: A = servers.connect(true);
    client.initialize().unwrap();
    servers.authorization.revoke_access_tokens();
    let call = |timeout| client_call(timeout);
    // Given up at once, perhaps in the middle of the refresh.
    let _ = client.call(call(Duration::from_millis(1)));
    client.call(call(Duration::from_secs(60))).unwrap();
    assert_eq!(servers.token_requests(), 2, "the new refresh token was not lost");
    assert_eq!(servers.authorization.reused_refresh_tokens(), 0);
}

fn client_call(timeout: Duration) -> Call {
    let mut call = Call::new("echo");
    call.total_timeout = Some(timeout);
    call
}

on_every_adapter!(
    a_call_logs_the_user_in_once,
    o15_without_a_user_a_login_is_required,
    o1_calls_at_once_share_one_refresh,
    o2_a_refresh_outlives_the_call_that_needed_it,
);

#[test]
fn a_blocking_program_logs_in_before_its_first_call() {
    mcpwire_tests::watched(|| {
        let servers = Servers::start();
        let def = McpServerDef::http(servers.server.url());
        let runtime = mcpwire_blocking::http::runtime();
        let user = AgreeingUser::new(runtime.http_client(&def).unwrap());
        let oauth = OAuth::for_server(&def, "test").store(servers.store.clone()).build_on(runtime).unwrap();
        block_on(oauth.login_with(&user, LoginRequest::default())).unwrap();
        let mut client: mcpwire_tests::Blocking = servers.connect(false);
        client.initialize().unwrap();
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
