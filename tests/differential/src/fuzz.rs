//! The fuzz targets that drive the engine, from the files that the tests and the fuzzer use.

#[path = "../../engine/src/fuzz/content.rs"]
pub(crate) mod content;
#[path = "../../engine/src/fuzz/cuts.rs"]
pub(crate) mod cuts;
#[path = "../../engine/src/fuzz/describe.rs"]
mod describe;
#[path = "../../engine/src/fuzz/exchange/mod.rs"]
pub(crate) mod exchange;
#[path = "../../engine/src/fuzz/http/mod.rs"]
pub(crate) mod http;
#[path = "../../engine/src/fuzz/messages.rs"]
pub(crate) mod messages;
#[path = "../../engine/src/fuzz/operations/mod.rs"]
pub(crate) mod operations;
#[path = "../../engine/src/fuzz/trace.rs"]
pub(crate) mod trace;
