//! From which level on servers send log messages: a request in the legacy era (2025-11-25, server/utilities/logging,
//! "Setting Log Level"), a member of each request's `_meta` from 2026-07-28 on ("Per-request log level").

use alloc::vec::Vec;

use super::config::RequestOptions;
use super::engine::Session;
use super::error::SendError;
use super::opening::modern_meta;
use super::ticket::Ticket;
use crate::method::{Method, SetLevel};
use crate::revisions::{self, Need};
use crate::time::Timestamp;
use crate::types::{Era, LoggingLevel, SetLevelParams};

impl Session {
    /// Says from which level on log messages are wanted. A legacy server is told with a request, which the ticket is for;
    /// for a modern server there is none, and each request that is sent from now on says it.
    ///
    /// # Errors
    /// As [`Session::request`], in both eras. Also for a level that the specification does not have, if the server is
    /// modern: it would refuse all requests.
    pub fn set_log_level(
        &mut self,
        level: &LoggingLevel,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Option<Ticket<SetLevel>>, SendError> {
        let version = match self.version {
            Some(version) if version.era() == Era::Modern => version,
            _ => return self.request(&SetLevelParams { level }, options, now, out).map(Some),
        };
        self.check_open(out)?;
        if self.barred.undeclared & const { revisions::bit(SetLevel::NAME) } != 0 {
            return Err(SendError::NotOffered { method: SetLevel::NAME, needs: Need::Logging });
        }
        if matches!(level, LoggingLevel::Other(_)) {
            let reason = alloc::format!("there is no log level `{level}`");
            return Err(SendError::Params { method: SetLevel::NAME.into(), reason });
        }
        self.config.log_level = Some(level.clone());
        self.meta = modern_meta(&self.config, version);
        self.tasks.forget_meta();
        Ok(None)
    }
}
