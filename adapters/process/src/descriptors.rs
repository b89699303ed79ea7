//! [`check_descriptors`]: whether this process can open more files.

use std::io;

/// Checks that this process can open `count` more descriptors now, such as files and sockets.
///
/// Call this before code that panics without descriptors, such as the first use of a runtime. Other threads may take the
/// descriptors meanwhile.
///
/// # Errors
/// If the limit of open files is reached. The message says what to do.
pub fn check_descriptors(count: usize) -> io::Result<()> {
    // Each pipe has two descriptors.
    let opened: io::Result<Vec<_>> = (0..count.div_ceil(2)).map(|_| io::pipe()).collect();
    // A pipe can only fail for want of descriptors.
    opened.map(drop).map_err(|error| {
        io::Error::new(error.kind(), format!("{error}. Close files, or raise the limit of open files"))
    })
}
