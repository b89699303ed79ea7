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

#[cfg(test)]
mod tests {
    use alloc::format;

    use serde_json::value::RawValue;

    use super::*;

    fn is_skipped(text: &str) -> bool {
        let is_skipped = Reader::new(text).raw().is_ok_and(|raw| raw == text.trim());
        assert_eq!(is_skipped, serde_json::from_str::<&RawValue>(text).is_ok(), "{text}");
        is_skipped
    }

    #[test]
    fn json_is_skipped() {
        for text in [
            "null",
            "true",
            " false ",
            "0",
            "-0",
            "-1",
            "1.5",
            "1e3",
            "1E+3",
            "-1.5e-3",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "\"\"",
            "\"a\"",
            "\"a long string without an escape in it\"",
            "\"a\\nb\\u00e4\\\\ and a long string with escapes\\t\"",
            "\"ä€😀\"",
            "[]",
            "[ ]",
            "{}",
            "{ }",
            "[1,2]",
            "[1 , [2, {\"a\" : [] }]]",
            "{\"a\":1,\"b\":{\"c\":[null]}}",
            "{\"a\":1,\"a\":2}",
            "\"\u{7f}\"",
            "\"\\ud83d\"",
        ] {
            assert!(is_skipped(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "nul",
            "nulls",
            "tru",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "1x",
            "\"",
            "\"a",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"a\tb\"",
            "\"eight by\u{1}tes and more\"",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1}",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{1:1}",
            "{\"a\":1]",
            "1 1",
            "[]]",
        ] {
            assert!(!is_skipped(text), "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        for depth in [126, 127, 128, 129, 130, 1_000_000] {
            let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(Reader::new(&text).raw().is_ok(), depth <= 128, "{depth}");
        }
        let mixed = format!("{}1{}", "[{\"a\":".repeat(64), "}]".repeat(64));
        assert!(Reader::new(&mixed).raw().is_ok());
    }
}
