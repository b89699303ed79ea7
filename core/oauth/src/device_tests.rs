use super::*;
use crate::jose::tests::read;
use crate::testing::{
    NOW, RESOURCE, TOKEN_URL, dpop, endpoint, entropy, header, map, parameters, public_client, response, signature,
    with_nonce,
};
use crate::{ClientKey, FetchError, SigningAlgorithm};
use alloc::format;
use alloc::vec;
use serde_json::{Value, json};

const URL: &str = "https://auth.example.com/device";
const TOKEN: &str = r#"{"access_token":"at","token_type":"Bearer"}"#;

fn login() -> DeviceLogin {
    DeviceLogin::new(URL, endpoint(), public_client(), Some(RESOURCE.into()), Scopes::parse("a b"), entropy())
}

fn code() -> Value {
    json!({"device_code": "hidden", "user_code": "WDJB-MJHT", "verification_uri": "https://auth.example.com/d",
        "verification_uri_complete": "https://auth.example.com/d?c=WDJB-MJHT", "expires_in": 600, "interval": 5})
}

fn code_with(name: &str, value: Value) -> Value {
    let mut code = code();
    code[name] = value;
    code
}

/// The result of a simulated login. Its clock moves only when the login waits.
struct Run {
    result: Result<TokenResponse, Error>,
    shown: Option<DeviceCode>,
    /// The times between the token requests, in seconds.
    waits: Vec<u64>,
    requests: Vec<Request>,
}

fn run(mut login: DeviceLogin, code: &Value, answers: Vec<Input>) -> Run {
    let mut inputs: vec::IntoIter<Input> =
        [Input::Response(response(200, &code.to_string()))].into_iter().chain(answers).collect::<Vec<_>>().into_iter();
    let (mut now, mut shown, mut waits, mut requests) = (NOW, None, Vec::new(), Vec::new());
    let mut action = login.start(now);
    let result = loop {
        let input = match action {
            Ok(DeviceAction::Fetch(request)) => {
                requests.push(request);
                DeviceInput::Network(inputs.next().expect("too many requests"))
            }
            Ok(DeviceAction::Sign { key, .. }) => DeviceInput::Network(Input::Signature(signature(key).to_vec())),
            Ok(DeviceAction::ShowCode(code)) => {
                shown = Some(code);
                DeviceInput::Done
            }
            Ok(DeviceAction::Wait(until)) => {
                waits.push(until.duration_since(now).as_secs());
                now = until;
                DeviceInput::Done
            }
            Ok(DeviceAction::Done(token)) => break Ok(token),
            Err(error) => break Err(error),
        };
        action = login.resume(input, now);
    };
    Run { result, shown, waits, requests }
}

fn answer(status: u16, body: &str) -> Input {
    Input::Response(response(status, body))
}

fn refusal(code: &str) -> Input {
    answer(400, &format!(r#"{{"error":"{code}"}}"#))
}

#[test]
fn o14_a_user_without_a_browser_logs_in_with_a_code() {
    let pending = || refusal("authorization_pending");
    let run = run(login(), &code(), vec![pending(), pending(), answer(200, TOKEN)]);
    assert_eq!(run.result.unwrap().access_token.expose(), "at");
    assert_eq!(run.waits, [5, 5, 5]);
    let shown = run.shown.unwrap();
    assert_eq!(
        (shown.user_code.as_str(), shown.verification_uri.as_str()),
        ("WDJB-MJHT", "https://auth.example.com/d")
    );
    assert_eq!(shown.verification_uri_complete.as_deref(), Some("https://auth.example.com/d?c=WDJB-MJHT"));
    assert_eq!(shown.expires_at, NOW + Duration::from_secs(600));
    assert_eq!((run.requests[0].url.as_str(), run.requests[0].step), (URL, Step::DeviceAuthorization));
    assert_eq!(
        parameters(&run.requests[0]),
        map(&[("client_id", "client-1"), ("scope", "a b"), ("resource", RESOURCE)])
    );
    assert_eq!(run.requests[1].url, TOKEN_URL);
    assert_eq!(
        parameters(&run.requests[3]),
        map(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", "hidden"),
            ("client_id", "client-1"),
            ("resource", RESOURCE),
        ])
    );
}

#[test]
fn the_server_can_slow_the_requests_down() {
    let mut late = response(429, "");
    late.headers.push(("retry-after".into(), "40".into()));
    let answers = vec![
        refusal("slow_down"),
        refusal("authorization_pending"),
        Input::FetchFailed(FetchError::Failed("timed out".into())),
        Input::Response(late),
        answer(200, TOKEN),
    ];
    let run = run(login(), &code(), answers);
    assert!(run.result.is_ok());
    assert_eq!(run.waits, [5, 10, 10, 15, 40]);
}

#[test]
fn a_code_that_nobody_enters_expires() {
    let short = code_with("expires_in", json!("12"));
    let pending = || refusal("authorization_pending");
    let run_ = run(login(), &short, vec![pending(), pending(), pending()]);
    assert_eq!(run_.waits, [5, 5, 2], "it asks a last time");
    let error = run_.result.unwrap_err();
    assert_eq!((error.kind(), error.step()), (ErrorKind::LoginRequired, Step::DeviceAuthorization));
    assert!(error.to_string().ends_with("; log in again"), "{error}");
    let error = run(login(), &code(), vec![refusal("expired_token")]).result.unwrap_err();
    assert!(error.to_string().contains("has expired"), "{error}");
}

#[test]
fn a_user_or_server_that_refuses_ends_the_login() {
    for (code_, kind) in [("access_denied", ErrorKind::Refused), ("invalid_client", ErrorKind::Misconfigured)] {
        let run = run(login(), &code(), vec![refusal(code_)]);
        assert_eq!(run.result.unwrap_err().kind(), kind);
    }
    let mut login = login();
    login.start(NOW).unwrap();
    let error = login.resume(DeviceInput::Network(refusal("unauthorized_client")), NOW).unwrap_err();
    assert_eq!((error.kind(), error.step()), (ErrorKind::Misconfigured, Step::DeviceAuthorization));
}

#[test]
fn times_of_the_server_are_limited() {
    let times = |interval: Value, expires_in: Value| {
        let mut code = code_with("interval", interval);
        code["expires_in"] = expires_in;
        let run = run(login(), &code, vec![answer(200, TOKEN)]);
        (run.waits[0], run.shown.unwrap().expires_at.duration_since(NOW).as_secs())
    };
    assert_eq!(times(json!(0), json!(60)), (1, 60));
    assert_eq!(times(json!(1e9), json!(1e9)), (300, 3600));
    assert_eq!(times(json!(null), json!("soon")), (5, 600));
    let mut polling = Polling { device_code: Secret::new(""), interval: MAX_INTERVAL, expires_at: NOW };
    polling.slow_down(Some(Duration::from_secs(3600)));
    assert_eq!(polling.interval, MAX_INTERVAL);
}

#[test]
fn b5_b7_addresses_and_codes_that_could_harm_are_refused() {
    for uri in
        ["javascript:alert(1)", "http://auth.example.com/d", "http://127.0.0.1/d", "file:///etc/passwd", "https://a@b/"]
    {
        let error = run(login(), &code_with("verification_uri", json!(uri)), vec![]).result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Untrusted, "{uri}");
    }
    for user_code in ["A\u{1b}[2J", "A\nB", "A\u{202e}B", "A\u{200b}B", &"A".repeat(MAX_USER_CODE + 1)] {
        let error = run(login(), &code_with("user_code", json!(user_code)), vec![]).result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Untrusted, "{user_code:?}");
    }
    let complete = code_with("verification_uri_complete", json!("javascript:alert(1)"));
    assert_eq!(run(login(), &complete, vec![answer(200, TOKEN)]).shown.unwrap().verification_uri_complete, None);
}

#[test]
fn names_of_drafts_are_read_and_missing_codes_are_errors() {
    let mut old = code();
    old["verification_url"] = old["verification_uri"].take();
    assert!(run(login(), &old, vec![answer(200, TOKEN)]).result.is_ok());
    for name in ["device_code", "user_code", "verification_uri"] {
        let code = code_with(name, json!(7));
        assert_eq!(run(login(), &code, vec![]).result.unwrap_err().kind(), ErrorKind::Temporary, "{name}");
    }
}

#[test]
fn a_bound_token_is_asked_for_with_proofs_and_the_nonces_are_kept() {
    let client = ClientAuthentication::private_key_jwt("c", ClientKey::new(SigningAlgorithm::Es256));
    let bound = DeviceLogin::new(URL, endpoint(), client, None, Scopes::new(), entropy()).dpop(Some(dpop()));
    let pending = with_nonce(response(400, r#"{"error":"authorization_pending"}"#), "n1");
    let answers = vec![Input::Response(pending), answer(200, &TOKEN.replace("Bearer", "DPoP"))];
    let run = run(bound, &code(), answers);
    assert!(run.result.is_ok());
    assert!(parameters(&run.requests[0]).contains_key("client_assertion"));
    assert_eq!(header(&run.requests[0], "dpop"), None, "that is not a token request");
    assert_eq!(read(header(&run.requests[1], "dpop").unwrap()).1.get("nonce"), None);
    assert_eq!(read(header(&run.requests[2], "dpop").unwrap()).1["nonce"], "n1");
}

#[test]
fn a_login_that_is_driven_in_another_order_fails_and_shows_no_secret() {
    assert!(login().resume(DeviceInput::Done, NOW).is_err());
    let mut login = login();
    login.start(NOW).unwrap();
    assert!(login.start(NOW).is_err());
    login.resume(DeviceInput::Network(answer(200, &code().to_string())), NOW).unwrap();
    assert!(!format!("{login:?}").contains("hidden"));
    assert!(login.resume(DeviceInput::Network(answer(200, TOKEN)), NOW).is_err());
    let mut plain = DeviceLogin::new("http://a.example/", endpoint(), public_client(), None, Scopes::new(), entropy());
    assert!(plain.start(NOW).unwrap_err().to_string().contains("not an https URL"));
}
