//! Passing over values, and checking them on the way: what is kept as text is JSON.

use super::read::{MAX_DEPTH, Reader, Result, fault};
use super::string;

impl<'de> Reader<'de> {
    /// The text of a number (RFC 8259, section 6), and whether it is a whole one.
    pub(super) fn number(&mut self) -> Result<(&'de str, bool)> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + usize::from(bytes[start] == b'-');
        let digits = |mut at: usize| {
            let from = at;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            (at, at > from)
        };
        let leading_zero = bytes.get(at) == Some(&b'0');
        let (after, mut good) = digits(at);
        good &= !(leading_zero && after > at + 1);
        at = after;
        let mut whole = true;
        if bytes.get(at) == Some(&b'.') {
            whole = false;
            let (after, some) = digits(at + 1);
            good &= some;
            at = after;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            whole = false;
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            let (after, some) = digits(at);
            good &= some;
            at = after;
        }
        if !good {
            return Err(self.error("not a number"));
        }
        self.at = at;
        Ok((&self.text[start..at], whole))
    }

    /// Passes over a value and checks it. The kinds of what it is in are kept as bits, so depth costs no stack.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let mut objects = 0u128;
        let mut depth = 0;
        loop {
            match self.next_byte() {
                Some(b'"') => self.skip_string()?,
                Some(open @ (b'{' | b'[')) => {
                    if self.depth + depth >= MAX_DEPTH {
                        return Err(self.error("nested deeper than 128 levels"));
                    }
                    self.at += 1;
                    let empty = self.next_byte() == Some(open + 2);
                    if empty {
                        self.at += 1;
                    } else {
                        objects = objects << 1 | u128::from(open == b'{');
                        depth += 1;
                        if open == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => drop(self.number()?),
                Some(b't') => self.literal("true")?,
                Some(b'f') => self.literal("false")?,
                Some(b'n') => self.literal("null")?,
                Some(_) => return Err(self.error("not a value")),
                None => return Err(self.error("the text ends in the middle of a value")),
            }
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let in_object = objects & 1 == 1;
                match self.next_byte() {
                    Some(b',') => {
                        self.at += 1;
                        if in_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    Some(b'}') if in_object => {}
                    Some(b']') if !in_object => {}
                    Some(_) => return Err(self.error("neither `,` nor the end of what it stands in")),
                    None => return Err(self.error("the text ends in the middle of a value")),
                }
                self.at += 1;
                objects >>= 1;
                depth -= 1;
            }
        }
    }

    #[inline]
    pub(super) fn key(&mut self) -> Result<()> {
        match self.next_byte() {
            Some(b'"') => Ok(()),
            Some(_) => Err(self.error("not a key")),
            None => Err(self.error("the text ends where a key should be")),
        }
    }

    #[inline]
    pub(super) fn skip_key(&mut self) -> Result<()> {
        self.key()?;
        self.skip_string()?;
        self.colon()
    }

    #[inline]
    pub(super) fn skip_string(&mut self) -> Result<()> {
        self.at = match string::plain_end(self.text.as_bytes(), self.at + 1) {
            Ok(end) => end + 1,
            Err(special) => string::skip_escaped(self.text.as_bytes(), special).map_err(fault)?,
        };
        Ok(())
    }
}
