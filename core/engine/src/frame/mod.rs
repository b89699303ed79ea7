//! Line framing of the stdio transport (specification: basic/transports/stdio).
//!
//! Each message is one line. [`ReceiveBuffer`] splits received bytes into lines without copying the bytes.
//! [`TransmitBuffer`] queues outgoing bytes until they are written.

mod receive;
mod transmit;

pub(crate) use receive::{FrameInput, ReceiveBuffer};
pub(crate) use transmit::TransmitBuffer;
