//! A login: from a challenge to the URL at which the user logs in, and from the callback to a token.

use alloc::format;
use alloc::vec::Vec;

use mcpwire_oauth::{
    Action, BearerChallenge, Discovery, Entropy, Flow, Input, Login, OAuthSettings, Request, Response, UnixTime,
};

/// Logs in. Returns the step that failed, if one did.
pub(crate) fn log_in() -> Result<(), &'static str> {
    let challenge = BearerChallenge::parse([r#"Bearer scope="read""#]);
    let settings = OAuthSettings::new("no-std", "http://127.0.0.1:1/callback").client_id("client");
    let discovered =
        run(Discovery::new("https://server.test/mcp", challenge.as_ref(), &settings)).ok_or("discovery")?;
    let login = Login::new(discovered, settings, None, Entropy::new([7; 32])).challenge(challenge.as_ref());
    let started = run(login).ok_or("login")?;
    let callback = format!("/callback?code=code&state={}", started.attempt.state.expose());
    let exchange = started.attempt.finish(&callback, None, Entropy::new([8; 32])).map_err(|_| "callback")?;
    let token = run(exchange).ok_or("token")?;
    if token.access_token.expose() == "token" { Ok(()) } else { Err("another token") }
}

fn run<F: Flow>(mut flow: F) -> Option<F::Output> {
    let now = UnixTime::from_secs(0);
    let mut action = flow.start(now).ok()?;
    loop {
        let input = match action {
            Action::Fetch(request) => Input::Response(answer(&request)),
            Action::Sign { .. } => return None,
            Action::Done(output) => return Some(output),
        };
        action = flow.resume(input, now).ok()?;
    }
}

/// Answers as a server of revision 2025-03-26, which has no metadata.
fn answer(request: &Request) -> Response {
    let (status, body) = match request.url.as_str() {
        "https://server.test/token" => (200, &br#"{"access_token":"token"}"#[..]),
        _ => (404, &b""[..]),
    };
    Response { status, headers: Vec::new(), body: body.to_vec() }
}
