//! [`Entropy`]: unpredictable values from one seed that the program supplies.

use alloc::string::String;
use core::fmt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Source of the unpredictable values of one flow: PKCE verifiers, `state` values and identifiers of JWTs.
///
/// The program seeds it with 32 bytes from the random number generator of the operating system. Each value is the
/// SHA-256 hash of the seed and a counter, so nobody who sees values can predict others.
pub struct Entropy {
    seed: [u8; 32],
    used: u64,
}

impl Entropy {
    /// Creates a source from 32 bytes of the operating system's random number generator. Use each seed once.
    pub const fn new(seed: [u8; 32]) -> Self {
        Entropy { seed, used: 0 }
    }

    /// Returns the next value: 32 bytes as 43 characters of base64url, which every parameter of OAuth can contain.
    pub(crate) fn next_text(&mut self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.next_bytes())
    }

    /// Creates the source of a flow inside of another.
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
