//! A line of 100 MiB, over the default limit of 64 MiB, in a process of its own so that its memory can be measured.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, on_every_adapter, peak_memory, server};

const MIB: usize = 1 << 20;

fn a_line_of_100_mib_fails_only_its_request<A: Adapter>() {
    let server = server!(&format!("endless-line {}", 100 * MIB));
    let mut client = server.open::<A>();
    client.failure("ends").assert(ErrorKind::Protocol, &["bad-habits", "tools/call", "67108864"]);
    client.assert_alive();
    if let Some(peak) = peak_memory() {
        assert!(peak < 150 * MIB, "the client used {} MiB", peak / MIB);
    }
}

on_every_adapter!(a_line_of_100_mib_fails_only_its_request);
