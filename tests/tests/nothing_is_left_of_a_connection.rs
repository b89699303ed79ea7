//! Connections come and go: no descriptor, no thread and no memory stays.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use mcpwire_tests::{Adapter, WATCHDOG, on_every_adapter, server};

/// What a process has is counted while only one case uses it.
static ALONE: Mutex<()> = Mutex::new(());

fn no_descriptor_and_no_thread<A: Adapter>() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // What a runtime makes once and keeps.
    come_and_go::<A>(2);
    let begin = Instant::now();
    let before = had();
    come_and_go::<A>(20);
    // The driver of a client that was dropped collects its server, which may take a moment longer than the drop.
    while had().0 > before.0 || had().1 > before.1 {
        assert!(begin.elapsed() < WATCHDOG / 2, "before {before:?}, after {:?}", had());
        thread::yield_now();
    }
}

on_every_adapter!(no_descriptor_and_no_thread);

fn come_and_go<A: Adapter>(times: usize) {
    for number in 0..times {
        let server = server!("well-behaved");
        let mut client = server.open::<A>();
        client.assert_alive();
        if number % 2 == 0 {
            client.shutdown().expect("it ends");
        }
    }
}

/// How many descriptors this process has, and how many threads that the library has started.
fn had() -> (usize, usize) {
    let entries = |folder| fs::read_dir(folder).expect("a process can look at itself").flatten();
    let is_ours = |name: &str| name.starts_with("mcpwire");
    let names = entries("/proc/self/task").filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    (entries("/proc/self/fd").count(), names.filter(|name| is_ours(name)).count())
}
