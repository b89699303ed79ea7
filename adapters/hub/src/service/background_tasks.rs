//! Calls the supervisor when its timeouts expire, and detects that the machine was asleep, so that lost connections are noticed.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use mcpwire_driver::Timer;

use super::hub_state::HubState;
use super::servers::Servers;

/// Maximum time between two comparisons of the wall clock with the monotonic clock: 60 s. A sleep of the machine is therefore
/// detected at most 60 s after the machine wakes up.
const MAX_REST: Duration = Duration::from_secs(60);

/// Minimum difference between the advance of the wall clock and of the monotonic clock that counts as a sleep of the machine: 10
/// s. Corrections of the wall clock are smaller, and a sleep that loses connections is longer.
const MAX_DRIFT: Duration = Duration::from_secs(10);

/// Calls the supervisor whenever one of its timeouts expires, and after the machine was asleep. Runs as a task until the hub has
/// ended.
pub(super) async fn run(hub: Weak<HubState>, mut timer: Box<dyn Timer>) {
    let (mut monotonic, mut wall) = (Instant::now(), SystemTime::now());
    loop {
        let Some(hub) = hub.upgrade() else { return };
        if has_slept(monotonic.elapsed(), wall.elapsed().ok()) {
            hub.update(Servers::suspect_connections);
        }
        (monotonic, wall) = (Instant::now(), SystemTime::now());
        let (is_ended, timeout) = {
            let servers = hub.lock();
            (servers.is_ended(), servers.supervisor.poll_timeout())
        };
        if is_ended {
            return;
        }
        let rest = timeout.map_or(MAX_REST, |at| at.duration_since(hub.now()));
        if rest.is_zero() {
            hub.update(|servers, now| servers.supervisor.handle_timeout(now));
            continue;
        }
        // The alarm rings when the supervisor's next timeout becomes earlier, and when the hub ends.
        let alarm = Arc::clone(&hub.alarm);
        drop(hub);
        alarm.wait(&mut *timer, rest.min(MAX_REST)).await;
    }
}

/// Returns whether the machine was asleep between two looks at the clocks: the wall clock has then advanced much further than the
/// monotonic clock. `wall` is `None` if the wall clock was set back.
fn has_slept(monotonic: Duration, wall: Option<Duration>) -> bool {
    wall.is_some_and(|wall| wall.saturating_sub(monotonic) > MAX_DRIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_told_from_a_correction_of_the_time() {
        let secs = |secs| Duration::from_secs(secs);
        assert!(has_slept(secs(60), Some(secs(3_600))));
        assert!(!has_slept(secs(60), Some(secs(62))), "the time was corrected");
        assert!(!has_slept(secs(60), Some(secs(1))), "the time was set back");
        assert!(!has_slept(secs(60), None), "the time was set back by more than has passed");
    }
}
