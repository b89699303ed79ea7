//! What the tests of the engine are made of: servers in simulated time ([`sim`]), the bodies of the fuzz targets ([`fuzz`]), the
//! official schemas ([`spec`]), an allocator that counts, and a watchdog for tests that could hang.

mod canned;
mod counting;
pub mod fuzz;
pub mod sim;
pub mod spec;

use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use std::{panic, thread};

pub use canned::{Canned, KeyOrder};
pub use counting::{Allocated, Counting, allocated, given_back, watch};

/// The only upper limit on real time in the tests: far longer than any case takes on a busy machine.
///
/// Whatever makes a test hang must last longer than this: see `FOR_EVER` of `bad-habits` and `Server::patient` of `mcpwire-tests`.
pub const WATCHDOG: Duration = Duration::from_secs(300);

/// Runs a test case in a thread, and fails if it does not end within [`WATCHDOG`].
///
/// # Panics
///
/// When the case does, or when it takes longer than [`WATCHDOG`].
pub fn watched(case: fn()) {
    let (done, finished) = mpsc::channel();
    let runner = thread::spawn(move || {
        case();
        let _ = done.send(());
    });
    match finished.recv_timeout(WATCHDOG) {
        Err(RecvTimeoutError::Timeout) => panic!("the case hangs: it has not ended within {WATCHDOG:?}"),
        // The case dropped its sender without a word: it panicked.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            if let Err(cause) = runner.join() {
                panic::resume_unwind(cause);
            }
        }
    }
}

/// Calls `act`, and returns its value and the time that it took. Compare the time with lower limits only: an upper limit fails on
/// a busy machine.
pub fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = act();
    (value, start.elapsed())
}
