//! [`ConnectFailure`]: why no connection could be opened.

use std::fmt;

use mcpwire_driver::protocol::http::{Failure, FailureKind};

/// Why no connection could be opened.
#[derive(Debug)]
pub(crate) struct ConnectFailure {
    kind: FailureKind,
    detail: String,
}

impl ConnectFailure {
    pub(crate) fn unreachable(detail: String) -> Self {
        ConnectFailure { kind: FailureKind::Unreachable, detail }
    }

    /// The address is one to which the request must not go.
    pub(crate) fn refused(detail: String) -> Self {
        ConnectFailure { kind: FailureKind::NotMade, detail }
    }

    pub(crate) fn tls(error: impl fmt::Display) -> Self {
        ConnectFailure { kind: FailureKind::Tls, detail: error.to_string() }
    }

    pub(crate) fn proxy(error: impl fmt::Display) -> Self {
        ConnectFailure::unreachable(format!("the proxy: {error}"))
    }
}

impl From<ConnectFailure> for Failure {
    fn from(failure: ConnectFailure) -> Self {
        Failure::new(failure.kind, failure.detail)
    }
}
