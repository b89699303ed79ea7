//! [`Number`]: a JSON number, kept as its text.

use core::fmt;

use serde::Serialize;

use super::from_json::{FromJson, Mismatch, number};
use super::read::{self, Reader};
use super::{Json, JsonText};

/// A JSON number, stored as its original text.
///
/// Only [`Number::as_f64`] parses the text. A program that never calls it contains less code, because the code that
/// parses floats is left out.
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_text::json::Number; } }
/// use mcpwire::types::Number;
///
/// assert_eq!(Number::from(0.5).as_f64(), 0.5);
/// assert_eq!(Number::from(0.5).to_string(), "0.5");
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Number(Json);

impl Number {
    /// Returns the nearest `f64`. A number whose magnitude exceeds [`f64::MAX`] becomes an infinity.
    ///
    /// A `Number` that was created from NaN or from an infinity becomes NaN.
    pub fn as_f64(&self) -> f64 {
        self.0.get().parse().unwrap_or(f64::NAN)
    }
}

impl Default for Number {
    /// Returns 0.
    fn default() -> Self {
        Number(Json::trusted("0"))
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

impl FromJson for Number {
    const EXPECTED: &'static str = "a number";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        number(reader, |raw| Some(Number(Json::trusted(raw))))
    }
}

crate::impl_deserialize!(Number);
