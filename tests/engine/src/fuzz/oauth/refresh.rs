//! The refresh of a stored token, with a store that fails and other processes that write to it.

use mcpwire_oauth::{ClientAuthentication, Refresh, RefreshAction, RefreshInput, RefreshSource, StoredToken};

use super::driver::{entropy, sign};
use super::web::Web;

/// Maximum number of actions: two requests, each repeated for a nonce, each with two signatures, and the store.
const MAX_ACTIONS: usize = 24;

/// Refreshes a token. Returns the new one.
pub(super) fn run(web: &mut Web<'_>, known: &StoredToken, client: ClientAuthentication) -> Option<StoredToken> {
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
        _ => Some(super::stored::any_token(web)?),
    }
}
