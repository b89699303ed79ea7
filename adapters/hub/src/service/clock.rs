//! Calls the supervisor when its timeouts expire, and detects that the machine was asleep.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use mcpwire_driver::Timer;

use super::state::{Servers, State};
use crate::tasks::Alarm;

/// Maximum time between two checks of the clocks, and so until a sleep of the machine is detected.
const MAX_REST: Duration = Duration::from_secs(60);

/// Maximum difference between the two clocks that does not count as sleep. Corrections of the time are smaller than 10 s,
/// and a sleep that loses connections is longer.
const MAX_DRIFT: Duration = Duration::from_secs(10);

/// Runs until the hub has ended.
pub(super) async fn run(state: Weak<State>, alarm: Arc<Alarm>, mut timer: Box<dyn Timer>) {
    let (mut monotonic, mut wall) = (Instant::now(), SystemTime::now());
    loop {
        let rest = {
            let Some(state) = state.upgrade() else { return };
            if has_slept(monotonic.elapsed(), wall.elapsed().ok()) {
                state.update(Servers::suspect_connections);
            }
            (monotonic, wall) = (Instant::now(), SystemTime::now());
            let (is_ended, timeout) = state.read(|servers| (servers.is_ended(), servers.poll_timeout()));
            if is_ended {
                return;
            }
            let rest = timeout.map_or(MAX_REST, |at| at.duration_since(state.now()));
            if rest.is_zero() {
                state.update(Servers::handle_timeout);
                continue;
            }
            rest.min(MAX_REST)
        };
        // The state rings the alarm when the next timeout becomes earlier.
        alarm.wait(&mut *timer, rest).await;
    }
}

/// Returns whether the machine was asleep: the wall clock has advanced further than the monotonic clock.
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
