//! Random ids for tasks and sessions.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Returns an unguessable id of 128 random bits. They come from the keys of hash tables of the standard library.
pub(crate) fn random_id() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}
