//! What only Linux says of processes: here, nothing is known.

/// Returns the most memory that this process has had, in bytes, if the system says so.
pub fn peak_memory() -> Option<usize> {
    None
}

pub(crate) fn marked(_: &str) -> Vec<u32> {
    Vec::new()
}

pub(crate) fn ended_children() -> impl Iterator<Item = u32> {
    std::iter::empty()
}
