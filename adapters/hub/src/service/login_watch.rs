//! Starts servers that wait for a login when the login is stored, and restarts servers whose login is deleted.
//!
//! Any process of the user may log in or log out. The hub looks at the files of the logins once per second, and when a call
//! finds its server in the state `needs-login`. It does not watch the directory: that takes a dependency for each platform, and
//! misses changes on network drives.

use std::sync::{Arc, Weak};
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_driver::Timer;
use mcpwire_supervisor::{Command, ServerId};

use super::login_state::{INTERVAL, Reaction};
use super::options::Settings;
use super::state::{Servers, State};
use crate::logins::LoginKey;
use crate::tasks::Alarm;

/// Time until the next look while no server has a login. The alarm rings earlier.
const REST: Duration = Duration::from_secs(3_600);

/// Looks at the stored logins of all servers once per second. Returns when the hub has ended.
pub(super) async fn run(state: Weak<State>, settings: Arc<Settings>, alarm: Arc<Alarm>, mut timer: Box<dyn Timer>) {
    loop {
        let watched = {
            let Some(state) = state.upgrade() else { return };
            let (is_ended, watched) = state.read(|servers| (servers.is_ended(), servers.watched_logins()));
            if is_ended {
                return;
            }
            watched
        };
        let rest = if watched.is_empty() { REST } else { INTERVAL };
        look(&state, &settings, watched).await;
        // The alarm rings when a server with a login is started or has failed, and when the hub ends.
        alarm.wait(&mut *timer, rest).await;
    }
}

/// Looks at the stored login of one server. Returns whether the server is started because of it.
pub(super) async fn look_at(state: &Arc<State>, settings: &Arc<Settings>, id: ServerId) -> bool {
    let Some(key) = state.read(|servers| servers.login_state(id).map(|watch| watch.key.clone())) else { return false };
    look(&Arc::downgrade(state), settings, vec![(id, key)]).await
}

/// Compares the stored logins of these servers with what the hub knows. Returns whether a server is started or restarted.
async fn look(state: &Weak<State>, settings: &Arc<Settings>, watched: Vec<(ServerId, LoginKey)>) -> bool {
    if watched.is_empty() {
        return false;
    }
    let logins = settings.logins.clone();
    let read = settings.tasks.block(move || {
        // A login that cannot be read does not change anything: a request of the server reports the error.
        let revision = |(id, key): (ServerId, LoginKey)| Some((id, logins.revision(&key).ok()?));
        watched.into_iter().filter_map(revision).collect::<Vec<_>>()
    });
    let (Ok(revisions), Some(state)) = (read.await, state.upgrade()) else { return false };
    state.update(|servers, now| {
        let mut has_reacted = false;
        for (id, revision) in revisions {
            has_reacted |= react(servers, settings, id, revision, now);
        }
        has_reacted
    })
}

fn react(servers: &mut Servers, settings: &Settings, id: ServerId, revision: Option<u64>, now: Timestamp) -> bool {
    let Some(lifecycle) = servers.detail(id).map(|detail| detail.state) else { return false };
    let Some(watch) = servers.login_state_mut(id) else { return false };
    let command = match watch.reaction(lifecycle, revision, now) {
        None => return false,
        Some(Reaction::Start) => Command::Boot,
        Some(Reaction::Restart) => {
            settings.logins.forget(&watch.key);
            Command::Restart
        }
    };
    // Nobody waits for the outcome: the state of the server shows it.
    drop(servers.request(|supervisor, command_id| supervisor.command(id, command_id, command, now)));
    true
}
