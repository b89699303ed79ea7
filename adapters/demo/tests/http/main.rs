//! The program over HTTP, from the side of clients on bare sockets.

mod client;
mod legacy;
mod limits;
mod modern;
mod sse;
