//! Converts a [`RequestFault`] to the public error of the request that it ended.

use alloc::borrow::Cow;
use alloc::sync::Arc;

use super::call::CallError;
use super::connect::ConnectError;
use crate::rpc::RequestFault;

impl RequestFault {
    #[cold]
    pub(in crate::session) fn into_call_error(self, method: Cow<'static, str>) -> CallError {
        match self {
            RequestFault::Server(error) => CallError::Server { method, error: Arc::new(error) },
            RequestFault::Invalid(error) => CallError::Invalid { method, error: Arc::new(error) },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => CallError::Http { method, error: Arc::new(error) },
        }
    }

    /// Converts the failure of the request that opens a connection to a [`ConnectError`]. `method` is `server/discover`
    /// or `initialize`.
    #[cold]
    pub(in crate::session) fn into_connect_error(self, method: &'static str) -> ConnectError {
        match self {
            RequestFault::Server(error) => ConnectError::Refused { method, error: Arc::new(error) },
            RequestFault::Invalid(error) => ConnectError::Invalid { method, error: Arc::new(error) },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => ConnectError::Http { method, error: Arc::new(error) },
        }
    }
}
