//! A login from the challenge to the logout.

use mcpwire_oauth::{
    BearerChallenge, ClientKey, Discovered, Discovery, ErrorKind, Login, LoginAttempt, OAuthSettings, Revocation,
    SigningAlgorithm, Step, StoredToken, TokenRequest,
};

use super::web::{LOCAL_SERVER, REDIRECT, Web, is_allowed, origin, parameters};
use super::{drive, entropy, stored};

/// Maximum length of a callback.
const MAX_CALLBACK: usize = 16 * 1024;

pub(super) fn run(web: &mut Web<'_>) {
    let flags = web.input.byte();
    let settings = settings(web, flags);
    let challenge = String::from_utf8_lossy(if flags & 1 == 0 { b"" } else { web.input.piece() }).into_owned();
    let challenge = BearerChallenge::parse([&*challenge]);
    let Some(found) = drive(&mut Discovery::new(web.server_url, challenge.as_ref(), &settings), web) else { return };
    check_found(web, &found, flags & 2 != 0);
    let resource = found.resource.clone();
    let metadata = found.metadata.clone();
    let before = web.requests.len();
    let mut login = Login::new(found, settings, None, entropy()).challenge(challenge.as_ref());
    let started = drive(&mut login, web);
    let registered = web.requests[before..]
        .iter()
        .all(|(step, url)| *step == Step::Registration && Some(url) == metadata.registration_endpoint.as_ref());
    assert!(registered, "{:?}", web.requests);
    let Some(started) = started else { return };
    let attempt = started.attempt;
    let is_local = web.server_url == LOCAL_SERVER;
    assert!(is_allowed(started.url.split('?').next().unwrap_or_default(), is_local) && started.url.is_ascii());
    assert!(!started.url.contains(attempt.verifier.expose()), "the verifier is in the URL");
    let bytes = serde_json::to_vec(&attempt).expect("an attempt is JSON");
    assert_eq!(serde_json::from_slice::<LoginAttempt>(&bytes).ok().as_ref(), Some(&attempt));

    let callback = callback(web, &attempt);
    let Some(mut request) = finish(web, &attempt, &callback) else { return };
    let before = web.requests.len();
    let token = drive(&mut request, web);
    check_sent_to(web, before, &attempt.endpoint.url);
    let Some(token) = token else { return };
    let token = attempt.stored_token(resource, token, None);
    assert_eq!(StoredToken::from_bytes(&token.to_bytes()).as_ref(), Ok(&token));
    let Ok(client) = attempt.client.authentication(&attempt.endpoint, None) else { return };
    let refreshed = stored::refresh(web, &token, client.clone());
    let token = refreshed.unwrap_or(token);
    if let Some(url) = &metadata.revocation_endpoint {
        let before = web.requests.len();
        drive(&mut Revocation::new(url, &token, client, entropy()), web);
        check_sent_to(web, before, url);
    }
}

fn settings(web: &Web<'_>, flags: u8) -> OAuthSettings {
    let mut settings = OAuthSettings::new("Fuzz", REDIRECT)
        .lenient_issuer(flags & 2 != 0)
        .assume_pkce(flags & 4 != 0)
        .omit_resource(flags & 8 != 0)
        .device_grant(flags & 16 != 0)
        .dpop_bound_tokens(web.uses_dpop)
        .trust_first_issuer(flags & 1 != 0);
    if flags & 32 != 0 {
        settings = settings.client_id("client").client_secret(web.secret("client"));
    }
    if flags & 64 != 0 {
        settings = settings.client_issuer(super::web::ISSUER);
    }
    if flags & 128 != 0 {
        settings = settings.client_metadata_url("https://client.example/metadata.json");
    }
    settings
}

/// Fails unless the server has named the authorization server, which has named itself.
fn check_found(web: &Web<'_>, found: &Discovered, is_lenient: bool) {
    let resource_origin = origin(&found.resource);
    assert_eq!(resource_origin, origin(web.server_url), "a resource of another server: {}", found.resource);
    let issuer = &found.metadata.issuer;
    let named = found.resource_metadata.iter().flat_map(|document| &document.authorization_servers);
    let is_named = named.clone().take(8).any(|other| other == issuer || (is_lenient && is_near(other, issuer)));
    let is_own = named.count() == 0 && origin(issuer) == origin(web.server_url);
    assert!(is_named || is_own, "nobody has named {issuer}");
    let (step, url) = web.requests.last().expect("a discovery asks");
    if *step == Step::ServerMetadata {
        assert_eq!(origin(url), origin(issuer), "the metadata of {issuer} come from {url}");
    }
    let metadata = &found.metadata;
    let endpoints = [&metadata.authorization_endpoint, &metadata.registration_endpoint];
    let others = [&metadata.device_authorization_endpoint, &metadata.revocation_endpoint];
    let is_local = web.server_url == LOCAL_SERVER;
    for endpoint in endpoints.into_iter().chain(others).flatten().chain([&metadata.token_endpoint]) {
        assert!(is_allowed(endpoint, is_local), "the endpoint {endpoint}");
    }
}

fn is_near(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Fails if a request since number `before` went elsewhere.
pub(super) fn check_sent_to(web: &Web<'_>, before: usize, url: &str) {
    assert!(web.requests[before..].iter().all(|(_, sent)| sent == url), "{:?} instead of {url}", web.requests);
}

/// Returns the address to which the browser is sent: the right one, or one with other parameters.
pub(super) fn callback(web: &mut Web<'_>, attempt: &LoginAttempt) -> String {
    let state = attempt.state.expose();
    let issuer = attempt.endpoint.issuer.replace(':', "%3A");
    let code = format!("code={}", web.secret("code").expose().replace('+', "%2B"));
    let mut pairs = vec![format!("state={state}"), format!("iss={issuer}"), code];
    for _ in 0..web.input.byte() % 4 {
        let other = match web.input.byte() % 16 {
            0 => format!("state={state}"),
            1 => format!("st%61te={state}"),
            2 => "state=".to_string(),
            3 => format!("iss={issuer}/"),
            4 => "iss=https://attack.example".to_string(),
            5 => format!("iss={}", issuer.to_ascii_uppercase()),
            6 => "code=".to_string(),
            7 => "code=attack".to_string(),
            8 => "error=access_denied&error_description=attack".to_string(),
            9 => "error=attack".to_string(),
            10 => format!("x#state={state}"),
            11 => format!("?state={state}"),
            _ => String::from_utf8_lossy(web.input.piece()).into_owned(),
        };
        let at = usize::from(web.input.byte()) % (pairs.len() + 1);
        match web.input.byte() % 3 {
            0 => pairs.insert(at, other),
            1 if at < pairs.len() => pairs[at] = other,
            _ if at < pairs.len() => drop(pairs.remove(at)),
            _ => {}
        }
    }
    let start = web.input.pick(&["http://127.0.0.1:4711/callback?", "/callback?", "?", " \n/?", ""]);
    start.to_string() + &pairs.join("&")
}

/// Passes the callback to the attempt. Only the response to this login from this authorization server is accepted.
pub(super) fn finish(web: &mut Web<'_>, attempt: &LoginAttempt, callback: &str) -> Option<TokenRequest> {
    let pairs = parameters(callback).unwrap_or_default();
    let values = |name: &str| {
        pairs.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    let is_from_issuer = match values("iss")[..] {
        [] => !attempt.requires_iss,
        [issuer] => issuer == attempt.endpoint.issuer,
        _ => false,
    };
    let is_ours =
        values("state") == [attempt.state.expose()] && is_from_issuer && callback.trim().len() <= MAX_CALLBACK;
    let has_code = matches!(values("code")[..], [code] if !code.is_empty()) && values("error").is_empty();
    assert!(!attempt.is_response(callback) || values("state") == [attempt.state.expose()]);
    let key = ClientKey::new(SigningAlgorithm::Es256);
    let key = (web.input.byte() == 255).then_some(&key);
    match attempt.finish(callback, key, entropy()) {
        Ok(request) => {
            assert!(is_ours && has_code, "accepted {callback}");
            Some(request.dpop(web.dpop()))
        }
        Err(error) => {
            web.check_error(&error);
            assert!(is_ours || !error.to_string().contains("attack"), "an attacker's text is shown: {error}");
            assert!(is_ours || matches!(error.kind(), ErrorKind::Untrusted | ErrorKind::Misconfigured), "{error}");
            None
        }
    }
}
