//! What is known of the servers from outside, and what must hold of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::{Timestamp, ToolList};
use mcpwire_supervisor::{
    CallRejection, Command, Effect, Event, Failure, Filter, Generation, HubError, McpStatus, PackageKind, Policy,
    Restart, Retry, ServerId, ServerSpec, State, SupervisorSettings,
};

use crate::sim::fleet::{Fleet, server_id, tools};

const SERVERS: u64 = 3;

pub(super) struct Model {
    fleet: Fleet,
    lists: [Arc<ToolList>; 3],
    /// Whether a server may ever have been lazy: only such a one shows tools while it does not run.
    lazy: BTreeMap<ServerId, bool>,
    calls: Vec<(ServerId, Generation)>,
    /// What stands in the configuration: the flag, and the revision.
    file: BTreeMap<ServerId, (bool, u64)>,
    /// How many entries of the fleet's notes were looked at.
    seen_launches: usize,
    last_launch: BTreeMap<ServerId, Generation>,
    closing: bool,
}

pub(super) fn failure(retry: Retry) -> Failure {
    Failure::new(HubError::unavailable("it fails"), retry)
}

impl Model {
    pub(super) fn open(setup: u8) -> Self {
        let mut settings = SupervisorSettings::default();
        settings.max_starts = 1 + usize::from(setup & 3);
        settings.max_starts_per_kind = 1;
        let mut model = Model {
            fleet: Fleet::new(settings),
            lists: [
                tools(["read", "write", "a.b"]),
                tools(["read", "a_b", "a.b", "deny_me"]),
                tools(Vec::<&str>::new()),
            ],
            lazy: BTreeMap::new(),
            calls: Vec::new(),
            file: BTreeMap::new(),
            seen_launches: 0,
            last_launch: BTreeMap::new(),
            closing: false,
        };
        for n in 0..2 {
            model.add(n, setup >> 2);
        }
        model
    }

    pub(super) fn policy(setup: u8) -> Policy {
        let kinds = [PackageKind::Binary, PackageKind::Npm, PackageKind::Http, PackageKind::Docker];
        let mut policy = Policy::new(kinds[usize::from(setup & 3)]);
        policy.lazy = setup & 4 != 0;
        if setup & 8 != 0 {
            policy.call_wait_start = Duration::from_secs(3);
        }
        if setup & 16 != 0 {
            policy.restart = Restart::Never;
        }
        if setup & 32 != 0 {
            policy.health.every = Some(Duration::from_secs(20));
        }
        policy
    }

    fn pick(n: u8) -> ServerId {
        server_id(u64::from(n) % SERVERS + 1)
    }

    fn spec(n: u8, setup: u8, revision: u64) -> ServerSpec {
        let mut spec = ServerSpec::new(["one", "One!", "two"][usize::from(n) % 3], Model::policy(setup));
        spec.enabled = setup & 64 == 0;
        spec.revision = revision;
        if setup & 128 != 0 {
            spec.filter = Filter { allow: None, deny: vec!["deny*".into()] };
            spec.rate = None;
        }
        spec
    }

    pub(super) fn add(&mut self, n: u8, setup: u8) {
        let id = Model::pick(n);
        let spec = Model::spec(n, setup, 1);
        let (lazy, enabled) = (spec.policy.lazy, spec.enabled);
        let known = self.fleet.supervisor.detail(id).is_some();
        let added = self.fleet.supervisor.add(id, spec, self.fleet.now);
        assert_eq!(added.is_err(), known || self.closing, "{added:?}");
        if added.is_ok() {
            self.lazy.insert(id, lazy);
            self.file.insert(id, (enabled, 1));
            self.fleet.states.remove(&id);
        }
    }

    pub(super) fn update(&mut self, n: u8, setup: u8) {
        let id = Model::pick(n);
        let revision = self.file.get(&id).map_or(0, |(_, revision)| revision + 1);
        let spec = Model::spec(n, setup, revision);
        *self.lazy.entry(id).or_default() |= spec.policy.lazy;
        let enabled = spec.enabled;
        let updated = self.fleet.supervisor.update(id, spec, setup & 1 == 0, self.fleet.now);
        self.fleet.drain();
        if updated.is_ok() {
            self.file.insert(id, (enabled, revision));
        }
    }

    pub(super) fn in_time(&self, time: Duration) -> Timestamp {
        self.fleet.now + time
    }

    pub(super) fn command(&mut self, n: u8, command: Command) {
        let id = Model::pick(n);
        if let Command::Configure { policy, .. } = &command {
            *self.lazy.entry(id).or_default() |= policy.lazy;
        }
        let deletes = matches!(command, Command::Delete);
        let name = self.fleet.command(id, command);
        if self.fleet.supervisor.detail(id).is_none() && !deletes {
            let reply = self.fleet.reply(name).expect("it is answered at once");
            assert_eq!(reply, &Err(HubError::unknown_server(id)));
        }
    }

    pub(super) fn event(&mut self, n: u8, generation: Option<Generation>, event: Event) {
        let id = Model::pick(n);
        let present = self.fleet.supervisor.detail(id).map_or(Generation(1), |detail| detail.generation);
        self.fleet.event(id, generation.unwrap_or(present), event);
    }

    pub(super) fn answer(&mut self, which: usize) {
        if self.fleet.open.is_empty() {
            return;
        }
        let which = if which < 192 { 0 } else { which % self.fleet.open.len() };
        let open = self.fleet.open.remove(which).expect("it is there");
        let list = Arc::clone(&self.lists[which % 3]);
        self.fleet.answer(open, &list);
    }

    pub(super) fn refuse(&mut self, which: usize, retry: Retry) {
        if self.fleet.open.is_empty() {
            return;
        }
        let open = self.fleet.open.remove(which % self.fleet.open.len()).expect("it is there");
        match open.1 {
            // Ends do not fail. They may be late, or never be told of.
            Effect::Stop { .. } if which > 128 => {}
            Effect::Stop { .. } | Effect::Kill { .. } => self.fleet.open.push_back(open),
            _ => self.fleet.refuse(open, failure(retry)),
        }
    }

    /// A process is gone, which is told with this event: that its connection is closed, or that all of it is gone.
    pub(super) fn dies(&mut self, n: u8, told: Event) {
        let id = Model::pick(n);
        if let Some((_, generation)) = self.fleet.alive.iter().copied().find(|(server, _)| *server == id) {
            self.fleet.alive.remove(&(id, generation));
            self.fleet.event(id, generation, told);
        }
    }

    pub(super) fn pass(&mut self, time: Duration, punctual: bool) {
        if punctual { self.fleet.pass(time) } else { self.fleet.jump(time) }
    }

    pub(super) fn pass_to_deadline(&mut self) {
        if let Some(at) = self.fleet.supervisor.poll_timeout() {
            self.fleet.jump(at.duration_since(self.fleet.now));
        }
    }

    pub(super) fn begin_call(&mut self, n: u8) {
        let id = Model::pick(n);
        let state = self.fleet.state(id);
        match self.fleet.begin_call(id, "read") {
            Ok(generation) => {
                assert_eq!(state, State::Running);
                self.calls.push((id, generation));
            }
            Err(CallRejection::NotRunning) => assert_ne!(state, State::Running),
            Err(_) => {}
        }
        self.fleet.drain();
    }

    pub(super) fn end_call(&mut self, which: usize) {
        if !self.calls.is_empty() {
            let (id, generation) = self.calls.swap_remove(which % self.calls.len());
            self.fleet.end_call(id, generation);
            self.fleet.drain();
        }
    }

    pub(super) fn switch(&mut self, n: u8, how: u8) {
        let id = Model::pick(n);
        let revision = self.fleet.supervisor.revision(id).unwrap_or(0) + u64::from(how & 6 == 6);
        self.fleet.switch(id, how & 1 == 0, revision);
    }

    /// The configuration is written, unless it cannot be, or somebody else has written it meanwhile.
    pub(super) fn persisted(&mut self, how: u8) {
        let Some((id, enabled, revision)) = self.fleet.persists.pop_front() else { return };
        let result = match self.file.get_mut(&id) {
            _ if how < 16 => Err(HubError::unavailable("the disk is full")),
            Some(written) if written.1 == revision && how > 64 => {
                *written = (enabled, revision + 1);
                Ok(revision + 1)
            }
            _ => Err(HubError::conflict("revision", "changed")),
        };
        self.fleet.persisted(id, result);
    }

    pub(super) fn remember(&mut self, n: u8) {
        let id = Model::pick(n);
        self.fleet.supervisor.remember(id, Arc::clone(&self.lists[0]), self.fleet.now);
        self.fleet.drain();
    }

    pub(super) fn touch(&mut self) {
        self.fleet.supervisor.touch(self.fleet.now);
        self.fleet.drain();
    }

    pub(super) fn boot(&mut self) {
        self.fleet.boot();
    }

    pub(super) fn shutdown(&mut self, time: Duration) {
        self.closing = true;
        self.fleet.shutdown(time);
    }

    /// What holds at any time.
    pub(super) fn check(&mut self) {
        let catalogue = self.fleet.supervisor.catalogue();
        let mut names: Vec<&str> = catalogue.tools().map(|tool| tool.exposed).collect();
        assert_eq!(names.len(), catalogue.len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), catalogue.len(), "two tools have one name");
        let mut at_rest = true;
        for n in 1..=SERVERS {
            let id = server_id(n);
            let state = self.fleet.state(id);
            let living = self.fleet.living(id);
            assert!(living <= 1, "{living} processes of {id}");
            assert!(living == 0 || !state.is_resting(), "a process lives while its server is {state}");
            at_rest &= state.is_resting() && state != State::Backoff;
            if let Some(last) = self.fleet.states.get(&id).and_then(|states| states.last())
                && self.fleet.supervisor.detail(id).is_some()
            {
                assert_eq!(*last, state, "a change was not told");
            }
            let shown = catalogue.tools_of(id).count();
            if shown > 0 && state != State::Running {
                assert!(self.lazy[&id], "{shown} tools of a server that is {state}");
                let dozes = state.is_starting() || matches!(state, State::Sleeping | State::Stopping);
                assert!(dozes, "{shown} tools of a server that is {state}");
            }
            self.check_status(id, state);
        }
        if at_rest {
            assert_eq!(self.fleet.supervisor.poll_timeout(), None, "a timer runs although all rest");
        }
        for (id, generation, _) in &self.fleet.launches[self.seen_launches..] {
            let before = self.last_launch.insert(*id, *generation);
            assert!(before.is_none_or(|before| before < *generation), "{generation:?} after {before:?}");
        }
        self.seen_launches = self.fleet.launches.len();
        for command in self.fleet.replies.keys() {
            let _at_most_one = self.fleet.reply(*command);
        }
    }

    fn check_status(&self, id: ServerId, state: State) {
        let Some(status) = self.fleet.supervisor.status(id) else { return assert_eq!(state, State::Deleted) };
        let fits = match &status {
            McpStatus::Running { .. } => state == State::Running,
            McpStatus::Starting => state.is_starting(),
            McpStatus::Disabled => state == State::Disabled,
            McpStatus::Error { message } => {
                !message.is_empty()
                    && matches!(
                        state,
                        State::Backoff | State::Failed | State::NeedsAuth | State::NeedsLogin | State::NeedsInput
                    )
            }
            McpStatus::Stopped => matches!(state, State::Stopped | State::Sleeping | State::Stopping),
            _ => false,
        };
        assert!(fits, "{status:?} although it is {state}");
    }

    /// Ends everything, with servers that do not listen: it takes no longer than it was given, and nothing is left.
    pub(super) fn finish(mut self) {
        while !self.fleet.persists.is_empty() {
            self.persisted(255);
            self.check();
        }
        let given = Duration::from_secs(4);
        self.shutdown(given);
        let end = self.fleet.shutdown(given);
        self.check();
        self.fleet.pass(given);
        self.check();
        assert_eq!(self.fleet.reply(end), Some(&Ok(())), "the end has not come in time");
        let list = Arc::clone(&self.lists[0]);
        self.fleet.settle(&list);
        while !self.fleet.persists.is_empty() {
            self.persisted(255);
        }
        self.fleet.pass(Duration::from_secs(10_000));
        self.fleet.settle(&list);
        self.check();
        assert!(self.fleet.alive.is_empty(), "{:?}", self.fleet.alive);
        assert_eq!(self.fleet.supervisor.poll_timeout(), None);
        for command in self.fleet.replies.keys() {
            assert!(self.fleet.reply(*command).is_some(), "{command:?} was never answered");
        }
        for n in 1..=SERVERS {
            assert!(self.fleet.state(server_id(n)).is_resting());
        }
    }
}
