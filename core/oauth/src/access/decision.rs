//! Decides what to do after a response with status 401 or 403 (basic/authorization, "Error Handling").

use alloc::string::ToString;

use super::{Access, Current, Renewal, TokenId, login_required};
use crate::token_response::ProofRefusal;
use crate::{BearerChallenge, Error, Scopes, StepUpLimit, UnixTime};

/// Maximum number of times that a request is repeated: for a nonce, for a renewed token, and for a login.
const MAX_REPEATS: u32 = 3;

/// A response that refuses a request.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// The status code: 401 or 403.
    pub status: u16,
    /// The challenge of the `WWW-Authenticate` headers, or `None` without one.
    pub challenge: Option<&'a BearerChallenge>,
    /// The token that the request contained, or `None` if it contained none.
    pub sent: Option<TokenId>,
    /// Number of times that the request was repeated before.
    pub repeats: u32,
    /// Whether the response changes the next proof, by a nonce or a time: the results of [`Access::take_nonce`] and
    /// [`Access::take_date`].
    pub has_new_nonce: bool,
    /// The operation that the request asked for, such as `tools/call search`. Logins are counted for each operation.
    pub operation: &'a str,
}

impl Refusal<'_> {
    /// Returns the scopes that the server wants, or `None` if it names none.
    fn scopes(&self) -> Option<&Scopes> {
        self.challenge?.scopes.as_ref()
    }
}

/// The next step after a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Repeat the request with what [`Access::authorize`] returns now.
    Repeat,
    /// Wait until the renewal has ended, then repeat the request.
    Renew {
        /// Whether the caller must start the renewal.
        start_renewal: bool,
    },
    /// The token lacks scopes. A login that asks for these ones helps; a renewal does not.
    StepUp {
        /// The scopes that were requested before, and those of the challenge.
        scopes: Scopes,
    },
    /// The user must log in.
    LoginRequired(Error),
    /// The token could not be renewed.
    Failed(Error),
    /// The refusal is permanent. Return the response.
    GiveUp,
}

impl Access {
    /// Decides what to do with a request that was refused.
    pub fn refused(&mut self, refusal: &Refusal<'_>, now: UnixTime) -> Decision {
        let error = refusal.challenge.and_then(|challenge| challenge.error.as_deref());
        let is_about_proof = ProofRefusal::from_code(error).is_some();
        match refusal.status {
            _ if refusal.repeats >= MAX_REPEATS => Decision::GiveUp,
            401 | 403 if is_about_proof && refusal.has_new_nonce => Decision::Repeat,
            // A proof is fresh for each request, so another one for the same time would be refused, too.
            401 | 403 if is_about_proof => Decision::GiveUp,
            401 => self.unauthorized(refusal, error, now),
            403 if error == Some("insufficient_scope") => self.insufficient_scope(refusal),
            _ => Decision::GiveUp,
        }
    }

    fn unauthorized(&mut self, refusal: &Refusal<'_>, error: Option<&str>, now: UnixTime) -> Decision {
        let Some(current) = &mut self.current else { return self.renew(refusal, now) };
        if refusal.sent != Some(current.id) {
            // The token was renewed while the request was under way. That an old one was refused says nothing.
            return Decision::Repeat;
        }
        // Some servers ask for more scopes by 401. Another login gives no more than the last one if it asked for the same.
        let has_more_scopes = refusal.scopes().is_some_and(|scopes| !current.scopes_requested().is_superset(scopes));
        let was_renewed = current.after_refusal && refusal.repeats > 0;
        let is_valid = !current.token.is_expired(now) && error != Some("invalid_token");
        if has_more_scopes && !current.token.scopes().is_empty() && (is_valid || was_renewed) {
            return self.step_up(refusal);
        }
        current.is_refused = true;
        if was_renewed {
            // The server does not accept what its authorization server issues.
            self.renewal = Renewal::Failed { error: login_required(), retry_at: None };
            return self.login(refusal);
        }
        self.renew(refusal, now)
    }

    fn renew(&mut self, refusal: &Refusal<'_>, now: UnixTime) -> Decision {
        let start_renewal = self.try_start_renewal(now);
        match &self.renewal {
            Renewal::Running(_) => Decision::Renew { start_renewal },
            Renewal::Failed { error, retry_at: Some(_) } => Decision::Failed(error.clone()),
            Renewal::Failed { .. } | Renewal::Idle => self.login(refusal),
        }
    }

    fn insufficient_scope(&mut self, refusal: &Refusal<'_>) -> Decision {
        let Some(current) = &self.current else { return self.login(refusal) };
        let has_them = refusal.scopes().is_none_or(|scopes| current.token.scopes().is_superset(scopes));
        if refusal.sent != Some(current.id) && has_them { Decision::Repeat } else { self.step_up(refusal) }
    }

    fn step_up(&mut self, refusal: &Refusal<'_>) -> Decision {
        let requested = self.current.as_ref().map(Current::scopes_requested).unwrap_or_default();
        let scopes = requested.iter().chain(refusal.scopes().into_iter().flat_map(Scopes::iter)).collect();
        self.if_login_helps(refusal.operation, Decision::StepUp { scopes })
    }

    fn login(&mut self, refusal: &Refusal<'_>) -> Decision {
        self.if_login_helps(refusal.operation, Decision::LoginRequired(login_required()))
    }

    fn if_login_helps(&mut self, operation: &str, decision: Decision) -> Decision {
        if self.may_log_in(operation) { decision } else { Decision::GiveUp }
    }

    /// Returns whether a login for the operation may help. A program without a user may ask again and again: only logins count.
    fn may_log_in(&mut self, operation: &str) -> bool {
        if self.waiting_for_login.iter().any(|waiting| waiting == operation) {
            return true;
        }
        let is_allowed = self.limit.try_request(&self.server_url, operation);
        if is_allowed && self.waiting_for_login.len() < StepUpLimit::MAX_OPERATIONS {
            self.waiting_for_login.push(operation.to_string());
        }
        is_allowed
    }
}

impl Current {
    /// Returns the scopes that the login has asked for, and those that it got.
    fn scopes_requested(&self) -> Scopes {
        self.token.scopes_requested.union(self.token.scopes())
    }
}
