//! The async client on servers that are scripted, in virtual time: what does not depend on a runtime, a process or a socket.

mod calls;
mod streams;
mod whole_messages;

use std::time::Duration;

use mcpwire_driver::CurrentRuntime;
use mcpwire_testkit::VirtualTime;

/// Runs a future beside the one that calls.
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    VirtualTime::current().spawn(Box::pin(task));
}

/// Waits until something holds that nothing tells of.
async fn eventually(holds: impl Fn() -> bool) {
    while !holds() {
        let mut timer = VirtualTime::current().timer();
        timer.reset(Duration::from_millis(1));
        std::future::poll_fn(|cx| timer.poll(cx)).await;
    }
}
