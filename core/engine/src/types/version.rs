//! The revisions of the protocol, and the two eras that they belong to.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// The two ways in which client and server agree on what they speak
/// (specification 2026-07-28, basic/versioning, "Terminology").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// A handshake opens a session: `initialize`. Revisions up to 2025-11-25.
    Legacy,
    /// Each request carries its version and capabilities. Revisions from 2026-07-28.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// 2024-11-05, the first.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25, the last with a handshake.
    V2025_11_25,
    /// 2026-07-28.
    V2026_07_28,
}

impl ProtocolVersion {
    /// All of them, oldest first.
    pub const ALL: [ProtocolVersion; 5] = [
        ProtocolVersion::V2024_11_05,
        ProtocolVersion::V2025_03_26,
        ProtocolVersion::V2025_06_18,
        ProtocolVersion::V2025_11_25,
        ProtocolVersion::V2026_07_28,
    ];

    /// The newest with a handshake.
    pub const LATEST_LEGACY: ProtocolVersion = ProtocolVersion::V2025_11_25;

    /// The newest.
    pub const LATEST: ProtocolVersion = ProtocolVersion::V2026_07_28;

    /// As it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProtocolVersion::V2024_11_05 => "2024-11-05",
            ProtocolVersion::V2025_03_26 => "2025-03-26",
            ProtocolVersion::V2025_06_18 => "2025-06-18",
            ProtocolVersion::V2025_11_25 => "2025-11-25",
            ProtocolVersion::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era that it belongs to.
    pub const fn era(self) -> Era {
        match self {
            ProtocolVersion::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }

    /// The newest of those that `offered` names and `allowed` lets pass.
    pub(crate) fn newest(offered: &[String], allowed: &dyn Fn(Self) -> bool) -> Option<Self> {
        let is_offered = |version: &Self| offered.iter().any(|name| name == version.as_str());
        Self::ALL.into_iter().rev().find(|version| is_offered(version) && allowed(*version))
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

/// A name that is none of the revisions in [`ProtocolVersion::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVersion {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28";
        write!(f, "unknown protocol version {:?}; known are {known}", self.name)
    }
}

impl core::error::Error for UnknownVersion {}
