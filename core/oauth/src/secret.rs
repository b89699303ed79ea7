//! Secret values: [`Secret`], a text that must not appear in logs, and [`Entropy`], a source of unpredictable values.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::encoding::base64url;

/// A token, password or key. It is erased from memory when it is dropped.
///
/// `Debug` does not show the value, and there is no `Display`. Serialization writes the value itself, because the
/// program must store it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret from its value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// Returns the value. Use it only to send or store the secret.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Zeroize for Secret {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Secret {}

impl Drop for Secret {
    fn drop(&mut self) {
        self.zeroize();
    }
}

/// A source of unpredictable values for one flow: PKCE verifiers, `state` values and identifiers of JWTs.
///
/// The program seeds it with 32 bytes from the random number generator of the operating system. Each value is the
/// SHA-256 hash of the seed and a counter. Known values therefore do not reveal further values.
pub struct Entropy {
    seed: [u8; 32],
    used: u64,
}

impl Entropy {
    /// Creates a source from 32 random bytes of the operating system. Use each seed only once, because equal seeds
    /// produce equal values.
    pub const fn new(seed: [u8; 32]) -> Self {
        Entropy { seed, used: 0 }
    }

    /// Returns the next value: 32 bytes as 43 characters of base64url, which every OAuth parameter may contain.
    pub(crate) fn next_text(&mut self) -> String {
        base64url(self.next_bytes())
    }

    /// Creates an independent source for an inner flow.
    pub(crate) fn split(&mut self) -> Self {
        Entropy::new(self.next_bytes())
    }

    fn next_bytes(&mut self) -> [u8; 32] {
        self.used += 1;
        Sha256::new().chain_update(self.seed).chain_update(self.used.to_be_bytes()).finalize().into()
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_erased_and_says_that_it_is_erased_when_it_is_dropped() {
        fn is_erased_on_drop<T: ZeroizeOnDrop>() {}
        is_erased_on_drop::<Secret>();
        assert!(core::mem::needs_drop::<Secret>());
        let mut secret = Secret::new("access-1");
        secret.zeroize();
        assert_eq!(secret.expose(), "");
    }
}
