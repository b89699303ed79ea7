//! [`Token`]: reads JSON text token by token, for code that does not know the type of the value.

use super::numeral;
use super::read::{ReadError, Reader, Result, Text};

/// A JSON token that begins a value: a scalar value itself, or the opening bracket of an array or object.
pub(super) enum Token<'de> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Text<'de>),
    Array,
    Object,
}

impl<'de> Reader<'de> {
    /// Reads a scalar value, or the opening bracket of an array or object.
    pub(super) fn token(&mut self) -> Result<Token<'de>> {
        match self.next_byte() {
            Some(b'"') => self.string().map(Token::Text),
            Some(b'{') => self.enter().map(|()| Token::Object),
            Some(b'[') => self.enter().map(|()| Token::Array),
            Some(b'-' | b'0'..=b'9') => {
                let start = self.at;
                let (text, whole) = self.number()?;
                // Only a float can represent -0.
                if whole && text != "-0" {
                    if let Some(value) = numeral::parse_unsigned(text.as_bytes()) {
                        return Ok(Token::Unsigned(value));
                    }
                    if let Some(value) = numeral::parse_signed(text.as_bytes()) {
                        return Ok(Token::Signed(value));
                    }
                }
                let value =
                    numeral::parse_finite(text).ok_or_else(|| ReadError::at("a number that is out of range", start))?;
                Ok(Token::Float(value))
            }
            Some(b't') => self.literal("true").map(|()| Token::Bool(true)),
            Some(b'f') => self.literal("false").map(|()| Token::Bool(false)),
            Some(b'n') => self.literal("null").map(|()| Token::Null),
            Some(_) => Err(self.error("not a value")),
            None => Err(self.error("the text ends where a value should be")),
        }
    }

    /// Reads the next key of an object. Returns `None` at the end of the object.
    ///
    /// `first` must be `true` before the first key; this function then sets it to `false`.
    pub(super) fn next_key(&mut self, first: &mut bool) -> Result<Option<Text<'de>>> {
        if !self.has_next(first, b'}')? {
            return Ok(None);
        }
        self.key()?;
        self.string().map(Some)
    }
}
