//! JSON-RPC 2.0: what kind a message is ([`peek`]), what it holds ([`decode`]), how ours are written ([`mod@write`]).
//!
//! A message is looked at twice and parsed once: the peek reads keys until it knows the id and the kind, and builds
//! nothing; the decode, done where the result is wanted, reads the whole text in one pass into the type that was asked for.

pub(crate) mod decode;
mod id;
pub(crate) mod peek;
pub(crate) mod result_type;
pub(crate) mod write;

pub(crate) use crate::error::{PeerError, PeerErrorKind, RpcError};
pub(crate) use id::WireId;
