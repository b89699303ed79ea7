//! Reads the types of programs with `serde_json`, which reads all that the writer writes.

use alloc::format;
use alloc::string::ToString;

use serde::de::{Deserialize, DeserializeOwned};

use super::read::{ReadError, Reader, Result};

/// Deserializes a value from JSON text. Fails if text other than white space follows the value.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| read_error(&error, text))
}

impl Reader<'_> {
    /// Reads the next value as a type of the program.
    pub fn decode<T: DeserializeOwned>(&mut self) -> Result<T> {
        self.next_byte();
        let start = self.at;
        from_str(self.raw()?).map_err(|error| error.moved(start))
    }
}

/// Converts an error of `serde_json`, which names the place in `text` only as line and column.
#[cold]
fn read_error(error: &serde_json::Error, text: &str) -> ReadError {
    let (line, column) = (error.line(), error.column());
    let message = format!("{error}");
    // An error without a place has line 0, and no place in its message.
    let place = format!(" at line {line} column {column}");
    let Some(reason) = message.strip_suffix(&*place).filter(|_| line > 0) else { return ReadError::new(message) };
    let lines_before = text.split_inclusive('\n').take(line - 1).map(str::len);
    let offset = lines_before.sum::<usize>().saturating_add(column);
    // `serde_json` stops before or after the first byte of a value of the wrong type. The path of what is after a bracket
    // would be that of the first element.
    let is_inside = offset > 0 && matches!(text.as_bytes().get(offset - 1), Some(b'[' | b'{'));
    ReadError::new(reason.to_string()).located(offset - usize::from(is_inside))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn place<T: DeserializeOwned + core::fmt::Debug>(text: &str) -> usize {
        from_str::<T>(text).unwrap_err().offset()
    }

    #[test]
    fn an_error_has_its_place_in_bytes() {
        assert_eq!(place::<Vec<u8>>("[1,\"x\"]"), 6);
        assert_eq!(place::<Vec<u8>>("[1,\n\r\n\"x\"]"), 9);
        assert_eq!(place::<Vec<(char, u8)>>("[[\"ä\",1],\n[\"ä\",-1]]"), 19);
        let error = Reader::new(" [1,\"x\"]").decode::<Vec<u8>>().unwrap_err();
        assert_eq!((error.offset(), error.reason()), (7, "invalid type: string \"x\", expected u8"));
    }

    #[test]
    fn an_error_that_looks_like_one_with_a_place_is_not_located_beyond_the_text() {
        #[derive(Debug)]
        struct Never;
        impl<'de> Deserialize<'de> for Never {
            fn deserialize<D: serde::Deserializer<'de>>(_: D) -> core::result::Result<Self, D::Error> {
                Err(serde::de::Error::custom("no, at line 18446744073709551615 column 18446744073709551615"))
            }
        }
        let error = from_str::<Never>("[]\n[]").unwrap_err();
        assert_eq!((error.reason(), error.offset()), ("no,", usize::MAX));
        assert_eq!(crate::json::path::path_at(b"[]\n[]", error.offset()), "");
    }
}
