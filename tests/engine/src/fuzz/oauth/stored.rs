//! Documents of the store: as this version writes them, damaged, or written by somebody else. The refresh of a stored token,
//! with a store that fails and other processes that write to it.

use mcpwire_oauth::{
    Access, ClientAuthentication, ClientInformation, Discovered, Login, LoginAttempt, OAuthSettings, Refresh,
    RefreshAction, RefreshInput, RefreshSource, StoredToken,
};
use serde_json::{Map, Value, json};

use super::web::{ISSUER, LOCAL_SERVER, REDIRECT, Web, is_allowed};
use super::{drive, entropy, login, sign};

pub(super) fn run(web: &mut Web<'_>) {
    match web.input.byte() % 4 {
        0 => {
            let Some(token) = any_token(web) else { return };
            assert_eq!(StoredToken::from_bytes(&token.to_bytes()).as_ref(), Ok(&token));
            web.check_debug(&token);
            assert!(
                token
                    .refresh_at()
                    .is_none_or(|at| at <= token.expires_at.unwrap_or_default() || at == token.obtained_at)
            );
            if let Err(error) = Access::new(web.server_url).replace(token.clone()) {
                web.check_error(&error);
            }
            let id = token.client_id.clone().unwrap_or_default();
            let client = ClientAuthentication::client_secret_basic(id, web.secret("client"));
            // The store is the user's own: only the endpoint's scheme protects against one that was changed.
            if is_allowed(&token.endpoint.url, web.server_url == LOCAL_SERVER) {
                refresh(web, &token, client);
            }
        }
        1 => {
            let Some(attempt) = any::<LoginAttempt>(web, attempt) else { return };
            web.check_debug(&attempt);
            let callback = login::callback(web, &attempt);
            login::finish(web, &attempt, &callback);
        }
        2 => {
            let Some(client) = any::<ClientInformation>(web, client) else { return };
            web.check_debug(&client);
            let is_ours = client.is_registered_for(ISSUER, REDIRECT, web.now);
            assert!(!is_ours || (client.issuer == ISSUER && client.redirect_uri == REDIRECT));
            let Some(found) = any::<Discovered>(web, discovered) else { return };
            let settings = OAuthSettings::new("Fuzz", REDIRECT);
            let issuer = found.metadata.issuer.clone();
            if is_allowed_everywhere(&found, web)
                && let Some(started) = drive(&mut Login::new(found, settings, Some(client), entropy()), web)
            {
                assert_eq!(started.attempt.client.issuer, issuer, "the client of another authorization server");
            }
        }
        _ => {
            let _ = StoredToken::from_bytes(web.input.rest());
        }
    }
}

/// Discoveries are stored after their URLs were checked.
fn is_allowed_everywhere(found: &Discovered, web: &Web<'_>) -> bool {
    let metadata = &found.metadata;
    let endpoints = metadata.registration_endpoint.iter().chain(&metadata.authorization_endpoint);
    let is_local = web.server_url == LOCAL_SERVER;
    endpoints.chain([&metadata.token_endpoint]).all(|url| is_allowed(url, is_local))
}

/// Returns a token whose document the input has changed, if it can still be read.
pub(super) fn any_token(web: &mut Web<'_>) -> Option<StoredToken> {
    let document = changed(web, token_document);
    StoredToken::from_bytes(document.to_string().as_bytes()).ok()
}

fn any<T: for<'de> serde::Deserialize<'de>>(web: &mut Web<'_>, right: fn(&Web<'_>) -> Map<String, Value>) -> Option<T> {
    serde_json::from_value(changed(web, right)).ok()
}

fn changed(web: &mut Web<'_>, right: fn(&Web<'_>) -> Map<String, Value>) -> Value {
    let mut document = right(web);
    for _ in 0..web.input.byte() % 4 {
        web.change(&mut document);
    }
    Value::Object(document)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => unreachable!("an object"),
    }
}

fn token_document(web: &Web<'_>) -> Map<String, Value> {
    let now = web.now.as_secs();
    object(json!({"version": 1, "generation": 3, "endpoint": {"issuer": ISSUER, "url": "https://as.example/token"},
        "resource": web.server_url, "client_id": "client", "access_token": web.secret("access").expose(),
        "token_type": if web.uses_dpop { "DPoP" } else { "Bearer" }, "obtained_at": now,
        "expires_at": now.saturating_add(3600), "refresh_token": web.secret("refresh").expose(),
        "dpop_key": web.dpop().map(|dpop| dpop.key().thumbprint()), "later": {"token": web.secret("later").expose()}}))
}

fn client(web: &Web<'_>) -> Map<String, Value> {
    object(json!({"source": "registered", "issuer": ISSUER, "redirect_uri": REDIRECT, "client_id": "client",
        "client_secret": web.secret("client").expose(), "registered_at": 1}))
}

fn attempt(web: &Web<'_>) -> Map<String, Value> {
    object(json!({"endpoint": {"issuer": ISSUER, "url": "https://as.example/token"}, "requires_iss": true,
        "verifier": web.secret("verifier").expose(), "state": web.secret("state").expose(), "resource": web.server_url,
        "scopes": "a b", "redirect_uri": REDIRECT, "client": client(web), "made_at": 1}))
}

fn discovered(web: &Web<'_>) -> Map<String, Value> {
    object(json!({"server_url": web.server_url, "resource": web.server_url, "resource_metadata": null,
        "metadata": {"issuer": ISSUER, "authorization_endpoint": "https://as.example/a",
        "token_endpoint": "https://as.example/t", "registration_endpoint": "https://as.example/r",
        "code_challenge_methods_supported": ["S256"]}}))
}

/// Maximum number of actions: two requests, each repeated for a nonce, each with two signatures, and the store.
const MAX_ACTIONS: usize = 24;

/// Refreshes a token. Returns the new one.
pub(super) fn refresh(web: &mut Web<'_>, known: &StoredToken, client: ClientAuthentication) -> Option<StoredToken> {
    let flags = web.input.byte();
    let mut refresh = Refresh::new(known.clone(), client, entropy()).client_is_dynamic(flags & 1 != 0).dpop(web.dpop());
    let mut stored = Some(known.clone());
    let mut endpoints = vec![known.endpoint.url.clone()];
    let mut generations = vec![known.generation];
    let mut action = refresh.start();
    for _ in 0..MAX_ACTIONS {
        web.check_debug(&(&refresh, &action));
        let fails = web.input.byte() > 240;
        let input = match action {
            RefreshAction::Done(result) => {
                let refreshed = match result {
                    Ok(refreshed) => refreshed,
                    Err(error) => {
                        web.check_error(&error);
                        return None;
                    }
                };
                let is_issued = !matches!(refreshed.source, RefreshSource::Adopted);
                assert!(is_issued || Some(&refreshed.token) == stored.as_ref(), "adopted what is not stored");
                assert!(refreshed.token.generation > known.generation || known.generation == u64::MAX);
                return Some(refreshed.token);
            }
            _ if fails => RefreshInput::Failed("no space left on device".into()),
            RefreshAction::Load => {
                stored = load(web, stored);
                endpoints.extend(stored.iter().map(|token| token.endpoint.url.clone()));
                generations.extend(stored.iter().map(|token| token.generation));
                RefreshInput::Loaded(stored.clone().map(Box::new))
            }
            RefreshAction::Fetch(request) => {
                assert!(endpoints.contains(&request.url), "the refresh token goes to {}", request.url);
                RefreshInput::Network(web.answer(&request))
            }
            RefreshAction::Sign { .. } => RefreshInput::Network(sign(web)),
            RefreshAction::Store(token) => {
                let is_next = generations.iter().any(|before| token.generation == before.saturating_add(1));
                assert!(is_next || generations.contains(&token.generation), "generation {}", token.generation);
                assert_eq!(token.endpoint.issuer, known.endpoint.issuer, "a token of another authorization server");
                stored = Some(*token);
                RefreshInput::Done
            }
            RefreshAction::Delete { generation } => {
                assert!(generations.contains(&generation));
                let code = web.last["error"].as_str();
                assert!(matches!(code, Some("invalid_grant" | "invalid_client")), "deleted for {code:?}");
                RefreshInput::Done
            }
            RefreshAction::DeleteRegistration => {
                assert!(flags & 1 != 0 && web.last["error"] == "invalid_client", "{:?}", web.last);
                RefreshInput::Done
            }
            _ => RefreshInput::Done,
        };
        action = refresh.resume(input, web.now);
    }
    panic!("the refresh does not end");
}

/// Returns what is stored, which another process may have changed.
fn load(web: &mut Web<'_>, stored: Option<StoredToken>) -> Option<StoredToken> {
    match web.input.byte() {
        0..=199 => stored,
        200..=219 => None,
        220..=239 => stored.map(|mut token| {
            token.generation = token.generation.saturating_add(1);
            token.expires_at = Some(web.now);
            token
        }),
        _ => Some(any_token(web)?),
    }
}
