//! [`Access`]: the access token for one server, shared by all connections to that server.

mod refusals;
mod step_up;
#[cfg(test)]
mod tests;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use crate::token_response::{ProofRefusal, can_be_sent};
use crate::url::covers;
use crate::{BearerChallenge, Dpop, Entropy, Error, ErrorKind, Proof, Secret, Step, StoredToken, TokenType, UnixTime};

pub use refusals::{Decision, Refusal};
pub use step_up::StepUpLimit;

/// Delay between a failed renewal and the next one. A `Retry-After` header of the server overrides it.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Identifies one access token within an [`Access`]. Each new token gets a new identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenId(u64);

impl TokenId {
    /// Creates an identifier from the number that [`get`](Self::get) returned.
    pub const fn from_number(number: u64) -> Self {
        TokenId(number)
    }

    /// Returns the identifier as a number, for programs that can attach only a number to a request.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Identifies one renewal of the token within an [`Access`]. Each renewal gets a new identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RenewalId(u64);

/// The state that all connections to one server share: the access token, and the progress of its renewal.
///
/// Call [`authorize`](Self::authorize) before each request, and [`refused`](Self::refused) after a response with status
/// 401 or 403. Both return at once. If the result says `start_renewal`, the program runs the renewal in a separate
/// task, for example as a [`Refresh`](crate::Refresh). It then passes the result and the identifier of the renewal
/// ([`running_renewal`](Self::running_renewal)) to [`renewed`](Self::renewed). Until then, no other caller is told to
/// start a renewal.
///
/// Before the program asks a user to log in, it loads the stored token, because another process may have stored a newer
/// one. Pass that token to [`replace`](Self::replace).
#[derive(Debug)]
pub struct Access {
    server_url: String,
    /// Whether a grant without a user, such as client credentials, can replace a token that has no refresh token.
    renews_by_grant: bool,
    dpop: Option<Dpop>,
    current: Option<Current>,
    /// Number of times that the authorization context has changed. See [`Access::context`].
    context: u64,
    last_id: u64,
    last_renewal: u64,
    renewal: Renewal,
    limit: StepUpLimit,
    /// The operations that need a login since the token was last replaced. Repeated refusals of these count as one
    /// login.
    waiting_for_login: Vec<String>,
}

#[derive(Debug)]
struct Current {
    id: TokenId,
    token: StoredToken,
    /// The value of the `Authorization` header.
    header: Secret,
    /// Whether the server refused the previous token, so that the token was renewed before it expired.
    after_refusal: bool,
    /// Whether the server has refused this token. It is then not sent again.
    is_refused: bool,
}

#[derive(Debug)]
enum Renewal {
    Idle,
    Running(RenewalId),
    /// The last renewal failed. The next one may start at `retry_at`, or only after the token was replaced if
    /// `retry_at` is `None`.
    Failed {
        error: Error,
        retry_at: Option<UnixTime>,
    },
}

/// How to authorize a request, as [`Access::authorize`] decides.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Authorization<'a> {
    /// Send the request without a token, because there is no token yet.
    Anonymous,
    /// Send the request with this access token.
    Send {
        /// The access token to send, with the value of its header.
        credential: Credential<'a>,
        /// Whether the caller must start a renewal of the token. Do not delay the request until the renewal ends.
        start_renewal: bool,
    },
    /// The token has expired. Wait until its renewal has ended, then call [`Access::authorize`] again.
    Wait {
        /// Whether the caller must start the renewal of the token.
        start_renewal: bool,
    },
    /// The token has expired and could not be renewed. Contains the error of the renewal.
    Failed(Error),
}

/// The access token to send with a request, and what the request must contain.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credential<'a> {
    /// The identifier of the token. Pass it to [`Access::refused`] if the server refuses the request.
    pub id: TokenId,
    /// The value of the `Authorization` header.
    pub header: &'a Secret,
    /// Whether the request needs a DPoP proof. Create the proof with [`Access::begin_proof`].
    pub needs_proof: bool,
}

impl Access {
    /// Creates the state for the server at `server_url`, without a token.
    pub fn new(server_url: impl Into<String>) -> Self {
        Access {
            server_url: server_url.into(),
            renews_by_grant: false,
            dpop: None,
            current: None,
            context: 0,
            last_id: 0,
            last_renewal: 0,
            renewal: Renewal::Idle,
            limit: StepUpLimit::new(),
            waiting_for_login: Vec::new(),
        }
    }

    /// Sets whether the program can get a new token at any time without a user, for example by client credentials.
    /// Default: `false`.
    pub const fn renews_by_grant(mut self, renews: bool) -> Self {
        self.renews_by_grant = renews;
        self
    }

    /// Sets the DPoP key. [`replace`](Self::replace) and [`renewed`](Self::renewed) then accept only tokens that are
    /// bound to this key.
    pub fn requires_dpop(mut self, dpop: Dpop) -> Self {
        self.dpop = Some(dpop);
        self
    }

    /// Replaces the DPoP key to which tokens must be bound, together with its nonces. `None` requires no key.
    pub fn set_dpop(&mut self, dpop: Option<Dpop>) {
        self.dpop = dpop;
    }

    /// Returns the DPoP key and the nonces of the servers, for example for a renewal. `None` if tokens need not be
    /// bound.
    pub fn dpop(&self) -> Option<&Dpop> {
        self.dpop.as_ref()
    }

    /// Returns the current token, for example to refresh it. `None` if there is no token.
    pub fn token(&self) -> Option<&StoredToken> {
        self.current.as_ref().map(|current| &current.token)
    }

    /// Returns the number of times that the authorization context has changed. A login, a logout, other scopes and a
    /// token of another login change it; the refresh of a token does not.
    ///
    /// Do not use a cached private response of one context in another (server/utilities/caching, "Cache Scope Field").
    pub const fn context(&self) -> u64 {
        self.context
    }

    /// Replaces the current token with a stored one or with the result of a login. Resets the failure of earlier
    /// renewals.
    ///
    /// Fails if the token cannot be sent to the server, for example because it is bound to another key.
    pub fn replace(&mut self, token: StoredToken) -> Result<(), Error> {
        self.check(&token)?;
        self.renewal = Renewal::Idle;
        self.waiting_for_login.clear();
        self.set(token, false);
        Ok(())
    }

    /// Discards the current token, for example because the user logs out.
    pub fn forget(&mut self) {
        self.context += u64::from(self.current.take().is_some());
        self.renewal = Renewal::Idle;
    }

    fn check(&self, token: &StoredToken) -> Result<(), Error> {
        let key = self.dpop.as_ref().map(|dpop| dpop.key().thumbprint());
        let reason = match (&token.token_type, key) {
            _ if !covers(&token.resource, &self.server_url) => "the token is for another server",
            _ if !can_be_sent(token.access_token.expose()) => {
                "the token contains characters that a header must not contain"
            }
            (TokenType::Bearer, None) => return Ok(()),
            (TokenType::Dpop, Some(key)) if token.dpop_key.as_ref() == Some(&key) => return Ok(()),
            (TokenType::Bearer, Some(_)) => "the token is not bound to the key, although the client uses DPoP",
            (TokenType::Dpop, _) => "the token is bound to another key",
            (TokenType::Other(_), _) => "the token is of a type that cannot be sent to a server",
        };
        Err(Error::new(ErrorKind::LoginRequired, Step::Token, reason).with_advice("log in again"))
    }

    fn set(&mut self, token: StoredToken, after_refusal: bool) {
        let is_same = self.current.as_ref().is_some_and(|current| token.has_access_of(&current.token));
        self.context += u64::from(!is_same);
        // If the token is the same as before, it stays refused.
        if let Some(current) = &mut self.current
            && current.token.access_token == token.access_token
        {
            current.token = token;
            return;
        }
        self.last_id += 1;
        let scheme = if token.token_type == TokenType::Dpop { "DPoP " } else { "Bearer " };
        self.current = Some(Current {
            id: TokenId(self.last_id),
            header: Secret::new(scheme.to_string() + token.access_token.expose()),
            token,
            after_refusal,
            is_refused: false,
        });
    }

    /// Decides how to authorize a request: with the current token, without one, or after a renewal.
    ///
    /// A token that expires soon is still sent while its renewal runs, so that no request has to wait.
    pub fn authorize(&mut self, now: UnixTime) -> Authorization<'_> {
        let Some(current) = &self.current else {
            return match &self.renewal {
                Renewal::Failed { error, retry_at } if retry_at.is_none_or(|at| at > now) => {
                    Authorization::Failed(error.clone())
                }
                Renewal::Running(_) => Authorization::Wait { start_renewal: false },
                // Many servers need no token. A server that needs one answers with status 401.
                Renewal::Failed { .. } | Renewal::Idle => Authorization::Anonymous,
            };
        };
        let (is_usable, is_due) = (current.is_usable(now), current.is_due(now));
        // A token that cannot be renewed is sent until the server refuses it, because the local clock may be wrong.
        let start_renewal = is_due && self.try_start_renewal(now);
        match (&self.current, &self.renewal) {
            (Some(current), renewal) if is_usable || (!current.is_refused && matches!(renewal, Renewal::Idle)) => {
                let needs_proof = current.token.token_type == TokenType::Dpop;
                let credential = Credential { id: current.id, header: &current.header, needs_proof };
                Authorization::Send { credential, start_renewal }
            }
            (_, Renewal::Running(_)) => Authorization::Wait { start_renewal },
            (_, Renewal::Failed { error, .. }) => Authorization::Failed(error.clone()),
            (_, Renewal::Idle) => Authorization::Failed(login_required()),
        }
    }

    /// Returns whether a request can be sent with the current token, and the token need not be renewed yet.
    pub fn is_ready(&self, now: UnixTime) -> bool {
        self.current.as_ref().is_some_and(|current| !current.is_due(now))
    }

    /// Starts a renewal if the token can be renewed and no renewal runs. Returns whether the caller must perform the
    /// renewal.
    fn try_start_renewal(&mut self, now: UnixTime) -> bool {
        let starts = self.can_renew()
            && match &self.renewal {
                Renewal::Idle => true,
                Renewal::Running(_) => false,
                Renewal::Failed { retry_at, .. } => retry_at.is_some_and(|at| at <= now),
            };
        if starts {
            self.last_renewal += 1;
            self.renewal = Renewal::Running(RenewalId(self.last_renewal));
        }
        starts
    }

    fn can_renew(&self) -> bool {
        self.renews_by_grant || self.token().is_some_and(|token| token.refresh_token.is_some())
    }

    /// Returns the identifier of the running renewal, or `None` if no renewal runs.
    pub const fn running_renewal(&self) -> Option<RenewalId> {
        match self.renewal {
            Renewal::Running(id) => Some(id),
            _ => None,
        }
    }

    /// Ends a renewal with its result. Requests that waited for it call [`authorize`](Self::authorize) again.
    ///
    /// Returns whether the result was used. The result is ignored if the token was replaced or discarded since the
    /// renewal started, even if another renewal runs now.
    pub fn renewed(&mut self, renewal: RenewalId, result: Result<StoredToken, Error>, now: UnixTime) -> bool {
        if self.running_renewal() != Some(renewal) {
            return false;
        }
        let after_refusal = self.current.as_ref().is_some_and(|current| current.is_refused);
        match result.and_then(|token| self.check(&token).map(|()| token)) {
            Ok(token) => {
                self.set(token, after_refusal);
                // The renewal returned the refused token. Another renewal would do so again, without end.
                self.renewal = if self.current.as_ref().is_some_and(|current| current.is_refused) {
                    Renewal::Failed { error: login_required(), retry_at: None }
                } else {
                    Renewal::Idle
                };
            }
            Err(error) => {
                // Only a login can help, except if the program can get a token by a grant without a user.
                let is_final = error.kind() == ErrorKind::LoginRequired && !self.renews_by_grant;
                let delay = error.retry_after().unwrap_or(RETRY_DELAY).max(Duration::from_secs(1));
                self.renewal = Renewal::Failed { retry_at: (!is_final).then_some(now + delay), error };
            }
        }
        true
    }

    /// Ends a renewal without a result, for example because its task was aborted. The next request that needs a token
    /// starts another renewal.
    pub fn renewal_aborted(&mut self, renewal: RenewalId) {
        if self.running_renewal() == Some(renewal) {
            self.renewal = Renewal::Idle;
        }
    }

    /// Records that a repeated request succeeded. This resets the number of logins that were made for its operation.
    pub fn succeeded(&mut self, operation: &str) {
        self.limit.succeeded(&self.server_url, operation);
    }

    /// Begins the DPoP proof of a request, if its [`Credential`] needs one. `None` if there is no token or no DPoP key.
    ///
    /// The proof is for the current token, so call this function directly after [`authorize`](Self::authorize).
    pub fn begin_proof(&self, method: &str, url: &str, now: UnixTime, entropy: &mut Entropy) -> Option<Proof> {
        let token = &self.token()?.access_token;
        Some(self.dpop.as_ref()?.begin_proof(method, url, Some(token), now, entropy))
    }

    /// Stores the `DPoP-Nonce` header of a response, for the proofs of later requests. Returns whether the nonce is
    /// new.
    pub fn take_nonce(&mut self, url: &str, nonce: &str) -> bool {
        self.dpop.as_mut().is_some_and(|dpop| dpop.take_nonce(url, nonce))
    }

    /// Adopts the clock of a server that refused the DPoP proof of a request. `date` is the `Date` header of the
    /// response.
    ///
    /// Returns whether the next proof will have another time, so that the request can be repeated.
    pub fn take_date(&mut self, url: &str, challenge: &BearerChallenge, date: &str, now: UnixTime) -> bool {
        let is_about_proof = ProofRefusal::from_code(challenge.error.as_deref()).is_some();
        is_about_proof && self.dpop.as_mut().is_some_and(|dpop| dpop.take_date(url, date, now))
    }
}

impl Current {
    fn is_usable(&self, now: UnixTime) -> bool {
        !self.is_refused && !self.token.is_expired(now)
    }

    /// Returns whether the token should be renewed now, because it has expired, was refused or will expire soon.
    fn is_due(&self, now: UnixTime) -> bool {
        !self.is_usable(now) || self.token.refresh_at().is_some_and(|at| at <= now)
    }
}

fn login_required() -> Error {
    Error::new(ErrorKind::LoginRequired, Step::Authorization, "the server wants a login").with_advice("log in first")
}
