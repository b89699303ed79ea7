//! What holds for every server, whatever it sends.

use mcpwire_oauth::{
    Action, BearerChallenge, Challenge, Discovery, Entropy, FetchError, Flow, Input, Login, LoginAttempt,
    OAuthSettings, Request, Response, Scopes, UnixTime,
};
use proptest::prelude::*;

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
        serde_json::json!({"resource": resource, "authorization_servers": issuers, "scopes_supported": ["a"]})
    });
    let server = (good(ISSUER, url().boxed()), endpoint(), endpoint(), endpoint()).prop_map(
        |(issuer, authorization, token, registration)| {
            serde_json::json!({"issuer": issuer, "authorization_endpoint": authorization, "token_endpoint": token,
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
    let resource = |resource: &str, issuer: &str| {
        serde_json::json!({"resource": resource, "authorization_servers": [issuer]}).to_string()
    };
    let server = |issuer: &str, endpoint: &str| {
        serde_json::json!({"issuer": issuer, "authorization_endpoint": endpoint, "token_endpoint": endpoint})
            .to_string()
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
    let secret = mcpwire_oauth::Secret::new("secret");
    let chosen = mcpwire_oauth::ClientAuthentication::choose("c", Some(&secret), None, None, Some(&methods));
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
