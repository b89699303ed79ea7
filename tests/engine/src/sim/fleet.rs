//! Many servers in simulation: a [`Supervisor`], the processes that it believes in, and a clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::{ItemList, Json, Timestamp, Tool, ToolList};
use mcpwire_supervisor::{
    Action, CallRejection, Catalogue, Command, CommandId, Effect, Event, Failure, Generation, HubError, PackageKind,
    Policy, Retry, ServerDetail, ServerId, ServerSpec, State, Supervisor, SupervisorSettings,
};

/// More actions than this without an event are a livelock.
const ENOUGH: usize = 100_000;

/// The unit of time in tests.
pub const SECOND: Duration = Duration::from_secs(1);

/// An effect that has not been answered yet.
pub type Open = (ServerId, Effect);

/// A supervisor and its world. Effects are kept until they are answered; what cannot be answered is noted.
#[derive(Debug)]
pub struct Fleet {
    /// What is looked at.
    pub supervisor: Supervisor,
    /// The time.
    pub now: Timestamp,
    /// Effects that wait for an answer, the oldest first.
    pub open: VecDeque<Open>,
    /// Flags that wait to be written, the oldest first.
    pub persists: VecDeque<(ServerId, bool, u64)>,
    /// Processes that live.
    pub alive: BTreeSet<(ServerId, Generation)>,
    /// How each command was answered.
    pub replies: BTreeMap<CommandId, Vec<Result<(), HubError>>>,
    /// Which attempts were launched, in order, and when.
    pub launches: Vec<(ServerId, Generation, Timestamp)>,
    /// The states that each server went through.
    pub states: BTreeMap<ServerId, Vec<State>>,
    /// The attempts whose calls were failed.
    pub failed_calls: Vec<(ServerId, Generation, HubError)>,
    /// How often the tools were asked for again.
    pub refreshes: usize,
    /// Attempts that could not be ended.
    pub abandoned: Vec<(ServerId, Generation)>,
    /// The ends of starting everything.
    pub boots: Vec<(usize, usize, usize)>,
    /// How often another catalogue was announced.
    pub catalogues: usize,
    /// The catalogue as it was when it was last announced: what an embedder shows.
    pub snapshot: Arc<Catalogue>,
    next_command: u64,
}

/// An id for tests.
pub fn server_id(n: u64) -> ServerId {
    ServerId::from_random(u128::from(n) << 80 | u128::from(n))
}

/// A list of tools with these names.
pub fn tools<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Arc<ToolList> {
    let tool = |name: S| -> Tool {
        let json = serde_json::json!({"name": name.as_ref(), "description": format!("does {}", name.as_ref())});
        Json::from_value(&json).expect("it is JSON").decode().expect("it is a tool")
    };
    let mut list = ToolList::default();
    list.replace(ItemList { items: names.into_iter().map(tool).collect(), ..ItemList::default() });
    Arc::new(list)
}

/// A failure that another attempt may mend.
pub fn transient(message: &str) -> Failure {
    Failure::new(HubError::unavailable(message), Retry::Backoff)
}

impl Default for Fleet {
    fn default() -> Self {
        Fleet::new(SupervisorSettings::default())
    }
}

impl Fleet {
    /// No servers.
    pub fn new(settings: SupervisorSettings) -> Self {
        Fleet {
            supervisor: Supervisor::new(settings, 42),
            now: Timestamp::from_origin(Duration::from_secs(1_000)),
            open: VecDeque::new(),
            persists: VecDeque::new(),
            alive: BTreeSet::new(),
            replies: BTreeMap::new(),
            launches: Vec::new(),
            states: BTreeMap::new(),
            failed_calls: Vec::new(),
            refreshes: 0,
            abandoned: Vec::new(),
            boots: Vec::new(),
            catalogues: 0,
            snapshot: Arc::default(),
            next_command: 1_000,
        }
    }

    /// A fleet of one program, with these rules.
    pub fn of_one(change: impl FnOnce(&mut Policy)) -> (Self, ServerId) {
        let mut fleet = Fleet::default();
        let mut policy = Policy::new(PackageKind::Binary);
        change(&mut policy);
        let id = fleet.add(1, ServerSpec::new("one", policy));
        (fleet, id)
    }

    /// A fleet of one program that runs, with the tool `a`.
    pub fn running() -> (Self, ServerId) {
        let (mut fleet, id) = Fleet::of_one(|_| {});
        fleet.run(id, &tools(["a"]));
        (fleet, id)
    }

    /// Adds a server.
    pub fn add(&mut self, n: u64, spec: ServerSpec) -> ServerId {
        let id = server_id(n);
        self.supervisor.add(id, spec, self.now).expect("it is new");
        id
    }

    /// Starts all servers.
    pub fn boot(&mut self) {
        self.supervisor.boot(self.now);
        self.drain();
    }

    /// Ends all servers within this time.
    pub fn shutdown(&mut self, within: Duration) -> CommandId {
        let command = self.new_command();
        self.supervisor.shutdown(command, self.now + within, self.now);
        self.drain();
        command
    }

    /// Wants to call a tool of a server, which may take this long to be ready.
    pub fn prepare(&mut self, id: ServerId, within: Duration) -> CommandId {
        self.command(id, Command::PrepareCall { by: self.now + within })
    }

    /// Counts a call of this tool as begun.
    pub fn begin_call(&mut self, id: ServerId, tool: &str) -> Result<Generation, CallRejection> {
        self.supervisor.begin_call(id, tool, self.now)
    }

    /// Counts a call as ended.
    pub fn end_call(&mut self, id: ServerId, generation: Generation) {
        self.supervisor.end_call(id, generation, self.now);
    }

    /// Gives a command.
    pub fn command(&mut self, id: ServerId, command: Command) -> CommandId {
        let name = self.new_command();
        self.supervisor.command(id, name, command, self.now);
        self.drain();
        name
    }

    /// A command's name that was not used yet; an answer to it is expected.
    pub fn new_command(&mut self) -> CommandId {
        self.next_command += 1;
        let name = CommandId(self.next_command);
        self.replies.insert(name, Vec::new());
        name
    }

    /// Wants a server enabled or not, as somebody does who has seen this revision of its configuration.
    pub fn switch(&mut self, id: ServerId, enabled: bool, revision: u64) -> CommandId {
        let name = self.new_command();
        self.supervisor.set_enabled(id, name, enabled, revision, self.now);
        self.drain();
        name
    }

    /// Tells what came of writing that down.
    pub fn persisted(&mut self, id: ServerId, result: Result<u64, HubError>) {
        self.supervisor.persisted(id, result, self.now);
        self.drain();
    }

    /// Tells an event.
    pub fn event(&mut self, id: ServerId, generation: Generation, event: Event) {
        self.supervisor.event(id, generation, event, self.now);
        self.drain();
    }

    /// The answer to a command, if there is one.
    pub fn reply(&self, command: CommandId) -> Option<&Result<(), HubError>> {
        let replies = &self.replies[&command];
        assert!(replies.len() <= 1, "{command:?} was answered {} times", replies.len());
        replies.first()
    }

    /// The error with which a command was answered.
    pub fn error(&self, command: CommandId) -> &HubError {
        self.reply(command).expect("it is answered").as_ref().expect_err("it has failed")
    }

    /// What is known of a server.
    pub fn detail(&self, id: ServerId) -> ServerDetail {
        self.supervisor.detail(id).expect("there is such a server")
    }

    /// Where a server is; `Deleted` if there is none.
    pub fn state(&self, id: ServerId) -> State {
        self.supervisor.detail(id).map_or(State::Deleted, |detail| detail.state)
    }

    /// The attempt that a server is at.
    pub fn generation(&self, id: ServerId) -> Generation {
        self.detail(id).generation
    }

    /// How many processes of a server live.
    pub fn living(&self, id: ServerId) -> usize {
        self.alive.iter().filter(|(server, _)| *server == id).count()
    }

    /// How often a server was launched.
    pub fn launched(&self, id: ServerId) -> usize {
        self.launches.iter().filter(|(server, ..)| *server == id).count()
    }

    /// Answers an effect as a server would that works, with these tools.
    pub fn answer(&mut self, (id, effect): Open, list: &Arc<ToolList>) {
        match effect {
            Effect::Resolve { generation } => self.event(id, generation, Event::Resolved),
            Effect::Launch { generation } => {
                self.alive.insert((id, generation));
                self.event(id, generation, Event::Launched { pid: Some(7) });
            }
            Effect::Negotiate { generation, .. } => {
                self.event(id, generation, Event::Negotiated { version: "2026-07-28".into() });
            }
            Effect::List { generation } | Effect::Refresh { generation } => {
                self.event(id, generation, Event::Listed { tools: Arc::clone(list), ttl: None });
            }
            Effect::Probe { generation } => self.event(id, generation, Event::Probed),
            Effect::Stop { generation } | Effect::Kill { generation } => {
                self.alive.remove(&(id, generation));
                self.event(id, generation, Event::Removed);
            }
            other => panic!("{other:?} needs no answer"),
        }
    }

    /// Answers an effect with a failure.
    pub fn refuse(&mut self, (id, effect): Open, failure: Failure) {
        match effect {
            Effect::Resolve { generation }
            | Effect::Launch { generation }
            | Effect::Negotiate { generation, .. }
            | Effect::List { generation } => self.event(id, generation, Event::Failed(failure)),
            Effect::Refresh { generation } => self.event(id, generation, Event::RefreshFailed),
            Effect::Probe { generation } => self.event(id, generation, Event::ProbeFailed),
            other => panic!("{other:?} cannot fail"),
        }
    }

    /// The effect that waits for an answer the longest.
    pub fn next_open(&mut self) -> Open {
        self.open.pop_front().expect("something is to be done")
    }

    /// Answers so many effects, as servers would that work and have these tools.
    pub fn answer_next(&mut self, count: usize, list: &Arc<ToolList>) {
        for _ in 0..count {
            let open = self.next_open();
            self.answer(open, list);
        }
    }

    /// Answers the effect that waits the longest with a failure.
    pub fn refuse_next(&mut self, failure: Failure) {
        let open = self.next_open();
        self.refuse(open, failure);
    }

    /// Answers everything that is open, until nothing is, as servers would that work and have these tools.
    pub fn settle(&mut self, list: &Arc<ToolList>) {
        for _ in 0..ENOUGH {
            let Some(open) = self.open.pop_front() else { return };
            self.answer(open, list);
        }
        panic!("there is no end to it");
    }

    /// Starts a server that works.
    pub fn run(&mut self, id: ServerId, list: &Arc<ToolList>) {
        let start = self.command(id, Command::Start);
        self.settle(list);
        assert_eq!(self.reply(start), Some(&Ok(())));
        assert_eq!(self.state(id), State::Running);
    }

    /// The process of a server exits: the connection ends at once.
    pub fn crash(&mut self, id: ServerId) {
        let generation = self.generation(id);
        self.alive.remove(&(id, generation));
        self.event(id, generation, Event::Closed(transient("MCP server exited (code 1)")));
    }

    /// Time passes, and each deadline is kept.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        let mut calls = 0;
        while let Some(at) = self.supervisor.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.supervisor.handle_timeout(self.now);
            self.drain();
            calls += 1;
            assert!(calls < ENOUGH, "time does not pass");
        }
        self.now = end;
    }

    /// Time jumps, and deadlines are kept late.
    pub fn jump(&mut self, time: Duration) {
        self.now = self.now + time;
        self.supervisor.handle_timeout(self.now);
        self.drain();
    }

    /// Takes in what the supervisor wants.
    pub fn drain(&mut self) {
        for _ in 0..ENOUGH {
            let Some(action) = self.supervisor.poll_action() else { return };
            if action == Action::CatalogueChanged {
                self.catalogues += 1;
                self.snapshot = self.supervisor.catalogue();
                continue;
            }
            let (shown, offered) = (self.snapshot.len(), self.supervisor.catalogue().len());
            assert_eq!(shown, offered, "the tools that are shown are not those that are offered, at {action:?}");
            match action {
                Action::Perform { server, effect } => self.perform(server, effect),
                Action::Reply { command, result } => {
                    self.replies.get_mut(&command).expect("it was asked").push(result);
                }
                Action::Persist { server, enabled, revision } => self.persists.push_back((server, enabled, revision)),
                Action::Booted { ready, failed, cancelled } => self.boots.push((ready, failed, cancelled)),
                Action::Removed { .. } => {}
                other => panic!("{other:?} is new"),
            }
        }
        panic!("there is no end to its wishes");
    }

    fn perform(&mut self, id: ServerId, effect: Effect) {
        match effect {
            Effect::Changed { state } => self.states.entry(id).or_default().push(state),
            Effect::FailCalls { generation, error } => self.failed_calls.push((id, generation, error)),
            Effect::StopFailed { generation } => self.abandoned.push((id, generation)),
            Effect::Kill { generation } => {
                // Nobody survives it; that is told later.
                self.alive.remove(&(id, generation));
                self.open.push_back((id, effect));
            }
            effect => {
                if let Effect::Launch { generation } = effect {
                    assert_eq!(self.living(id), 0, "there would be a second process");
                    self.launches.push((id, generation, self.now));
                }
                self.refreshes += usize::from(matches!(effect, Effect::Refresh { .. }));
                self.open.push_back((id, effect));
            }
        }
    }
}
