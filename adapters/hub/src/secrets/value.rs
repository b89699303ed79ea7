//! A value that must show nowhere.

use std::fmt;

use zeroize::Zeroizing;

/// A secret. It is not shown by `{:?}`, has no `Display`, and its memory is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Keeps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(Zeroizing::new(value.into()))
    }

    /// The value itself, for whom it is meant.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether nothing is in it.
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
