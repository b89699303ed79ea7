//! Starts servers that wait for a login when the user has logged in, and restarts servers whose login was deleted.
//!
//! Any process of the user may log in or log out. The hub checks the files of the logins once per second, and when a call finds
//! its server in the state `needs-login`. It does not watch the directory of these files: this would need a dependency for each
//! platform, and would miss changes on network drives.

use std::sync::{Arc, Weak};
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_driver::Timer;
use mcpwire_supervisor::{Command, ServerId};

use super::hub_state::HubState;
use super::login_state::{INTERVAL, Reaction};
use super::servers::Servers;
use crate::logins::LoginKey;

/// Time until the next check while no server has a login: 1 h. An alarm ends this wait when a server with a login is started.
const REST: Duration = Duration::from_secs(3_600);

/// Checks the stored logins of all servers once per second. Runs as a task until the hub has ended.
pub(super) async fn run(hub: Weak<HubState>, mut timer: Box<dyn Timer>) {
    loop {
        let Some(hub) = hub.upgrade() else { return };
        let (is_ended, watched) = {
            let servers = hub.lock();
            (servers.is_ended(), servers.watched_logins())
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
        let command = match login.reaction(lifecycle, revision, now) {
            None => return false,
            Some(Reaction::Start) => Command::Boot,
            Some(Reaction::Restart) => {
                self.settings.logins.forget(&login.key);
                Command::Restart
            }
        };
        // The result of the command is ignored: the state of the server shows whether it has started.
        drop(servers.request(|supervisor, command_id| supervisor.command(id, command_id, command, now)));
        true
    }
}
