use super::*;
use crate::jose::tests::read;
use crate::testing::{
    NOW, RESOURCE, bound, dpop, entropy, header, map, parameters, public_client, response, signature, stored,
    with_nonce,
};
use crate::{ClientKey, FetchError, PublicKey, Secret, SigningAlgorithm};
use alloc::string::ToString;
use alloc::{format, vec};
use core::time::Duration;

const ISSUED: &str = r#"{"access_token":"new","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-new"}"#;

/// A store with one token and scripted responses. It logs all actions of the transaction.
struct World {
    stored: Option<StoredToken>,
    store_fails: bool,
    load_fails: bool,
    responses: Vec<Input>,
    log: Vec<&'static str>,
    requests: Vec<Request>,
    /// The token that another process writes while the refresh request is in flight. `None` if no process writes one.
    written_meanwhile: Option<StoredToken>,
}

impl World {
    fn new(responses: Vec<Input>) -> Self {
        World {
            stored: Some(stored(1)),
            store_fails: false,
            load_fails: false,
            responses,
            log: Vec::new(),
            requests: Vec::new(),
            written_meanwhile: None,
        }
    }

    fn answering(status: u16, body: &str) -> Self {
        World::new(vec![Input::Response(response(status, body))])
    }

    fn run(&mut self, refresh: &mut Refresh) -> Result<Refreshed, Error> {
        let mut action = refresh.start();
        loop {
            let failed = || RefreshInput::Failed("the disk is full".into());
            let (name, input) = match action {
                RefreshAction::Lock => ("lock", RefreshInput::Done),
                RefreshAction::Load if self.load_fails => ("load", failed()),
                RefreshAction::Load => ("load", RefreshInput::Loaded(self.stored.clone().map(Box::new))),
                RefreshAction::Fetch(request) => {
                    self.requests.push(request);
                    self.stored = self.written_meanwhile.take().or(self.stored.take());
                    ("fetch", RefreshInput::Network(self.responses.remove(0)))
                }
                RefreshAction::Sign { key, .. } => {
                    ("sign", RefreshInput::Network(Input::Signature(signature(key).to_vec())))
                }
                RefreshAction::Store(_) if self.store_fails => ("store", failed()),
                RefreshAction::Store(token) => {
                    self.stored = Some(*token);
                    ("store", RefreshInput::Done)
                }
                RefreshAction::Delete { generation } => {
                    self.stored.take_if(|token| token.generation == generation);
                    ("delete", RefreshInput::Done)
                }
                RefreshAction::DeleteRegistration => ("delete registration", RefreshInput::Done),
                RefreshAction::Done(result) => return result.map(|refreshed| *refreshed),
            };
            self.log.push(name);
            action = refresh.resume(input, NOW);
        }
    }

    fn refresh(&mut self) -> Result<Refreshed, Error> {
        self.run(&mut refresh())
    }
}

fn refresh() -> Refresh {
    Refresh::new(stored(1), public_client(), entropy())
}

fn refusal(code: &str) -> Input {
    Input::Response(response(400, &format!(r#"{{"error":"{code}"}}"#)))
}

#[test]
fn o1_a_refresh_locks_loads_requests_and_writes_before_the_token_is_used() {
    let mut world = World::answering(200, ISSUED);
    let refreshed = world.refresh().unwrap();
    assert_eq!(world.log, ["lock", "load", "fetch", "store"]);
    assert_eq!((refreshed.source, &refreshed.token), (RefreshSource::Issued, world.stored.as_ref().unwrap()));
    assert_eq!((refreshed.token.generation, refreshed.token.access_token.expose()), (2, "new"));
    assert_eq!(refreshed.token.refresh_token.unwrap().expose(), "refresh-new");
}

#[test]
fn o1_the_winners_token_is_adopted_without_a_request() {
    let mut world = World::new(vec![]);
    world.stored = Some(stored(2));
    let refreshed = world.refresh().unwrap();
    assert_eq!((refreshed.source, refreshed.token), (RefreshSource::Adopted, stored(2)));
    assert_eq!(world.log, ["lock", "load"]);
}

#[test]
fn o1_a_winners_token_that_has_expired_since_is_refreshed_with_its_own_refresh_token() {
    let mut world = World::answering(200, ISSUED);
    let mut winner = stored(5);
    winner.obtained_at = UnixTime::from_secs(NOW.as_secs() - 3590);
    winner.expires_at = Some(NOW + Duration::from_secs(10));
    world.stored = Some(winner);
    assert_eq!(world.refresh().unwrap().token.generation, 6);
    assert_eq!(parameters(&world.requests[0])["refresh_token"], "refresh-5");
}

#[test]
fn o1_the_old_token_is_put_back_if_the_new_one_cannot_be_written() {
    let mut world = World::answering(200, ISSUED);
    world.store_fails = true;
    let refreshed = world.refresh().unwrap();
    assert_eq!(world.log, ["lock", "load", "fetch", "store", "store"]);
    assert_eq!(world.stored, Some(stored(1)));
    assert_eq!(refreshed.source, RefreshSource::Unsaved("the disk is full".into()), "the program can go on with it");
    assert_eq!(refreshed.token.generation, 2);

    // The next refresh starts from the token that could not be stored, and stores the token after it.
    let mut world = World::answering(200, ISSUED);
    let next = world.run(&mut Refresh::new(refreshed.token, public_client(), entropy())).unwrap();
    assert_eq!(parameters(&world.requests[0])["refresh_token"], "refresh-new");
    assert_eq!((next.source, world.stored.unwrap().generation), (RefreshSource::Issued, 3));
}

#[test]
fn o1_after_invalid_grant_the_token_of_a_faster_process_is_adopted() {
    for code in ["invalid_grant", "invalid_client"] {
        let mut world = World::new(vec![refusal(code)]);
        world.written_meanwhile = Some(stored(2));
        let refreshed = world.run(&mut refresh().client_is_dynamic(true)).unwrap();
        assert_eq!((refreshed.source, world.stored), (RefreshSource::Adopted, Some(stored(2))));
        assert_eq!(world.log, ["lock", "load", "fetch", "load"]);
    }
    let mut world = World::new(vec![refusal("invalid_grant")]);
    let mut expired = stored(2);
    expired.expires_at = Some(NOW);
    world.written_meanwhile = Some(expired);
    assert_eq!(world.refresh().unwrap_err().kind(), ErrorKind::Temporary);
    assert_eq!(world.stored.unwrap().generation, 2, "kept: its refresh token may be good");
}

#[test]
fn o3_invalid_grant_deletes_the_token_and_asks_for_a_login() {
    let mut world = World::new(vec![refusal("invalid_grant")]);
    let error = world.refresh().unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::LoginRequired, Some("invalid_grant")));
    assert_eq!(world.log, ["lock", "load", "fetch", "load", "delete"]);
    assert_eq!(world.stored, None);
}

#[test]
fn o3_o4_every_other_failure_leaves_the_token_as_it_is() {
    let other =
        ["invalid_request", "invalid_scope", "unauthorized_client", "invalid_client", "temporarily_unavailable"];
    let mut failures: Vec<Vec<Input>> = other.iter().map(|code| vec![refusal(code), refusal(code)]).collect();
    for status in [301, 400, 401, 403, 404, 408, 429, 500, 503] {
        failures.push(vec![Input::Response(response(status, "<html>invalid_grant</html>"))]);
    }
    failures.push(vec![Input::Response(response(503, r#"{"error":"invalid_grant"}"#))]);
    failures.push(vec![Input::Response(response(200, "{}"))]);
    failures.push(vec![Input::FetchFailed(FetchError::Failed("connection reset".into()))]);
    failures.push(vec![Input::FetchFailed(FetchError::TooLarge)]);
    failures.push(vec![Input::FetchFailed(FetchError::Refused("private address".into()))]);
    for responses in failures {
        let mut world = World::new(responses);
        let error = world.refresh().unwrap_err();
        assert_ne!(error.kind(), ErrorKind::LoginRequired, "{error}");
        assert_eq!(world.stored, Some(stored(1)), "{error}");
        assert!(!world.log.contains(&"store") && !world.log.contains(&"delete"), "{error}");
    }
}

#[test]
fn o3_a_store_or_lock_that_fails_is_a_temporary_error() {
    let mut world = World::new(vec![]);
    world.load_fails = true;
    assert_eq!(world.refresh().unwrap_err().kind(), ErrorKind::Temporary);
    let mut flow = refresh();
    assert_eq!(flow.start(), RefreshAction::Lock);
    let RefreshAction::Done(Err(error)) = flow.resume(RefreshInput::Failed("the lock is held".into()), NOW) else {
        panic!("the transaction goes on without the lock")
    };
    assert_eq!(error.kind(), ErrorKind::Temporary);
    assert!(error.to_string().contains("the lock is held"), "{error}");
}

#[test]
fn o7_a_refresh_names_the_resource_and_no_scopes() {
    let mut world = World::answering(200, ISSUED);
    let mut token = stored(1);
    token.scopes_requested = crate::scopes::Scopes::parse("a b");
    world.stored = Some(token);
    world.refresh().unwrap();
    let expected = [("grant_type", "refresh_token"), ("refresh_token", "refresh-1"), ("client_id", "client-1")];
    assert_eq!(parameters(&world.requests[0]), map(&[&expected[..], &[("resource", RESOURCE)]].concat()));
}

#[test]
fn o7_a_server_that_refuses_the_resource_is_asked_without_it_and_that_is_remembered() {
    let mut world = World::new(vec![refusal("invalid_target"), Input::Response(response(200, ISSUED))]);
    let token = world.refresh().unwrap().token;
    let sent: Vec<_> = world.requests.iter().map(|request| parameters(request).contains_key("resource")).collect();
    assert_eq!(sent, [true, false]);
    assert!(token.no_resource_on_refresh && world.stored.as_ref().unwrap().no_resource_on_refresh);

    let mut next = World::answering(200, ISSUED);
    next.stored = world.stored;
    next.run(&mut Refresh::new(token, public_client(), entropy())).unwrap();
    assert!(!parameters(&next.requests[0]).contains_key("resource"));
}

#[test]
fn o7_a_second_refusal_without_the_resource_ends_the_refresh() {
    let mut world = World::new(vec![refusal("invalid_target"), refusal("invalid_grant")]);
    assert_eq!(world.refresh().unwrap_err().kind(), ErrorKind::LoginRequired);
    let mut world = World::new(vec![refusal("invalid_target"), refusal("invalid_target")]);
    assert_eq!(world.refresh().unwrap_err().code(), Some("invalid_target"));
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn o11_a_forgotten_dynamic_client_is_dropped_with_its_token_so_that_the_next_login_registers() {
    let mut world = World::new(vec![Input::Response(response(401, r#"{"error":"invalid_client"}"#))]);
    let error = world.run(&mut refresh().client_is_dynamic(true)).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::LoginRequired, Some("invalid_client")));
    assert_eq!(world.log, ["lock", "load", "fetch", "load", "delete registration", "delete"]);
    assert_eq!(world.stored, None, "refresh tokens are bound to their client");
}

#[test]
fn o11_a_configured_client_that_is_unknown_is_an_error_of_the_configuration() {
    let mut world = World::new(vec![Input::Response(response(401, r#"{"error":"invalid_client"}"#))]);
    let error = world.refresh().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert_eq!(world.stored, Some(stored(1)));
}

#[test]
fn a_token_that_cannot_be_refreshed_asks_for_a_login_without_a_request() {
    let with = |change: fn(&mut StoredToken)| {
        let mut token = stored(1);
        change(&mut token);
        token
    };
    for (stored, text) in [
        (None, "not stored any more"),
        (Some(with(|token| token.refresh_token = None)), "no refresh token"),
        (Some(with(|token| token.endpoint.issuer = "https://evil.example".into())), "another authorization server"),
        (Some(with(|token| token.client_id = Some("other".into()))), "or client"),
        (Some(with(|token| token.dpop_key = Some("other".into()))), "another key"),
    ] {
        let mut world = World::new(vec![]);
        world.stored = stored;
        let error = world.refresh().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LoginRequired);
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(world.log, ["lock", "load"]);
    }
}

#[test]
fn dp3_a_bound_token_is_refreshed_with_a_proof_and_nonces() {
    let body = ISSUED.replace("Bearer", "DPoP");
    let refusal = with_nonce(response(400, r#"{"error":"use_dpop_nonce"}"#), "n");
    let mut world = World::new(vec![Input::Response(refusal), Input::Response(response(200, &body))]);
    let token = bound(1);
    world.stored = Some(token.clone());
    let client = ClientAuthentication::private_key_jwt("client-1", ClientKey::new(SigningAlgorithm::Es256));
    let token = world.run(&mut Refresh::new(token, client, entropy()).dpop(Some(dpop()))).unwrap().token;
    assert_eq!(world.log, ["lock", "load", "sign", "sign", "fetch", "sign", "sign", "fetch", "store"]);
    assert_eq!(read(header(&world.requests[1], "dpop").unwrap()).1["nonce"], "n");
    assert_eq!(token.dpop_key, Some(dpop().key().thumbprint()));

    let mut world = World::new(vec![]);
    world.stored = Some(bound(1));
    let other = Dpop::new(PublicKey::Ed25519 { x: [0; 32] });
    let error = world.run(&mut refresh().dpop(Some(other))).unwrap_err();
    assert!(error.to_string().contains("another key"), "dp8: {error}");
}

#[test]
fn a_transaction_that_is_driven_in_another_order_fails() {
    let failed = |action| matches!(action, RefreshAction::Done(Err(error)) if error.kind() == ErrorKind::Misconfigured);
    assert!(failed(refresh().resume(RefreshInput::Done, NOW)));
    let mut flow = refresh();
    flow.start();
    assert!(failed(flow.start()));
    let mut flow = refresh();
    flow.start();
    assert!(failed(flow.resume(RefreshInput::Loaded(None), NOW)));
    let mut token = stored(1);
    token.endpoint.url = "http://auth.example.com/token".into();
    let mut world = World::new(vec![]);
    world.stored = Some(token);
    assert!(world.refresh().unwrap_err().to_string().contains("not an https URL"));
}

#[test]
fn t4_debug_output_of_a_transaction_shows_no_secrets() {
    let client = ClientAuthentication::client_secret_post("client-1", Secret::new("hidden"));
    let mut flow = Refresh::new(stored(1), client, entropy());
    flow.start();
    flow.resume(RefreshInput::Done, NOW);
    let action = flow.resume(RefreshInput::Loaded(Some(Box::new(stored(1)))), NOW);
    let text = format!("{flow:?} {action:?} {:?}", RefreshAction::Store(Box::new(stored(1))));
    assert!(!text.contains("hidden") && !text.contains("refresh-1") && !text.contains("access-1"), "{text}");
}

#[test]
fn a10_a_refresh_follows_an_authorization_server_that_has_moved_but_no_other_one() {
    let moved = |issuer: &str| {
        let mut world = World::answering(200, ISSUED);
        let endpoint = TokenEndpoint::new(issuer, "https://new.example.com/token");
        let refreshed = world.run(&mut refresh().moved_to(endpoint)).unwrap();
        assert_eq!(world.stored.as_ref(), Some(&refreshed.token), "the next refresh goes to the same endpoint");
        assert_eq!(refreshed.token.endpoint.url, world.requests[0].url);
        world.requests.remove(0).url
    };
    assert_eq!(moved("https://auth.example.com"), "https://new.example.com/token");
    assert_eq!(moved("https://auth.example.com/"), "https://auth.example.com/token");
    assert_eq!(moved("https://evil.example"), "https://auth.example.com/token");
}
