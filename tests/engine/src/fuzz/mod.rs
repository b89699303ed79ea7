//! What must hold whatever a server sends and whatever a caller does: the bodies of the fuzz targets in `fuzz/`.
//!
//! Each takes any bytes, plays what they stand for, and panics where a promise of the core's is broken. They use the
//! core's public interface only. The ordinary tests replay the kept inputs, and feed them with random ones.

// Panicking is what they are for.
#![allow(clippy::missing_panics_doc)]

mod bytes;
pub mod chunks;
pub mod content;
mod describe;
pub mod envelope;
pub mod exchange;
pub mod http;
pub mod oauth;
pub mod operations;
mod reference;
pub mod sse;
pub mod supervisor;
pub mod tools;
pub mod trace;

/// The body of a target.
pub type Body = fn(&[u8]);

/// The body of a target that says what it does and sees.
pub type Traced = fn(&[u8], &trace::Trace);

/// The targets that can be traced.
pub const TRACES: [(&str, Traced); 8] = [
    ("chunks", chunks::trace),
    ("content", content::trace),
    ("envelope", envelope::trace),
    ("exchange", exchange::trace),
    ("http", http::trace),
    ("operations", operations::trace),
    ("sse", sse::trace),
    ("tools", tools::trace),
];

/// The targets by their names.
pub const TARGETS: [(&str, Body); 10] = [
    ("chunks", chunks::run),
    ("content", content::run),
    ("envelope", envelope::run),
    ("exchange", exchange::run),
    ("http", http::run),
    ("oauth", oauth::run),
    ("operations", operations::run),
    ("sse", sse::run),
    ("supervisor", supervisor::run),
    ("tools", tools::run),
];
