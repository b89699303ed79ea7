//! Bytes to lines and back: the framing of the stdio transport (2026-07-28, basic/transports/stdio).
//!
//! A message is a line. [`Receive`] cuts what arrives into lines in the buffer that it arrived in; [`Transmit`] keeps what is
//! to be sent until it is.

mod receive;
mod transmit;

pub(crate) use receive::{Input, Line, Receive};
pub(crate) use transmit::Transmit;
