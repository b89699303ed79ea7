//! [`RequestFault`]: why a request got no usable answer, before its caller is known.

use alloc::borrow::Cow;
#[cfg(feature = "http")]
use alloc::boxed::Box;

use super::call::CallError;
use super::connect::ConnectError;
use crate::error::{PeerError, RpcError};
#[cfg(feature = "http")]
use crate::transport_error::HttpError;

/// The reason why a request got no usable answer.
///
/// The transport and the decoder report it. The owner of the request decides which public error it becomes.
#[derive(Clone, Debug)]
pub(crate) enum RequestFault {
    /// The server answered with an error, possibly in a message that does not name the request.
    Server(RpcError),
    /// The server's answer is invalid.
    Invalid(PeerError),
    /// The HTTP exchange of the request brought no answer.
    #[cfg(feature = "http")]
    Http(HttpError),
}

impl RequestFault {
    /// Converts the fault to the error of a request with this method.
    pub(in crate::session) fn into_call_error(self, method: Cow<'static, str>) -> CallError {
        match self {
            RequestFault::Server(error) => CallError::Server { method, error },
            RequestFault::Invalid(error) => CallError::Invalid { method, error },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => CallError::Http { method, error: Box::new(error) },
        }
    }

    /// Converts the fault to the error of an opening that sent `method`.
    pub(in crate::session) fn into_connect_error(self, method: &'static str) -> ConnectError {
        match self {
            RequestFault::Server(error) => ConnectError::Refused { method, error },
            RequestFault::Invalid(error) => ConnectError::Invalid { method, error },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => ConnectError::Http { method, error: Box::new(error) },
        }
    }
}
