//! A look into the process table. Only Linux lets us see all of it, in `/proc`; elsewhere no process is ever found by its
//! mark, and the tests look for those that they know.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(all(unix, not(target_os = "linux")))]
mod other_unix;
#[cfg(windows)]
mod windows;

use std::thread;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
use linux as whole_table;
#[cfg(not(target_os = "linux"))]
use other as whole_table;
#[cfg(all(unix, not(target_os = "linux")))]
use other_unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::kill;
pub use system::process_exists;
pub(crate) use whole_table::marked;
pub use whole_table::peak_memory;

/// A process that was killed may take a moment to go; one that is left stays.
const GRACE: Duration = Duration::from_secs(60);

/// Whether a process that was killed has ended: what nobody here can wait for takes its moment to go.
pub fn has_ended(pid: u32) -> bool {
    let begin = Instant::now();
    while process_exists(pid) && begin.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(2));
    }
    !process_exists(pid)
}

/// Waits until no process has this word in its command line and none of this process' ended children is uncollected.
/// Those that stay are the answer.
///
/// A process that has ended has no command line any more. An ended child of another test, which runs at the same time,
/// is not told apart, but it does not stay.
pub(crate) fn left_over(word: &str) -> Vec<u32> {
    let begin = Instant::now();
    let mut left: Vec<u32> = marked(word).into_iter().chain(whole_table::ended_children()).collect();
    while !left.is_empty() && begin.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(2));
        left.retain(|pid| process_exists(*pid));
    }
    left
}
