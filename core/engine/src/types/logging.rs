//! How much a server shall log (up to 2025-11-25, server/utilities/logging, "Setting Log Level").
//!
//! From 2026-07-28, each request says for itself which messages it wants, in its `_meta`.

use serde::Serialize;

use super::LoggingLevel;

/// Parameters of `logging/setLevel`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetLevelParams<'a> {
    /// The least grave level that is wanted. Servers refuse levels that the specification does not have.
    pub level: &'a LoggingLevel,
}
