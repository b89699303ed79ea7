//! What must hold whatever a server sends and whatever a caller does: the bodies of the fuzz targets in `fuzz/`.
//!
//! Each takes any bytes, plays what they stand for, and panics where a promise of the core's is broken. They use the
//! core's public interface only. The ordinary tests replay the kept inputs, and feed them with random ones.

// Panicking is what they are for.
#![allow(clippy::missing_panics_doc)]

pub mod content;
pub mod cuts;
mod describe;
pub mod exchange;
pub mod http;
pub mod messages;
pub mod oauth;
pub mod operations;
pub mod supervisor;
pub mod trace;

use trace::Trace;

/// The body of a target. The trace says what the target does and sees.
pub type Target = fn(&[u8], &Trace);

/// The targets by their names. Those of `oauth` and `supervisor` leave the trace empty.
pub const TARGETS: [(&str, Target); 10] = [
    ("chunks", cuts::chunks),
    ("content", content::run),
    ("envelope", messages::envelope),
    ("exchange", exchange::run),
    ("http", http::run),
    ("oauth", |data, _| oauth::run(data)),
    ("operations", operations::run),
    ("sse", cuts::events),
    ("supervisor", |data, _| supervisor::run(data)),
    ("tools", messages::tools),
];

/// Returns the target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|(other, _)| *other == name).map(|(_, target)| target)
}

/// Plays an input of the target `name` without a trace.
pub fn run(name: &str, data: &[u8]) {
    let target = target(name).unwrap_or_else(|| panic!("no target `{name}`"));
    target(data, &Trace::default());
}
