//! JSON Web Tokens that clients sign: DPoP proofs and client assertions.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;

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
