//! Numbers that nobody may ever look at.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Json;
use super::read::{self, Reader};
use crate::types::lenient::{self, Hoped, Lenient, Mismatch, type_by};

/// A JSON number, as it was written. What it takes to make a float of it is part of programs only that ask for one.
///
/// ```
/// use mcpwire_core::Number;
///
/// assert_eq!(Number::from(0.5).as_f64(), 0.5);
/// assert_eq!(Number::from(0.5).to_string(), "0.5");
/// ```
#[derive(Clone, PartialEq)]
pub struct Number(Json);

impl Number {
    /// The float that is nearest to it; infinite if it is greater than all of them.
    pub fn as_f64(&self) -> f64 {
        // Only a float that is none is not written as a number.
        self.0.get().parse().unwrap_or(f64::NAN)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number(Json::from_value(&value).unwrap_or_default())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Lenient for Number {
    const EXPECTED: &'static str = "a number";

    fn lenient(reader: &mut Reader<'_>) -> read::Result<Hoped<Self>> {
        let raw = reader.raw()?;
        Ok(match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Ok(Number(Json::trusted(raw))),
            first => Err(Mismatch::Type(type_by(first))),
        })
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient::deserialize(deserializer)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
