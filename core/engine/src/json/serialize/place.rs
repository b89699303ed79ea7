//! The places in a JSON text.

use alloc::vec::Vec;

use super::super::append::{push_raw, push_string};
use super::error::{Result, WriteError, refused};

/// What may stand at a place in the text, and how.
pub(super) trait Place {
    /// A number or a boolean, which `push` appends.
    fn scalar(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> Result<()>;
    fn string(out: &mut Vec<u8>, text: &str) -> Result<()>;
    fn null(out: &mut Vec<u8>) -> Result<()>;
    /// Whether an array or an object may begin here.
    fn compound() -> Result<()>;
}

/// Where any value may stand.
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

/// The key of a map: a string, or what can stand in one.
pub(super) enum Key {}

impl Key {
    fn refused() -> WriteError {
        refused("a key must be a string, a number or a boolean")
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
        Err(Self::refused())
    }

    fn compound() -> Result<()> {
        Err(Self::refused())
    }
}

/// Where JSON is given as its text.
pub(super) enum Raw {}

impl Raw {
    fn refused() -> WriteError {
        refused("raw JSON that is not given as text")
    }
}

impl Place for Raw {
    fn scalar(_out: &mut Vec<u8>, _push: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        Err(Self::refused())
    }

    fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
        push_raw(out, text);
        Ok(())
    }

    fn null(_out: &mut Vec<u8>) -> Result<()> {
        Err(Self::refused())
    }

    fn compound() -> Result<()> {
        Err(Self::refused())
    }
}
