//! The token that connections share: requests, refusals, renewals and logins in any order.

use std::collections::HashMap;
use std::time::Duration;

use mcpwire_oauth::{
    Access, Authorization, BearerChallenge, Decision, Error, Refusal, StepUpLimit, StoredToken, TokenId,
};

use super::entropy;
use super::web::Web;

/// Maximum number of times that a request is repeated.
const MAX_REPEATS: u32 = 3;

const CHALLENGES: [&str; 9] = [
    "Bearer",
    r#"Bearer error="invalid_token""#,
    r#"Bearer error="insufficient_scope", scope="a""#,
    r#"Bearer error="insufficient_scope", scope="b c""#,
    r#"Bearer scope="a b c d""#,
    r#"DPoP error="use_dpop_nonce""#,
    r#"DPoP error="invalid_dpop_proof""#,
    "Negotiate",
    "",
];

struct Model {
    access: Access,
    is_renewing: bool,
    /// The logins of each operation since it has last succeeded.
    logins: HashMap<&'static str, u8>,
    /// The operations that wait for a login.
    waiting: Vec<&'static str>,
    sent: Option<TokenId>,
}

pub(super) fn run(web: &mut Web<'_>) {
    let mut access = Access::new(web.server_url).renews_by_grant(web.input.byte() & 1 == 1);
    if let Some(dpop) = web.dpop() {
        access = access.requires_dpop(dpop);
    }
    let mut model = Model { access, is_renewing: false, logins: HashMap::new(), waiting: Vec::new(), sent: None };
    while !web.input.is_empty() {
        model.step(web);
        web.check_debug(&model.access);
    }
}

impl Model {
    fn step(&mut self, web: &mut Web<'_>) {
        match web.input.byte() % 12 {
            0..=2 => self.authorize(web),
            3..=6 => self.refuse(web),
            7 => {
                let result = renewed(web);
                if let Some(renewal) = self.access.running_renewal() {
                    assert!(self.access.renewed(renewal, result, web.now));
                }
                self.is_renewing = false;
            }
            8 => {
                let Some(token) = token(web) else { return };
                match self.access.replace(token) {
                    Ok(()) => {
                        self.is_renewing = false;
                        self.waiting.clear();
                    }
                    Err(error) => web.check_error(&error),
                }
            }
            9 => web.now = web.now + Duration::from_secs(u64::from(web.input.byte()) * 60),
            10 => {
                let operation = operation(web);
                self.access.succeeded(operation);
                self.logins.remove(operation);
            }
            _ => match web.input.byte() % 4 {
                0 => {
                    self.access.forget();
                    self.is_renewing = false;
                }
                1 => {
                    if let Some(renewal) = self.access.running_renewal() {
                        self.access.renewal_aborted(renewal);
                    }
                    self.is_renewing = false;
                }
                _ => {
                    let nonce = String::from_utf8_lossy(web.input.piece()).into_owned();
                    self.access.take_nonce(web.server_url, &nonce);
                    if let Some(proof) = self.access.begin_proof("POST", web.server_url, web.now, &mut entropy()) {
                        assert!(proof.finish(&[1; 64]).is_ascii());
                    }
                }
            },
        }
    }

    fn renewal(&mut self, starts: bool) {
        assert!(!(starts && self.is_renewing), "two renewals at once");
        self.is_renewing |= starts;
    }

    fn authorize(&mut self, web: &Web<'_>) {
        let starts = match self.access.authorize(web.now) {
            Authorization::Send { credential, start_renewal } => {
                let header = credential.header.expose();
                assert!(header.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{header:?}");
                assert_eq!(header.starts_with("DPoP "), web.uses_dpop, "another scheme than the program wants");
                assert_eq!(credential.needs_proof, web.uses_dpop);
                self.sent = Some(credential.id);
                start_renewal
            }
            Authorization::Wait { start_renewal } => {
                assert!(start_renewal || self.is_renewing, "waits for nobody");
                start_renewal
            }
            Authorization::Failed(error) => return web.check_error(&error),
            _ => return,
        };
        self.renewal(starts);
    }

    fn refuse(&mut self, web: &mut Web<'_>) {
        let challenge = BearerChallenge::parse([web.input.pick(&CHALLENGES)]);
        let operation = operation(web);
        let refusal = Refusal {
            status: web.input.pick(&[401, 403, 400]),
            challenge: challenge.as_ref(),
            sent: if web.input.byte() & 1 == 0 { self.sent } else { Some(TokenId::from_number(1)) },
            repeats: web.input.pick(&[0, 1, 2, 3, u32::MAX]),
            has_new_nonce: web.input.byte() & 1 == 0,
            operation,
        };
        let decision = self.access.refused(&refusal, web.now);
        assert!(refusal.repeats < MAX_REPEATS || decision == Decision::GiveUp, "repeats for ever: {decision:?}");
        match decision {
            Decision::Renew { start_renewal } => {
                self.renewal(start_renewal);
                assert!(self.is_renewing, "waits for nobody");
            }
            Decision::StepUp { .. } | Decision::LoginRequired(_) => {
                if let Decision::LoginRequired(error) = &decision {
                    web.check_error(error);
                }
                if !self.waiting.contains(&operation) {
                    self.waiting.push(operation);
                    let logins = self.logins.entry(operation).or_default();
                    *logins += 1;
                    assert!(*logins <= StepUpLimit::MAX_REQUESTS, "asks for logins for ever");
                }
            }
            Decision::Failed(error) => web.check_error(&error),
            _ => {}
        }
    }
}

fn operation(web: &mut Web<'_>) -> &'static str {
    web.input.pick(&["tools/list", "tools/call a", "tools/call b"])
}

fn renewed(web: &mut Web<'_>) -> Result<StoredToken, Error> {
    match token(web) {
        Some(token) if web.input.byte() < 200 => Ok(token),
        _ => Err(Error::temporary("no network")),
    }
}

/// Returns a token: one of a few, or one whose document the input has changed.
fn token(web: &mut Web<'_>) -> Option<StoredToken> {
    let mut token = super::stored::any_token(web)?;
    let number = web.input.byte() % 4;
    if number > 0 {
        token.access_token = web.secret(&format!("access{number}"));
        token.generation = number.into();
        token.expires_at = Some(web.now + Duration::from_secs(u64::from(number - 1) * 600));
    }
    if number == 3 {
        token.refresh_token = None;
    }
    Some(token)
}
