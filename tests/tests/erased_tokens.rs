//! The tokens and the client's secret are not in memory that a login, a refresh, a call and a logout give back, except in what the
//! HTTP client of the program gets.

use std::future::ready;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_authorization::oauth::{AuthMethod, Secret};
use mcpwire_authorization::{FileStore, LoginRequest, MemoryStore, OAuth, TokenStore};
use mcpwire_driver::http::{HttpClient, HttpOptions, HttpResponse, ResponseFuture};
use mcpwire_driver::protocol::http::Exchange;
use mcpwire_driver::{ConnectOptions, McpClient, McpServerDef};
use mcpwire_testkit::VirtualTime;
use mcpwire_tests::{Counting, given_back, watch, watched};
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// None is a part of another one.
const SECRETS: &[&str] =
    &["first-access-token", "first-refresh-token", "second-access-token", "second-refresh-token", "the-client-secret"];

const FIRST: &[u8] = br#"{"access_token":"first-access-token","refresh_token":"first-refresh-token","expires_in":100}"#;
const SECOND: &[u8] =
    br#"{"access_token":"second-access-token","refresh_token":"second-refresh-token","expires_in":100}"#;
const RESOURCE: &[u8] = br#"{"resource":"https://mcp.test/mcp","authorization_servers":["https://auth.test"]}"#;
const SERVER: &[u8] = br#"{"issuer":"https://auth.test","authorization_endpoint":"https://auth.test/authorize",
    "token_endpoint":"https://auth.test/token","response_types_supported":["code"],"code_challenge_methods_supported":["S256"],
    "token_endpoint_auth_methods_supported":["client_secret_post"],"revocation_endpoint":"https://auth.test/revoke"}"#;

/// The program's HTTP client, which erases the requests that it gets. Its responses with secrets are not allocated.
#[derive(Clone)]
struct Canned;

impl HttpClient for Canned {
    fn send(&self, mut exchange: Exchange) -> ResponseFuture {
        let response = respond(&exchange);
        exchange.body.fill(0);
        for (_, value) in exchange.headers {
            let mut bytes = value.into_bytes();
            bytes.fill(0);
            black_box(&bytes);
        }
        black_box(&exchange.body);
        Box::pin(ready(Ok(response)))
    }

    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        Box::pin(ready(Ok(respond(&exchange))))
    }
}

fn respond(exchange: &Exchange) -> HttpResponse {
    let has = |text: &str| exchange.body.windows(text.len()).any(|part| part == text.as_bytes());
    let with_status = |status, body: &'static [u8]| {
        HttpResponse::new(status, vec![("content-type".to_owned(), b"application/json".to_vec())], body)
    };
    let json = |body| with_status(200, body);
    match exchange.uri.as_str() {
        "https://auth.test/token" if has("grant_type=refresh_token") => json(SECOND),
        "https://auth.test/token" => json(FIRST),
        "https://auth.test/revoke" => json(b"{}"),
        uri if uri.starts_with("https://auth.test") => json(SERVER),
        uri if uri.contains("/.well-known/") => json(RESOURCE),
        _ => {
            let is_refused = !exchange.headers.iter().any(|(_, value)| value.ends_with("-access-token"));
            let message: Value = serde_json::from_slice(&exchange.body).unwrap_or_default();
            let result = if message["method"] == "server/discover" {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            } else {
                json!({"content": [{"type": "text", "text": "hi"}]})
            };
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
            let body: &'static [u8] = answer.into_bytes().leak();
            with_status(if is_refused { 401 } else { 200 }, body)
        }
    }
}

/// Returns how many pieces of memory with a secret the work gives back.
fn leaks(work: impl FnOnce()) -> usize {
    let before = given_back();
    work();
    given_back() - before
}

fn log_in_and_out(store: impl TokenStore) {
    let time = VirtualTime::new();
    let oauth = OAuth::builder("https://mcp.test/mcp", "test")
        .store(store)
        .settings(|settings| {
            let settings = settings.client_id("client").client_secret(Secret::new("the-client-secret"));
            settings.auth_method(AuthMethod::ClientSecretPost).client_issuer("https://auth.test")
        })
        .build(time.runtime(), Arc::new(Canned));
    let http = HttpOptions::default().client(Canned).authorizer(oauth.clone());
    let def = McpServerDef::http("https://mcp.test/mcp");
    let client: McpClient<VirtualTime> =
        McpClient::connect_on(time.runtime(), &def, ConnectOptions::default().http(http)).expect("it is made");
    let login = leaks(|| {
        time.run(async {
            let begun =
                oauth.begin_login("http://127.0.0.1:1/callback", LoginRequest::default()).await.expect("it begins");
            let state = begun.url.split("state=").nth(1).and_then(|rest| rest.split('&').next()).expect("a state");
            let callback = format!("http://127.0.0.1:1/callback?code=code&state={state}");
            oauth.finish_login(&callback).await.expect("it ends");
        });
    });
    let call = leaks(|| {
        time.run(async {
            client.initialize().await.expect("it answers");
            client.call_tool("echo", ()).await.expect("it answers");
        });
    });
    let refresh = leaks(|| {
        time.run(async {
            time.sleep(Duration::from_secs(200)).await;
            client.call_tool("echo", ()).await.expect("the token is refreshed");
        });
    });
    let used = oauth.secrets();
    assert!(SECRETS.iter().all(|secret| used.iter().any(|used| used.expose() == *secret)), "all were used");
    let logout = leaks(|| {
        assert!(time.run(oauth.logout(true)).expect("it is deleted").had_token);
        drop((client, oauth));
    });
    assert_eq!((login, call, refresh, logout), (0, 0, 0, 0), "in login, call, refresh, logout");
}

#[test]
fn no_token_is_in_memory_that_is_given_back() {
    watch(SECRETS);
    assert_eq!(leaks(|| drop("a first-access-token".to_owned())), 1, "it is found");
    watched(|| log_in_and_out(MemoryStore::new()));
    watched(|| {
        let directory = tempfile::tempdir().expect("a directory");
        log_in_and_out(FileStore::open(directory.path().join("logins")).expect("it is created"));
    });
}
