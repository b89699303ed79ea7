//! [`RequestFault`]: why a request got no usable response. Converted to a public error when its sender is known.

use alloc::borrow::Cow;
#[cfg(feature = "http")]
use alloc::boxed::Box;

use super::call::CallError;
use super::connect::ConnectError;
use crate::error::{PeerError, RpcError};
#[cfg(feature = "http")]
use crate::transport_error::HttpError;

/// The reason why a request got no usable response.
///
/// Reported by the transport or the decoder. The part of the session that sent the request converts it to a public
/// error.
#[derive(Clone, Debug)]
pub(crate) enum RequestFault {
    /// The server responded with an error. The response may lack the id of the request.
    Server(RpcError),
    /// The server's response violates the specification.
    Invalid(PeerError),
    /// The HTTP exchange of the request ended without a response.
    #[cfg(feature = "http")]
    Http(HttpError),
}

impl RequestFault {
    /// Converts the reason to the error of a request with this method.
    pub(in crate::session) fn into_call_error(self, method: Cow<'static, str>) -> CallError {
        match self {
            RequestFault::Server(error) => CallError::Server { method, error },
            RequestFault::Invalid(error) => CallError::Invalid { method, error },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => CallError::Http { method, error: Box::new(error) },
        }
    }

    /// Converts the reason to the error of opening a connection. `method` is the request that failed: `initialize` or
    /// `server/discover`.
    pub(in crate::session) fn into_connect_error(self, method: &'static str) -> ConnectError {
        match self {
            RequestFault::Server(error) => ConnectError::Refused { method, error },
            RequestFault::Invalid(error) => ConnectError::Invalid { method, error },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => ConnectError::Http { method, error: Box::new(error) },
        }
    }
}
