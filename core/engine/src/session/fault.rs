//! Why a request gets no answer.

use alloc::borrow::Cow;
#[cfg(feature = "http")]
use alloc::boxed::Box;

use super::error::CallError;
use crate::rpc::{PeerError, RpcError};
#[cfg(feature = "http")]
use crate::transport_error::HttpError;

/// Why a request gets no answer.
#[derive(Clone, Debug)]
pub(crate) enum RequestFault {
    /// The server's error, possibly in a message that does not name the request.
    Server(RpcError),
    /// The server's answer cannot be read.
    Invalid(PeerError),
    /// The exchange that carried the request failed.
    #[cfg(feature = "http")]
    Http(HttpError),
}

impl RequestFault {
    /// Returns the error of a request of this method.
    pub(super) fn into_error(self, method: Cow<'static, str>) -> CallError {
        match self {
            RequestFault::Server(error) => CallError::Server { method, error },
            RequestFault::Invalid(error) => CallError::Invalid { method, error },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => CallError::Http { method, error: Box::new(error) },
        }
    }
}
