//! [`RequestFault`]: why a request got no usable answer, before its caller is known.

use super::{PeerError, RpcError};
#[cfg(feature = "http")]
use crate::transport_error::HttpError;

/// Why a request got no usable answer.
///
/// The transport or the decoder creates this error. The code that sent the request converts it to a public error, such
/// as [`CallError`](crate::CallError).
#[derive(Clone, Debug)]
pub(crate) enum RequestFault {
    /// The server answered with a JSON-RPC error, which may have arrived in an HTTP error response without the id of
    /// the request.
    Server(RpcError),
    /// The server's response is malformed: it is not valid JSON-RPC, contains a value of the wrong type, or is too
    /// long.
    Invalid(PeerError),
    /// The HTTP exchange of the request failed, or ended without a JSON-RPC response.
    #[cfg(feature = "http")]
    Http(HttpError),
}
