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
use std::collections::BTreeSet;

const ISSUED: &str = r#"{"access_token":"new","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-new"}"#;

/// A store with one token and a lock, and an authorization server. It logs all actions of the transactions.
#[derive(Default)]
struct World {
    stored: Option<StoredToken>,
    /// The action that fails: "load" or "store". Empty if both succeed.
    failing: &'static str,
    /// The responses of the authorization server, in order. `None`: it issues a new refresh token at each refresh, and
    /// revokes all tokens if an old refresh token is sent again.
    responses: Option<vec::IntoIter<Input>>,
    /// The number of the refresh token that a server without `responses` accepts. `None` if it has revoked the tokens.
    valid: Option<u64>,
    log: Vec<&'static str>,
    requests: Vec<Request>,
    /// The token that another process writes while the refresh request is in flight. `None` if no process writes one.
    written_meanwhile: Option<StoredToken>,
    /// Whether locks do not exclude other engines, as in a file system without working locks.
    ignores_locks: bool,
    lock_is_taken: bool,
}

impl World {
    fn new(responses: Vec<Input>) -> Self {
        World { stored: Some(stored(1)), responses: Some(responses.into_iter()), ..World::default() }
    }

    fn answering(status: u16, body: &str) -> Self {
        World::new(vec![Input::Response(response(status, body))])
    }

    fn rotating(ignores_locks: bool) -> Self {
        World { stored: Some(stored(1)), valid: Some(1), ignores_locks, ..World::default() }
    }

    fn answer(&mut self, request: &Request) -> Input {
        if let Some(responses) = &mut self.responses {
            return responses.next().expect("too many requests");
        }
        let sent = parameters(request)["refresh_token"].clone();
        self.valid = self.valid.filter(|valid| sent == format!("refresh-{valid}")).map(|valid| valid + 1);
        let Some(next) = self.valid else { return refusal("invalid_grant") };
        let body = format!(r#"{{"access_token":"access-{next}","refresh_token":"refresh-{next}","expires_in":3600}}"#);
        Input::Response(response(200, &body))
    }

    fn can_step(&self, engine: &Engine) -> bool {
        let waits = engine.next == RefreshAction::Lock && self.lock_is_taken && !self.ignores_locks;
        engine.result().is_none() && !waits
    }

    fn step(&mut self, engine: &mut Engine) {
        let failed = || RefreshInput::Failed("the disk is full".into());
        let (name, input) = match &engine.next {
            RefreshAction::Lock => {
                self.lock_is_taken = true;
                engine.has_lock = true;
                ("lock", RefreshInput::Done)
            }
            RefreshAction::Load if self.failing == "load" => ("load", failed()),
            RefreshAction::Load => ("load", RefreshInput::Loaded(self.stored.clone().map(Box::new))),
            RefreshAction::Fetch(request) => {
                self.requests.push(request.clone());
                self.stored = self.written_meanwhile.take().or(self.stored.take());
                ("fetch", RefreshInput::Network(self.answer(request)))
            }
            RefreshAction::Sign { key, .. } => {
                ("sign", RefreshInput::Network(Input::Signature(signature(*key).to_vec())))
            }
            RefreshAction::Store(_) if self.failing == "store" => ("store", failed()),
            RefreshAction::Store(token) => {
                self.stored = Some((**token).clone());
                ("store", RefreshInput::Done)
            }
            RefreshAction::Delete { generation } => {
                self.stored.take_if(|token| token.generation == *generation);
                ("delete", RefreshInput::Done)
            }
            RefreshAction::DeleteRegistration => ("delete registration", RefreshInput::Done),
            RefreshAction::Done(_) => panic!("the transaction has ended"),
        };
        self.log.push(name);
        engine.steps += 1;
        engine.next = engine.refresh.resume(input, NOW);
        if engine.result().is_some() {
            self.release(engine);
        }
    }

    /// Releases the lock of an engine, as the operating system does when a process ends.
    fn release(&mut self, engine: &mut Engine) {
        if mem::take(&mut engine.has_lock) {
            self.lock_is_taken = false;
        }
    }

    fn run(&mut self, refresh: Refresh) -> Result<Refreshed, Error> {
        let mut engine = Engine::new(refresh);
        while self.can_step(&engine) {
            self.step(&mut engine);
        }
        engine.result().expect("it has ended").clone().map(|refreshed| *refreshed)
    }

    fn refresh(&mut self) -> Result<Refreshed, Error> {
        self.run(refresh())
    }

    /// Runs two engines in the order that `schedule` defines: each bit says which engine performs the next step.
    fn race(&mut self, schedule: u32) -> [Engine; 2] {
        let mut engines = [Engine::new(refresh()), Engine::new(refresh())];
        for turn in 0.. {
            let first = usize::from(turn < 32 && schedule >> (turn % 32) & 1 == 1);
            let Some(index) = [first, 1 - first].into_iter().find(|&index| self.can_step(&engines[index])) else {
                break;
            };
            self.step(&mut engines[index]);
        }
        engines
    }
}

struct Engine {
    refresh: Refresh,
    next: RefreshAction,
    has_lock: bool,
    steps: u32,
}

impl Engine {
    fn new(mut refresh: Refresh) -> Self {
        let next = refresh.start();
        Engine { refresh, next, has_lock: false, steps: 0 }
    }

    fn result(&self) -> Option<&Result<Box<Refreshed>, Error>> {
        match &self.next {
            RefreshAction::Done(result) => Some(result),
            _ => None,
        }
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
    world.failing = "store";
    let refreshed = world.refresh().unwrap();
    assert_eq!(world.log, ["lock", "load", "fetch", "store", "store"]);
    assert_eq!(world.stored, Some(stored(1)));
    assert_eq!(refreshed.source, RefreshSource::Unsaved("the disk is full".into()), "the program can go on with it");
    assert_eq!(refreshed.token.generation, 2);

    // The next refresh starts from the token that could not be stored, and stores the token after it.
    let mut world = World::answering(200, ISSUED);
    let next = world.run(Refresh::new(refreshed.token, public_client(), entropy())).unwrap();
    assert_eq!(parameters(&world.requests[0])["refresh_token"], "refresh-new");
    assert_eq!((next.source, world.stored.unwrap().generation), (RefreshSource::Issued, 3));
}

#[test]
fn o1_after_invalid_grant_the_token_of_a_faster_process_is_adopted() {
    for code in ["invalid_grant", "invalid_client"] {
        let mut world = World::new(vec![refusal(code)]);
        world.written_meanwhile = Some(stored(2));
        let refreshed = world.run(refresh().client_is_dynamic(true)).unwrap();
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
    for body in ["{}", r#"{"access_token":"a\r\nHost: evil.example"}"#] {
        failures.push(vec![Input::Response(response(200, body))]);
    }
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
    world.failing = "load";
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
    next.run(Refresh::new(token, public_client(), entropy())).unwrap();
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
    let error = world.run(refresh().client_is_dynamic(true)).unwrap_err();
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
    let token = world.run(Refresh::new(token, client, entropy()).dpop(Some(dpop()))).unwrap().token;
    assert_eq!(world.log, ["lock", "load", "sign", "sign", "fetch", "sign", "sign", "fetch", "store"]);
    assert_eq!(read(header(&world.requests[1], "dpop").unwrap()).1["nonce"], "n");
    assert_eq!(token.dpop_key, Some(dpop().key().thumbprint()));

    let mut world = World::new(vec![]);
    world.stored = Some(bound(1));
    let other = Dpop::new(PublicKey::Ed25519 { x: [0; 32] });
    let error = world.run(refresh().dpop(Some(other))).unwrap_err();
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
        let refreshed = world.run(refresh().moved_to(endpoint)).unwrap();
        assert_eq!(world.stored.as_ref(), Some(&refreshed.token), "the next refresh goes to the same endpoint");
        assert_eq!(refreshed.token.endpoint.url, world.requests[0].url);
        world.requests.remove(0).url
    };
    assert_eq!(moved("https://auth.example.com"), "https://new.example.com/token");
    assert_eq!(moved("https://auth.example.com/"), "https://auth.example.com/token");
    assert_eq!(moved("https://evil.example"), "https://auth.example.com/token");
}

/// All possible orders of the steps of two engines, which have at most ten steps together.
const SCHEDULES: core::ops::Range<u32> = 0..1 << 10;

#[test]
fn o1_of_two_processes_one_refreshes_and_the_other_adopts_in_every_order() {
    let mut seen = BTreeSet::new();
    for schedule in SCHEDULES {
        let mut world = World::rotating(false);
        let engines = world.race(schedule);
        let tokens = engines.each_ref().map(|engine| &engine.result().unwrap().as_ref().unwrap().token);
        assert_eq!(tokens[0], tokens[1], "schedule {schedule:b}");
        assert_eq!(world.stored.as_ref(), Some(tokens[0]));
        assert_eq!((world.requests.len(), world.valid), (1, Some(2)), "no refresh token is used twice");
        seen.insert(engines.map(|engine| engine.steps));
    }
    assert_eq!(seen.len(), 2, "each of the two has won in some order: {seen:?}");
}

#[test]
fn o1_without_a_lock_the_slower_process_never_deletes_the_token_of_the_faster_one() {
    // The server may still revoke the token. Only a working lock prevents that.
    let mut outcomes = BTreeSet::new();
    for schedule in SCHEDULES {
        let mut world = World::rotating(true);
        let engines = world.race(schedule);
        let kinds = engines.each_ref().map(|engine| match engine.result().unwrap() {
            Ok(refreshed) => format!("{:?}", refreshed.source),
            Err(error) => format!("{:?}", error.kind()),
        });
        assert!(kinds.contains(&"Issued".into()), "{kinds:?}");
        assert_eq!(world.stored.as_ref().unwrap().generation, 2, "schedule {schedule:b}");
        outcomes.insert(kinds[usize::from(kinds[0] == "Issued")].clone());
    }
    let expected = ["Adopted", "LoginRequired"];
    assert!(outcomes.iter().map(String::as_str).eq(expected), "{outcomes:?}");
}

#[test]
fn o1_a_process_that_ends_in_any_step_does_not_stop_the_others() {
    for killed_after in 0..=4 {
        let mut world = World::rotating(false);
        let mut first = Engine::new(refresh());
        for _ in 0..killed_after {
            world.step(&mut first);
        }
        let was_answered = world.requests.len() == 1;
        let was_stored = world.stored.as_ref().unwrap().generation == 2;
        world.release(&mut first);
        let mut second = Engine::new(refresh());
        while world.can_step(&second) {
            world.step(&mut second);
        }
        let result = second.result().unwrap();
        if was_answered && !was_stored {
            // The new token was lost with the process. The server revoked all tokens, so the user must log in again.
            assert_eq!(result.as_ref().unwrap_err().kind(), ErrorKind::LoginRequired);
        } else {
            assert_eq!(result.as_ref().unwrap().token.generation, 2, "ended after {killed_after} steps");
        }
    }
}

#[test]
fn o1_a_hundred_engines_share_one_refresh() {
    let mut world = World::rotating(false);
    let mut engines: Vec<Engine> = (0..100).map(|_| Engine::new(refresh())).collect();
    while let Some(engine) = engines.iter_mut().rev().find(|engine| world.can_step(engine)) {
        world.step(engine);
    }
    assert_eq!(world.requests.len(), 1);
    assert!(engines.iter().all(|engine| engine.result().unwrap().as_ref().unwrap().token.generation == 2));
}
