//! The revisions of the protocol, and the two eras that they belong to.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

/// How client and server agree on a protocol version (2026-07-28, basic/versioning, "Terminology").
///
/// It is `legacy` or `modern` in every format of serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// A handshake, `initialize`, opens a session. Revisions up to 2025-11-25.
    Legacy,
    /// Each request carries its version and the client's capabilities. Revisions from 2026-07-28 on.
    Modern,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        })
    }
}

/// A revision of the protocol that this library speaks.
///
/// It is its date, such as `2026-07-28`, in every format of serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// Revision 2024-11-05, the first.
    V2024_11_05,
    /// Revision 2025-03-26.
    V2025_03_26,
    /// Revision 2025-06-18.
    V2025_06_18,
    /// Revision 2025-11-25, the last with a handshake.
    V2025_11_25,
    /// Revision 2026-07-28.
    V2026_07_28,
}

impl ProtocolVersion {
    /// All revisions, oldest first.
    pub const ALL: [ProtocolVersion; 5] = [
        ProtocolVersion::V2024_11_05,
        ProtocolVersion::V2025_03_26,
        ProtocolVersion::V2025_06_18,
        ProtocolVersion::V2025_11_25,
        ProtocolVersion::V2026_07_28,
    ];

    /// The newest revision with a handshake.
    pub const LATEST_LEGACY: ProtocolVersion = ProtocolVersion::V2025_11_25;

    /// The newest revision.
    pub const LATEST: ProtocolVersion = ProtocolVersion::V2026_07_28;

    /// Returns the date of the revision, as the protocol writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProtocolVersion::V2024_11_05 => "2024-11-05",
            ProtocolVersion::V2025_03_26 => "2025-03-26",
            ProtocolVersion::V2025_06_18 => "2025-06-18",
            ProtocolVersion::V2025_11_25 => "2025-11-25",
            ProtocolVersion::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the era of the revision.
    pub const fn era(self) -> Era {
        match self {
            ProtocolVersion::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }

    /// Returns the newest revision that is among `offered` and for which `is_allowed` returns `true`.
    pub(crate) fn newest(offered: &[String], is_allowed: &dyn Fn(Self) -> bool) -> Option<Self> {
        let is_offered = |version: &Self| offered.iter().any(|name| name == version.as_str());
        Self::ALL.into_iter().rev().find(|version| is_offered(version) && is_allowed(*version))
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
            .ok_or_else(|| UnknownVersion { name: text.into() })
    }
}

impl Serialize for ProtocolVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ProtocolVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A text that is not the date of a revision in [`ProtocolVersion::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol version {name:?}; known are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28")]
pub struct UnknownVersion {
    /// The text.
    pub name: String,
}
