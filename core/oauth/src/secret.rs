//! [`Secret`]: text that must not appear in logs.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A token, password or key. `Debug` does not show it, and there is no `Display`. It is erased from memory when it is dropped.
///
/// Serialization writes the value itself, for the store of the program.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// Returns the value, for the place that sends or stores it.
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
