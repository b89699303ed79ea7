//! What all parts of a hub share: the supervisor behind one short lock, and what there is of each server.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant, SystemTime};

use futures_channel::oneshot;
use futures_util::lock::Mutex as AsyncMutex;
use mcpwire_client::catch_panic;
use mcpwire_core::Timestamp;
use mcpwire_supervisor::{Action, Catalogue, Command, CommandId, Event, Generation, ServerId, ServerSpec, Supervisor};

use super::attempt::Attempt;
use super::events::{HubEvent, Listeners};
use super::freshness::StaleAt;
use super::logs::Logs;
use super::options::Settings;
use super::plan;
use super::snapshot::{server_id, uuid};
use crate::HubError;
use crate::config::McpConfig;
use crate::tasks::{Alarm, Tasks, panicked};
use mcpwire_driver::{Clock, Timer};

/// A hub, without what keeps it alive.
pub(super) struct Shared {
    core: Mutex<Core>,
    catalogue: RwLock<Arc<Catalogue>>,
    pub(super) listeners: Listeners,
    pub(super) settings: Settings,
    pub(super) tasks: Tasks,
    /// One change of the file at a time, so that memory follows it in order.
    pub(super) changing: AsyncMutex<()>,
    clock: Clock,
    pub(super) stale_at: StaleAt,
    /// There is something new for the clock.
    rearm: Arc<Alarm>,
}

/// What is behind the lock. Nothing that waits is done with it.
pub(super) struct Core {
    pub(super) supervisor: Supervisor,
    pub(super) managed: HashMap<ServerId, Managed>,
    /// The order of the file.
    pub(super) order: Vec<ServerId>,
    /// Those who wait for a command to be answered.
    waiting: HashMap<CommandId, oneshot::Sender<Result<(), HubError>>>,
    /// Those who wait for everything to have come up.
    pub(super) booting: Vec<oneshot::Sender<Booted>>,
    last_command: u64,
    /// Nothing may be started any more: what comes up is killed.
    pub(super) ended: bool,
}

/// What has come of starting everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Booted {
    /// So many run, or sleep until they are called.
    pub ready: usize,
    /// So many have failed; those that may recover are started again.
    pub failed: usize,
    /// So many were stopped before they ran.
    pub cancelled: usize,
}

/// A configured server.
pub(super) struct Managed {
    pub(super) config: Arc<McpConfig>,
    /// Counts the changes of the configuration.
    pub(super) revision: u64,
    pub(super) logs: Logs,
    pub(super) attempts: BTreeMap<Generation, Attempt>,
    /// The supervisor knows what its tools were before this hub began.
    pub(super) is_compared: bool,
}

impl Shared {
    pub(super) fn new(settings: Settings, seed: u64) -> Arc<Self> {
        let core = Core {
            supervisor: Supervisor::new(settings.supervisor.clone(), seed),
            managed: HashMap::new(),
            order: Vec::new(),
            waiting: HashMap::new(),
            booting: Vec::new(),
            last_command: 0,
            ended: false,
        };
        let shared = Arc::new(Shared {
            core: Mutex::new(core),
            catalogue: RwLock::default(),
            listeners: Listeners::default(),
            tasks: settings.tasks.clone(),
            clock: settings.tasks.clock(),
            settings,
            changing: AsyncMutex::new(()),
            stale_at: StaleAt::default(),
            rearm: Arc::default(),
        });
        let (timed, rearm) = (Arc::downgrade(&shared), Arc::clone(&shared.rearm));
        shared.tasks.spawn(keep_time(timed, rearm, shared.tasks.timer()));
        shared
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the supervisor something, and begins all that it wants done for it.
    pub(super) fn act<T>(self: &Arc<Self>, f: impl FnOnce(&mut Core, Timestamp) -> T) -> T {
        self.act_on(self.lock(), f)
    }

    /// The same, unless that would have to wait for somebody else.
    pub(super) fn try_act(self: &Arc<Self>, f: impl FnOnce(&mut Core, Timestamp)) {
        if let Ok(core) = self.core.try_lock() {
            self.act_on(core, f);
        }
    }

    fn act_on<T>(self: &Arc<Self>, mut core: MutexGuard<'_, Core>, f: impl FnOnce(&mut Core, Timestamp) -> T) -> T {
        let value = f(&mut core, self.now());
        while let Some(action) = core.supervisor.poll_action() {
            self.perform(&mut core, action);
        }
        drop(core);
        self.rearm.ring();
        value
    }

    /// Tells what has happened to a server.
    pub(super) fn event(self: &Arc<Self>, id: ServerId, generation: Generation, event: Event) {
        self.act(|core, now| core.supervisor.event(id, generation, event, now));
    }

    fn perform(self: &Arc<Self>, core: &mut Core, action: Action) {
        match action {
            Action::Perform { server, effect } => self.perform_effect(core, server, effect),
            Action::Reply { command, result } => {
                if let Some(waiting) = core.waiting.remove(&command) {
                    // Whoever has gone needs no answer.
                    let _ = waiting.send(result);
                }
            }
            Action::Persist { server, enabled, revision } => self.persist(core, server, enabled, revision),
            Action::CatalogueChanged => {
                let catalogue = core.supervisor.catalogue();
                let count = catalogue.len();
                *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = catalogue;
                self.listeners.tell(&HubEvent::Tools { count });
            }
            Action::ToolsRedefined { server, changes } => {
                let Some(managed) = core.managed.get(&server) else { return };
                let name = managed.config.name.trim().to_owned();
                let event =
                    HubEvent::ToolChanged { id: uuid(server), name, changes: changes.tools, more: changes.more };
                self.listeners.tell(&event);
            }
            Action::Booted { ready, failed, cancelled } => {
                self.listeners.tell(&HubEvent::Booted { ready, failed, cancelled });
                for waiting in core.booting.drain(..) {
                    let _ = waiting.send(Booted { ready, failed, cancelled });
                }
            }
            Action::Removed { server } => {
                core.managed.remove(&server);
                core.order.retain(|id| *id != server);
                self.listeners.tell(&HubEvent::Removed { id: uuid(server) });
            }
            _ => {}
        }
    }

    /// Gives a command and waits until it is answered.
    pub(super) async fn command(self: &Arc<Self>, id: ServerId, command: Command) -> Result<(), HubError> {
        self.ask(|core, name, now| core.supervisor.command(id, name, command, now)).await
    }

    /// Asks something that is answered under a name, and waits for that.
    pub(super) async fn ask(self: &Arc<Self>, f: impl FnOnce(&mut Core, CommandId, Timestamp)) -> Result<(), HubError> {
        let answer = self.act(|core, now| {
            core.last_command += 1;
            let (name, (sender, answer)) = (CommandId(core.last_command), oneshot::channel());
            core.waiting.insert(name, sender);
            f(core, name, now);
            answer
        });
        answer.await.unwrap_or_else(|_| Err(hub_has_ended()))
    }

    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the supervisor is told of a configuration that is new: its revision is the first. Not under the lock.
    pub(super) fn spec(&self, config: &McpConfig) -> Result<ServerSpec, HubError> {
        let mut policy = plan::policy(config);
        if let Some(tune) = &self.settings.tune {
            catch_panic(|| tune(config, &mut policy)).map_err(|message| panicked("`HubOptions::policy`", &message))?;
        }
        let mut spec = ServerSpec::new(config.name.trim(), policy);
        spec.enabled = config.enabled;
        spec.filter = plan::filter(config);
        spec.rate = plan::rate(config);
        spec.revision = 1;
        Ok(spec)
    }

    /// Takes in a server that is in the file now.
    pub(super) fn add(self: &Arc<Self>, config: McpConfig, spec: ServerSpec) -> Result<(), HubError> {
        let id = server_id(config.id);
        let logs = Logs::new(Some(self.settings.layout.log(config.id)));
        self.act(|core, now| {
            core.supervisor.add(id, spec, now)?;
            let (config, attempts) = (Arc::new(config), BTreeMap::new());
            let managed = Managed { config, revision: 1, logs, attempts, is_compared: false };
            core.managed.insert(id, managed);
            core.order.push(id);
            self.listeners.tell(&HubEvent::Configured { id: uuid(id) });
            Ok(())
        })
    }

    /// The machine has slept: it is seen whether the servers that run are still there.
    fn doubt(self: &Arc<Self>) {
        self.act(|core, now| {
            for id in core.order.clone() {
                if let Some(detail) = core.supervisor.detail(id) {
                    core.supervisor.event(id, detail.generation, Event::ConnectionSuspect, now);
                }
            }
        });
    }

    /// Ends everything at once: nobody holds the hub any more.
    pub(super) fn end(&self) {
        let mut containers = Vec::new();
        let mut core = self.lock();
        core.ended = true;
        for managed in core.managed.values_mut() {
            for (_, mut attempt) in std::mem::take(&mut managed.attempts) {
                attempt.kill();
                containers.extend(attempt.container.take().filter(|_| attempt.client.is_some()));
            }
        }
        core.waiting.clear();
        core.booting.clear();
        drop(core);
        self.listeners.end();
        self.rearm.ring();
        for container in containers {
            super::containers::remove_detached(&container);
        }
    }
}

impl Core {
    pub(super) fn config(&self, id: ServerId) -> Result<Arc<McpConfig>, HubError> {
        let managed = self.managed.get(&id).ok_or_else(|| HubError::unknown_server(id))?;
        Ok(Arc::clone(&managed.config))
    }

    pub(super) fn attempt(&mut self, id: ServerId, generation: Generation) -> Option<&mut Attempt> {
        self.managed.get_mut(&id)?.attempts.get_mut(&generation)
    }
}

pub(super) fn hub_has_ended() -> HubError {
    HubError::unavailable("the hub has ended")
}

/// How long the clock is not looked at if nothing is to be done: so long a machine that has slept goes unnoticed.
const AT_REST: Duration = Duration::from_secs(60);

/// How far the two clocks may come apart. 10 s: more than corrections of the time, less than any sleep that ends connections.
const APART: Duration = Duration::from_secs(10);

/// Whether the machine has slept while this program believes that so much time has passed: connections may have ended then,
/// and nobody was told.
fn has_slept(believed: Duration, in_the_world: Option<Duration>) -> bool {
    in_the_world.is_some_and(|passed| passed.saturating_sub(believed) > APART)
}

/// Calls the supervisor when it wants to be called. Ends with the hub.
async fn keep_time(shared: Weak<Shared>, rearm: Arc<Alarm>, mut timer: Box<dyn Timer>) {
    let (mut believed, mut world) = (Instant::now(), SystemTime::now());
    loop {
        let rest = {
            let Some(shared) = shared.upgrade() else { return };
            if has_slept(believed.elapsed(), world.elapsed().ok()) {
                shared.doubt();
            }
            (believed, world) = (Instant::now(), SystemTime::now());
            let core = shared.lock();
            if core.ended {
                return;
            }
            let at = core.supervisor.poll_timeout();
            drop(core);
            let rest = at.map_or(AT_REST, |at| at.duration_since(shared.now()));
            if rest.is_zero() {
                shared.act(|core, now| core.supervisor.handle_timeout(now));
                continue;
            }
            rest.min(AT_REST)
        };
        // Whichever comes first: both lead to another look.
        rearm.wait(&mut *timer, rest).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_told_from_a_correction_of_the_time() {
        let secs = |secs| Duration::from_secs(secs);
        assert!(has_slept(secs(60), Some(secs(3_600))));
        assert!(!has_slept(secs(60), Some(secs(62))), "it was put right");
        assert!(!has_slept(secs(60), Some(secs(1))), "it was put back");
        assert!(!has_slept(secs(60), None), "it was put back behind where it had been");
    }
}
