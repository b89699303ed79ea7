//! DPoP proofs (RFC 9449): checks and nonces. The JSON Web Tokens that clients sign: proofs and client assertions.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use httpdate::fmt_http_date;
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;

use super::pages::Refused;
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
    ) -> Result<Option<String>, Refused> {
        let mut proofs = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("DPoP"));
        let Some((_, proof)) = proofs.next() else { return Ok(None) };
        if proofs.next().is_some() {
            return Err(("invalid_dpop_proof", "there are two headers DPoP"));
        }
        let now = now.as_secs().saturating_add_signed(self.clock);
        self.date = (self.clock != 0).then_some(now);
        let jwt = Jwt::parse(proof).ok_or(("invalid_dpop_proof", "the proof is no JWT"))?;
        let key = jwt.header.get("jwk").ok_or(("invalid_dpop_proof", "the proof has no key"))?;
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
            return Err(("invalid_dpop_proof", reason));
        }
        if !self.seen.insert(jwt.claim("jti").to_owned()) {
            return Err(("invalid_dpop_proof", "the proof was used before"));
        }
        if self.nonce(origin).is_some_and(|nonce| jwt.claim("nonce") != nonce) {
            return Err(("use_dpop_nonce", "the proof needs the nonce of this server"));
        }
        Ok(Some(thumbprint(key)))
    }
}

// JSON Web Tokens that clients sign.

/// A parsed JSON Web Token. Parsing does not verify the signature.
pub(super) struct Jwt<'a> {
    pub(super) header: Value,
    pub(super) claims: Value,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Jwt<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let object = |part: &str| serde_json::from_slice::<Value>(&decode(part)?).ok().filter(Value::is_object);
        Some(Jwt { header: object(header)?, claims: object(claims)?, signed, signature: decode(signature)? })
    }

    /// Returns the value of a string claim, or an empty text if the token does not have it.
    pub(super) fn claim(&self, name: &str) -> &str {
        text(&self.claims, name)
    }

    /// Returns the value of a time claim, in seconds since the Unix epoch, or `None` if the token does not have it.
    pub(super) fn time(&self, name: &str) -> Option<u64> {
        self.claims.get(name).and_then(Value::as_u64)
    }

    /// Returns whether this public key, a JSON Web Key, verifies the signature. Only asymmetric algorithms are accepted.
    pub(super) fn is_signed_by(&self, key: &Value) -> bool {
        let part = |name: &str| decode(text(key, name)).unwrap_or_default();
        let signed = self.signed.as_bytes();
        match text(&self.header, "alg") {
            "ES256" => {
                let point = [&[4][..], &part("x"), &part("y")].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, &self.signature).is_ok()
            }
            "EdDSA" | "Ed25519" => UnparsedPublicKey::new(&ED25519, part("x")).verify(signed, &self.signature).is_ok(),
            "RS256" => {
                let key = RsaPublicKeyComponents { n: part("n"), e: part("e") };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, &self.signature).is_ok()
            }
            _ => false,
        }
    }
}

/// Returns the value of a string member of a JSON object, or an empty text if there is none.
pub(super) fn text<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the thumbprint of a public key, which is a JSON Web Key (RFC 7638).
pub(super) fn thumbprint(key: &Value) -> String {
    let members = match text(key, "kty") {
        "EC" => &["crv", "kty", "x", "y"][..],
        "OKP" => &["crv", "kty", "x"],
        _ => &["e", "kty", "n"],
    };
    let members: Vec<_> = members.iter().map(|name| format!(r#""{name}":"{}""#, text(key, name))).collect();
    sha256(&format!("{{{}}}", members.join(",")))
}

/// Returns the SHA-256 hash of a text, encoded in base64url.
pub(super) fn sha256(text: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

fn decode(part: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(part).ok()
}
