//! [`Secret`]: text that must not appear in logs.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// A token, password or key. `Debug` does not show it, and there is no `Display`.
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
