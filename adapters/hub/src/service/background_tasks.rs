//! The two background tasks of a hub, which run until the hub has ended.
//!
//! [`call_supervisor`] calls the supervisor when its timeouts expire. It also detects that the machine was asleep, so that lost
//! connections are noticed.
//!
//! [`watch_logins`] starts servers that wait for a login when the user has logged in, and restarts servers whose login was deleted.
//! Any process of the user may log in or log out. The task checks the files of the logins once per second, and a call checks them
//! when it finds its server in the state `needs-login`. The hub does not watch the directory of these files: this would need a
//! dependency for each platform, and would miss changes on network drives.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use mcpwire_core::Timestamp;
use mcpwire_driver::Timer;
use mcpwire_supervisor::{Command, ServerId};

use super::hub_state::HubState;
use super::login_state::INTERVAL;
use super::servers::Servers;
use crate::logins::LoginKey;

/// Maximum time between two comparisons of the wall clock with the monotonic clock: 60 s. A sleep of the machine is therefore
/// detected at most 60 s after the machine wakes up.
const MAX_REST: Duration = Duration::from_secs(60);

/// Minimum difference between the advance of the wall clock and of the monotonic clock that counts as a sleep of the machine: 10
/// s. Corrections of the wall clock are smaller, and a sleep that loses connections is longer.
const MAX_DRIFT: Duration = Duration::from_secs(10);

/// Calls the supervisor whenever one of its timeouts expires, and after the machine was asleep. Runs as a task until the hub has
/// ended.
pub(super) async fn call_supervisor(hub: Weak<HubState>, mut timer: Box<dyn Timer>) {
    let (mut monotonic, mut wall) = (Instant::now(), SystemTime::now());
    loop {
        let Some(hub) = hub.upgrade() else { return };
        if has_slept(monotonic.elapsed(), wall.elapsed().ok()) {
            hub.update(Servers::suspect_connections);
        }
        (monotonic, wall) = (Instant::now(), SystemTime::now());
        let (is_ended, timeout) = {
            let servers = hub.lock();
            (servers.is_ended, servers.supervisor.poll_timeout())
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

/// Time until the next check while no server has a login: 1 h. An alarm ends this wait when a server with a login is started.
const REST: Duration = Duration::from_secs(3_600);

/// Checks the stored logins of all servers once per second. Runs as a task until the hub has ended.
pub(super) async fn watch_logins(hub: Weak<HubState>, mut timer: Box<dyn Timer>) {
    loop {
        let Some(hub) = hub.upgrade() else { return };
        let (is_ended, watched) = {
            let servers = hub.lock();
            (servers.is_ended, servers.watched_logins())
        };
        if is_ended {
            return;
        }
        let rest = if watched.is_empty() { REST } else { INTERVAL };
        hub.look_at_logins(watched).await;
        // The alarm rings when a server with a login is started or has failed, and when the hub ends.
        let alarm = Arc::clone(&hub.login_alarm);
        drop(hub);
        alarm.wait(&mut *timer, rest).await;
    }
}

impl HubState {
    /// Checks the stored login of one server. Returns whether the hub starts or restarts the server because the login has
    /// changed.
    pub(super) async fn look_at_login(self: &Arc<Self>, id: ServerId) -> bool {
        let key = self.lock().get(id).and_then(|server| Some(server.login.as_ref()?.key.clone()));
        match key {
            Some(key) => self.look_at_logins(vec![(id, key)]).await,
            None => false,
        }
    }

    /// Compares the stored logins of these servers with the logins that the hub knows. Returns whether the hub starts or restarts
    /// a server because a login has changed.
    async fn look_at_logins(self: &Arc<Self>, watched: Vec<(ServerId, LoginKey)>) -> bool {
        if watched.is_empty() {
            return false;
        }
        let logins = self.settings.logins.clone();
        let read = self.settings.tasks.block(move || {
            // A stored login that cannot be read is ignored. A request that needs the login reports the error.
            let revision = |(id, key): (ServerId, LoginKey)| Some((id, logins.revision(&key).ok()?));
            watched.into_iter().filter_map(revision).collect::<Vec<_>>()
        });
        let Ok(revisions) = read.await else { return false };
        self.update(|servers, now| {
            let mut has_reacted = false;
            for (id, revision) in revisions {
                has_reacted |= self.react(servers, id, revision, now);
            }
            has_reacted
        })
    }

    fn react(&self, servers: &mut Servers, id: ServerId, revision: Option<u64>, now: Timestamp) -> bool {
        let Some(lifecycle) = servers.supervisor.detail(id).map(|detail| detail.state) else { return false };
        let Some(login) = servers.get_mut(id).and_then(|server| server.login.as_mut()) else { return false };
        let Some(command) = login.reaction(lifecycle, revision, now) else { return false };
        if command == Command::Restart {
            self.settings.logins.forget(&login.key);
        }
        // The result of the command is ignored: the state of the server shows whether it has started.
        drop(servers.request(|supervisor, command_id| supervisor.command(id, command_id, command, now)));
        true
    }
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
