//! The type of a content block, read without memory where it is known.

use alloc::borrow::Cow;

use crate::json::from_json::{FromJson, Mismatch, type_name};
use crate::json::read::{self, Reader};
use crate::json::scan::key_text;

/// A block's type as it stands on the wire.
pub(super) struct Kind(pub(super) Cow<'static, str>);

const KNOWN: [&str; 5] = ["text", "image", "audio", "resource_link", "resource"];

impl FromJson for Kind {
    const EXPECTED: &'static str = "a string";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let raw = reader.raw()?;
        Ok(match raw.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')) {
            Some(inside) => Ok(Kind(match KNOWN.iter().find(|known| **known == inside) {
                Some(known) => Cow::Borrowed(known),
                None => Cow::Owned(key_text(inside.as_bytes()).into_owned()),
            })),
            None => Err(Mismatch::Type(type_name(raw))),
        })
    }
}
