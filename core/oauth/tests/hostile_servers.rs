//! What holds for every server, whatever it sends: requests go to https URLs, flows end, and errors and `Debug` show no secret.

use std::fmt::Write as _;

use mcpwire_oauth::{
    Action, BearerChallenge, Challenge, ClientAuthentication, ClientKey, DeviceAction, DeviceInput, DeviceLogin,
    Discovery, Entropy, FetchError, Flow, Grant, IdJagRequest, Input, Login, LoginAttempt, OAuthSettings, Refresh,
    RefreshAction, RefreshInput, Request, Response, Revocation, Scopes, Secret, SigningAlgorithm, StoredToken,
    SubjectToken, TokenEndpoint, TokenRequest, UnixTime,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";
const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

/// Maximum number of requests of a discovery: 3 places for the metadata of the server, and 3 for each of 8 issuers.
const MAX_REQUESTS: usize = 3 + 3 * 8;

fn settings() -> OAuthSettings {
    OAuthSettings::new("Test", "http://127.0.0.1:1/callback")
}

fn response(status: u16, body: impl Into<Vec<u8>>) -> Input {
    Input::Response(Response { status, headers: Vec::new(), body: body.into() })
}

/// URLs as servers name them, good and bad.
fn url() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(ISSUER.to_string()),
        Just(SERVER.to_string()),
        "https://[a-c]{1,2}\\.example(:[0-9]{1,6})?(/[a-b./%?#@]{0,6})?",
        "(http|javascript|data|file|HTTPS|ftp)(:|://|:/)[a-z.@:\\[\\]0-9]{0,12}(/[ -~]{0,5})?",
        "http://(localhost|127\\.0\\.0\\.1|10\\.0\\.0\\.1|\\[::1\\]|169\\.254\\.169\\.254)(:80)?/?",
        ".{0,10}",
    ]
}

fn document() -> impl Strategy<Value = String> {
    let good = |right: &'static str, url: BoxedStrategy<String>| prop_oneof![3 => Just(right.to_string()), 1 => url];
    let endpoint = || good("https://as.example/x", url().boxed());
    let resource = (good(SERVER, url().boxed()), prop::collection::vec(url(), 0..10)).prop_map(|(resource, issuers)| {
        json!({"resource": resource, "authorization_servers": issuers, "scopes_supported": ["a"]})
    });
    let server = (good(ISSUER, url().boxed()), endpoint(), endpoint(), endpoint()).prop_map(
        |(issuer, authorization, token, registration)| {
            json!({"issuer": issuer, "authorization_endpoint": authorization, "token_endpoint": token,
            "registration_endpoint": registration, "code_challenge_methods_supported": ["S256"]})
        },
    );
    prop_oneof![resource.prop_map(|json| json.to_string()), server.prop_map(|json| json.to_string()), ".{0,30}"]
}

fn answer() -> impl Strategy<Value = Result<(u16, String), FetchError>> {
    prop_oneof![
        6 => document().prop_map(|body| Ok((200, body))),
        3 => (prop_oneof![Just(404), Just(302), Just(500), 100..600u16], ".{0,9}").prop_map(Ok),
        1 => Just(Err(FetchError::Failed("reset".into()))),
        1 => Just(Err(FetchError::Refused("private".into()))),
        1 => Just(Err(FetchError::TooLarge)),
    ]
}

/// Drives a flow. `answers` are the first answers; then nothing is found. Returns the output and the URLs.
fn drive<F: Flow>(flow: &mut F, answers: &[Result<(u16, String), FetchError>]) -> (Option<F::Output>, Vec<String>) {
    let (mut answers, mut urls) = (answers.iter().cloned(), Vec::new());
    let mut action = flow.start(NOW);
    loop {
        let request: Request = match action {
            Ok(Action::Fetch(request)) => request,
            Ok(Action::Done(output)) => return (Some(output), urls),
            Ok(_) | Err(_) => return (None, urls),
        };
        urls.push(request.url);
        assert!(urls.len() <= MAX_REQUESTS, "{urls:?}");
        let input = match answers.next().unwrap_or(Ok((404, String::new()))) {
            Ok((status, body)) => response(status, body),
            Err(error) => Input::FetchFailed(error),
        };
        action = flow.resume(input, NOW);
    }
}

/// Returns whether all programs read the URL in the same way.
fn is_plain(url: &str) -> bool {
    let authority = url.split('/').nth(2).unwrap_or_default();
    url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains('\\') && !authority.contains('@')
}

fn is_plain_https(url: &str) -> bool {
    url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_url_that_is_asked_or_opened_is_https(answers in prop::collection::vec(answer(), 0..12), challenged in url()) {
        let header = format!("Bearer resource_metadata=\"{}\"", challenged.replace(['"', '\\'], ""));
        let challenge = BearerChallenge::parse([&*header]);
        let (found, urls) = drive(&mut Discovery::new(SERVER, challenge.as_ref(), &settings()), &answers);
        prop_assert!(urls.iter().all(|url| is_plain_https(url) && is_plain(url)), "{urls:?}");
        if let Some(found) = found {
            prop_assert!(found.resource.to_ascii_lowercase().starts_with("https://mcp.example"), "{}", found.resource);
            let answers = [Ok((201, r#"{"client_id":"c"}"#.to_string()))];
            let (started, urls) = drive(&mut Login::new(found, settings(), None, Entropy::new([1; 32])), &answers);
            prop_assert!(urls.iter().all(|url| is_plain_https(url)), "{urls:?}");
            if let Some(started) = started {
                prop_assert!(is_plain_https(&started.url) && started.url.is_ascii(), "{}", started.url);
                prop_assert!(!started.url.contains(started.attempt.verifier.expose()));
            }
        }
    }

    #[test]
    fn challenges_of_any_bytes_are_read(headers in prop::collection::vec("[ -~\\t\u{e9}]{0,80}", 0..4)) {
        let challenges = Challenge::parse_all(headers.iter().map(String::as_str));
        prop_assert!(challenges.iter().all(|challenge| !challenge.scheme.is_empty()));
        let size: usize = challenges.iter().flat_map(|challenge| &challenge.params).map(|(name, value)| name.len() + value.len()).sum();
        prop_assert!(size <= headers.iter().map(String::len).sum());
        BearerChallenge::parse(headers.iter().map(String::as_str));
    }

    #[test]
    fn written_challenges_are_read_back(list in prop::collection::vec(("[A-Za-z][A-Za-z0-9-]{0,8}", prop::collection::vec(("[a-z_]{1,9}", "[ -~]{0,20}"), 1..4)), 1..4)) {
        let quote = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"");
        let write = |(scheme, params): &(String, Vec<(String, String)>)| {
            let params: Vec<_> = params.iter().map(|(name, value)| format!("{name}=\"{}\"", quote(value))).collect();
            format!("{scheme} {}", params.join(", "))
        };
        let header = list.iter().map(write).collect::<Vec<_>>().join(", ");
        let read: Vec<_> = Challenge::parse_all([&*header]).into_iter().map(|challenge| (challenge.scheme, challenge.params)).collect();
        prop_assert_eq!(read, list, "{}", header);
    }

    #[test]
    fn only_a_response_with_state_and_issuer_leads_to_a_token_request(callback in response_like()) {
        let attempt = attempt();
        let finished = attempt.finish(&callback, None, Entropy::new([2; 32]));
        let query = callback.trim().split('#').next().unwrap_or_default().trim_start_matches("/callback?");
        let pairs: Vec<_> = query.split('&').collect();
        let count = |start: &str| pairs.iter().filter(|pair| pair.starts_with(start)).count();
        let is_authentic = pairs.contains(&&*format!("state={}", attempt.state.expose()))
            && (pairs.contains(&"iss=https%3A%2F%2Fas.example") || pairs.contains(&"iss=https://as.example"))
            && ["state=", "iss="].map(count) == [1, 1];
        match finished {
            Ok(_) => prop_assert!(is_authentic && ["code=", "error="].map(count) == [1, 0], "{callback}"),
            Err(error) => prop_assert!(is_authentic || !error.to_string().contains("attack"), "{error}"),
        }
    }

    #[test]
    fn scopes_are_read_back(text in "[ -~]{0,200}", other in "[ -~]{0,50}") {
        let (scopes, other) = (Scopes::parse(&text), Scopes::parse(&other));
        prop_assert_eq!(&Scopes::parse(&scopes.to_string()), &scopes);
        let union = scopes.union(&other);
        prop_assert!(union.is_superset(&scopes) && union.is_superset(&other));
        prop_assert!(union.len() <= scopes.len() + other.len());
    }
}

#[test]
fn errors_contain_only_the_beginning_of_the_texts_of_servers() {
    let long = "x".repeat(25_000);
    let resource =
        |resource: &str, issuer: &str| json!({"resource": resource, "authorization_servers": [issuer]}).to_string();
    let server = |issuer: &str, endpoint: &str| {
        json!({"issuer": issuer, "authorization_endpoint": endpoint, "token_endpoint": endpoint}).to_string()
    };
    let cases = [
        vec![resource(&format!("https://{long}"), ISSUER)],
        vec![resource(SERVER, &format!("http://{long}"))],
        vec![resource(SERVER, ISSUER), server(&format!("https://{long}"), "https://as.example/x")],
        vec![resource(SERVER, ISSUER), server(ISSUER, &format!("http://{long}"))],
    ];
    for documents in cases {
        let mut discovery = Discovery::new(SERVER, None, &settings());
        let mut answers = documents.into_iter().map(|body| response(200, body));
        let mut action = discovery.start(NOW);
        while let Ok(Action::Fetch(_)) = action {
            action = discovery.resume(answers.next().unwrap_or_else(|| response(404, "")), NOW);
        }
        let text = action.unwrap_err().to_string();
        assert!(text.contains("xxx") && text.len() < 1_000, "{} bytes: {text}", text.len());
    }
    let methods = vec!["client_secret_x".to_string(); 256];
    let secret = Secret::new("secret");
    let chosen = ClientAuthentication::choose("c", Some(&secret), None, None, Some(&methods));
    let text = chosen.unwrap_err().to_string();
    assert!(text.contains("client_secret_x") && text.len() < 1_000, "{} bytes: {text}", text.len());
}

/// Responses that are right or nearly right: in any order, perhaps with one parameter less and one more.
fn response_like() -> impl Strategy<Value = String> {
    let right =
        vec![format!("state={}", attempt().state.expose()), "iss=https%3A%2F%2Fas.example".into(), "code=c0de".into()];
    let other = prop_oneof![
        prop::sample::select(vec![
            "state=attack",
            "iss=https://as.example",
            "iss=https://as.example/",
            "iss=https://attack.example",
            "iss=",
            "code=",
            "code=attack",
            "error=access_denied",
            "error=attack",
            "error_description=attack",
        ])
        .prop_map(String::from),
        "[a-z%=&#? ]{0,12}",
    ];
    (Just(right), prop::option::of(0..3usize), prop::option::of(other))
        .prop_map(|(mut parameters, removed, added)| {
            if let Some(removed) = removed {
                parameters.remove(removed);
            }
            parameters.extend(added);
            parameters
        })
        .prop_shuffle()
        .prop_map(|parameters| format!("/callback?{}", parameters.join("&")))
}

/// A login at an authorization server that announces `iss`.
fn attempt() -> LoginAttempt {
    let resource = format!(r#"{{"resource":"{SERVER}","authorization_servers":["{ISSUER}"]}}"#);
    let server = format!(
        r#"{{"issuer":"{ISSUER}","authorization_endpoint":"{ISSUER}/a","token_endpoint":"{ISSUER}/t",
        "code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true}}"#
    );
    let settings = settings().client_id("client");
    let answers = [Ok((200, resource)), Ok((200, server))];
    let (found, _) = drive(&mut Discovery::new(SERVER, None, &settings), &answers);
    let (started, _) = drive(&mut Login::new(found.unwrap(), settings, None, Entropy::new([1; 32])), &[]);
    started.unwrap().attempt
}

/// A part of each secret that is sent.
const MARK: &str = "s3cr3t-value";

fn secret(name: &str) -> Secret {
    Secret::new(format!("{name}-{MARK}"))
}

fn endpoint() -> TokenEndpoint {
    TokenEndpoint::new("https://auth.example.com", "https://auth.example.com/token")
}

fn client() -> ClientAuthentication {
    ClientAuthentication::client_secret_post("client", secret("client"))
}

/// A response with this JSON body.
fn json_response(status: u16, body: &Value) -> Response {
    Response { status, headers: Vec::new(), body: body.to_string().into() }
}

fn entropy() -> Entropy {
    Entropy::new([5; 32])
}

fn stored() -> StoredToken {
    let mut request = TokenRequest::new(endpoint(), client(), &Grant::ClientCredentials, entropy());
    request.start(NOW).unwrap();
    let body = json!({"access_token": secret("access"), "refresh_token": secret("refresh")});
    let Ok(Action::Done(token)) = request.resume(Input::Response(json_response(200, &body)), NOW) else { panic!() };
    StoredToken::new(endpoint(), "https://mcp.example.com", Some("client"), Scopes::new(), token, None)
}

/// Drives a flow with these responses, the last one again and again. Returns its error and `Debug` output.
fn shown_by<F: Flow + std::fmt::Debug>(mut flow: F, responses: &[Response]) -> String {
    let mut shown = String::new();
    let mut action = flow.start(NOW);
    for count in 0..20 {
        write!(shown, "{flow:?}").unwrap();
        let input = match action {
            Ok(Action::Fetch(request)) => {
                write!(shown, "{request:?}{}", request.url).unwrap();
                Input::Response(responses[count.min(responses.len() - 1)].clone())
            }
            Ok(Action::Sign { .. }) => Input::Signature(vec![0; 64]),
            Ok(Action::Done(_)) => return shown,
            Err(error) => return shown + &format!("{error}{error:?}"),
        };
        action = flow.resume(input, NOW);
    }
    panic!("the flow does not end");
}

fn refresh(responses: &[Response]) -> String {
    let mut refresh = Refresh::new(stored(), client(), entropy()).client_is_dynamic(true);
    let mut action = refresh.start();
    let mut shown = String::new();
    for count in 0..20 {
        write!(shown, "{refresh:?}{action:?}").unwrap();
        let input = match action {
            RefreshAction::Load => RefreshInput::Loaded(Some(Box::new(stored()))),
            RefreshAction::Fetch(_) => {
                RefreshInput::Network(Input::Response(responses[count.min(responses.len() - 1)].clone()))
            }
            RefreshAction::Done(result) => {
                return shown + &result.map_or_else(|error| error.to_string(), |token| format!("{token:?}"));
            }
            _ => RefreshInput::Done,
        };
        action = refresh.resume(input, NOW);
    }
    panic!("the refresh does not end");
}

fn device(responses: &[Response]) -> String {
    let url = "https://auth.example.com/device";
    let mut login = DeviceLogin::new(url, endpoint(), client(), None, Scopes::new(), entropy());
    let (mut now, mut count) = (NOW, 0);
    let mut action = login.start(now);
    let mut shown = String::new();
    // With the shortest interval and the longest life, there are 3,600 requests.
    while count < 4000 {
        write!(shown, "{login:?}").unwrap();
        let input = match action {
            Ok(DeviceAction::Wait(until)) => {
                assert!(until > now, "the login does not wait");
                now = until;
                DeviceInput::Done
            }
            Ok(DeviceAction::ShowCode(_)) => DeviceInput::Done,
            Ok(DeviceAction::Done(_)) => return shown,
            Ok(_) => {
                count += 1;
                DeviceInput::Network(Input::Response(responses[(count - 1).min(responses.len() - 1)].clone()))
            }
            Err(error) => return shown + &format!("{error}{error:?}"),
        };
        action = login.resume(input, now);
    }
    panic!("the login does not end");
}

fn value() -> impl Strategy<Value = Value> {
    let words = "Bearer DPoP N_A invalid_grant invalid_client invalid_target use_dpop_nonce slow_down authorization_pending \
                 https://auth.example.com/d urn:ietf:params:oauth:token-type:id-jag 0";
    let words: Vec<_> = words.split(' ').collect();
    prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!({"a": []})),
        prop::sample::select(words).prop_map(Value::from),
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let names = "access_token token_type expires_in refresh_token scope id_token issued_token_type error error_description \
                 device_code user_code verification_uri interval";
    let names: Vec<_> = names.split(' ').collect();
    // A server can repeat what it was sent.
    let repeated = format!("the token refresh-{MARK} of client-{MARK}, code-{MARK} and id-{MARK} are bad");
    let error = prop::sample::select(vec!["error", "error_description"]).prop_map(move |name| (name, json!(repeated)));
    let member = prop_oneof![5 => (prop::sample::select(names), value()), 1 => error];
    let members = prop::collection::vec(member, 0..8);
    prop_oneof![
        4 => members.prop_map(|members| {
            let object: Map<String, Value> = members.into_iter().map(|(name, value)| (name.into(), value)).collect();
            Value::Object(object).to_string().into_bytes()
        }),
        1 => prop::collection::vec(any::<u8>(), 0..100),
        1 => Just("[".repeat(50_000).into_bytes()),
    ]
}

fn token_response() -> impl Strategy<Value = Response> {
    let status = prop_oneof![4 => prop::sample::select(vec![200_u16, 400, 401, 429, 503]), 1 => any::<u16>()];
    (status, body(), any::<String>()).prop_map(|(status, body, header)| {
        let headers = ["dpop-nonce", "retry-after"].map(|name| (name.to_string(), header.clone())).into();
        Response { status, headers, body }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn em6_t4_every_flow_ends_and_shows_no_secret(responses in prop::collection::vec(token_response(), 1..5)) {
        let code = Grant::AuthorizationCode { code: secret("code"), redirect_uri: "https://c/".into(), verifier: secret("v") };
        let subject = SubjectToken::IdToken(secret("id"));
        let resource = "https://mcp.example.com".to_string();
        let issuer = "https://auth.example.com".to_string();
        let exchange = IdJagRequest::new(endpoint(), client(), subject, issuer, resource, entropy());
        let revocation = Revocation::new("https://auth.example.com/revoke", &stored(), client(), entropy());
        let shown = [
            (shown_by(TokenRequest::new(endpoint(), client(), &code, entropy()), &responses), "code"),
            (shown_by(exchange, &responses), "id"),
            (shown_by(revocation, &responses), "refresh"),
            (refresh(&responses), "refresh"),
            (device(&responses), "client"),
        ];
        for (text, sent) in shown {
            for name in [sent, "client"] {
                prop_assert!(!text.contains(secret(name).expose()), "{}", text);
            }
        }
    }

    #[test]
    fn damaged_stored_tokens_are_errors(bytes in body(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let _ = StoredToken::from_bytes(&bytes);
        let mut document = stored().to_bytes();
        let at = at.index(document.len());
        document[at] = byte;
        if let Ok(token) = StoredToken::from_bytes(&document) {
            token.is_expired(NOW);
            token.refresh_at();
        }
    }
}

#[test]
fn an_error_shows_a_servers_text_without_the_secrets_that_it_repeats() {
    let grant = Grant::RefreshToken(secret("refresh"));
    let body = json!({"error": "invalid_grant", "error_description": format!("refresh-{MARK} has expired")});
    let mut request = TokenRequest::new(endpoint(), client(), &grant, entropy());
    request.start(NOW).unwrap();
    let error = request.resume(Input::Response(json_response(400, &body)), NOW).unwrap_err();
    assert!(error.to_string().contains(": (secret) has expired;"), "{error}");
}

#[test]
fn the_error_of_a_refresh_or_revocation_does_not_show_the_access_token() {
    let told = format!("{} is still valid", secret("access").expose());
    let refusal = json_response(400, &json!({"error": "invalid_request", "error_description": told}));
    let revocation = Revocation::new("https://auth.example.com/revoke", &stored(), client(), entropy());
    for shown in [refresh(std::slice::from_ref(&refusal)), shown_by(revocation, &[refusal])] {
        assert!(shown.contains("(secret) is still valid") && !shown.contains(secret("access").expose()), "{shown}");
    }
}

#[test]
fn an_error_shows_no_secret_of_a_request_that_the_server_repeats_as_it_was_sent() {
    let secret = |name: &str| Secret::new(format!("{name}/{MARK}+="));
    let assertion_key = ClientKey::new(SigningAlgorithm::Es256);
    for client in [
        ClientAuthentication::client_secret_basic("client", secret("client")),
        ClientAuthentication::client_secret_post("client", secret("client")),
        ClientAuthentication::private_key_jwt("client", assertion_key),
    ] {
        let mut request = TokenRequest::new(endpoint(), client, &Grant::RefreshToken(secret("refresh")), entropy());
        let mut action = request.start(NOW).unwrap();
        if matches!(action, Action::Sign { .. }) {
            action = request.resume(Input::Signature(vec![5; 64]), NOW).unwrap();
        }
        let Action::Fetch(sent) = action else { panic!() };
        let body = String::from_utf8(sent.body.unwrap()).unwrap();
        let header = sent.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.clone());
        let credentials = header.as_deref().and_then(|value| value.strip_prefix("Basic ")).unwrap_or("none");
        let assertion = body.split("client_assertion=").nth(1).unwrap_or("none");
        // The escape sequence splits the secret until the text is made safe to display.
        let split = secret("refresh").expose().replace("3cr3t", "3\u{1b}[0mcr3t");
        let description = format!("{split} is bad: {credentials} {body}");
        let refusal = json_response(400, &json!({"error": "invalid_grant", "error_description": description}));
        let error = request.resume(Input::Response(refusal), NOW).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("(secret) is bad") && text.contains("grant_type=refresh_token"), "{text}");
        assert!(!text.contains(MARK) && (credentials == "none" || !text.contains(credentials)), "{text}");
        assert!(assertion == "none" || !text.contains(assertion), "{text}");
    }
}
