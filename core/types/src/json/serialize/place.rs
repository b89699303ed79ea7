//! [`Place`]: where in a JSON text a value is written, which determines how it is written.

use alloc::vec::Vec;

use super::super::append::{push_raw, push_string};
use super::error::{Result, WriteError, error};

/// A place in a JSON text, such as an object key. It determines which types may be written there, and in which format.
pub(super) trait Place {
    /// Writes a number or a boolean by calling `push`, which appends its text. Returns an error if neither is allowed
    /// in this place.
    fn scalar(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> Result<()>;
    fn string(out: &mut Vec<u8>, text: &str) -> Result<()>;
    fn null(out: &mut Vec<u8>) -> Result<()>;
    /// Returns an error if arrays and objects are not allowed in this place.
    fn compound() -> Result<()>;
}

/// The place of a JSON value: all types are allowed.
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

/// The place of an object key: only strings, numbers and booleans are allowed. All are written in quotes.
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

/// The place of raw JSON text: only a string is allowed. Its contents are written as JSON, without quotes and escapes.
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
