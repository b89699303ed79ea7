//! [`Place`]: where in a JSON text a value is written, which decides how it is written.

use alloc::vec::Vec;

use super::super::append::{push_raw, push_string};
use super::error::{Result, WriteError, error};

/// A place in a JSON text: decides which values are allowed there, and how they are written.
pub(super) trait Place {
    /// Writes a number or a boolean. `push` appends its text.
    fn scalar(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> Result<()>;
    /// Writes a string.
    fn string(out: &mut Vec<u8>, text: &str) -> Result<()>;
    /// Writes `null`.
    fn null(out: &mut Vec<u8>) -> Result<()>;
    /// Fails if arrays and objects are not allowed here.
    fn compound() -> Result<()>;
}

/// The place of a value: all types are allowed.
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

/// The place of a key: strings, and numbers and booleans, which are put in quotes.
pub(super) enum Key {}

impl Key {
    fn mismatch() -> WriteError {
        error("a key must be a string, a number or a boolean")
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

/// The place of raw JSON: a string with the text of a value.
pub(super) enum Raw {}

impl Raw {
    fn mismatch() -> WriteError {
        error("raw JSON is not given as text")
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
