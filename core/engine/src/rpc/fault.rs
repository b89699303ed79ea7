//! [`RequestFault`]: why a request got no usable answer, before its caller is known.

use super::{PeerError, RpcError};
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
