//! Waits for token refreshes in progress before this process ends.
//!
//! When a refresh is sent, the authorization server usually invalidates the old token. If this process ended before it stored the
//! new token, the login would be lost.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_authorization::{SETTLE_TIMEOUT, settle_logins};

use crate::console::{Console, Interrupt, warn_of_lost_logins};
use crate::text;

/// Delay before a note tells the user what the process waits for.
const SOON: Duration = Duration::from_secs(1);

/// Waits until the tokens of all sent requests are stored, at most [`SETTLE_TIMEOUT`]. After that time, warns of the logins that
/// may be lost. Later calls do nothing.
///
/// The second interrupt of this process, such as Ctrl-C, ends the process without this wait.
pub(crate) fn settle(console: &Console) {
    static IS_DONE: OnceLock<()> = OnceLock::new();
    // `get_or_init` makes a concurrent second call wait for the first one.
    IS_DONE.get_or_init(|| settle_once(console));
}

fn settle_once(console: &Console) {
    if settle_logins(Duration::ZERO).is_empty() {
        return;
    }
    Interrupt::install();
    let start = Instant::now();
    if let [login, ..] = &*settle_logins(SOON)
        && start.elapsed() >= SOON
    {
        let title = login.server.as_deref().unwrap_or(&login.server_url);
        console.note(&format!("waiting for the answer to {} of {}", login.request, text::name(title)));
    }
    let reason = format!("no answer came within {} s", SETTLE_TIMEOUT.as_secs());
    warn_of_lost_logins(&settle_logins(SETTLE_TIMEOUT.saturating_sub(SOON)), &reason);
}

/// Runs the shutdown of a hub or a client, and calls [`settle`] at the same time, because both wait for the same tokens.
pub(crate) fn settle_during<T>(console: &Console, shutdown: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let waits = thread::Builder::new().spawn_scoped(scope, || settle(console)).is_ok();
        let done = shutdown();
        // If no thread can be started, the process waits for the tokens after the shutdown.
        if !waits {
            settle(console);
        }
        done
    })
}
