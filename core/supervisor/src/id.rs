//! [`ServerId`]: the permanent identifier of a configured server.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// The permanent identifier of a configured server: a UUID that does not change when the server is renamed.
///
/// The parser accepts only 32 hexadecimal digits, with or without the four hyphens of a UUID. An id is therefore safe
/// to use in a file name.
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod supervisor { pub use mcpwire_supervisor::ServerId; } } }
/// use mcpwire::hub::supervisor::ServerId;
///
/// let id: ServerId = "67e55044-10b1-426f-9247-bb680e5fe0c8".parse()?;
/// assert_eq!(id.to_string(), "67e55044-10b1-426f-9247-bb680e5fe0c8");
/// assert_eq!(ServerId::from_u128(id.as_u128()), id);
/// assert!("../67e55044".parse::<ServerId>().is_err());
/// # Ok::<(), mcpwire_supervisor::InvalidServerId>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(Uuid);

impl ServerId {
    /// Creates an id from the 128 bits of a UUID, for example a stored one. The most significant bits come first in the
    /// text form.
    pub const fn from_u128(bits: u128) -> Self {
        ServerId(Uuid::from_u128(bits))
    }

    /// Creates a random (version 4) UUID from 128 random bits, six of which are replaced by the version and variant.
    pub const fn from_random(bits: u128) -> Self {
        ServerId(uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid())
    }

    /// Returns the 128 bits of the UUID. The most significant bits come first in the text form.
    pub const fn as_u128(self) -> u128 {
        self.0.as_u128()
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for ServerId {
    type Err = InvalidServerId;

    fn from_str(text: &str) -> Result<Self, InvalidServerId> {
        // The parser of the crate also reads a UUID in braces or with the prefix of a URN, which are longer.
        if text.len() > 36 {
            return Err(InvalidServerId(()));
        }
        text.parse().map(ServerId).map_err(|_| InvalidServerId(()))
    }
}

impl Serialize for ServerId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ServerId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The error for a text that is not a valid [`ServerId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid server id: expected a UUID of 32 hexadecimal digits, with or without hyphens")]
pub struct InvalidServerId(());

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn only_a_uuid_is_an_id() {
        let id: ServerId = "67E5504410B1426F9247BB680E5FE0C8".parse().expect("without hyphens, in upper case");
        assert_eq!(id.to_string(), "67e55044-10b1-426f-9247-bb680e5fe0c8");
        for text in [
            "",
            "../../etc/passwd",
            "67e55044-10b1-426f-9247-bb680e5fe0c",
            "67e55044-10b1-426f-9247-bb680e5fe0c8a",
            "67e5504410b1-426f-9247-bb680e5fe0c8-",
            "67e55044-10b1-426f-9247-bb680e5fe0cg",
            "+7e5504410b1426f9247bb680e5fe0c8",
        ] {
            assert!(text.parse::<ServerId>().is_err(), "{text}");
        }
    }

    #[test]
    fn random_ids_are_version_4_uuids() {
        let id = ServerId::from_random(u128::MAX).to_string();
        assert_eq!(id, "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(ServerId::from_random(0).to_string(), "00000000-0000-4000-8000-000000000000");
    }
}
