//! Random ids for tasks and sessions.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Returns an id that nobody can guess: 128 bits of the randomness that the standard library uses for its hash tables.
pub(crate) fn random_id() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}
