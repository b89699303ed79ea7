//! JSON Web Keys (RFC 7517), signature algorithms (RFC 7518), and JSON Web Tokens (RFC 7519) in compact form. The
//! program creates the signatures.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::encoding::base64url;

mcpwire_text::named_enum! {
    /// A signature algorithm of JSON Web Signature. All are asymmetric, because DPoP and `private_key_jwt` allow no
    /// other algorithms.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum SigningAlgorithm {
        /// ECDSA with P-256 and SHA-256. Prefer it, because every authorization server should support it.
        Es256 = "ES256",
        /// ECDSA with P-384 and SHA-384.
        Es384 = "ES384",
        /// Ed25519.
        EdDsa = "EdDSA",
        /// RSA PKCS #1 v1.5 with SHA-256.
        Rs256 = "RS256",
        /// RSA PSS with SHA-256.
        Ps256 = "PS256",
    }

    /// Returns the name of the algorithm in JSON Web Signature, for example `ES256`.
    pub const fn name;
}

impl SigningAlgorithm {
    /// Returns the first algorithm of `offered`, the algorithms of the program, that the authorization server supports.
    /// `None` if it supports none of them.
    ///
    /// `supported` is a list in its metadata, for example `dpop_signing_alg_values_supported`. Without a list, the
    /// first offered algorithm is returned. The name `Ed25519` (RFC 9864) counts as `EdDSA`.
    pub fn choose(offered: &[Self], supported: Option<&[String]>) -> Option<Self> {
        let is_name = |name: &str, algorithm: Self| {
            name == algorithm.name() || (algorithm == SigningAlgorithm::EdDsa && name == "Ed25519")
        };
        let is_supported =
            |algorithm: Self| supported.is_none_or(|names| names.iter().any(|name| is_name(name, algorithm)));
        offered.iter().copied().find(|algorithm| is_supported(*algorithm))
    }
}

/// The public key of a key pair, for example for DPoP. The private key stays with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// A point on the curve P-256, for [`SigningAlgorithm::Es256`].
    P256 {
        /// The x coordinate, big-endian.
        x: [u8; 32],
        /// The y coordinate, big-endian.
        y: [u8; 32],
    },
    /// An Ed25519 public key, for [`SigningAlgorithm::EdDsa`].
    Ed25519 {
        /// The encoded point (RFC 8032).
        x: [u8; 32],
    },
}

impl PublicKey {
    /// Parses a P-256 public key as cryptographic libraries export it: the byte 4, then both coordinates (uncompressed
    /// form of SEC 1). `None` if the bytes have another form.
    pub fn from_p256_point(point: &[u8]) -> Option<Self> {
        let (x, y) = point.strip_prefix(&[4])?.split_first_chunk::<32>()?;
        Some(PublicKey::P256 { x: *x, y: y.try_into().ok()? })
    }

    /// Returns the signature algorithm to use with this key.
    pub const fn algorithm(&self) -> SigningAlgorithm {
        match self {
            PublicKey::P256 { .. } => SigningAlgorithm::Es256,
            PublicKey::Ed25519 { .. } => SigningAlgorithm::EdDsa,
        }
    }

    /// Returns the SHA-256 thumbprint (RFC 7638) of the key in base64url. A token that is bound to the key contains
    /// this value as `jkt`.
    pub fn thumbprint(&self) -> String {
        // RFC 7638 requires sorted members without white space. `to_jwk` has them in this order.
        base64url(Sha256::digest(self.to_jwk().to_string()))
    }

    /// Returns the JSON Web Key with only the members that RFC 7638 requires, in alphabetical order.
    pub(crate) fn to_jwk(self) -> Value {
        match self {
            PublicKey::P256 { x, y } => json!({"crv": "P-256", "kty": "EC", "x": base64url(x), "y": base64url(y)}),
            PublicKey::Ed25519 { x } => json!({"crv": "Ed25519", "kty": "OKP", "x": base64url(x)}),
        }
    }
}

/// Returns the part of a JSON Web Token that is signed: the encoded header and claims.
pub(crate) fn signing_input(header: &Value, claims: &Value) -> String {
    base64url(header.to_string()) + "." + &base64url(claims.to_string())
}

/// Appends the signature to the result of [`signing_input`], which completes the JSON Web Token.
pub(crate) fn with_signature(signing_input: &str, signature: &[u8]) -> String {
    format!("{signing_input}.{}", base64url(signature))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use alloc::vec::Vec;
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;

    fn decode(text: &str) -> [u8; 32] {
        BASE64_URL_SAFE_NO_PAD.decode(text).unwrap().try_into().unwrap()
    }

    /// The public key in the examples of RFC 9449.
    fn rfc9449_key() -> PublicKey {
        PublicKey::P256 {
            x: decode("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"),
            y: decode("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"),
        }
    }

    #[test]
    fn thumbprints_are_those_of_the_specifications() {
        assert_eq!(rfc9449_key().thumbprint(), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
        let ed25519 = PublicKey::Ed25519 { x: decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo") };
        assert_eq!(ed25519.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "RFC 8037");
    }

    #[test]
    fn points_of_cryptographic_libraries_are_read() {
        let PublicKey::P256 { x, y } = rfc9449_key() else { unreachable!() };
        let point: Vec<u8> = [4].into_iter().chain(x).chain(y).collect();
        assert_eq!(PublicKey::from_p256_point(&point), Some(rfc9449_key()));
        assert_eq!(PublicKey::from_p256_point(&point[..64]), None, "too short");
        assert_eq!(PublicKey::from_p256_point(&[&point[..], &[0]].concat()), None, "too long");
        assert_eq!(PublicKey::from_p256_point(&point[1..]), None, "compressed or without a prefix");
        assert_eq!(PublicKey::from_p256_point(&[]), None);
    }

    #[test]
    fn dp5_the_algorithm_is_one_that_the_authorization_server_supports() {
        use SigningAlgorithm::{EdDsa, Es256, Es384, Ps256, Rs256};
        let supported = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
        let choose = |offered: &[_], names: &[&str]| SigningAlgorithm::choose(offered, Some(&supported(names)));
        assert_eq!(choose(&[Es256, EdDsa], &["RS256", "EdDSA", "ES256"]), Some(Es256), "the program's order counts");
        assert_eq!(choose(&[Es256, EdDsa], &["Ed25519"]), Some(EdDsa));
        assert_eq!(choose(&[Es256], &["Ed25519"]), None);
        assert_eq!(choose(&[Es256], &["none", "HS256"]), None, "there are only asymmetric algorithms");
        assert_eq!(SigningAlgorithm::choose(&[Es256], None), Some(Es256));
        for algorithm in [Es256, Es384, EdDsa, Rs256, Ps256] {
            assert_eq!(choose(&[algorithm], &[&algorithm.to_string()]), Some(algorithm));
        }
    }

    /// Decodes a JSON Web Token. Returns its header, claims and signature.
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
