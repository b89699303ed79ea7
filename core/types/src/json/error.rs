//! [`ReadError`]: why a text could not be read.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use serde::de;

/// A syntax error in JSON text: the reason, and the byte offset of the error.
pub(crate) type TokenError = (&'static str, usize);

/// Why a JSON text could not be read, and at which byte offset.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.reason())]
pub struct ReadError(Box<ReadErrorDetail>);

#[derive(Debug)]
struct ReadErrorDetail {
    reason: String,
    offset: Option<usize>,
}

/// The result of reading JSON text: a value or a [`ReadError`].
pub type Result<T> = core::result::Result<T, ReadError>;

impl ReadError {
    /// Creates an error whose byte offset in the JSON text is not known. [`ReadError::located`] can set the offset
    /// later.
    pub fn new(reason: impl Into<String>) -> Self {
        ReadError(Box::new(ReadErrorDetail { reason: reason.into(), offset: None }))
    }

    #[cold]
    pub(super) fn at(reason: &str, offset: usize) -> Self {
        ReadError(Box::new(ReadErrorDetail { reason: reason.into(), offset: Some(offset) }))
    }

    /// Sets the byte offset at which the JSON text is invalid, unless the error already has an offset.
    pub(crate) fn located(mut self, offset: usize) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Returns the reason of the error, without the byte offset.
    pub(crate) fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Returns the byte offset of the error, or 0 if it is unknown.
    pub(crate) fn offset(&self) -> usize {
        self.0.offset.unwrap_or(0)
    }
}

impl From<TokenError> for ReadError {
    #[cold]
    fn from((reason, offset): TokenError) -> Self {
        ReadError::at(reason, offset)
    }
}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        // `to_string` would be compiled once for each type of message.
        ReadError::new(alloc::format!("{message}"))
    }

    #[cold]
    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        // The text is that of serde, but without the value of a float: the code that formats floats is large.
        ReadError::new(alloc::format!("invalid type: {}, expected {expected}", FoundValue(found)))
    }

    #[cold]
    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        ReadError::new(alloc::format!("invalid value: {}, expected {expected}", FoundValue(found)))
    }
}

struct FoundValue<'a>(de::Unexpected<'a>);

impl fmt::Display for FoundValue<'_> {
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
