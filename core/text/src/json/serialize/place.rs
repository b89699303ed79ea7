//! [`Place`]: where in a JSON text a value is written, which determines how it is written.

use alloc::vec::Vec;

use super::super::append::{push_raw, push_string};
use super::super::error::{WriteError, WriteResult as Result};

/// Where in JSON text a serializer writes: in place of a value, of an object key or of raw JSON. The place determines
/// which types are allowed, and how they are written.
pub(super) trait Place {
    /// Writes a number or a boolean, whose text `push` appends to `out`. Returns an error if this place allows neither.
    fn scalar(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> Result<()>;
    fn string(out: &mut Vec<u8>, text: &str) -> Result<()>;
    fn null(out: &mut Vec<u8>) -> Result<()>;
    /// Returns an error unless this place allows arrays and objects. An object key, for example, does not.
    fn compound() -> Result<()>;
}

/// The [`Place`] of an ordinary JSON value: allows all types.
pub(super) enum Value {}

impl Place for Value {
    #[inline]
    fn scalar(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        push(out);
        Ok(())
    }

    #[inline]
    fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
        push_string(out, text);
        Ok(())
    }

    #[inline]
    fn null(out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(b"null");
        Ok(())
    }

    #[inline]
    fn compound() -> Result<()> {
        Ok(())
    }
}

/// The [`Place`] of an object key: allows only strings, numbers and booleans, and writes all of them in quotes.
pub(super) enum Key {}

impl Key {
    fn mismatch() -> WriteError {
        WriteError::new("a key must be a string, a number or a boolean")
    }
}

impl Place for Key {
    fn scalar(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        out.push(b'"');
        push(out);
        out.push(b'"');
        Ok(())
    }

    #[inline]
    fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
        push_string(out, text);
        Ok(())
    }

    fn null(_out: &mut Vec<u8>) -> Result<()> {
        Err(Self::mismatch())
    }

    fn compound() -> Result<()> {
        Err(Self::mismatch())
    }
}

/// The [`Place`] of raw JSON: allows only a string that contains JSON text, and appends this text without quotes and
/// escapes.
pub(super) enum Raw {}

impl Raw {
    fn mismatch() -> WriteError {
        WriteError::new("raw JSON is not given as text")
    }
}

impl Place for Raw {
    fn scalar(_out: &mut Vec<u8>, _push: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        Err(Self::mismatch())
    }

    fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
        push_raw(out, text);
        Ok(())
    }

    fn null(_out: &mut Vec<u8>) -> Result<()> {
        Err(Self::mismatch())
    }

    fn compound() -> Result<()> {
        Err(Self::mismatch())
    }
}
