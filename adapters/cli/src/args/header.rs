//! [`Header`]: an HTTP header from `--header`.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::failure::Failure;

/// An HTTP header from `--header`. The value may be a secret, so `Debug` shows only the name of the header.
#[derive(Clone)]
pub(crate) struct Header {
    /// The name and the value of the header. `None` if the argument of `--header` has no colon, in which case the whole
    /// argument may be a secret.
    parts: Option<(String, String)>,
}

impl Header {
    /// Returns the name and the value of the header.
    ///
    /// # Errors
    /// If the argument of `--header` is not `NAME:VALUE`. The error does not contain the argument, which may be a secret.
    pub(crate) fn parts(&self) -> Result<(&str, &str), Failure> {
        match &self.parts {
            Some((name, value)) if !name.is_empty() => Ok((name, value)),
            _ => Err(Failure::usage("header", "a header is NAME:VALUE, as in --header 'X-Team: blue'")),
        }
    }
}

impl FromStr for Header {
    /// Parsing never fails. [`Header::parts`] reports invalid headers later, because errors of clap would show the text, which
    /// may be a secret.
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let parts = text.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        Ok(Header { parts })
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Header").field(&self.parts.as_ref().map(|(name, _)| name)).finish()
    }
}
