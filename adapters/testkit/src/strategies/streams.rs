//! How a stream is cut into chunks, and how long its ends wait.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

/// Generates the sizes of chunks, in bytes, which repeat until the end of the stream: all at once, single bytes, parts of messages,
/// or up to 512 bytes, which often end in the middle of a message after the first. An empty list stands for all at once, and is
/// what other lists shrink to.
pub fn chunk_sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        2 => Just(Vec::new()),
        1 => Just(vec![1]),
        2 => vec(1..64_usize, 1..4),
        2 => vec(64..=512_usize, 1..4),
    ]
}

/// Generates a delay: often none or a few milliseconds, sometimes up to two minutes.
pub fn delay() -> impl Strategy<Value = Duration> {
    prop_oneof![
        2 => Just(Duration::ZERO),
        2 => (0..100_u64).prop_map(Duration::from_millis),
        1 => (1..120_u64).prop_map(Duration::from_secs),
    ]
}
