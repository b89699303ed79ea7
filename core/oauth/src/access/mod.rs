//! [`Access`]: the token that all connections to one server share.

mod decision;
#[cfg(test)]
mod tests;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use crate::token_response::{ProofRefusal, can_be_sent};
use crate::url::covers;
use crate::{
    BearerChallenge, Dpop, Entropy, Error, ErrorKind, Proof, Secret, Step, StepUpLimit, StoredToken, TokenType,
    UnixTime,
};

pub use decision::{Decision, Refusal};

/// The delay between a failed renewal and the next one, unless the server names another delay.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Names one access token within an [`Access`]. A new token has another identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenId(u64);

impl TokenId {
    /// Creates the identifier with this number, which [`get`](Self::get) has returned.
    pub const fn from_number(number: u64) -> Self {
        TokenId(number)
    }

    /// Returns the number, for programs that can keep only a number with a request.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Names one renewal within an [`Access`]. Each renewal has another identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RenewalId(u64);

/// The state that the connections to one server share: the token, and whether it is being renewed.
///
/// Ask [`authorize`](Self::authorize) before each request, and [`refused`](Self::refused) after a response with status 401
/// or 403. Both return at once. If one of them says that a renewal starts, the program runs it in a task of its own, for
/// example as a [`Refresh`](crate::Refresh), and passes the result and the identifier of the renewal
/// ([`running_renewal`](Self::running_renewal)) to [`renewed`](Self::renewed). Nobody else starts one until then.
///
/// Before the program asks a user to log in, it loads the stored token: another process may have a newer one, which
/// [`replace`](Self::replace) takes.
#[derive(Debug)]
pub struct Access {
    server_url: String,
    /// Whether a new token can be had without a refresh token, by a grant that needs no user.
    renews_by_grant: bool,
    dpop: Option<Dpop>,
    current: Option<Current>,
    /// Number of times that the authorization context has changed.
    context: u64,
    last_id: u64,
    last_renewal: u64,
    renewal: Renewal,
    limit: StepUpLimit,
    /// The operations that need a login since the token was last replaced. Each counts once until the user logs in.
    waiting_for_login: Vec<String>,
}

#[derive(Debug)]
struct Current {
    id: TokenId,
    token: StoredToken,
    /// The value of the header `Authorization`.
    header: Secret,
    /// Whether the server has refused the token before this one, so that it was renewed before its time.
    after_refusal: bool,
    /// Whether the server has refused this token.
    is_refused: bool,
}

#[derive(Debug)]
enum Renewal {
    Idle,
    Running(RenewalId),
    /// The last renewal failed. The next one is not before `retry_at`; `None`: not before there is another token.
    Failed {
        error: Error,
        retry_at: Option<UnixTime>,
    },
}

/// The authorization of a request that is to be sent.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Authorization<'a> {
    /// Send the request without a token: there is none yet.
    Anonymous,
    /// Send the request with this token.
    Send {
        /// The token to send.
        credential: Credential<'a>,
        /// Whether the caller must start a renewal. The request does not wait for it.
        start_renewal: bool,
    },
    /// The token has expired. Wait until the renewal has ended, then ask again.
    Wait {
        /// Whether the caller must start the renewal.
        start_renewal: bool,
    },
    /// The token has expired and could not be renewed.
    Failed(Error),
}

/// An access token, as a request contains it.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credential<'a> {
    /// The identifier of the token. [`Access::refused`] must know which token was sent.
    pub id: TokenId,
    /// The value of the header `Authorization`.
    pub header: &'a Secret,
    /// Whether the request needs a DPoP proof: [`Access::begin_proof`].
    pub needs_proof: bool,
}

impl Access {
    /// Creates the state for the server at this URL without a token.
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

    /// Says that the program can get a new token at any time without a user, for example by client credentials.
    pub const fn renews_by_grant(mut self, renews: bool) -> Self {
        self.renews_by_grant = renews;
        self
    }

    /// Accepts only tokens that are bound to this key.
    pub fn requires_dpop(mut self, dpop: Dpop) -> Self {
        self.dpop = Some(dpop);
        self
    }

    /// Sets the key that tokens must be bound to. Forgets the nonces of the key before.
    pub fn set_dpop(&mut self, dpop: Option<Dpop>) {
        self.dpop = dpop;
    }

    /// Returns the key and the nonces of proofs, which a renewal needs, too.
    pub fn dpop(&self) -> Option<&Dpop> {
        self.dpop.as_ref()
    }

    /// Returns the token, which a renewal starts from.
    pub fn token(&self) -> Option<&StoredToken> {
        self.current.as_ref().map(|current| &current.token)
    }

    /// Returns how many times the authorization context has changed: by a login, by a logout, or because a renewal has found the
    /// token of another login or has got other scopes. The refresh of a login does not change it.
    ///
    /// Cached private responses of one context must not be used in another (server/utilities/caching, "Cache Scope Field").
    pub const fn context(&self) -> u64 {
        self.context
    }

    /// Replaces the token by one that was stored, or that a login has got. Forgets that earlier renewals have failed.
    ///
    /// Fails if the token cannot be sent to the server, for example because it is bound to another key.
    pub fn replace(&mut self, token: StoredToken) -> Result<(), Error> {
        self.check(&token)?;
        self.renewal = Renewal::Idle;
        self.waiting_for_login.clear();
        self.set(token, false);
        Ok(())
    }

    /// Forgets the token, for example because the user logs out.
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
        // The same token that comes again stays refused.
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

    /// Decides which token a request contains.
    ///
    /// A token that expires soon is sent while its renewal starts, so that no request waits.
    pub fn authorize(&mut self, now: UnixTime) -> Authorization<'_> {
        let Some(current) = &self.current else {
            return match &self.renewal {
                Renewal::Failed { error, retry_at } if retry_at.is_none_or(|at| at > now) => {
                    Authorization::Failed(error.clone())
                }
                Renewal::Running(_) => Authorization::Wait { start_renewal: false },
                // Not every server wants a token. One that does says so.
                Renewal::Failed { .. } | Renewal::Idle => Authorization::Anonymous,
            };
        };
        let (is_usable, is_due) = (current.is_usable(now), current.is_due(now));
        // A token that nobody can renew is sent until the server refuses it: the clock here may be wrong.
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

    /// Returns whether a request can be sent with the token now, and no renewal is due.
    pub fn is_ready(&self, now: UnixTime) -> bool {
        self.current.as_ref().is_some_and(|current| !current.is_due(now))
    }

    /// Starts a renewal if the token can be renewed and nobody does it. Returns whether the caller must run it.
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

    /// Returns the identifier of the renewal that runs, or `None` if none runs.
    pub const fn running_renewal(&self) -> Option<RenewalId> {
        match self.renewal {
            Renewal::Running(id) => Some(id),
            _ => None,
        }
    }

    /// Takes the result of a renewal. Those who wait ask [`authorize`](Self::authorize) again. Returns whether the result is used.
    ///
    /// The result is dropped if the token was replaced or forgotten since that renewal started, even if another one runs now.
    pub fn renewed(&mut self, renewal: RenewalId, result: Result<StoredToken, Error>, now: UnixTime) -> bool {
        if self.running_renewal() != Some(renewal) {
            return false;
        }
        let after_refusal = self.current.as_ref().is_some_and(|current| current.is_refused);
        match result.and_then(|token| self.check(&token).map(|()| token)) {
            Ok(token) => {
                self.set(token, after_refusal);
                // A renewal that returns the refused token would be repeated for ever.
                self.renewal = if self.current.as_ref().is_some_and(|current| current.is_refused) {
                    Renewal::Failed { error: login_required(), retry_at: None }
                } else {
                    Renewal::Idle
                };
            }
            Err(error) => {
                // A login helps, and a grant that needs no user may work the next time.
                let is_final = error.kind() == ErrorKind::LoginRequired && !self.renews_by_grant;
                let delay = error.retry_after().unwrap_or(RETRY_DELAY).max(Duration::from_secs(1));
                self.renewal = Renewal::Failed { retry_at: (!is_final).then_some(now + delay), error };
            }
        }
        true
    }

    /// Says that a renewal has ended without a result, for example because its task was aborted. The next request starts
    /// another one.
    pub fn renewal_aborted(&mut self, renewal: RenewalId) {
        if self.running_renewal() == Some(renewal) {
            self.renewal = Renewal::Idle;
        }
    }

    /// Says that a request that was repeated has succeeded. This resets the count of its operation's logins.
    pub fn succeeded(&mut self, operation: &str) {
        self.limit.succeeded(&self.server_url, operation);
    }

    /// Begins the DPoP proof of a request whose [`Credential`] needs one. Call it together with
    /// [`authorize`](Self::authorize): the proof is for the token that is current.
    pub fn begin_proof(&self, method: &str, url: &str, now: UnixTime, entropy: &mut Entropy) -> Option<Proof> {
        let token = &self.token()?.access_token;
        Some(self.dpop.as_ref()?.begin_proof(method, url, Some(token), now, entropy))
    }

    /// Remembers the `DPoP-Nonce` of a response. Returns whether it is new.
    pub fn take_nonce(&mut self, url: &str, nonce: &str) -> bool {
        self.dpop.as_mut().is_some_and(|dpop| dpop.take_nonce(url, nonce))
    }

    /// Adopts the time of a server that has refused the proof of a request. `date` is the `Date` of the response. Returns whether
    /// the next proof has another time.
    pub fn take_date(&mut self, url: &str, challenge: &BearerChallenge, date: &str, now: UnixTime) -> bool {
        let is_about_proof = ProofRefusal::from_code(challenge.error.as_deref()).is_some();
        is_about_proof && self.dpop.as_mut().is_some_and(|dpop| dpop.take_date(url, date, now))
    }
}

impl Current {
    fn is_usable(&self, now: UnixTime) -> bool {
        !self.is_refused && !self.token.is_expired(now)
    }

    /// Returns whether the token should be renewed now.
    fn is_due(&self, now: UnixTime) -> bool {
        !self.is_usable(now) || self.token.refresh_at().is_some_and(|at| at <= now)
    }
}

fn login_required() -> Error {
    Error::new(ErrorKind::LoginRequired, Step::Authorization, "the server wants a login").with_advice("log in first")
}
