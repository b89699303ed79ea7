//! Decides what to do after a response with status 401 or 403 (basic/authorization, "Error Handling").

use alloc::string::ToString;

use super::{Access, Current, Renewal, TokenId, login_required};
use crate::token_response::ProofRefusal;
use crate::{BearerChallenge, Error, Scopes, StepUpLimit, UnixTime};

/// Maximum number of times that one request is repeated, because of a new nonce, a renewed token or a login. The next
/// refusal is final.
const MAX_REPEATS: u32 = 3;

/// A response with which the server refuses a request. [`Access::refused`] decides from it what to do.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// The HTTP status code, 401 or 403.
    pub status: u16,
    /// The challenge of the `WWW-Authenticate` headers, or `None` if the response has no such challenge.
    pub challenge: Option<&'a BearerChallenge>,
    /// The identifier of the token that the request contained, or `None` if the request contained no token.
    pub sent: Option<TokenId>,
    /// Number of times that this request was already repeated. 0 for the first response.
    pub repeats: u32,
    /// Whether the next DPoP proof will have another nonce or time because of this response. Pass `true` if
    /// [`Access::take_nonce`] or [`Access::take_date`] returned `true`.
    pub has_new_nonce: bool,
    /// The operation that the request asked for, such as `tools/call search`. The number of logins is limited for each
    /// operation.
    pub operation: &'a str,
}

impl Refusal<'_> {
    /// Returns the scopes that the challenge asks for, or `None` if it names no scopes.
    fn scopes(&self) -> Option<&Scopes> {
        self.challenge?.scopes.as_ref()
    }
}

/// What the caller does after the server has refused a request, as [`Access::refused`] decides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Repeat the request with the current result of [`Access::authorize`].
    Repeat,
    /// Wait until the renewal of the token has ended, then repeat the request.
    Renew {
        /// Whether the caller must start the renewal. If not, another caller has already started it.
        start_renewal: bool,
    },
    /// The token lacks scopes. Let the user log in and ask for `scopes`; a renewal of the token does not help.
    StepUp {
        /// The scopes that earlier requests asked for, and the scopes of the challenge.
        scopes: Scopes,
    },
    /// The user must log in before the request is repeated. Contains the error to show.
    LoginRequired(Error),
    /// The token could not be renewed, for example because the network failed. Contains the error of the renewal.
    Failed(Error),
    /// The refusal is permanent. Return the server's response to the caller.
    GiveUp,
}

impl Access {
    /// Decides how to react to a response with status 401 or 403, and updates the state of the token.
    pub fn refused(&mut self, refusal: &Refusal<'_>, now: UnixTime) -> Decision {
        let error = refusal.challenge.and_then(|challenge| challenge.error.as_deref());
        let is_about_proof = ProofRefusal::from_code(error).is_some();
        match refusal.status {
            _ if refusal.repeats >= MAX_REPEATS => Decision::GiveUp,
            401 | 403 if is_about_proof && refusal.has_new_nonce => Decision::Repeat,
            // Each request has a new proof. If the nonce and time stay the same, the server would refuse the next
            // proof, too.
            401 | 403 if is_about_proof => Decision::GiveUp,
            401 => self.unauthorized(refusal, error, now),
            403 if error == Some("insufficient_scope") => self.insufficient_scope(refusal),
            _ => Decision::GiveUp,
        }
    }

    fn unauthorized(&mut self, refusal: &Refusal<'_>, error: Option<&str>, now: UnixTime) -> Decision {
        let Some(current) = &mut self.current else { return self.renew(refusal, now) };
        if refusal.sent != Some(current.id) {
            // The token was renewed after the request was sent, so the refusal only concerns the old token.
            return Decision::Repeat;
        }
        // Some servers ask for more scopes with status 401. A login for the scopes that were already requested would
        // not add any.
        let has_more_scopes = refusal.scopes().is_some_and(|scopes| !current.scopes_requested().is_superset(scopes));
        let was_renewed = current.after_refusal && refusal.repeats > 0;
        let is_valid = !current.token.is_expired(now) && error != Some("invalid_token");
        if has_more_scopes && !current.token.scopes().is_empty() && (is_valid || was_renewed) {
            return self.step_up(refusal);
        }
        current.is_refused = true;
        if was_renewed {
            // The server also refuses a new token, so a further renewal cannot help.
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

    /// Returns `decision`, which is a login, if a login for the operation is already pending, or if [`StepUpLimit`]
    /// allows a further one. Gives up otherwise.
    fn if_login_helps(&mut self, operation: &str, decision: Decision) -> Decision {
        if !self.waiting_for_login.iter().any(|waiting| waiting == operation) {
            if !self.limit.try_request(&self.server_url, operation) {
                return Decision::GiveUp;
            }
            if self.waiting_for_login.len() < StepUpLimit::MAX_OPERATIONS {
                self.waiting_for_login.push(operation.to_string());
            }
        }
        decision
    }
}

impl Current {
    /// Returns the scopes that were requested for the token, together with the scopes that were granted.
    fn scopes_requested(&self) -> Scopes {
        self.token.scopes_requested.union(self.token.scopes())
    }
}
