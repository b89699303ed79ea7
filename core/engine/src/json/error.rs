//! [`ReadError`]: why a text could not be read.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use serde::de;

/// What is wrong with a token, and at which byte.
pub(crate) type Fault = (&'static str, usize);

/// Why a text could not be read, and at which byte. It is one pointer large, because it is part of many results.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.reason())]
pub struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    reason: String,
    offset: Option<usize>,
}

/// What the reader returns: a value, or where and why the text is not one.
pub type Result<T> = core::result::Result<T, ReadError>;

impl ReadError {
    /// An error whose place is not known. [`ReadError::located`] adds it.
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        ReadError(Box::new(Inner { reason: reason.into(), offset: None }))
    }

    /// An error at byte `offset`.
    #[cold]
    pub(super) fn at(reason: &str, offset: usize) -> Self {
        ReadError(Box::new(Inner { reason: reason.into(), offset: Some(offset) }))
    }

    /// Sets the place of an error that has none.
    pub(crate) fn located(mut self, offset: usize) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// What is wrong.
    pub(crate) fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The byte at which the text is wrong; 0 if it is not known.
    pub(crate) fn offset(&self) -> usize {
        self.0.offset.unwrap_or(0)
    }
}

impl From<Fault> for ReadError {
    #[cold]
    fn from((reason, offset): Fault) -> Self {
        ReadError::at(reason, offset)
    }
}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        // `to_string` would be compiled again for each type of message.
        ReadError::new(alloc::format!("{message}"))
    }

    /// Says the same as serde's own text, except for the value of a float: to write it takes code that nothing else needs.
    #[cold]
    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        ReadError::new(alloc::format!("invalid type: {}, expected {expected}", Found(found)))
    }

    #[cold]
    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        ReadError::new(alloc::format!("invalid value: {}, expected {expected}", Found(found)))
    }
}

/// Displays the value that was found.
struct Found<'a>(de::Unexpected<'a>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use de::Unexpected;
        match self.0 {
            Unexpected::Bool(value) => write!(f, "boolean `{value}`"),
            Unexpected::Unsigned(value) => write!(f, "integer `{value}`"),
            Unexpected::Signed(value) => write!(f, "integer `{value}`"),
            Unexpected::Float(_) => f.write_str("floating point number"),
            Unexpected::Str(value) => write!(f, "string {value:?}"),
            Unexpected::Unit => f.write_str("unit value"),
            Unexpected::Seq => f.write_str("sequence"),
            Unexpected::Map => f.write_str("map"),
            Unexpected::Other(what) => f.write_str(what),
            _ => f.write_str("another value"),
        }
    }
}
