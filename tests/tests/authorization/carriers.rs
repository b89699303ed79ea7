//! The authorization server of the test kit itself: the same in simulated time and over real HTTP.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpwire_authorization::OAuth;
use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint};
use mcpwire_testkit::{HttpRequest, ScriptedServer, VirtualTime};
use mcpwire_tests::authorization::{AgreeingUser, Web, echo};
use mcpwire_tests::watched;
use mcpwire_tokio::http::{HttpClient, HttpOptions};
use mcpwire_tokio::protocol::http::{Exchange, Failure, FailureKind};
use mcpwire_tokio::{ConnectOptions, McpClient, McpServerDef, Tokio};

#[test]
fn a_login_registers_asks_the_user_and_opens_the_connection_in_simulated_time() {
    watched(|| {
        let web = Web::new();
        let text = web.run(web.oauth(), async |client| echo(&client).await.unwrap().text().to_string());
        assert_eq!(text, "hi");
        for endpoint in [Endpoint::Metadata, Endpoint::Registration, Endpoint::Authorization, Endpoint::Token] {
            assert_eq!(web.count(endpoint), 1, "{endpoint:?}");
        }
        let login = web.logins().remove(0);
        assert_eq!(login.parameter("resource").as_deref(), Some("https://mcp.test/mcp"));
        assert_eq!(login.parameter("code_challenge_method").as_deref(), Some("S256"));
    });
}

#[test]
fn the_same_over_real_http() {
    watched(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
        let _serving = (authorization.serve(0).unwrap(), server.serve(0).unwrap());
        runtime.block_on(async {
            let runtime = Tokio::current();
            let def = McpServerDef::http(server.url());
            let http = || runtime.http_client(&def).unwrap();
            let user = AgreeingUser::new(http());
            let oauth = OAuth::builder(server.url(), "test").prompt(user).build(Arc::clone(&runtime), http());
            let options = ConnectOptions::default().http(HttpOptions::default().authorizer(oauth));
            let client = McpClient::connect_with(&def, options).unwrap();
            client.initialize().await.unwrap();
            assert_eq!(client.call_tool("echo", ()).await.unwrap().text().as_str(), "hi");
            client.shutdown().await.unwrap();
        });
        assert_eq!(authorization.requests_to(Endpoint::Token).len(), 1);
    });
}

#[test]
fn an_http_client_that_does_not_apply_the_proxy_sends_no_request_of_a_login() {
    watched(|| {
        let sent = Arc::new(AtomicUsize::new(0));
        let client = || -> Arc<dyn HttpClient> {
            let sent = Arc::clone(&sent);
            Arc::new(move |_: Exchange| {
                sent.fetch_add(1, Ordering::SeqCst);
                ready(Err(Failure::new(FailureKind::Unreachable, "sent".to_owned())))
            })
        };
        let mut def = McpServerDef::http("https://mcp.test/mcp").name("near");
        def.proxy = Some("http://127.0.0.1:1".into());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(async {
            let user = AgreeingUser::new(client());
            let oauth = OAuth::for_server(&def, "test").prompt(user).build(Tokio::current(), client());
            oauth.login().await.expect_err("the client ignores the proxy").to_string()
        });
        assert!(error.contains("server `near`: the HTTP client does not apply `proxy`"), "{error}");
        assert!(error.contains("`mcpwire::http::ClientOptions::of`"), "{error}");
        assert!(!error.contains("allow_private_addresses"), "{error}");
        assert_eq!(sent.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn the_server_refuses_what_is_wrong_in_a_request() {
    let authorization = AuthorizationServer::new();
    let send = |form: &str| {
        let url = authorization.endpoint(Endpoint::Token);
        let answer = authorization.respond(&HttpRequest::post(url, form), VirtualTime::UNIX_START);
        (answer.code(), answer.text())
    };
    let (status, text) = send("grant_type=refresh_token&refresh_token=x&client_id=nobody");
    assert!(status == 401 && text.contains("invalid_client"), "{text}");
}
