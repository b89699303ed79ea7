//! Starts the program and servers for it, and waits for what they do.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "most tests are for Linux"))]

#[cfg(target_os = "linux")]
pub(crate) mod login;
mod place;
mod process;
#[cfg(unix)]
pub(crate) mod servers;
#[cfg(target_os = "linux")]
mod terminal;

use std::fmt::Debug;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use place::Place;
pub(crate) use process::{Finished, MCPWIRE, Running, command, mcpwire, run};
#[cfg(target_os = "linux")]
pub(crate) use terminal::{Mark, Terminal};

/// Maximum time to wait in a test. It is far longer than anything here takes, so only a failing test waits so long.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(300);

/// Arguments of the demo's tool `add`, whose result is 42.
pub(crate) const SUM: &str = r#"{"a":2,"b":40}"#;

/// A call that takes ten minutes, with progress.
pub(crate) const SLOW: [&str; 3] = ["call", "slow", r#"{"seconds":600}"#];

/// Runs a test for all cases at the same time. The name of a thread is its case, so each failure is printed with its case.
pub(crate) fn each<T: Debug + Send>(cases: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    thread::scope(|scope| {
        let test = &test;
        let start = |case: T| {
            let builder = thread::Builder::new().name(format!("{case:?}"));
            builder.spawn_scoped(scope, move || test(case)).expect("a thread")
        };
        let started: Vec<_> = cases.into_iter().map(start).collect();
        let failed = started.into_iter().filter_map(|thread| {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            thread.join().err().map(|_| name)
        });
        let failed: Vec<String> = failed.collect();
        assert!(failed.is_empty(), "failed cases: {failed:#?}");
    });
}

/// Calls `found` until it returns something.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < WATCHDOG, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a file, such as a trace, contains this text.
pub(crate) fn wait_for_text(file: impl AsRef<Path>, text: &str) {
    wait_for(text, || std::fs::read_to_string(&file).is_ok_and(|content| content.contains(text)).then_some(()));
}
