//! Skips JSON values, and checks their syntax.

use super::lex;
use super::read::{MAX_DEPTH, Reader, Result};

impl Reader<'_> {
    /// Skips one value of any type, and checks its syntax.
    pub fn skip(&mut self) -> Result<()> {
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
                    let close = open + 2;
                    if self.next_byte() == Some(close) {
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
    fn skip_key(&mut self) -> Result<()> {
        self.key()?;
        self.skip_string()?;
        self.colon()
    }

    #[inline]
    fn skip_string(&mut self) -> Result<()> {
        self.at = lex::string(self.bytes(), self.at)?;
        Ok(())
    }
}
