//! [`Secret`]: a value that is never shown.

use std::fmt;

use zeroize::Zeroizing;

/// A secret value. `{:?}` does not show it, and it has no `Display`. Its memory is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Creates a secret with this value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(Zeroizing::new(value.into()))
    }

    /// Returns the value. Do not show it or write it to a log.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the value is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl<S: Into<String>> From<S> for Secret {
    fn from(value: S) -> Self {
        Secret::new(value)
    }
}
