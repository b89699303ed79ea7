//! The fuzz targets that drive the engine, from the files that the tests and the fuzzer use.

#[path = "../../src/fuzz/bytes.rs"]
mod bytes;
#[path = "../../src/fuzz/chunks.rs"]
pub(crate) mod chunks;
#[path = "../../src/fuzz/content.rs"]
pub(crate) mod content;
#[path = "../../src/fuzz/describe.rs"]
mod describe;
#[path = "../../src/fuzz/envelope.rs"]
pub(crate) mod envelope;
#[path = "../../src/fuzz/exchange/mod.rs"]
pub(crate) mod exchange;
#[path = "../../src/fuzz/http/mod.rs"]
pub(crate) mod http;
#[path = "../../src/fuzz/operations/mod.rs"]
pub(crate) mod operations;
#[path = "../../src/fuzz/reference.rs"]
mod reference;
#[path = "../../src/fuzz/sse.rs"]
pub(crate) mod sse;
#[path = "../../src/fuzz/tools.rs"]
pub(crate) mod tools;
#[path = "../../src/fuzz/trace.rs"]
pub(crate) mod trace;
