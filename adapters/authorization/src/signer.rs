//! [`Signer`]: what signs DPoP proofs and client assertions.

use std::sync::Arc;

use mcpwire_oauth::PublicKey;

use crate::signing_key::{KeyError, SigningKey};

/// Signs DPoP proofs (RFC 9449) and client assertions (RFC 7523) with a private key.
///
/// [`SigningKey`] is a key in memory. Implement this trait for a key that the program cannot read: in a hardware module, an agent or
/// the key store of a cloud.
pub trait Signer: Send + Sync + 'static {
    /// Returns the public key, which DPoP proofs contain, or `None` if the key cannot sign them.
    fn public_key(&self) -> Option<PublicKey>;

    /// Returns the signature of `bytes` as JSON Web Signature encodes it (RFC 7518): for ES256 the 64 bytes of `r` and `s`.
    ///
    /// Each request with a bound token calls it, while the other requests of the same login wait, so it should return within
    /// milliseconds.
    ///
    /// # Errors
    /// If the key cannot sign now, [`KeyError::Failed`]. The request then fails, and is not sent.
    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, KeyError>;
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
