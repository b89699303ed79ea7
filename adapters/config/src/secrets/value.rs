//! [`Secret`]: a value that is never shown.

use std::fmt;

use zeroize::Zeroizing;

/// A secret text. `{:?}` does not show the text, and `Display` is not implemented. The memory of the text is overwritten on
/// drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Creates a secret from its text.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(Zeroizing::new(value.into()))
    }

    /// Returns the text of the secret. Do not show it to anyone or write it to a log.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the text of the secret is empty.
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
