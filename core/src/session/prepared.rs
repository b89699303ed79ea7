//! Parameters that are text already.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::error::SendError;
use crate::method::{Method, Params};
use crate::rpc::write::{self, ParamsError};
use crate::text::excerpt;

/// Parameters of a request, checked and turned into text before there is a session at hand.
///
/// Where a session is behind a lock, parameters that are large, or that are the caller's own code, are better serialised
/// outside of it. What is left for [`Session::request_prepared`](super::Session::request_prepared) is to copy the text.
pub struct Prepared<M> {
    text: Vec<u8>,
    method: PhantomData<fn() -> M>,
}

impl<M: Method> Prepared<M> {
    /// Serialises parameters.
    ///
    /// # Errors
    /// If they do not serialise, or are no JSON object.
    pub fn new(params: &impl Params<M>) -> Result<Self, SendError> {
        // What most calls need: growing step by step would cost more than writing.
        let mut text = Vec::with_capacity(256);
        push(&mut text, params).map_err(|error| send_error(M::NAME, error))?;
        Ok(Prepared { text, method: PhantomData })
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }
}

impl<M> Clone for Prepared<M> {
    fn clone(&self) -> Self {
        Prepared { text: self.text.clone(), method: PhantomData }
    }
}

impl<M: Method> fmt::Debug for Prepared<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("method", &M::NAME).field("params", &excerpt(&self.text)).finish()
    }
}

/// Appends parameters that `M` takes.
pub(super) fn push<M: Method, P: Params<M>>(out: &mut Vec<u8>, params: &P) -> Result<(), ParamsError> {
    write::push_object(out, params)?;
    if P::check(out) { Ok(()) } else { Err(ParamsError::NotAnObject) }
}

pub(super) fn send_error(method: &str, error: ParamsError) -> SendError {
    match error {
        ParamsError::Serialize(reason) => SendError::Params { method: method.into(), reason },
        ParamsError::NotAnObject => SendError::NotAnObject { method: method.into() },
    }
}
