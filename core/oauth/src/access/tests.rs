use super::*;
use crate::jose::tests::read;
use crate::testing::{NOW, RESOURCE, bound, dpop, entropy, stored};
use crate::{BearerChallenge, PublicKey, Scopes};
use alloc::format;

const OPERATION: &str = "tools/call search";

fn access(token: StoredToken) -> Access {
    let mut access = Access::new(RESOURCE);
    access.replace(token).unwrap();
    access
}

/// Returns a token with a lifetime of one hour that expires in `seconds` seconds, or has expired if `seconds` is
/// negative.
fn expiring_in(seconds: i64) -> StoredToken {
    let mut token = stored(1);
    let at = NOW.as_secs().saturating_add_signed(seconds);
    token.obtained_at = UnixTime::from_secs(at - 3600);
    token.expires_at = Some(UnixTime::from_secs(at));
    token
}

fn scoped(requested: &str, granted: &str) -> StoredToken {
    let mut token = stored(1);
    token.scopes_requested = Scopes::parse(requested);
    token.scopes_granted = Some(Scopes::parse(granted));
    token
}

fn later(seconds: u64) -> UnixTime {
    NOW + Duration::from_secs(seconds)
}

/// Asserts that a request can be sent. Returns the identifier and header of its token, and whether a renewal must be
/// started.
fn send(access: &mut Access, now: UnixTime) -> (TokenId, String, bool) {
    match access.authorize(now) {
        Authorization::Send { credential, start_renewal } => {
            (credential.id, credential.header.expose().into(), start_renewal)
        }
        other => panic!("not sent: {other:?}"),
    }
}

fn refuse(access: &mut Access, status: u16, header: &str, sent: Option<TokenId>, repeats: u32) -> Decision {
    refuse_operation(access, status, header, sent, repeats, OPERATION)
}

/// Sends a request with the current token. The server refuses it.
fn refuse_next(access: &mut Access, status: u16, header: &str, repeats: u32) -> Decision {
    let (id, ..) = send(access, NOW);
    refuse(access, status, header, Some(id), repeats)
}

fn refuse_operation(
    access: &mut Access,
    status: u16,
    header: &str,
    sent: Option<TokenId>,
    repeats: u32,
    operation: &str,
) -> Decision {
    let challenge = BearerChallenge::parse([header]);
    let refusal = Refusal { status, challenge: challenge.as_ref(), sent, repeats, has_new_nonce: false, operation };
    access.refused(&refusal, NOW)
}

fn failure(kind: ErrorKind) -> Error {
    Error::new(kind, Step::Refresh, "no connection")
}

/// Ends the running renewal with `result`, and asserts that the result is used.
fn pass_result(access: &mut Access, result: Result<StoredToken, Error>, now: UnixTime) {
    let renewal = access.running_renewal().expect("a renewal runs");
    assert!(access.renewed(renewal, result, now));
}

fn renewing(start_renewal: bool) -> Decision {
    Decision::Renew { start_renewal }
}

fn is_login(decision: &Decision) -> bool {
    matches!(decision, Decision::LoginRequired(error) if error.kind() == ErrorKind::LoginRequired)
}

#[test]
fn t1_each_request_gets_the_token_in_the_header() {
    let mut access = Access::new(RESOURCE);
    assert_eq!(access.authorize(NOW), Authorization::Anonymous, "a login starts when the server asks for it");
    access.replace(stored(1)).unwrap();
    let (id, header, renewal) = send(&mut access, NOW);
    assert_eq!((header.as_str(), renewal), ("Bearer access-1", false));
    assert_eq!(send(&mut access, NOW).0, id);
    access.forget();
    assert_eq!(access.authorize(NOW), Authorization::Anonymous);
}

#[test]
fn t1_t3_a_token_of_another_server_or_type_or_one_that_no_header_can_contain_is_never_sent() {
    let damaged = ["", "a b", "a\r\nHost: evil.example", "\u{1b}[2J", "t\u{f6}ken"];
    let mut tokens = [(); 7].map(|()| stored(1));
    for (token, text) in tokens.iter_mut().zip(damaged) {
        token.access_token = Secret::new(text);
    }
    tokens[5].token_type = TokenType::Other("N_A".into());
    tokens[6].resource = "https://other.example/mcp".into();
    for token in tokens {
        let (mut access, shown) = (Access::new(RESOURCE), format!("{token:?}"));
        assert_eq!(access.replace(token).unwrap_err().kind(), ErrorKind::LoginRequired, "{shown}");
        assert_eq!(access.authorize(NOW), Authorization::Anonymous, "{shown}");
    }
}

#[test]
fn o6_a_token_that_expires_soon_is_sent_while_one_renewal_starts() {
    let mut access = access(expiring_in(61));
    assert!(!send(&mut access, NOW).2);
    let (old, _, renewal) = send(&mut access, later(1));
    assert!(renewal);
    for _ in 0..10 {
        assert_eq!(send(&mut access, later(1)), (old, "Bearer access-1".into(), false), "one renewal for all");
    }
    pass_result(&mut access, Ok(stored(2)), later(2));
    let (new, header, renewal) = send(&mut access, later(2));
    assert_eq!((new == old, header.as_str(), renewal), (false, "Bearer access-2", false));
}

#[test]
fn o1_o2_a_thousand_tasks_with_an_expired_token_share_one_renewal_also_if_nobody_waits() {
    let mut access = access(expiring_in(-1));
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: true });
    for _ in 1..1000 {
        assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: false });
    }
    // The callers may have given up. The state does not learn this, and still uses the result.
    pass_result(&mut access, Ok(stored(2)), NOW);
    assert_eq!(send(&mut access, NOW).1, "Bearer access-2");
}

#[test]
fn o2_a_renewal_whose_task_was_aborted_is_started_again() {
    let mut access = access(expiring_in(-1));
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: true });
    let aborted = access.running_renewal().unwrap();
    access.renewal_aborted(aborted);
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: true });
    access.renewal_aborted(aborted);
    pass_result(&mut access, Ok(stored(2)), NOW);
    assert!(!send(&mut access, NOW).2);
}

#[test]
fn a_late_renewal_does_not_replace_the_token_of_a_newer_login() {
    let mut access = access(expiring_in(-1));
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: true });
    let late = access.running_renewal().unwrap();
    // The user logs in again. The server soon refuses the new token, so a second renewal runs.
    let mut login = expiring_in(3600);
    login.access_token = Secret::new("login");
    access.replace(login).unwrap();
    assert_eq!(refuse_next(&mut access, 401, "Bearer", 0), renewing(true));
    let next = access.running_renewal();
    for result in [Ok(stored(2)), Err(failure(ErrorKind::LoginRequired))] {
        assert!(!access.renewed(late, result, NOW));
        access.renewal_aborted(late);
        assert_eq!(access.running_renewal(), next, "the next renewal still runs");
        assert_eq!(access.token().unwrap().access_token.expose(), "login");
    }
    pass_result(&mut access, Ok(stored(3)), NOW);
    assert_eq!(send(&mut access, NOW).1, "Bearer access-3");
}

#[test]
fn o4_a_renewal_that_fails_for_now_is_tried_again_later() {
    let mut access = access(expiring_in(30));
    assert!(send(&mut access, NOW).2);
    pass_result(&mut access, Err(failure(ErrorKind::Temporary)), NOW);
    assert!(!send(&mut access, later(9)).2, "not on each call");
    assert!(send(&mut access, later(10)).2);
    let minute = Some(Duration::from_secs(60));
    pass_result(&mut access, Err(failure(ErrorKind::Temporary).with_retry_after(minute)), later(10));
    let Authorization::Failed(error) = access.authorize(later(69)) else { panic!("the token has expired") };
    assert_eq!(error.kind(), ErrorKind::Temporary, "o21: the reason is not hidden behind a login");
    assert_eq!(access.authorize(later(70)), Authorization::Wait { start_renewal: true });
    pass_result(&mut access, Ok(stored(2)), later(70));
    assert_eq!(send(&mut access, later(70)).1, "Bearer access-2");
}

#[test]
fn a_lost_refresh_token_does_not_end_an_access_token_that_is_still_valid() {
    let mut access = access(expiring_in(30));
    assert!(send(&mut access, NOW).2);
    pass_result(&mut access, Err(failure(ErrorKind::LoginRequired)), NOW);
    assert!(!send(&mut access, later(29)).2, "no further renewal");
    let Authorization::Failed(error) = access.authorize(later(30)) else { panic!() };
    assert_eq!(error.kind(), ErrorKind::LoginRequired);
    access.replace(stored(2)).unwrap();
    assert_eq!(send(&mut access, later(30)).1, "Bearer access-2", "a login helps");
}

#[test]
fn an_expired_token_that_nobody_can_renew_is_sent_until_the_server_refuses_it() {
    let mut token = expiring_in(-1);
    token.refresh_token = None;
    let mut access = access(token);
    let (id, _, renewal) = send(&mut access, NOW);
    assert!(!renewal, "the clock may be wrong");
    assert!(is_login(&refuse(&mut access, 401, "Bearer", Some(id), 0)));
    let Authorization::Failed(error) = access.authorize(NOW) else { panic!("refused once is enough") };
    assert_eq!(error.kind(), ErrorKind::LoginRequired);
}

#[test]
fn a_program_without_a_user_renews_by_its_grant() {
    let mut token = expiring_in(-1);
    token.refresh_token = None;
    let mut access = Access::new(RESOURCE).renews_by_grant(true);
    access.replace(token).unwrap();
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: true });
    assert!(access.token().is_some());
}

#[test]
fn o5_a_401_forces_one_renewal_although_the_clock_says_that_the_token_is_valid() {
    let mut access = access(stored(1));
    let (id, ..) = send(&mut access, NOW);
    assert_eq!(refuse(&mut access, 401, r#"Bearer error="invalid_token""#, Some(id), 0), renewing(true));
    assert_eq!(refuse(&mut access, 401, "Bearer", Some(id), 0), renewing(false), "others wait for it");
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: false }, "a refused token is not sent");
    pass_result(&mut access, Ok(stored(2)), NOW);
    assert_eq!(send(&mut access, NOW).1, "Bearer access-2");
}

#[test]
fn o5_a_late_refusal_of_an_old_token_does_nothing() {
    let mut access = access(stored(1));
    let (old, ..) = send(&mut access, NOW);
    assert_eq!(refuse(&mut access, 401, "Bearer", Some(old), 0), renewing(true));
    pass_result(&mut access, Ok(stored(2)), NOW);
    let (new, ..) = send(&mut access, NOW);
    for _ in 0..3 {
        assert_eq!(refuse(&mut access, 401, "Bearer", Some(old), 0), Decision::Repeat);
    }
    assert_eq!(send(&mut access, NOW), (new, "Bearer access-2".into(), false));
    assert_eq!(refuse(&mut access, 401, "Bearer", None, 0), Decision::Repeat, "it was sent before there was a token");
}

#[test]
fn o5_a_token_that_is_refused_right_after_its_renewal_needs_a_login() {
    let mut access = access(stored(1));
    assert_eq!(refuse_next(&mut access, 401, "Bearer", 0), renewing(true));
    pass_result(&mut access, Ok(stored(2)), NOW);
    assert!(is_login(&refuse_next(&mut access, 401, "Bearer", 1)), "not another renewal");
    assert!(matches!(access.authorize(NOW), Authorization::Failed(_)), "other requests are not sent with it");
    access.replace(stored(3)).unwrap();
    assert_eq!(send(&mut access, NOW).1, "Bearer access-3");
}

#[test]
fn o5_a_renewal_that_returns_the_refused_token_does_not_loop() {
    let mut access = access(stored(1));
    assert_eq!(refuse_next(&mut access, 401, "Bearer", 0), renewing(true));
    let mut same = stored(1);
    same.generation = 2;
    pass_result(&mut access, Ok(same), NOW);
    assert_eq!(access.token().unwrap().generation, 2);
    let Authorization::Failed(error) = access.authorize(NOW) else { panic!("it is still refused") };
    assert_eq!(error.kind(), ErrorKind::LoginRequired);
}

#[test]
fn o5_a_refusal_while_renewals_fail_tells_why() {
    let mut access = access(stored(1));
    let (id, ..) = send(&mut access, NOW);
    refuse(&mut access, 401, "Bearer", Some(id), 0);
    pass_result(&mut access, Err(failure(ErrorKind::Temporary)), NOW);
    let Decision::Failed(error) = refuse(&mut access, 401, "Bearer", Some(id), 0) else { panic!() };
    assert_eq!(error.kind(), ErrorKind::Temporary);
    assert!(matches!(access.authorize(NOW), Authorization::Failed(_)));
    assert_eq!(access.authorize(later(10)), Authorization::Wait { start_renewal: true });
}

#[test]
fn o15_a_program_without_a_user_is_told_each_time_that_a_login_is_needed() {
    let mut access = Access::new(RESOURCE);
    for _ in 0..10 {
        assert!(is_login(&refuse(&mut access, 401, "Bearer", None, 0)));
        assert!(is_login(&refuse(&mut access, 403, r#"Bearer error="insufficient_scope""#, None, 0)));
    }
}

#[test]
fn u4_three_logins_that_do_not_help_are_enough() {
    let mut access = Access::new(RESOURCE);
    for login in 0..3 {
        assert!(is_login(&refuse(&mut access, 401, "Bearer", None, 0)), "login {login}");
        access.replace(stored(login)).unwrap();
        access.forget();
    }
    assert_eq!(refuse(&mut access, 401, "Bearer", None, 0), Decision::GiveUp);
    access.succeeded(OPERATION);
    assert!(is_login(&refuse(&mut access, 401, "Bearer", None, 0)));
}

#[test]
fn u3_u6_insufficient_scope_asks_for_a_login_with_all_scopes_and_never_for_a_renewal() {
    let mut access = access(scoped("a b", "a"));
    let (id, ..) = send(&mut access, NOW);
    let header = r#"Bearer error="insufficient_scope", scope="c""#;
    let expected = Decision::StepUp { scopes: Scopes::parse("a b c") };
    assert_eq!(refuse(&mut access, 403, header, Some(id), 0), expected);
    let mut wider = stored(2);
    wider.scopes_granted = Some(Scopes::parse("a c"));
    access.replace(wider).unwrap();
    assert_eq!(refuse(&mut access, 403, header, Some(id), 0), Decision::Repeat, "the new token has the scope");
    let other = r#"Bearer error="insufficient_scope", scope="d""#;
    assert!(matches!(refuse(&mut access, 403, other, Some(id), 0), Decision::StepUp { .. }), "but not this one");
}

#[test]
fn u4_u5_step_ups_of_one_operation_are_limited_with_the_first_login_included() {
    let mut access = Access::new(RESOURCE);
    let header = r#"Bearer error="insufficient_scope", scope="b""#;
    let step_up = |access: &mut Access, operation| {
        let (id, ..) = send(access, NOW);
        refuse_operation(access, 403, header, Some(id), 0, operation)
    };
    assert!(is_login(&refuse(&mut access, 401, "Bearer", None, 0)));
    for login in 1..=2 {
        access.replace(stored(login)).unwrap();
        assert!(matches!(step_up(&mut access, OPERATION), Decision::StepUp { .. }));
        assert!(matches!(step_up(&mut access, OPERATION), Decision::StepUp { .. }), "the same login");
    }
    access.replace(stored(3)).unwrap();
    assert_eq!(step_up(&mut access, OPERATION), Decision::GiveUp);
    assert!(matches!(step_up(&mut access, "tools/call other"), Decision::StepUp { .. }));
}

#[test]
fn o17_a_step_up_without_scopes_asks_for_those_of_before() {
    let mut access = access(scoped("a", "a"));
    let decision = refuse_next(&mut access, 403, r#"Bearer error="insufficient_scope", scope="""#, 0);
    assert_eq!(decision, Decision::StepUp { scopes: Scopes::parse("a") });
}

#[test]
fn o17_a_401_that_names_more_scopes_is_a_step_up() {
    let wider = r#"Bearer scope="a b""#;
    let mut valid = access(scoped("a", "a"));
    let (id, ..) = send(&mut valid, NOW);
    let step_up = Decision::StepUp { scopes: Scopes::parse("a b") };
    assert_eq!(refuse(&mut valid, 401, wider, Some(id), 0), step_up);

    // The scope `b` was already requested and not granted, so another login would not help.
    let mut partly = access(scoped("a b", "a"));
    assert_eq!(refuse_next(&mut partly, 401, wider, 0), renewing(true));

    // The server says that the token is invalid, so a renewal is tried first.
    let invalid = r#"Bearer error="invalid_token", scope="a b""#;
    let mut unclear = access(scoped("a", "a"));
    assert_eq!(refuse_next(&mut unclear, 401, invalid, 0), renewing(true));
    let mut renewed = scoped("a", "a");
    renewed.access_token = Secret::new("renewed");
    pass_result(&mut unclear, Ok(renewed), NOW);
    assert_eq!(refuse_next(&mut unclear, 401, invalid, 1), step_up);

    // It is not known which scopes this token has.
    let mut unknown = access(stored(1));
    assert_eq!(refuse_next(&mut unknown, 401, wider, 0), renewing(true));
}

#[test]
fn other_refusals_are_permanent() {
    let mut access = access(stored(1));
    let (id, ..) = send(&mut access, NOW);
    for (status, header, repeats) in [
        (403, "", 0),
        (403, r#"Bearer error="forbidden""#, 0),
        (404, "Bearer", 0),
        (401, "Bearer", 3),
        (401, r#"DPoP error="invalid_dpop_proof""#, 0),
    ] {
        assert_eq!(refuse(&mut access, status, header, Some(id), repeats), Decision::GiveUp);
    }
    assert_eq!(send(&mut access, NOW).0, id, "the token stays");
}

#[test]
fn dp1_a_bound_token_is_sent_by_the_dpop_scheme_with_a_proof() {
    let mut access = Access::new(RESOURCE).requires_dpop(dpop());
    assert_eq!(access.begin_proof("POST", RESOURCE, NOW, &mut entropy()), None, "there is no token");
    assert_eq!(access.dpop(), Some(&dpop()));
    access.replace(bound(1)).unwrap();
    let Authorization::Send { credential, .. } = access.authorize(NOW) else { panic!() };
    assert!(credential.needs_proof);
    assert_eq!(credential.header.expose(), "DPoP access-1");
    let proof = access.begin_proof("POST", RESOURCE, NOW, &mut entropy()).unwrap().finish(&[]);
    let (_, claims, _) = read(&proof);
    assert_eq!((&claims["htm"], &claims["htu"]), (&"POST".into(), &RESOURCE.into()));
    assert!(claims["ath"].is_string());
}

#[test]
fn dp4_a_request_that_was_refused_for_its_nonce_is_repeated_with_the_new_one() {
    let mut access = Access::new(RESOURCE).requires_dpop(dpop());
    access.replace(bound(1)).unwrap();
    let (id, ..) = send(&mut access, NOW);
    let challenge = BearerChallenge::parse([r#"DPoP error="use_dpop_nonce""#]).unwrap();
    let refused = |access: &mut Access, nonce| {
        let has_new_nonce = access.take_nonce(RESOURCE, nonce);
        let challenge = Some(&challenge);
        let refusal =
            Refusal { status: 401, challenge, sent: Some(id), repeats: 0, has_new_nonce, operation: OPERATION };
        access.refused(&refusal, NOW)
    };
    assert_eq!(refused(&mut access, "n1"), Decision::Repeat);
    let proof = access.begin_proof("GET", RESOURCE, NOW, &mut entropy()).unwrap().finish(&[]);
    assert_eq!(read(&proof).1["nonce"], "n1");
    assert_eq!(refused(&mut access, "n1"), Decision::GiveUp, "the same nonce changes nothing");
    assert_eq!(send(&mut access, NOW).0, id, "the token stays");
    assert!(!Access::new(RESOURCE).take_nonce(RESOURCE, "n"), "without a key");
}

#[test]
fn dp8_a_client_with_a_key_never_sends_a_bearer_token() {
    let mut access = Access::new(RESOURCE).requires_dpop(dpop());
    assert!(access.replace(stored(1)).unwrap_err().to_string().contains("not bound"));
    access.replace(bound(1)).unwrap();
    assert_eq!(refuse_next(&mut access, 401, "Bearer", 0), renewing(true));
    pass_result(&mut access, Ok(stored(2)), NOW);
    assert!(matches!(access.authorize(NOW), Authorization::Failed(_)), "a renewal cannot downgrade either");
    let mut other = Access::new(RESOURCE).requires_dpop(Dpop::new(PublicKey::Ed25519 { x: [0; 32] }));
    assert!(other.replace(bound(1)).unwrap_err().to_string().contains("another key"));
    assert!(Access::new(RESOURCE).replace(bound(1)).is_err(), "without the key");
}

#[test]
fn a_program_without_a_user_gets_its_first_token_when_the_server_asks_for_one() {
    let mut access = Access::new(RESOURCE).renews_by_grant(true);
    assert_eq!(access.authorize(NOW), Authorization::Anonymous, "perhaps the server wants none");
    assert_eq!(refuse(&mut access, 401, "Bearer", None, 0), renewing(true));
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: false });
    pass_result(&mut access, Err(failure(ErrorKind::LoginRequired)), NOW);
    assert!(matches!(access.authorize(NOW), Authorization::Failed(_)));
    assert_eq!(access.authorize(later(10)), Authorization::Anonymous, "its credentials may be new");
    let (status, challenge, operation) = (401, Some(&BearerChallenge::default()), OPERATION);
    let refusal = Refusal { status, challenge, sent: None, repeats: 0, has_new_nonce: false, operation };
    assert_eq!(access.refused(&refusal, later(10)), renewing(true));
    pass_result(&mut access, Ok(stored(1)), later(11));
    assert_eq!(send(&mut access, later(11)).1, "Bearer access-1");
}

#[test]
fn a_renewal_that_ends_after_a_logout_changes_nothing() {
    let mut access = access(expiring_in(-1));
    assert_eq!(access.authorize(NOW), Authorization::Wait { start_renewal: true });
    let late = access.running_renewal().unwrap();
    access.forget();
    assert!(!access.renewed(late, Ok(stored(2)), NOW));
    assert_eq!(access.authorize(NOW), Authorization::Anonymous);
}

#[test]
fn t4_debug_output_shows_no_token() {
    let mut access = access(stored(1));
    let text = format!("{access:?}") + &format!("{:?}", access.authorize(NOW));
    assert!(!text.contains("access-1") && !text.contains("refresh-1"), "{text}");
}

#[test]
fn a_token_is_ready_while_it_needs_no_renewal_and_was_not_refused() {
    assert!(!Access::new(RESOURCE).is_ready(NOW));
    for (seconds, is_ready) in [(61, true), (60, false), (1, false), (0, false), (-1, false)] {
        let mut access = access(expiring_in(seconds));
        assert_eq!(access.is_ready(NOW), is_ready, "{seconds}");
        if is_ready {
            let (id, _, start_renewal) = send(&mut access, NOW);
            assert!(!start_renewal);
            refuse(&mut access, 401, "Bearer error=\"invalid_token\"", Some(id), 0);
            assert!(!access.is_ready(NOW));
        }
    }
}

#[test]
fn o5_a_clock_that_jumps_costs_no_token() {
    // The clock was set back: the token seems to come from the future, and is still sent.
    let mut set_back = access(expiring_in(3600));
    let long_ago = UnixTime::from_secs(NOW.as_secs() - 1_000_000);
    assert!(!send(&mut set_back, long_ago).2);
    // The clock was set forward: the token seems to have expired. It is renewed, or else sent until it is refused.
    let year = later(365 * 24 * 3600);
    assert_eq!(access(expiring_in(3600)).authorize(year), Authorization::Wait { start_renewal: true });
}

/// Returns the token of the same login after a refresh.
fn refreshed(token: &StoredToken, access_token: &str) -> StoredToken {
    token.refreshed(crate::testing::issued(access_token))
}

#[test]
fn a_refresh_of_the_same_login_is_the_same_authorization() {
    let first = expiring_in(-1);
    let mut access = access(first.clone());
    let begin = access.context();
    access.authorize(NOW);
    let second = refreshed(&first, "b");
    pass_result(&mut access, Ok(second.clone()), NOW);
    // Another process has also refreshed the token.
    let read = StoredToken::from_bytes(&second.to_bytes()).unwrap();
    access.replace(refreshed(&read, "c")).unwrap();
    access.replace(second).unwrap();
    assert_eq!(access.context(), begin);
}

#[test]
fn a_login_a_logout_and_other_scopes_are_another_authorization() {
    let mut access = Access::new(RESOURCE);
    let mut contexts = alloc::vec![access.context()];
    let mut changed = |access: &Access| {
        contexts.push(access.context());
        let [.., before, now] = contexts[..] else { panic!("there are two") };
        before != now
    };
    access.forget();
    assert!(!changed(&access), "there was no token");
    let first = scoped("a", "a");
    access.replace(first.clone()).unwrap();
    assert!(changed(&access), "a login");
    access.replace(stored(2)).unwrap();
    assert!(changed(&access), "another login, also of the same user");
    access.replace(first.clone()).unwrap();
    assert!(changed(&access), "the first one again");
    let mut wider = refreshed(&first, "b");
    wider.scopes_granted = Some(Scopes::parse("a b"));
    access.replace(wider).unwrap();
    assert!(changed(&access), "a refresh with other scopes");
    let mut same_token = access.token().cloned().unwrap();
    same_token.scopes_granted = Some(Scopes::parse("b a"));
    access.replace(same_token.clone()).unwrap();
    assert!(!changed(&access), "the same token with the same scopes in another order");
    same_token.scopes_granted = Some(Scopes::parse("a b c"));
    access.replace(same_token).unwrap();
    assert!(changed(&access), "the same token with other scopes");
    access.forget();
    assert!(changed(&access), "a logout");
    access.replace(first).unwrap();
    assert!(changed(&access), "the same login after the logout");
}

#[test]
fn the_login_of_another_process_that_a_renewal_finds_is_another_authorization() {
    let mut access = access(expiring_in(-1));
    let begin = access.context();
    access.authorize(NOW);
    pass_result(&mut access, Ok(stored(9)), NOW);
    assert_ne!(access.context(), begin);
}

#[test]
fn a_document_of_an_earlier_version_names_its_login_when_it_is_refreshed() {
    let mut json: serde_json::Value = serde_json::from_slice(&stored(1).to_bytes()).unwrap();
    json.as_object_mut().unwrap().remove("login").expect("it is written");
    let old = StoredToken::from_bytes(json.to_string().as_bytes()).unwrap();
    let new = refreshed(&old, "b");
    assert!(new.has_access_of(&old) && refreshed(&new, "c").has_access_of(&old));
    assert!(!stored(2).has_access_of(&old));
}
