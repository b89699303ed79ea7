//! Line framing of the stdio transport (2026-07-28, basic/transports/stdio).
//!
//! Each message is one line. [`ReceiveBuffer`] splits incoming bytes into lines without copying them. [`TransmitBuffer`] queues
//! outgoing bytes until they are written.

mod receive;
mod transmit;

pub(crate) use receive::{FrameInput, Line, ReceiveBuffer};
pub(crate) use transmit::TransmitBuffer;
