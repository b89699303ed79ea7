//! The protocol versions, and the two eras to which they belong.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

/// One of two groups of protocol revisions: legacy up to 2025-11-25, modern from 2026-07-28 on.
///
/// In the legacy era, client and server agree on a protocol version when they open a session. In the modern era, each
/// request contains its version.
///
/// Serde represents an era as `legacy` or `modern`. Specification: basic/versioning, "Terminology".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// Protocol revisions up to 2025-11-25. The client and server agree on one protocol version when the request
    /// `initialize` opens their session.
    Legacy,
    /// Protocol revisions from 2026-07-28 on. Each request contains its protocol version and the client's capabilities.
    Modern,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        })
    }
}

/// A protocol version that this library supports.
///
/// Serde represents a version as the date of its revision, such as `2026-07-28`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// Protocol revision 2024-11-05, the first.
    V2024_11_05,
    /// Protocol revision 2025-03-26.
    V2025_03_26,
    /// Protocol revision 2025-06-18.
    V2025_06_18,
    /// Protocol revision 2025-11-25, the last in which `initialize` opens a session ([`Era::Legacy`]).
    V2025_11_25,
    /// Protocol revision 2026-07-28, the first in which each request contains its protocol version ([`Era::Modern`]).
    V2026_07_28,
}

impl ProtocolVersion {
    /// All protocol versions that this library supports, oldest first.
    pub const ALL: [ProtocolVersion; 5] = [
        ProtocolVersion::V2024_11_05,
        ProtocolVersion::V2025_03_26,
        ProtocolVersion::V2025_06_18,
        ProtocolVersion::V2025_11_25,
        ProtocolVersion::V2026_07_28,
    ];

    /// The newest protocol version in which `initialize` opens a session ([`Era::Legacy`]).
    pub const LATEST_LEGACY: ProtocolVersion = ProtocolVersion::V2025_11_25;

    /// The newest protocol version that this library supports.
    pub const LATEST: ProtocolVersion = ProtocolVersion::V2026_07_28;

    /// Returns the name of the version in JSON messages: the date of the revision, such as `2026-07-28`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProtocolVersion::V2024_11_05 => "2024-11-05",
            ProtocolVersion::V2025_03_26 => "2025-03-26",
            ProtocolVersion::V2025_06_18 => "2025-06-18",
            ProtocolVersion::V2025_11_25 => "2025-11-25",
            ProtocolVersion::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the era of this protocol version: legacy up to revision 2025-11-25, modern from revision 2026-07-28 on.
    pub const fn era(self) -> Era {
        match self {
            ProtocolVersion::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
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

/// The error for a protocol version that this library does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol version {name:?}; known are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28")]
pub struct UnknownVersion {
    /// Name of the unsupported protocol version.
    pub name: String,
}
