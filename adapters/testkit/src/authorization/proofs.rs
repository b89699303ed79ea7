//! [`Proofs`]: checks DPoP proofs (RFC 9449), and issues nonces.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use httpdate::fmt_http_date;

use super::jwt::{Jwt, sha256, text, thumbprint};
use super::url::without_query;
use crate::http::{HttpAnswer, HttpRequest};

/// Maximum difference between the time of a DPoP proof and the time of the server, in seconds. 300 s, because clocks rarely
/// differ by more than some minutes.
const TOLERANCE: u64 = 300;

/// The state of the DPoP checks of a server: the proofs so far, the current nonce and the clock.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    /// The identifiers (`jti`) of all proofs so far. Each proof is accepted once.
    seen: BTreeSet<String>,
    /// The number from which the current nonce is made. `None` if proofs need no nonce.
    nonce: Option<u64>,
    /// Seconds by which the server's clock is ahead of the clients' clock. Negative: behind.
    pub(super) clock: i64,
    /// The server's time at the last check, in seconds since the Unix epoch. `None` if the server's clock is the same as the
    /// clients' clock.
    date: Option<u64>,
}

/// The reason why a DPoP proof is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProofError {
    /// The proof is invalid. The server responds with the error `invalid_dpop_proof` and this description.
    Invalid(&'static str),
    /// The proof does not have the current nonce. The server responds with the error `use_dpop_nonce`.
    NonceWanted,
}

impl Proofs {
    /// Requires a new nonce in all proofs from now on.
    pub(super) fn renew_nonce(&mut self) {
        self.nonce = Some(self.nonce.unwrap_or_default() + 1);
    }

    /// Returns the current nonce for the server at this origin, or `None` if proofs need no nonce.
    fn nonce(&self, origin: &str) -> Option<String> {
        self.nonce.map(|number| format!("nonce-{number}-{}", &sha256(origin)[..6]))
    }

    /// Adds the header `DPoP-Nonce` to a response if proofs need a nonce. If the server's clock differs from the clients' clock,
    /// also adds `Date`.
    pub(super) fn add_nonce(&self, origin: &str, answer: HttpAnswer) -> HttpAnswer {
        let answer = match self.date {
            Some(date) => answer.header("Date", fmt_http_date(UNIX_EPOCH + Duration::from_secs(date))),
            None => answer,
        };
        match self.nonce(origin) {
            Some(nonce) => answer.header("DPoP-Nonce", nonce),
            None => answer,
        }
    }

    /// Checks the DPoP proof of a request. Returns the thumbprint of the proof's key, or `None` for a request without a proof.
    pub(super) fn check(
        &mut self,
        request: &HttpRequest,
        origin: &str,
        token: Option<&str>,
        now: Duration,
    ) -> Result<Option<String>, ProofError> {
        let mut proofs = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("DPoP"));
        let Some((_, proof)) = proofs.next() else { return Ok(None) };
        if proofs.next().is_some() {
            return Err(ProofError::Invalid("there are two headers DPoP"));
        }
        let now = now.as_secs().saturating_add_signed(self.clock);
        self.date = (self.clock != 0).then_some(now);
        let jwt = Jwt::parse(proof).ok_or(ProofError::Invalid("the proof is no JWT"))?;
        let key = jwt.header.get("jwk").ok_or(ProofError::Invalid("the proof has no key"))?;
        let checks = [
            (text(&jwt.header, "typ") == "dpop+jwt", "`typ` is not dpop+jwt"),
            (key.get("d").is_none(), "the key is private"),
            (jwt.is_signed_by(key), "the signature is wrong"),
            (jwt.claim("htm") == request.verb.as_str(), "`htm` is not the method"),
            (jwt.claim("htu") == without_query(&request.url), "`htu` is not the URL"),
            (jwt.time("iat").is_some_and(|at| at.abs_diff(now) <= TOLERANCE), "`iat` is not now"),
            (token.is_none_or(|token| jwt.claim("ath") == sha256(token)), "`ath` is not the hash of the token"),
            (!jwt.claim("jti").is_empty(), "there is no `jti`"),
        ];
        if let Some((_, reason)) = checks.iter().find(|(holds, _)| !holds) {
            return Err(ProofError::Invalid(reason));
        }
        if !self.seen.insert(jwt.claim("jti").to_owned()) {
            return Err(ProofError::Invalid("the proof was used before"));
        }
        if self.nonce(origin).is_some_and(|nonce| jwt.claim("nonce") != nonce) {
            return Err(ProofError::NonceWanted);
        }
        Ok(Some(thumbprint(key)))
    }
}
