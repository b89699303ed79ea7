//! DPoP (RFC 9449): proofs that the client has the private key to which an access token is bound.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_text::url::{same_origin, without_query};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::encoding::base64url;
use crate::jose;
use crate::{Entropy, PublicKey, Secret, UnixTime};

/// Maximum number of origins whose nonce and clock are remembered. A client usually needs two: the MCP server and its
/// authorization server.
const MAX_ORIGINS: usize = 8;

/// Maximum clock difference, in seconds, that counts as equal time. The response itself takes some time to arrive.
const SAME_TIME: u64 = 5;

/// Maximum difference between the clocks of this machine and of an origin, in seconds. A time that differs by more than
/// a day is ignored, because certificates would be invalid at such a difference.
const MAX_DIFFERENCE: u64 = 24 * 60 * 60;

/// Maximum length of a nonce in bytes. Longer nonces are ignored, because each proof contains the nonce.
const MAX_NONCE: usize = 1024;

/// The state of a client that uses DPoP: its public key, and the nonce and clock of each server for which it creates
/// proofs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dpop {
    key: PublicKey,
    /// One entry for each origin. The most recently changed entry is last.
    origins: Vec<Origin>,
}

/// The nonce and clock with which proofs for one origin are created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Origin {
    /// A URL of the origin, without its query. The scheme, host and port identify the origin.
    url: String,
    nonce: Option<String>,
    /// Seconds by which the clock of the origin is ahead of the local clock. Negative if it is behind.
    clock: i64,
}

impl Dpop {
    /// Creates the state for a public key. The private key stays with the program.
    pub const fn new(key: PublicKey) -> Self {
        Dpop { key, origins: Vec::new() }
    }

    /// Returns the public key to which tokens are bound.
    pub const fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Begins the proof for one request, which the program then signs. Every request needs a new proof, even a repeated
    /// one.
    ///
    /// `token` is the access token that the request contains. It is `None` for a request to the token endpoint.
    pub fn begin_proof(
        &self,
        method: &str,
        url: &str,
        token: Option<&Secret>,
        now: UnixTime,
        entropy: &mut Entropy,
    ) -> Proof {
        let key = &self.key;
        let header = json!({"typ": "dpop+jwt", "alg": key.algorithm().name(), "jwk": key.to_jwk()});
        let iat = now.as_secs().saturating_add_signed(self.origin(url).map_or(0, |origin| origin.clock));
        let mut claims = json!({"jti": entropy.next_text(), "htm": method, "htu": without_query(url), "iat": iat});
        if let Some(token) = token {
            claims["ath"] = base64url(Sha256::digest(token.expose())).into();
        }
        if let Some(nonce) = self.nonce(url) {
            claims["nonce"] = nonce.into();
        }
        Proof { signing_input: jose::signing_input(&header, &claims) }
    }

    /// Stores the nonce of a response, for later proofs. `url` is the URL of the request, and `header` is the value of
    /// the `DPoP-Nonce` header.
    ///
    /// Returns whether the nonce is new. If so, a request that was refused because of its nonce can be repeated.
    pub fn take_nonce(&mut self, url: &str, header: &str) -> bool {
        let is_nonce = (1..=MAX_NONCE).contains(&header.len()) && header.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_nonce || self.nonce(url) == Some(header) {
            return false;
        }
        self.origin_mut(url).nonce = Some(header.to_owned());
        true
    }

    /// Adopts the clock of an origin that refused a proof, if that clock differs from the known one. `header` is the
    /// value of the `Date` header. Later proofs for the origin contain its time, because servers refuse proofs with
    /// another time (RFC 9449, section 11.1).
    ///
    /// Returns whether the next proof will have another time. If so, the request can be repeated.
    pub fn take_date(&mut self, url: &str, header: &str, now: UnixTime) -> bool {
        let Some(date) = UnixTime::from_http_date(header) else { return false };
        let clock = date.as_secs().wrapping_sub(now.as_secs()).cast_signed();
        let known = self.origin(url).map_or(0, |origin| origin.clock);
        if clock.unsigned_abs() > MAX_DIFFERENCE || clock.abs_diff(known) <= SAME_TIME {
            return false;
        }
        self.origin_mut(url).clock = clock;
        true
    }

    fn nonce(&self, url: &str) -> Option<&str> {
        self.origin(url)?.nonce.as_deref()
    }

    fn origin(&self, url: &str) -> Option<&Origin> {
        self.origins.iter().find(|origin| same_origin(&origin.url, url))
    }

    /// Returns the entry of an origin, and creates it if needed. If there are too many entries, the least recently
    /// changed one is removed.
    fn origin_mut(&mut self, url: &str) -> &mut Origin {
        let known = self.origins.iter().position(|origin| same_origin(&origin.url, url));
        let new = || Origin { url: without_query(url).to_owned(), ..Origin::default() };
        let origin = known.map_or_else(new, |known| self.origins.remove(known));
        if self.origins.len() == MAX_ORIGINS {
            self.origins.remove(0);
        }
        self.origins.push(origin);
        let last = self.origins.len() - 1;
        &mut self.origins[last]
    }
}

/// A DPoP proof that the program must sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    signing_input: String,
}

impl Proof {
    /// Returns the bytes to sign with the private key. Pass the signature to [`finish`](Self::finish).
    pub fn signing_input(&self) -> &[u8] {
        self.signing_input.as_bytes()
    }

    /// Returns the value of the `DPoP` header. `signature` is encoded as in JSON Web Signature: for ES256, the 64 bytes
    /// of `r` and `s`.
    pub fn finish(self, signature: &[u8]) -> String {
        jose::with_signature(&self.signing_input, signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::tests::read;
    use alloc::format;
    use serde_json::Value;

    const KEY: PublicKey = PublicKey::P256 { x: [1; 32], y: [2; 32] };
    const MCP: &str = "https://mcp.example.com/mcp";
    const NOW: UnixTime = UnixTime::from_secs(1_699_564_218);

    fn entropy() -> Entropy {
        Entropy::new([7; 32])
    }

    fn claims(dpop: &Dpop, url: &str) -> Value {
        read(&dpop.begin_proof("POST", url, None, NOW, &mut entropy()).finish(&[0; 64])).1
    }

    #[test]
    fn dp2_a_proof_names_key_method_url_time_and_token() {
        let token = Secret::new("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU");
        let proof = Dpop::new(KEY).begin_proof("POST", &format!("{MCP}?key=1#top"), Some(&token), NOW, &mut entropy());
        let signed = format!("{}.", core::str::from_utf8(proof.signing_input()).unwrap());
        let value = proof.finish(&[9; 64]);
        assert!(value.starts_with(&signed));
        let (header, claims, signature) = read(&value);
        assert_eq!(
            header,
            json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": {"kty": "EC", "crv": "P-256",
                "x": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE", "y": "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"}})
        );
        assert_eq!(signature, [9; 64]);
        let jti = claims["jti"].as_str().unwrap();
        assert_eq!(
            claims,
            json!({"jti": jti, "htm": "POST", "htu": MCP, "iat": 1_699_564_218,
                "ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"}),
            "the hash is that of RFC 9449, section 7.1"
        );
    }

    #[test]
    fn dp2_each_proof_has_another_identifier() {
        let (dpop, mut entropy) = (Dpop::new(KEY), entropy());
        let mut next = || read(&dpop.begin_proof("POST", MCP, None, NOW, &mut entropy).finish(&[])).1["jti"].clone();
        let (one, other) = (next(), next());
        assert_ne!(one, other);
        assert!(claims(&dpop, MCP).get("ath").is_none(), "there is no token");
    }

    #[test]
    fn dp4_nonces_are_kept_for_each_origin_and_replaced_by_newer_ones() {
        let mut dpop = Dpop::new(KEY);
        assert_eq!(claims(&dpop, MCP).get("nonce"), None);
        assert!(dpop.take_nonce("https://mcp.example.com/other?x", "one"));
        assert!(dpop.take_nonce("https://auth.example.com/token", "as"));
        assert_eq!(claims(&dpop, "HTTPS://MCP.example.com:443/mcp")["nonce"], "one");
        assert_eq!(claims(&dpop, "https://auth.example.com/x")["nonce"], "as");
        assert_eq!(claims(&dpop, "https://mcp.example.com:8443/mcp").get("nonce"), None);
        assert!(!dpop.take_nonce(MCP, "one"), "known already");
        assert!(dpop.take_nonce(MCP, "two"));
        assert_eq!(claims(&dpop, MCP)["nonce"], "two");
    }

    #[test]
    fn dp4_unusable_nonces_are_ignored_and_their_number_is_limited() {
        let mut dpop = Dpop::new(KEY);
        for bad in ["", "a b", "a\r\nb", "ä", &"x".repeat(MAX_NONCE + 1)] {
            assert!(!dpop.take_nonce(MCP, bad), "{bad}");
        }
        for port in 0..MAX_ORIGINS + 5 {
            assert!(dpop.take_nonce(&format!("https://h:{}/", port + 1), "n"));
        }
        assert_eq!(dpop.origins.len(), MAX_ORIGINS);
        assert_eq!(claims(&dpop, "https://h:1/").get("nonce"), None, "the oldest went");
        assert_eq!(claims(&dpop, "https://h:13/")["nonce"], "n");
        assert_eq!(dpop.key(), &KEY);
    }

    #[test]
    fn a_proof_follows_the_clock_of_an_origin_that_has_refused_one() {
        const DATE: &str = "Thu, 09 Nov 2023 21:05:18 GMT";
        let date = UnixTime::from_http_date(DATE).unwrap();
        assert_eq!(NOW.duration_since(date).as_secs(), 300);
        let mut dpop = Dpop::new(KEY);
        assert!(dpop.take_nonce(MCP, "one") && dpop.take_date(MCP, DATE, NOW));
        assert_eq!((&claims(&dpop, MCP)["iat"], &claims(&dpop, MCP)["nonce"]), (&json!(date.as_secs()), &json!("one")));
        assert_eq!(claims(&dpop, "https://auth.example.com/token")["iat"], NOW.as_secs(), "another origin");
        assert!(!dpop.take_date(MCP, DATE, NOW), "known already");
        assert!(dpop.take_nonce(MCP, "two"));
        assert_eq!(claims(&dpop, MCP)["iat"], date.as_secs(), "a nonce changes no clock");
        // The user corrects the clock of this machine.
        assert!(dpop.take_date(MCP, DATE, date));
        assert_eq!(claims(&dpop, MCP)["iat"], NOW.as_secs());
    }

    #[test]
    fn dates_that_explain_no_refusal_change_no_proof() {
        let ahead = |seconds: u64| UnixTime::from_secs(784_111_777 - seconds);
        for (date, now, is_taken) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", ahead(5), false),
            ("Sun, 06 Nov 1994 08:49:37 GMT", ahead(6), true),
            ("Sun, 06 Nov 1994 08:49:37 GMT", ahead(86_400), true),
            ("Sun, 06 Nov 1994 08:49:37 GMT", ahead(86_401), false),
            ("soon", ahead(60), false),
            ("Fri, 31 Dec 9999 23:59:59 GMT", NOW, false),
            ("Thu, 01 Jan 1970 00:00:00 GMT", NOW, false),
        ] {
            assert_eq!(Dpop::new(KEY).take_date(MCP, date, now), is_taken, "{date} {now:?}");
        }
    }
}
