//! Whatever an authorization server answers to token requests, flows end, and errors and `Debug` show no secret.

use std::fmt::Write as _;

use mcpwire_oauth::{
    Action, ClientAuthentication, ClientKey, DeviceAction, DeviceInput, DeviceLogin, Entropy, Error, Flow, Grant,
    IdJagRequest, Input, Refresh, RefreshAction, RefreshInput, Response, Revocation, Scopes, Secret, SigningAlgorithm,
    StoredToken, SubjectToken, TokenEndpoint, TokenRequest, UnixTime,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A part of each secret that is sent.
const MARK: &str = "s3cr3t-value";
const NOW: UnixTime = UnixTime::from_secs(1_000_000);

fn secret(name: &str) -> Secret {
    Secret::new(format!("{name}-{MARK}"))
}

fn endpoint() -> TokenEndpoint {
    TokenEndpoint::new("https://auth.example.com", "https://auth.example.com/token")
}

fn client() -> ClientAuthentication {
    ClientAuthentication::client_secret_post("client", secret("client"))
}

fn entropy() -> Entropy {
    Entropy::new([5; 32])
}

fn stored() -> StoredToken {
    let mut request = TokenRequest::new(endpoint(), client(), &Grant::ClientCredentials, entropy());
    request.start(NOW).unwrap();
    let body = json!({"access_token": secret("access").expose(), "refresh_token": secret("refresh").expose()});
    let response = Response { status: 200, headers: Vec::new(), body: body.to_string().into() };
    let Ok(Action::Done(token)) = request.resume(Input::Response(response), NOW) else { panic!() };
    StoredToken::new(endpoint(), "https://mcp.example.com", Some("client"), Scopes::new(), token, None)
}

/// Drives a flow with these responses, the last one again and again. Returns its error and `Debug` output.
fn drive<F: Flow + std::fmt::Debug>(mut flow: F, responses: &[Response]) -> String {
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
    prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!({"a": []})),
        prop::sample::select(vec![
            "Bearer",
            "DPoP",
            "N_A",
            "invalid_grant",
            "invalid_client",
            "invalid_target",
            "use_dpop_nonce",
            "slow_down",
            "authorization_pending",
            "https://auth.example.com/d",
            "urn:ietf:params:oauth:token-type:id-jag",
            "0",
        ])
        .prop_map(Value::from),
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let names = [
        "access_token",
        "token_type",
        "expires_in",
        "refresh_token",
        "scope",
        "id_token",
        "issued_token_type",
        "error",
        "error_description",
        "device_code",
        "user_code",
        "verification_uri",
        "interval",
    ];
    // A server can repeat what it was sent.
    let repeated = format!("the token refresh-{MARK} of client-{MARK}, code-{MARK} and id-{MARK} are bad");
    let error = prop::sample::select(vec!["error", "error_description"]).prop_map(move |name| (name, json!(repeated)));
    let member = prop_oneof![5 => (prop::sample::select(names.to_vec()), value()), 1 => error];
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

fn response() -> impl Strategy<Value = Response> {
    let status = prop_oneof![4 => prop::sample::select(vec![200_u16, 400, 401, 429, 503]), 1 => any::<u16>()];
    (status, body(), any::<String>()).prop_map(|(status, body, header)| {
        let headers = ["dpop-nonce", "retry-after"].map(|name| (name.to_string(), header.clone())).into();
        Response { status, headers, body }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn em6_t4_every_flow_ends_and_shows_no_secret(responses in prop::collection::vec(response(), 1..5)) {
        let code = Grant::AuthorizationCode { code: secret("code"), redirect_uri: "https://c/".into(), verifier: secret("v") };
        let subject = SubjectToken::IdToken(secret("id"));
        let resource = "https://mcp.example.com".to_string();
        let issuer = "https://auth.example.com".to_string();
        let exchange = IdJagRequest::new(endpoint(), client(), subject, issuer, resource, entropy());
        let revocation = Revocation::new("https://auth.example.com/revoke", &stored(), client(), entropy());
        let shown = [
            (drive(TokenRequest::new(endpoint(), client(), &code, entropy()), &responses), "code"),
            (drive(exchange, &responses), "id"),
            (drive(revocation, &responses), "refresh"),
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
    let response = Response { status: 400, headers: Vec::new(), body: body.to_string().into() };
    let mut request = TokenRequest::new(endpoint(), client(), &grant, entropy());
    request.start(NOW).unwrap();
    let error: Error = request.resume(Input::Response(response), NOW).unwrap_err();
    assert!(error.to_string().contains(": (secret) has expired;"), "{error}");
}

#[test]
fn the_error_of_a_refresh_or_revocation_does_not_show_the_access_token() {
    let told = format!("{} is still valid", secret("access").expose());
    let body = json!({"error": "invalid_request", "error_description": told}).to_string();
    let refusal = Response { status: 400, headers: Vec::new(), body: body.into() };
    let revocation = Revocation::new("https://auth.example.com/revoke", &stored(), client(), entropy());
    for shown in [refresh(std::slice::from_ref(&refusal)), drive(revocation, &[refusal])] {
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
        let response = json!({"error": "invalid_grant", "error_description": description}).to_string();
        let response = Response { status: 400, headers: Vec::new(), body: response.into() };
        let error = request.resume(Input::Response(response), NOW).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("(secret) is bad") && text.contains("grant_type=refresh_token"), "{text}");
        assert!(!text.contains(MARK) && (credentials == "none" || !text.contains(credentials)), "{text}");
        assert!(assertion == "none" || !text.contains(assertion), "{text}");
    }
}
