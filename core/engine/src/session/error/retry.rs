//! Whether a request that failed can be sent again, and when.

use core::time::Duration;

use super::{CallError, ConnectError, SendError};
#[cfg(feature = "http")]
use crate::transport_error::{FailureKind, HttpError};

/// Returns whether requests of this method only read, so that the server can answer them twice without harm.
pub(crate) fn is_reading(method: &str) -> bool {
    matches!(method, "ping" | "prompts/get" | "resources/read" | "completion/complete") || method.ends_with("/list")
}

impl SendError {
    /// Returns whether the request may be accepted later: too many requests or bytes are waiting now.
    pub fn is_retryable(&self) -> bool {
        matches!(self, SendError::TooManyInFlight { .. } | SendError::TransmitFull { .. })
    }
}

impl ConnectError {
    /// Returns whether another attempt to connect may succeed without a change of the configuration: the server did not
    /// respond in time, could not be reached, or reported a temporary failure.
    pub fn is_retryable(&self) -> bool {
        match self {
            ConnectError::Timeout { .. } => true,
            #[cfg(feature = "http")]
            ConnectError::Http { error, .. } => error.is_unprocessed() || error.is_temporary(),
            _ => false,
        }
    }

    /// Returns the request that failed: `initialize` or `server/discover`. `None` if the failure is not that of a request.
    pub fn method(&self) -> Option<&'static str> {
        match self {
            ConnectError::Refused { method, .. } | ConnectError::Invalid { method, .. } => Some(method),
            #[cfg(feature = "http")]
            ConnectError::Http { method, .. } => Some(method),
            _ => None,
        }
    }
}

impl CallError {
    /// Returns whether the same request may succeed if it is sent again, and cannot take effect twice.
    ///
    /// The server did not process the request, the server asks for another attempt by a `Retry-After` header, or the
    /// request only reads and failed for a reason that may pass.
    pub fn is_retryable(&self) -> bool {
        match self {
            CallError::Timeout { method, .. } => is_reading(method),
            #[cfg(feature = "http")]
            CallError::Http { method, error } => error.is_unprocessed() || (is_reading(method) && error.is_temporary()),
            _ => false,
        }
    }
}

/// Implements what an error tells about the HTTP response in place of the JSON-RPC response.
macro_rules! http_details {
    ($($Error:ident)*) => { $(
        impl $Error {
            /// Returns the status of the HTTP response that did not contain the JSON-RPC response. `None` if there is none.
            pub fn http_status(&self) -> Option<u16> {
                #[cfg(feature = "http")]
                if let $Error::Http { error, .. } = self {
                    return error.status();
                }
                None
            }

            /// Returns how long the server asked the client to wait before the next attempt (HTTP header `Retry-After`).
            pub fn retry_after(&self) -> Option<Duration> {
                #[cfg(feature = "http")]
                if let $Error::Http { error, .. } = self {
                    return error.retry_after();
                }
                None
            }
        }
    )* };
}

http_details!(ConnectError CallError);

#[cfg(feature = "http")]
impl HttpError {
    /// Returns whether the server did not process the request and may process it later, or asks for another attempt.
    fn is_unprocessed(&self) -> bool {
        match self {
            HttpError::Failed(failure) => {
                matches!(failure.kind, FailureKind::Unreachable | FailureKind::TokenUnavailable)
            }
            error => error.retry_after().is_some() || matches!(error.status(), Some(408 | 425 | 429 | 503)),
        }
    }

    /// Returns whether the reason of the failure may pass. The server may have processed the request.
    fn is_temporary(&self) -> bool {
        match self {
            HttpError::Failed(failure) => failure.kind == FailureKind::Broken,
            HttpError::Status { status, .. } => (500..600).contains(status),
            HttpError::NoAnswer { .. } | HttpError::SessionLost => true,
            _ => false,
        }
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use alloc::string::String;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use super::*;
    use crate::session::Deadline;
    use crate::transport_error::Failure;

    fn call(method: &'static str, error: &HttpError) -> CallError {
        CallError::Http { method: method.into(), error: Arc::new(error.clone()) }
    }

    fn status(status: u16, retry_after: Option<u64>) -> HttpError {
        HttpError::Status { status, excerpt: String::new(), retry_after: retry_after.map(Duration::from_secs) }
    }

    /// For each error: whether a tool call, and whether a request that reads, can be sent again after it.
    #[test]
    fn a_request_that_may_have_had_an_effect_is_not_repeated() {
        let failed = |kind| HttpError::Failed(Failure::new(kind, "why"));
        let forbidden = |retry_after| HttpError::Unauthorized {
            status: 403,
            challenges: Vec::new(),
            excerpt: String::new(),
            retry_after,
        };
        let cases = [
            (status(429, None), true, true),
            (status(503, None), true, true),
            (status(408, None), true, true),
            (status(425, None), true, true),
            (status(500, None), false, true),
            (status(502, None), false, true),
            (status(502, Some(1)), true, true),
            (status(404, None), false, false),
            (status(400, None), false, false),
            (forbidden(None), false, false),
            (forbidden(Some(Duration::from_secs(60))), true, true),
            (failed(FailureKind::Unreachable), true, true),
            (failed(FailureKind::Broken), false, true),
            (failed(FailureKind::Tls), false, false),
            (failed(FailureKind::Invalid), false, false),
            (failed(FailureKind::NotMade), false, false),
            (failed(FailureKind::Unauthorized), false, false),
            (failed(FailureKind::LoginRequired), false, false),
            (failed(FailureKind::TokenUnavailable), true, true),
            (HttpError::SessionLost, false, true),
            (HttpError::NoAnswer { status: 200, attempts: 5 }, false, true),
            (HttpError::ContentType { status: 200, found: String::new(), excerpt: String::new() }, false, false),
        ];
        for (error, tool_call, reading) in cases {
            assert_eq!(call("tools/call", &error).is_retryable(), tool_call, "{error}");
            assert_eq!(call("resources/read", &error).is_retryable(), reading, "{error}");
            let opening = ConnectError::Http { method: "initialize", error: Arc::new(error.clone()) };
            assert_eq!(opening.is_retryable(), reading, "{error}");
        }
    }

    #[test]
    fn a_timeout_is_retryable_if_the_request_reads() {
        let timeout = |method: &'static str| CallError::Timeout {
            method: method.into(),
            after: Duration::from_secs(1),
            deadline: Deadline::Idle,
        };
        assert!(timeout("tools/list").is_retryable() && timeout("ping").is_retryable());
        assert!(!timeout("tools/call").is_retryable() && !timeout("x/listen").is_retryable());
        assert!(ConnectError::Timeout { after: Duration::from_secs(1) }.is_retryable());
        assert!(!ConnectError::Closed.is_retryable() && !SendError::Closed.is_retryable());
        assert!(SendError::TooManyInFlight { limit: 1 }.is_retryable());
        assert!(SendError::TransmitFull { limit: 1 }.is_retryable());
    }
}
