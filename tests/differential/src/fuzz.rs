//! The fuzz targets that drive the engine, from the files that the tests and the fuzzer use.

#[path = "../../engine/src/fuzz/bytes.rs"]
mod bytes;
#[path = "../../engine/src/fuzz/chunks.rs"]
pub(crate) mod chunks;
#[path = "../../engine/src/fuzz/content.rs"]
pub(crate) mod content;
#[path = "../../engine/src/fuzz/describe.rs"]
mod describe;
#[path = "../../engine/src/fuzz/envelope.rs"]
pub(crate) mod envelope;
#[path = "../../engine/src/fuzz/exchange/mod.rs"]
pub(crate) mod exchange;
#[path = "../../engine/src/fuzz/http/mod.rs"]
pub(crate) mod http;
#[path = "../../engine/src/fuzz/operations/mod.rs"]
pub(crate) mod operations;
#[path = "../../engine/src/fuzz/reference.rs"]
mod reference;
#[path = "../../engine/src/fuzz/sse.rs"]
pub(crate) mod sse;
#[path = "../../engine/src/fuzz/tools.rs"]
pub(crate) mod tools;
#[path = "../../engine/src/fuzz/trace.rs"]
pub(crate) mod trace;
