//! The authorization server of the test kit itself: in simulated time, over real HTTP and as a program, and which requests it
//! refuses.

use std::future::ready;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use mcpwire_authorization::oauth::{Dpop, Entropy, UnixTime};
use mcpwire_authorization::{OAuth, OAuthBuilder, PasteBack, SigningKey, random_seed};
use mcpwire_testkit::authorization::{AuthorizationServer, Client, Endpoint, ProtectedServer};
use mcpwire_testkit::{HttpRequest, ScriptedServer, VirtualTime};
use mcpwire_tests::authorization::{AgreeingUser, Web, echo};
use mcpwire_tests::watched;
use mcpwire_tokio::http::{HttpClient, HttpOptions};
use mcpwire_tokio::protocol::http::{Exchange, Failure, FailureKind};
use mcpwire_tokio::{ConnectOptions, Error, McpClient, McpServerDef, Tokio};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::secs;

const NOW: std::time::Duration = VirtualTime::UNIX_START;
const REDIRECT: &str = "http://127.0.0.1:1/callback";
/// The verifier and the challenge of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn server() -> AuthorizationServer {
    AuthorizationServer::new()
        .client(Client::new("public").redirect_uri(REDIRECT))
        .client(Client::new("secret").secret("s"))
}

fn token(server: &AuthorizationServer, form: &str) -> Value {
    let request =
        HttpRequest::post(server.endpoint(Endpoint::Token), format!("{form}&resource=https%3A%2F%2Fmcp.test%2Fmcp"));
    serde_json::from_str(&server.respond(&request, NOW).text()).expect("responses are JSON")
}

/// Logs in, and returns the code.
fn code(server: &AuthorizationServer) -> String {
    let url = format!(
        "https://auth.test/authorize?response_type=code&client_id=public&redirect_uri={REDIRECT}&code_challenge={CHALLENGE}\
         &code_challenge_method=S256&state=s&resource=https://mcp.test/mcp&scope=a"
    );
    let location = server.respond(&HttpRequest::get(url), NOW).header_value("Location").expect("a redirect");
    assert!(location.starts_with(REDIRECT) && location.contains("iss=https%3A%2F%2Fauth.test"), "{location}");
    HttpRequest::get(location).parameter("code").expect("a code")
}

fn exchange(server: &AuthorizationServer, code: &str, verifier: &str) -> Value {
    let form = format!(
        "grant_type=authorization_code&client_id=public&code={code}&redirect_uri={REDIRECT}&code_verifier={verifier}"
    );
    token(server, &form)
}

fn refresh(server: &AuthorizationServer, tokens: &Value) -> Value {
    let refresh_token = tokens["refresh_token"].as_str().unwrap();
    token(server, &format!("grant_type=refresh_token&client_id=public&refresh_token={refresh_token}"))
}

#[test]
fn a_login_registers_asks_the_user_and_opens_the_connection_in_simulated_time() {
    let web = Web::new();
    let text = web.run(web.oauth(), async |client| echo(&client).await.unwrap().text().to_string());
    assert_eq!(text, "hi");
    for endpoint in [Endpoint::Metadata, Endpoint::Registration, Endpoint::Authorization, Endpoint::Token] {
        assert_eq!(web.count(endpoint), 1, "{endpoint:?}");
    }
    let login = web.logins().remove(0);
    assert_eq!(login.parameter("resource").as_deref(), Some("https://mcp.test/mcp"));
    assert_eq!(login.parameter("code_challenge_method").as_deref(), Some("S256"));
}

#[test]
fn o14_the_same_over_real_http_and_with_an_address_that_the_user_pastes() {
    watched(|| {
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
        let _serving = (authorization.serve(0).unwrap(), server.serve(0).unwrap());
        let browser = authorization.clone();
        let paste = PasteBack::new(move |url| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            Ok(browser.respond(&HttpRequest::get(url), now).header_value("Location").unwrap() + "\n")
        });
        runtime().block_on(async {
            let client = call(&server.url(), |builder| builder).await.unwrap();
            assert_eq!(client.call_tool("echo", ()).await.unwrap().text().as_str(), "hi");
            client.shutdown().await.unwrap();
            call(&server.url(), |builder| builder.prompt(paste)).await.expect("the user pastes the address");
        });
        assert_eq!(authorization.requests_to(Endpoint::Token).len(), 2);
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
        let error = runtime().block_on(async {
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
fn a_code_is_used_once_with_its_verifier() {
    let server = server();
    let first = code(&server);
    let tokens = exchange(&server, &first, VERIFIER);
    assert_eq!((&tokens["token_type"], &tokens["scope"]), (&json!("Bearer"), &json!("a")));
    assert_eq!(exchange(&server, &first, VERIFIER)["error"], "invalid_grant");
    assert_eq!(refresh(&server, &tokens)["error"], "invalid_grant", "the tokens of the first use are revoked");
    assert_eq!(exchange(&server, &code(&server), &VERIFIER.replace('d', "e"))["error"], "invalid_grant");
}

#[test]
fn a_refresh_token_that_is_used_twice_revokes_the_login() {
    let server = server();
    let first = exchange(&server, &code(&server), VERIFIER);
    let second = refresh(&server, &first);
    assert!(server.is_refresh_token_valid(second["refresh_token"].as_str().unwrap()));
    assert_eq!(refresh(&server, &first)["error"], "invalid_grant");
    assert_eq!(refresh(&server, &second)["error"], "invalid_grant", "the whole family is revoked");
    assert_eq!(server.reused_refresh_tokens(), 1);
}

#[test]
fn clients_that_are_unknown_or_do_not_authenticate_are_refused() {
    let server = server();
    for (form, error) in [
        ("grant_type=client_credentials", "invalid_client"),
        ("grant_type=client_credentials&client_id=nobody", "invalid_client"),
        ("grant_type=client_credentials&client_id=secret", "invalid_client"),
        ("grant_type=client_credentials&client_id=secret&client_secret=x", "invalid_client"),
        ("grant_type=client_credentials&client_id=public&client_secret=x", "invalid_client"),
        ("grant_type=client_credentials&client_id=public", "unauthorized_client"),
        ("grant_type=password&client_id=public", "unsupported_grant_type"),
    ] {
        assert_eq!(token(&server, form)["error"], error, "{form}");
    }
    let unknown = HttpRequest::post(server.endpoint(Endpoint::Token), "grant_type=client_credentials&client_id=nobody");
    assert_eq!(server.respond(&unknown, NOW).code(), 401);
    let form = "grant_type=client_credentials&client_id=secret&client_secret=s";
    assert!(token(&server, form)["access_token"].is_string());
}

#[test]
fn redirects_go_to_registered_addresses_only() {
    let server = server();
    for redirect in ["https://evil.test/", "http://127.0.0.1:2/callback", ""] {
        let url = format!("https://auth.test/authorize?response_type=code&client_id=public&redirect_uri={redirect}");
        let answer = server.respond(&HttpRequest::get(url), NOW);
        assert_eq!((answer.code(), answer.header_value("Location")), (400, None), "{redirect}");
    }
}

#[test]
fn the_login_page_asks_and_its_form_decides() {
    let server = server().with_login_page();
    let url = format!(
        "https://auth.test/authorize?response_type=code&client_id=public&redirect_uri={REDIRECT}&code_challenge={CHALLENGE}\
         &code_challenge_method=S256&resource=https://mcp.test/mcp&scope=%3Cb%3E"
    );
    let page = server.respond(&HttpRequest::get(&url), NOW);
    assert_eq!(page.code(), 200);
    let text = page.text();
    assert!(text.contains("<form method=\"post\">") && text.contains("&lt;b&gt;") && !text.contains("<b>"), "{text}");
    for (decision, parameter) in [("allow", "code"), ("deny", "error")] {
        let answer = server.respond(&HttpRequest::post(&url, format!("user=alice&decision={decision}")), NOW);
        let location = answer.header_value("Location").expect("a redirect");
        assert!(HttpRequest::get(location).parameter(parameter).is_some());
    }
}

#[test]
fn a_device_that_asks_too_often_is_slowed_down() {
    let server = server();
    let url = server.endpoint(Endpoint::DeviceAuthorization);
    let asked = server.respond(&HttpRequest::post(url, "client_id=public&resource=https://mcp.test/mcp"), NOW);
    let codes: Value = serde_json::from_str(&asked.text()).expect("it is JSON");
    let form = format!(
        "grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=public&device_code={}",
        codes["device_code"].as_str().unwrap()
    );
    let poll = |seconds| {
        let request = HttpRequest::post(server.endpoint(Endpoint::Token), &*form);
        serde_json::from_str::<Value>(&server.respond(&request, NOW + secs(seconds)).text()).expect("it is JSON")
    };
    assert_eq!(poll(0)["error"], "authorization_pending");
    assert_eq!(poll(2)["error"], "slow_down");
    assert_eq!(poll(12)["error"], "authorization_pending");
    let page = HttpRequest::post(
        server.endpoint(Endpoint::DevicePage),
        format!("user_code={}&decision=allow", codes["user_code"].as_str().unwrap()),
    );
    assert_eq!(server.respond(&page, NOW).code(), 200);
    assert!(poll(30)["access_token"].is_string());
    assert_eq!(poll(40)["error"], "invalid_grant", "a code is used once");
    assert_eq!(server.respond(&page, NOW).code(), 404);
}

/// Signs a proof for this method, URL and time.
fn proof(key: &SigningKey, method: &str, url: &str, seconds: u64) -> String {
    let dpop = Dpop::new(key.public_key().expect("keys of this algorithm have one"));
    let (now, mut entropy) =
        (UnixTime::from_secs(seconds), Entropy::new(random_seed().expect("there are random numbers")));
    let proof = dpop.begin_proof(method, url, None, now, &mut entropy);
    let signature = key.sign(proof.signing_input()).expect("the key signs");
    proof.finish(&signature)
}

#[test]
fn proofs_are_fresh_for_one_request_and_signed_by_their_key() {
    let server = server();
    let (key, _) = SigningKey::generate().expect("there are random numbers");
    let (url, now) = (server.endpoint(Endpoint::Token), NOW.as_secs());
    let send = |proof: &str| {
        let form = "grant_type=client_credentials&client_id=secret&client_secret=s&resource=https://mcp.test/mcp";
        let request = HttpRequest::post(&*url, form).with_header("DPoP", proof);
        serde_json::from_str::<Value>(&server.respond(&request, NOW).text()).expect("responses are JSON")
    };
    let good = proof(&key, "POST", &url, now);
    assert_eq!(send(&good)["token_type"], "DPoP");
    let (signed, signature) = good.rsplit_once('.').expect("three parts");
    let forged = format!("{signed}.{}", signature.chars().rev().collect::<String>());
    for bad in [
        good.clone(),
        proof(&key, "GET", &url, now),
        proof(&key, "POST", "https://auth.test/other", now),
        proof(&key, "POST", &url, now - 301),
        proof(&key, "POST", &url, now + 301),
        forged,
        "a.b.c".into(),
    ] {
        assert_eq!(send(&bad)["error"], "invalid_dpop_proof", "{bad}");
    }
}

#[test]
fn a_protected_server_takes_valid_tokens_for_itself_alone() {
    let authorization = server();
    let protected = authorization.protect(ScriptedServer::new());
    let other = authorization.protect_at("https://other.test/mcp", ScriptedServer::new());
    let tokens = exchange(&authorization, &code(&authorization), VERIFIER);
    let send = |server: &ProtectedServer, scheme: &str, seconds| {
        let value = format!("{scheme} {}", tokens["access_token"].as_str().unwrap());
        let request = HttpRequest::post(server.url(), "{}").with_header("Authorization", value);
        server
            .respond(&request, NOW + secs(seconds))
            .map(|answer| (answer.code(), answer.header_value("WWW-Authenticate").unwrap()))
    };
    assert_eq!(send(&protected, "Bearer", 0), None, "the request goes to the MCP server");
    for refused in [send(&other, "Bearer", 0), send(&protected, "DPoP", 0), send(&protected, "Bearer", 3600)] {
        let (status, challenge) = refused.expect("the token is not valid here or now");
        assert!(status == 401 && challenge.contains("error=\"invalid_token\""), "{challenge}");
    }
    protected.require("", "a b");
    let (status, challenge) = send(&protected, "Bearer", 0).expect("a scope is missing");
    assert!(
        status == 403 && challenge.contains("insufficient_scope") && challenge.contains("scope=\"a b\""),
        "{challenge}"
    );
    authorization.revoke_logins();
    assert_eq!(send(&protected, "Bearer", 0).map(|(status, _)| status), Some(401));
}

/// The running program, which is killed when this is dropped.
struct Program {
    child: Child,
    commands: ChildStdin,
    output: BufReader<ChildStdout>,
    server: String,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_authorization-server"));
        let mut child =
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let commands = child.stdin.take().expect("it is a pipe");
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut program = Program { child, commands, output, server: String::new() };
        let urls: Vec<_> = (0..3).map(|_| program.line()).collect();
        assert!(urls[1].starts_with("authorization http://127.0.0.1:"), "{urls:?}");
        urls[0].strip_prefix("server ").expect("the URL of the server").clone_into(&mut program.server);
        program
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it writes");
        line.trim_end().to_owned()
    }

    fn command(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").expect("it reads");
        self.line()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Connects a client whose user logs in at once, and calls a tool.
async fn call(url: &str, change: impl FnOnce(OAuthBuilder) -> OAuthBuilder) -> Result<McpClient, Error> {
    let runtime = Tokio::current();
    let def = McpServerDef::http(url);
    let user = AgreeingUser::new(runtime.http_client(&def).expect("there is a client"));
    let builder = change(OAuth::builder(url, "test").prompt(user));
    let oauth = builder.build(Arc::clone(&runtime), runtime.http_client(&def).expect("there is a client"));
    let client =
        McpClient::connect_with(&def, ConnectOptions::default().http(HttpOptions::default().authorizer(oauth)))?;
    client.initialize().await?;
    client.call_tool("echo", json!({"message": "hi"})).await?;
    Ok(client)
}

#[test]
fn the_program_serves_logins_and_obeys_commands() {
    watched(|| {
        let runtime = runtime();
        let mut program = Program::start(&["--agree", "--dpop", "--nonces", "--require", "tools/call echo=echo:run"]);
        let url = program.server.clone();
        let client = runtime.block_on(call(&url, |builder| builder.dpop(true))).expect("the user logs in");
        assert!(
            program.command("requests").starts_with("registrations 1 logins 2 tokens "),
            "one more login for the scope"
        );
        assert_eq!(program.command("revoke-access-tokens"), "ok");
        let result = runtime.block_on(async { client.call_tool("add", json!({"a": 2, "b": 3})).await });
        assert_eq!(result.expect("the token is refreshed").text().as_str(), "5");
        assert_eq!(program.command("deviate token-type=mac"), "ok");
        assert!(program.command("deviate nonsense").starts_with("error: "));
    });
}

#[test]
fn the_program_serves_both_at_one_origin_for_old_clients() {
    watched(|| {
        let arguments =
            ["--same-origin", "--agree", "--metadata", "none", "--deviate", "no-metadata", "--deviate", "no-iss"];
        let program = Program::start(&arguments);
        runtime().block_on(call(&program.server, |builder| builder)).expect("the user logs in");
    });
}
