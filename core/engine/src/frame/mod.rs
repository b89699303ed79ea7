//! Line framing of the stdio transport (specification: basic/transports/stdio).
//!
//! Each message is one line. [`ReceiveBuffer`] splits received bytes into lines without copying the bytes.
//! A [`Message`] is a line that a reply keeps.
//! [`TransmitBuffer`] queues outgoing bytes until they are written.

mod receive;
mod transmit;

pub(crate) use receive::{FrameInput, Message, ReceiveBuffer};
pub(crate) use transmit::TransmitBuffer;
