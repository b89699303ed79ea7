//! Lists that a server keeps private for a time belong to the login that requested them, on every adapter.
//! (2026-07-28, server/utilities/caching, "Cache Scope Field")

use std::sync::{Arc, Mutex};

use mcpwire_authorization::{LoginRequest, MemoryStore, OAuth};
use mcpwire_blocking::http::{HttpOptions, block_on};
use mcpwire_client::{ConnectOptions, ErrorKind, McpServerDef};
use mcpwire_reqwest::ReqwestClient;
use mcpwire_testkit::authorization::{AuthorizationServer, ProtectedServer, Serving};
use mcpwire_testkit::{HttpAnswer, ScriptedServer};
use mcpwire_tests::asynchronous::{Async, TokioMulti};
use mcpwire_tests::authorization::AgreeingUser;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, OverHttp, on_every_adapter};
use serde_json::json;

/// A server whose lists are valid for an hour. Each access token sees another tool beside `echo` and `extra`: `first` for the first
/// token, and so on.
struct Servers {
    authorization: AuthorizationServer,
    server: ProtectedServer,
    store: MemoryStore,
    _serving: (Serving, Serving),
}

const TOOLS: [&str; 4] = ["first", "second", "third", "fourth"];

impl Servers {
    fn start(scope: &'static str) -> Self {
        let authorization = AuthorizationServer::new();
        let scripted = ScriptedServer::new().tool("echo", |_| "hi").tool("extra", |_| "more");
        let server = authorization.protect(scripted);
        let mut tokens: Vec<String> = Vec::new();
        server.over_http(|http| {
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
        let serving = (authorization.serve(0).expect("a port"), server.serve(0).expect("a port"));
        Servers { authorization, server, store: MemoryStore::new(), _serving: serving }
    }

    fn def(&self) -> McpServerDef {
        McpServerDef::http(self.server.url())
    }

    /// Opens a connection with a user who logs in at once. Returns its authorizer, too.
    fn open<A: Adapter>(&self) -> (A, OAuth) {
        let (def, mut authorizer) = (self.def(), None);
        let connected = A::connect_authorized(&def, |runtime| {
            let user = AgreeingUser::new(runtime.http_client(&def).expect("a client"));
            let oauth = OAuth::for_server(&def, "test").store(self.store.clone()).prompt(user);
            let oauth = oauth.build_on(runtime).expect("a client");
            authorizer = Some(oauth.clone());
            oauth
        });
        let mut client = connected.expect("the options are right");
        client.initialize().expect("the user logs in");
        (client, authorizer.expect("it was built"))
    }

    /// Logs in as another process with the same store does.
    fn log_in_elsewhere(&self) {
        let (def, runtime) = (self.def(), mcpwire_blocking::http::runtime());
        let user = AgreeingUser::new(runtime.http_client(&def).expect("a client"));
        let oauth = OAuth::for_server(&def, "test").store(self.store.clone()).build_on(runtime).expect("a client");
        block_on(oauth.login_with(&user, LoginRequest::default())).expect("the user logs in");
    }

    /// Returns how many lists were requested.
    fn lists(&self) -> usize {
        self.server.requests().iter().filter(|request| request.method() == "tools/list").count()
    }
}

/// Returns the tool of the list that tells the token apart.
fn listed<A: Adapter>(client: &mut A) -> String {
    let tools = client.list_tools().expect("it lists its tools");
    assert_eq!(tools[0].name, "echo");
    tools[1].name.clone()
}

fn after_a_logout_a_list_is_requested_with_the_new_login<A: Adapter>() {
    let servers = Servers::start("private");
    let (mut client, oauth) = servers.open::<A>();
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    assert_eq!(servers.lists(), 1, "the second time, the cache answers");
    block_on(oauth.logout(false)).expect("the token is deleted");
    assert_eq!([listed(&mut client), listed(&mut client)], ["second", "second"]);
    client.shutdown().expect("it ends");
}

fn after_a_logout_nobody_gets_the_old_list<A: Adapter>() {
    let servers = Servers::start("private");
    servers.log_in_elsewhere();
    let (def, mut authorizer) = (servers.def(), None);
    let connected = A::connect_authorized(&def, |runtime| {
        let oauth = OAuth::for_server(&def, "test").store(servers.store.clone()).build_on(runtime).expect("a client");
        authorizer = Some(oauth.clone());
        oauth
    });
    let mut client = connected.expect("the options are right");
    client.initialize().expect("there is a login");
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    block_on(authorizer.expect("it was built").logout(false)).expect("the token is deleted");
    let failure = client.list_tools().expect_err("nobody is logged in");
    failure.assert(ErrorKind::LoginRequired, &["log in first"]);
    client.shutdown().expect("it ends");
}

fn after_a_login_for_more_scopes_the_list_is_requested_again<A: Adapter>() {
    let servers = Servers::start("private");
    servers.server.require("tools/call extra", "extra:run");
    let (mut client, _) = servers.open::<A>();
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
    let servers = Servers::start("private");
    let (mut client, _) = servers.open::<A>();
    assert_eq!(listed(&mut client), "first");
    servers.authorization.revoke_access_tokens();
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!(listed(&mut client), "first");
    assert_eq!(servers.lists(), 1);
    client.shutdown().expect("it ends");
}

fn the_login_of_another_process_gets_a_list_of_its_own<A: Adapter>() {
    let servers = Servers::start("private");
    let (mut client, _) = servers.open::<A>();
    assert_eq!(listed(&mut client), "first");
    servers.authorization.revoke_access_tokens();
    servers.log_in_elsewhere();
    assert_eq!(client.text("echo", json!({})), "hi");
    assert_eq!([listed(&mut client), listed(&mut client)], ["second", "second"]);
    client.shutdown().expect("it ends");
}

fn a_public_list_is_for_all_logins<A: Adapter>() {
    let servers = Servers::start("public");
    let (mut client, oauth) = servers.open::<A>();
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
    let mut client = A::over_http(&web.def(), OverHttp { http, ..OverHttp::default() }).expect("it is made");
    client.initialize().expect("it answers");
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
    let mut client = A::connect_with(&web.def(), options).expect("it is made");
    client.initialize().expect("it answers");
    assert_eq!([listed(&mut client), listed(&mut client)], ["first", "first"]);
    *user.lock().unwrap() = "second";
    client.text("echo", json!({}));
    assert_eq!(listed(&mut client), "second");
    client.shutdown().expect("it ends");
}

on_every_adapter!(
    after_a_logout_a_list_is_requested_with_the_new_login,
    after_a_logout_nobody_gets_the_old_list,
    after_a_login_for_more_scopes_the_list_is_requested_again,
    a_refresh_keeps_the_list,
    the_login_of_another_process_gets_a_list_of_its_own,
    a_public_list_is_for_all_logins,
    another_token_of_the_program_gets_a_list_of_its_own,
    another_header_of_the_program_gets_a_list_of_its_own,
);

#[test]
fn the_http_client_of_reqwest_is_no_exception() {
    mcpwire_tests::watched(|| {
        let servers = Servers::start("private");
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
