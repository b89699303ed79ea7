//! JSON Web Tokens (RFC 7519) in the compact form of JSON Web Signature. The signature comes from the program.

use alloc::format;
use alloc::string::String;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Serialize;

/// Returns what the signature of a token covers: header and claims.
pub(crate) fn signing_input(header: &impl Serialize, claims: &impl Serialize) -> String {
    // Headers and claims consist of text and numbers: they can always be written as JSON.
    let encode = |json: Result<_, serde_json::Error>| {
        BASE64_URL_SAFE_NO_PAD.encode::<alloc::vec::Vec<u8>>(json.unwrap_or_default())
    };
    format!("{}.{}", encode(serde_json::to_vec(header)), encode(serde_json::to_vec(claims)))
}

/// Appends the signature to the result of [`signing_input`], which makes the token.
pub(crate) fn with_signature(signing_input: &str, signature: &[u8]) -> String {
    format!("{signing_input}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use alloc::vec::Vec;
    use serde_json::{Value, json};

    /// Returns header, claims and signature of a token.
    pub(crate) fn read(token: &str) -> (Value, Value, Vec<u8>) {
        let parts: Vec<_> = token.split('.').map(|part| BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).collect();
        assert_eq!(parts.len(), 3, "{token}");
        (serde_json::from_slice(&parts[0]).unwrap(), serde_json::from_slice(&parts[1]).unwrap(), parts[2].clone())
    }

    #[test]
    fn a_token_has_three_parts_in_base64url_without_padding() {
        let input = signing_input(&json!({"alg": "ES256"}), &json!({"sub": "\u{fb}?"}));
        assert_eq!(input, "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiLDuz8ifQ");
        assert_eq!(with_signature(&input, &[0xfb, 0xff]), input + "." + "-_8");
    }
}
