//! JSON-RPC 2.0: classifies messages ([`received`]), decodes them ([`decode`]), and writes messages of the client
//! ([`mod@write`]).
//!
//! [`Received`] reads only the keys that determine the kind and the id of a message, and builds nothing. [`decode`]
//! parses the whole message in one pass, directly into the requested type. It runs where the result is used, such as
//! in the caller's thread.

pub(crate) mod decode;
mod id;
pub(crate) mod received;
pub(crate) mod write;

pub(crate) use decode::RequestFault;
pub(crate) use id::{WireId, last_id};
pub(crate) use mcpwire_text::json::peer_error;
pub(crate) use mcpwire_types::{PeerError, PeerErrorKind, RpcError};
pub(crate) use received::{Batch, Received, Response, ResultType};
