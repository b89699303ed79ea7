//! [`Signer`]: signs DPoP proofs and client assertions. [`SigningKey`]: a private key in memory.

use std::fmt;
use std::sync::Arc;

use mcpwire_oauth::{Entropy, PublicKey, SigningAlgorithm};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;

/// Signs DPoP proofs (RFC 9449) and client assertions (RFC 7523) with a private key.
///
/// [`SigningKey`] is a key in memory. Implement this trait for a key that the program cannot read: in a hardware module, an
/// agent or the key store of a cloud.
pub trait Signer: Send + Sync + 'static {
    /// Returns the public key, which DPoP proofs contain, or `None` if the key cannot sign DPoP proofs.
    fn public_key(&self) -> Option<PublicKey>;

    /// Returns the signature of `bytes` as JSON Web Signature encodes it (RFC 7518): for ES256 the 64 bytes of `r` and `s`.
    ///
    /// Each request with a bound token calls this method, while the other requests of the same login wait. It should return
    /// within milliseconds.
    ///
    /// # Errors
    /// If the key cannot sign now, [`KeyError::Failed`]. The request then fails, and is not sent.
    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, KeyError>;
}

/// A private key in memory, for DPoP proofs (RFC 9449) and client assertions (RFC 7523). It signs with `ring`, which the program
/// contains for TLS anyway.
///
/// `Debug` shows the algorithm only.
pub struct SigningKey {
    pair: Pair,
    algorithm: SigningAlgorithm,
    random: SystemRandom,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

/// Why a private key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text contains no private key.
    #[error("no private key in PEM form was found")]
    NotPem,
    /// The key is damaged, or belongs to another algorithm.
    #[error("the private key is not a key for {0}")]
    Invalid(SigningAlgorithm),
    /// The algorithm is not supported.
    #[error("keys for {0} are not supported")]
    Unsupported(SigningAlgorithm),
    /// The random number generator of the operating system failed.
    #[error("the random number generator of the operating system failed")]
    NoEntropy,
    /// The key cannot sign DPoP proofs: [`Signer::public_key`] returned `None`.
    #[error("the key cannot sign DPoP proofs, because its algorithm is neither ES256 nor EdDSA")]
    NotForDpop,
    /// A [`Signer`] failed. Contains its text, without secrets.
    #[error("the key cannot sign: {0}")]
    Failed(String),
}

impl SigningKey {
    /// Creates a random key for ES256. Also returns its PKCS #8 document to store, from which [`from_pkcs8`](Self::from_pkcs8)
    /// creates the key again.
    pub fn generate() -> Result<(Self, Vec<u8>), KeyError> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .map_err(|_| KeyError::NoEntropy)?;
        Ok((Self::from_pkcs8(document.as_ref(), SigningAlgorithm::Es256)?, document.as_ref().to_vec()))
    }

    /// Reads a key from a PKCS #8 document (DER).
    pub fn from_pkcs8(document: &[u8], algorithm: SigningAlgorithm) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let ecdsa = |curve| EcdsaKeyPair::from_pkcs8(curve, document, &random).map(Pair::Ecdsa);
        let pair = match algorithm {
            SigningAlgorithm::Es256 => ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            SigningAlgorithm::Es384 => ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            SigningAlgorithm::EdDsa => Ed25519KeyPair::from_pkcs8_maybe_unchecked(document).map(Pair::Ed25519),
            SigningAlgorithm::Rs256 | SigningAlgorithm::Ps256 => RsaKeyPair::from_pkcs8(document).map(Pair::Rsa),
            other => return Err(KeyError::Unsupported(other)),
        };
        Ok(SigningKey { pair: pair.map_err(|_| KeyError::Invalid(algorithm))?, algorithm, random })
    }

    /// Reads the first private key of a PEM text. It must be in PKCS #8 form (`BEGIN PRIVATE KEY`), or an RSA key in PKCS #1
    /// form.
    pub fn from_pem(text: &str, algorithm: SigningAlgorithm) -> Result<Self, KeyError> {
        match PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| KeyError::NotPem)? {
            PrivateKeyDer::Pkcs8(document) => Self::from_pkcs8(document.secret_pkcs8_der(), algorithm),
            PrivateKeyDer::Pkcs1(document)
                if matches!(algorithm, SigningAlgorithm::Rs256 | SigningAlgorithm::Ps256) =>
            {
                let pair = RsaKeyPair::from_der(document.secret_pkcs1_der());
                let pair = Pair::Rsa(pair.map_err(|_| KeyError::Invalid(algorithm))?);
                Ok(SigningKey { pair, algorithm, random: SystemRandom::new() })
            }
            _ => Err(KeyError::Invalid(algorithm)),
        }
    }

    /// Returns the algorithm of the signatures.
    pub fn algorithm(&self) -> SigningAlgorithm {
        self.algorithm
    }

    /// Returns the public key for DPoP proofs, or `None` if the algorithm is neither ES256 nor `EdDSA`.
    pub fn public_key(&self) -> Option<PublicKey> {
        match (&self.pair, self.algorithm) {
            (Pair::Ecdsa(pair), SigningAlgorithm::Es256) => PublicKey::from_p256_point(pair.public_key().as_ref()),
            (Pair::Ed25519(pair), _) => Some(PublicKey::Ed25519 { x: pair.public_key().as_ref().try_into().ok()? }),
            _ => None,
        }
    }

    /// Returns the signature of `bytes` as JSON Web Signature encodes it (RFC 7518).
    pub fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.pair {
            Pair::Ecdsa(pair) => {
                let signature = pair.sign(&self.random, bytes).map_err(|_| KeyError::NoEntropy)?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => Ok(pair.sign(bytes).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let padding: &dyn ring::signature::RsaEncoding =
                    if self.algorithm == SigningAlgorithm::Ps256 { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &self.random, bytes, &mut signature).map_err(|_| KeyError::NoEntropy)?;
                Ok(signature)
            }
        }
    }
}

impl Signer for SigningKey {
    fn public_key(&self) -> Option<PublicKey> {
        self.public_key()
    }

    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.sign(bytes)
    }
}

impl<S: Signer + ?Sized> Signer for Arc<S> {
    fn public_key(&self) -> Option<PublicKey> {
        (**self).public_key()
    }

    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
        (**self).sign(bytes)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// Returns 32 bytes of the operating system's random number generator, the seed of one [`Entropy`](mcpwire_oauth::Entropy).
pub fn random_seed() -> Result<[u8; 32], KeyError> {
    let mut seed = [0; 32];
    SystemRandom::new().fill(&mut seed).map_err(|_| KeyError::NoEntropy)?;
    Ok(seed)
}

/// Creates the source of the random values of one flow, such as its `state`.
pub(crate) fn new_entropy() -> Result<Entropy, KeyError> {
    Ok(Entropy::new(random_seed()?))
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn verifies(key: &SigningKey, signature: &[u8], bytes: &[u8]) -> bool {
        let Some(PublicKey::P256 { x, y }) = key.public_key() else { panic!("{key:?}") };
        let point = [&[4][..], &x, &y].concat();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(bytes, signature).is_ok()
    }

    #[test]
    fn signatures_can_be_verified_with_the_public_key_also_after_the_key_was_stored() {
        let (key, document) = SigningKey::generate().unwrap();
        let stored = SigningKey::from_pkcs8(&document, SigningAlgorithm::Es256).unwrap();
        assert_eq!(key.public_key(), stored.public_key());
        let signature = stored.sign(b"header.claims").unwrap();
        assert_eq!(signature.len(), 64);
        assert!(verifies(&key, &signature, b"header.claims") && !verifies(&key, &signature, b"header.other"));
    }

    #[test]
    fn keys_of_other_algorithms_and_other_texts_are_refused() {
        let (_, document) = SigningKey::generate().unwrap();
        let refused = |algorithm| SigningKey::from_pkcs8(&document, algorithm).unwrap_err();
        for algorithm in [SigningAlgorithm::Es384, SigningAlgorithm::EdDsa, SigningAlgorithm::Rs256] {
            assert_eq!(refused(algorithm), KeyError::Invalid(algorithm));
        }
        for text in ["", "secret", "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n"] {
            let error = SigningKey::from_pem(text, SigningAlgorithm::Es256).unwrap_err();
            assert_eq!(error, KeyError::NotPem);
        }
    }

    #[test]
    fn two_seeds_differ() {
        assert_ne!(random_seed().unwrap(), random_seed().unwrap());
    }
}
