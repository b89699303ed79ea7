//! A line of 100 MiB, over the default limit of 64 MiB, in a process of its own so that its memory can be measured.

use std::sync::{Mutex, PoisonError};

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, on_every_adapter, peak_memory, server};

const MIB: usize = 1 << 20;

/// The memory is that of the process, so only one client may use it at a time.
static MEASURED: Mutex<()> = Mutex::new(());

fn a_line_of_100_mib_fails_only_its_request<A: Adapter>() {
    let _one = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let server = server!(&format!("endless-line {}", 100 * MIB));
    let mut client = server.open::<A>();
    client.failure("ends").assert(ErrorKind::Protocol, &["bad-habits", "tools/call", "67108864"]);
    client.assert_alive();
    if let Some(peak) = peak_memory() {
        assert!(peak < 150 * MIB, "the client used {} MiB", peak / MIB);
    }
}

on_every_adapter!(a_line_of_100_mib_fails_only_its_request);
