//! Several processes with several tasks each share one token, whose refresh tokens are accepted once. Whatever the order, and
//! whatever fails for a while, nobody has to log in again.

use std::collections::HashSet;
use std::time::Duration;

use mcpwire_oauth::{
    Access, Authorization, BearerChallenge, ClientAuthentication, Decision, Entropy, Error, ErrorKind, FetchError,
    Input, Refresh, RefreshAction, RefreshInput, Refusal, Request, Response, StoredToken, TokenId, UnixTime,
};
use proptest::prelude::*;
use serde_json::json;

const RESOURCE: &str = "https://mcp.example.com/mcp";

/// The authorization server and the MCP server. Only the newest access token is accepted.
#[derive(Default)]
struct Server {
    newest: u64,
    used: HashSet<String>,
    is_revoked: bool,
}

impl Server {
    fn answer(&mut self, request: &Request) -> Response {
        let body = String::from_utf8(request.body.clone().unwrap()).unwrap();
        let sent = body.split('&').find_map(|pair| pair.strip_prefix("refresh_token=")).unwrap().to_string();
        let is_new = self.used.insert(sent.clone());
        self.is_revoked |= !is_new || sent != format!("refresh-{}", self.newest);
        if self.is_revoked {
            return response(400, r#"{"error":"invalid_grant"}"#);
        }
        self.newest += 1;
        let number = self.newest;
        let body =
            format!(r#"{{"access_token":"access-{number}","refresh_token":"refresh-{number}","expires_in":100}}"#);
        response(200, &body)
    }

    fn accepts(&self, header: &str) -> bool {
        header == format!("Bearer access-{}", self.newest)
    }
}

fn response(status: u16, body: &str) -> Response {
    Response { status, headers: Vec::new(), body: body.into() }
}

fn first_token(now: UnixTime) -> StoredToken {
    let document = json!({
        "version": 1, "generation": 1, "resource": RESOURCE, "client_id": "client", "token_type": "Bearer",
        "endpoint": {"issuer": "https://auth.example.com", "url": "https://auth.example.com/token"},
        "access_token": "access-0", "refresh_token": "refresh-0", "obtained_at": now, "expires_at": now.as_secs() + 100,
    });
    StoredToken::from_bytes(document.to_string().as_bytes()).unwrap()
}

/// What the processes have in common.
struct World {
    now: UnixTime,
    server: Server,
    stored: StoredToken,
    /// The process that has the lock.
    lock: Option<usize>,
    failures: Failures,
}

/// What fails next. Each failure happens once.
#[derive(Default)]
struct Failures {
    network: bool,
    server: bool,
}

struct Process {
    access: Access,
    renewal: Option<(Refresh, RefreshAction)>,
    tasks: Vec<Task>,
}

/// A task that wants one request to succeed.
enum Task {
    /// It asks for a token, after so many refusals.
    Ready(u32),
    /// It has sent a request, and the server's decision is under way.
    Sent {
        repeats: u32,
        id: TokenId,
        accepted: bool,
    },
    Ended(Result<(), Error>),
}

impl Process {
    fn new(stored: &StoredToken) -> Self {
        let mut access = Access::new(RESOURCE);
        access.replace(stored.clone()).unwrap();
        Process { access, renewal: None, tasks: Vec::new() }
    }

    fn start_renewal(&mut self) {
        assert!(self.renewal.is_none(), "two renewals of one process");
        let token = self.access.token().unwrap().clone();
        let mut refresh = Refresh::new(token, ClientAuthentication::public("client"), Entropy::new([1; 32]));
        let action = refresh.start();
        self.renewal = Some((refresh, action));
    }

    fn step_task(&mut self, index: usize, world: &World) {
        let Some(task) = self.tasks.get(index) else { return };
        let mut starts = false;
        let next = match *task {
            Task::Ready(repeats) => match self.access.authorize(world.now) {
                Authorization::Send { credential, start_renewal } => {
                    starts = start_renewal;
                    let accepted = world.server.accepts(credential.header.expose());
                    Task::Sent { repeats, id: credential.id, accepted }
                }
                Authorization::Wait { start_renewal } => {
                    starts = start_renewal;
                    Task::Ready(repeats)
                }
                Authorization::Failed(error) => Task::Ended(Err(error)),
                other => panic!("unexpected {other:?}"),
            },
            Task::Sent { accepted: true, .. } => Task::Ended(Ok(())),
            Task::Sent { repeats, id, .. } => {
                let challenge = BearerChallenge::parse([r#"Bearer error="invalid_token""#]);
                let mut refusal = refusal(challenge.as_ref());
                refusal.sent = Some(id);
                refusal.repeats = repeats;
                match self.access.refused(&refusal, world.now) {
                    Decision::Repeat => Task::Ready(repeats + 1),
                    Decision::Renew { start_renewal } => {
                        starts = start_renewal;
                        Task::Ready(repeats + 1)
                    }
                    Decision::Failed(error) | Decision::LoginRequired(error) => Task::Ended(Err(error)),
                    // Other processes were faster again and again. The caller sees a 401.
                    Decision::GiveUp => Task::Ready(0),
                    other => panic!("unexpected {other:?}"),
                }
            }
            Task::Ended(_) => return,
        };
        self.tasks[index] = next;
        if starts {
            self.start_renewal();
        }
    }

    fn step_renewal(&mut self, number: usize, world: &mut World) {
        let Some((refresh, action)) = &mut self.renewal else { return };
        let input = match action {
            RefreshAction::Lock if world.lock.is_some() => return,
            RefreshAction::Lock => {
                world.lock = Some(number);
                RefreshInput::Done
            }
            RefreshAction::Load => RefreshInput::Loaded(Some(Box::new(world.stored.clone()))),
            RefreshAction::Fetch(_) if std::mem::take(&mut world.failures.network) => {
                RefreshInput::Network(Input::FetchFailed(FetchError::Failed("no route".into())))
            }
            RefreshAction::Fetch(_) if std::mem::take(&mut world.failures.server) => {
                RefreshInput::Network(Input::Response(response(503, r#"{"error":"invalid_grant"}"#)))
            }
            RefreshAction::Fetch(request) => RefreshInput::Network(Input::Response(world.server.answer(request))),
            RefreshAction::Store(token) => {
                world.stored = (**token).clone();
                RefreshInput::Done
            }
            RefreshAction::Done(_) => {
                assert!(world.lock == Some(number));
                world.lock = None;
                let Some((_, RefreshAction::Done(result))) = self.renewal.take() else { unreachable!() };
                let renewal = self.access.running_renewal().expect("one runs");
                assert!(self.access.renewed(renewal, result.map(|refreshed| refreshed.token), world.now));
                return;
            }
            other => panic!("nobody has refused the token: {other:?}"),
        };
        *action = refresh.resume(input, world.now);
    }
}

fn refusal(challenge: Option<&BearerChallenge>) -> Refusal<'_> {
    Refusal { status: 401, challenge, sent: None, repeats: 0, has_new_nonce: false, operation: "tools/list" }
}

#[derive(Clone, Debug)]
enum Event {
    Task { process: usize, task: usize },
    Renewal { process: usize },
    NewTask { process: usize },
    Time(u64),
    NetworkFails,
    ServerFails,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..3_usize, 0..5_usize).prop_map(|(process, task)| Event::Task { process, task }),
        6 => (0..3_usize).prop_map(|process| Event::Renewal { process }),
        2 => (0..3_usize).prop_map(|process| Event::NewTask { process }),
        1 => (1..60_u64).prop_map(Event::Time),
        1 => Just(Event::NetworkFails),
        1 => Just(Event::ServerFails),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn o1_o5_no_order_of_tasks_processes_and_failures_loses_the_token(events in prop::collection::vec(event(), 1..200)) {
        let now = UnixTime::from_secs(1_000_000);
        let stored = first_token(now);
        let mut processes: Vec<Process> = (0..3).map(|_| Process::new(&stored)).collect();
        let mut world =
            World { now, server: Server::default(), stored, lock: None, failures: Failures::default() };
        for event in events {
            match event {
                Event::Task { process, task } => processes[process].step_task(task, &world),
                Event::Renewal { process } => processes[process].step_renewal(process, &mut world),
                Event::NewTask { process } => {
                    let tasks = &mut processes[process].tasks;
                    tasks.retain(|task| !matches!(task, Task::Ended(_)));
                    if tasks.len() < 5 {
                        tasks.push(Task::Ready(0));
                    }
                }
                Event::Time(seconds) => world.now = world.now + Duration::from_secs(seconds),
                Event::NetworkFails => world.failures.network = true,
                Event::ServerFails => world.failures.server = true,
            }
            for task in processes.iter().flat_map(|process| &process.tasks) {
                if let Task::Ended(Err(error)) = task {
                    prop_assert_eq!(error.kind(), ErrorKind::Temporary, "{}", error);
                }
            }
            prop_assert!(!world.server.is_revoked, "a refresh token was used twice");
        }

        // Then nothing fails any more, and each process gets on with its work.
        world.failures = Failures::default();
        for _ in 0..4 {
            world.now = world.now + Duration::from_secs(15);
            for number in (0..3).cycle().take(60) {
                let process = &mut processes[number];
                process.step_renewal(number, &mut world);
                (0..process.tasks.len()).for_each(|task| process.step_task(task, &world));
            }
        }
        for process in &mut processes {
            prop_assert!(process.renewal.is_none());
            prop_assert!(process.tasks.iter().all(|task| matches!(task, Task::Ended(_))), "a task waits for ever");
            let is_failed = matches!(process.access.authorize(world.now), Authorization::Failed(_));
            prop_assert!(!is_failed);
        }
        prop_assert_eq!(world.stored.access_token.expose(), format!("access-{}", world.server.newest));
        prop_assert!(world.lock.is_none());
    }
}
