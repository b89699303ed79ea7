//! Tests of the program over HTTP, with clients on plain sockets.

mod client;
mod legacy;
mod limits;
mod modern;
