//! DPoP: tokens that are bound to a key, with real signatures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcpwire_authorization::oauth::PublicKey;
use mcpwire_authorization::{KeyError, Signer, SigningKey};
use mcpwire_testkit::authorization::Deviation;
use mcpwire_tests::authorization::{Web, echo};

use crate::{grants, secs};

fn web() -> Web {
    let web = Web::new();
    web.authorization.token_lifetime(secs(100));
    web.server.require_dpop();
    web
}

#[test]
fn dp1_dp2_dp3_bound_tokens_are_sent_and_refreshed_with_proofs_that_hold() {
    let web = web();
    web.run(web.oauth().dpop(true), async |client| {
        echo(&client).await.expect("the proof holds");
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("the token is refreshed with a proof");
    });
    assert_eq!(grants(&web.token_requests()), ["authorization_code", "refresh_token"]);
    let schemes: std::collections::BTreeSet<_> = web
        .server
        .requests()
        .iter()
        .filter_map(|request| request.header("Authorization")?.split_once(' ').map(|(scheme, _)| scheme.to_owned()))
        .collect();
    assert_eq!(schemes.into_iter().collect::<Vec<_>>(), ["DPoP"]);
}

#[test]
fn dp4_nonces_of_both_servers_are_used_and_replaced() {
    let web = web();
    web.authorization.renew_dpop_nonce();
    web.server.renew_dpop_nonce();
    web.run(web.oauth().dpop(true), async |client| {
        echo(&client).await.expect("the nonces are used");
        for _ in 0..2 {
            web.authorization.renew_dpop_nonce();
            web.server.renew_dpop_nonce();
            web.time.sleep(secs(200)).await;
            echo(&client).await.expect("the new nonces are used");
        }
    });
    assert_eq!(web.logins().len(), 1);
}

#[test]
fn dp6_the_key_is_kept_for_the_next_run() {
    let web = web();
    web.call(web.oauth().dpop(true)).expect("the proof holds");
    web.run(web.oauth_without_user().dpop(true), async |client| {
        echo(&client).await.expect("the key of the first run is used");
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("also for the refresh");
    });
    assert_eq!(web.logins().len(), 1);
}

#[test]
fn dp8_a_token_that_is_not_bound_is_never_sent() {
    let web = Web::new();
    web.authorization.deviate(Deviation::IgnoreProofs);
    web.refused(web.oauth().dpop(true));
    assert!(web.server.requests().iter().all(|request| request.header("Authorization").is_none()));
}

#[test]
fn dp8_a_stored_token_that_is_not_bound_is_not_sent() {
    let web = Web::new();
    let _unbound = web.oauth_after_login();
    web.refused(web.oauth_without_user().dpop(true));
    assert!(web.server.requests().iter().all(|request| request.header("Authorization").is_none()));
}

/// A key that is in another program, which can be locked. `None`: a key of an algorithm that DPoP keys are not created for.
struct Agent {
    key: Option<SigningKey>,
    is_locked: AtomicBool,
}

impl Signer for Agent {
    fn public_key(&self) -> Option<PublicKey> {
        self.key.as_ref()?.public_key()
    }

    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.key {
            Some(key) if !self.is_locked.load(Ordering::Relaxed) => key.sign(bytes),
            _ => Err(KeyError::Failed("the agent is locked".into())),
        }
    }
}

fn agent() -> Arc<Agent> {
    let (key, _) = SigningKey::generate().expect("there are random numbers");
    Arc::new(Agent { key: Some(key), is_locked: AtomicBool::new(false) })
}

#[test]
fn dp6_a_key_of_the_program_signs_and_is_not_stored() {
    let web = web();
    let agent = agent();
    web.call(web.oauth().dpop_key(Arc::clone(&agent))).expect("the proof holds");
    web.run(web.oauth_without_user().dpop_key(agent), async |client| {
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("the refresh has a proof of the same key");
    });
    assert_eq!(web.logins().len(), 1);
    // A key that the store creates is another one, which the token is not bound to.
    web.refused(web.oauth_without_user().dpop(true));
}

#[test]
fn dp8_a_key_that_cannot_sign_fails_the_request_and_nothing_is_sent() {
    let web = web();
    let agent = agent();
    web.run(web.oauth().dpop_key(Arc::clone(&agent)), async |client| {
        echo(&client).await.expect("the proof holds");
        let sent = (web.server.requests().len(), web.token_requests().len());
        agent.is_locked.store(true, Ordering::Relaxed);
        let error = echo(&client).await.unwrap_err().to_string();
        assert!(error.contains("the agent is locked"), "{error}");
        web.time.sleep(secs(200)).await;
        let error = echo(&client).await.unwrap_err().to_string();
        assert!(error.contains("the agent is locked"), "{error}");
        assert_eq!((web.server.requests().len(), web.token_requests().len()), sent);
        agent.is_locked.store(false, Ordering::Relaxed);
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("the refresh token was not used up");
    });
    assert_eq!(web.logins().len(), 1);
}

#[test]
fn dp8_a_key_that_cannot_sign_proofs_is_an_error_and_no_token_is_got_without_it() {
    let web = web();
    web.refused(web.oauth().dpop_key(Agent { key: None, is_locked: AtomicBool::new(false) }));
    assert_eq!(web.token_requests().len(), 0);
}

#[test]
fn proofs_follow_the_clocks_of_both_servers() {
    for (authorization, server) in [(3600, -7200), (-86_000, 400), (301, 0)] {
        for has_nonces in [false, true] {
            let web = web();
            web.authorization.clock_ahead(authorization);
            web.server.clock_ahead(server);
            if has_nonces {
                web.authorization.renew_dpop_nonce();
                web.server.renew_dpop_nonce();
            }
            web.run(web.oauth().dpop(true), async |client| {
                let before = web.server.requests().len();
                echo(&client).await.expect("the proof is made for the time of the server");
                assert_eq!(web.server.requests().len(), before + 1, "the time of the server is remembered");
                web.time.sleep(secs(200)).await;
                echo(&client).await.expect("the token is refreshed");
            });
            assert_eq!(web.logins().len(), 1, "{authorization} {server}");
        }
    }
}

#[test]
fn a_server_whose_clock_is_wrong_by_more_than_a_day_is_not_followed() {
    let web = web();
    web.server.clock_ahead(2 * 86_400);
    assert!(!web.refused(web.oauth().dpop(true)).to_string().is_empty());
    let sent = web.server.requests().iter().filter(|request| request.header("DPoP").is_some()).count();
    assert_eq!(sent, 1, "a refusal for another reason than the time is not repeated");
}
