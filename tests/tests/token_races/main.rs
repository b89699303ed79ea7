//! Real processes share one login, and an authorization server that revokes it if a refresh token is used twice.
//!
//! What is guaranteed: whichever process is killed at any moment, and whichever write fails, no refresh token is used twice, and
//! the next process goes on with the login. There is one exception that no client can prevent: a process is killed (or its
//! machine loses power, or its disk fails) after the authorization server has replaced the refresh token, and before the new one
//! is written. Then the new refresh token exists nowhere. The next process can only send the old one. Many authorization servers
//! accept it once more for some seconds, and the login goes on. Others revoke the login, and the user must log in again; the
//! error says so. These tests show both.
//!
//! Each test runs once, or as often as `MCPWIRE_RACE_RUNS` says, with one login for all its runs.

#![cfg(unix)]

mod process;
mod programs;

use std::env;
use std::fs;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_authorization::{FileStore, OAuth, OAuthBuilder};
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint, ProtectedServer, Serving};
use mcpwire_testkit::{HttpAnswer, HttpRequest, ScriptedServer};
use mcpwire_tests::authorization::AgreeingUser;
use mcpwire_tokio::http::HttpOptions;
use mcpwire_tokio::{ConnectOptions, Error, McpClient, McpServerDef, Tokio};

use process::{Process, kill};

/// An MCP server with one tool, and an authorization server that revokes a login if a refresh token is used twice.
struct Server {
    authorization: AuthorizationServer,
    protected: ProtectedServer,
    /// The process that is killed when its refresh arrives.
    victim: Arc<Mutex<Option<u32>>>,
    _serving: [Serving; 2],
}

impl Server {
    fn start() -> Self {
        let authorization = AuthorizationServer::new();
        let protected = authorization.protect(ScriptedServer::new().tool("echo", |_| "echo"));
        let serving = [authorization.serve(0).unwrap(), protected.serve(0).unwrap()];
        let victim = Arc::new(Mutex::new(None));
        let taken = Arc::clone(&victim);
        authorization.on_request(move |request| {
            let pid = is_refresh(request).then(|| taken.lock().unwrap_or_else(PoisonError::into_inner).take())??;
            kill(pid);
            Some(HttpAnswer::status(503))
        });
        Server { authorization, protected, victim, _serving: serving }
    }

    fn url(&self) -> String {
        self.protected.url()
    }

    /// Lets the MCP server refuse the access tokens that clients have, as if they had expired there.
    fn refuse_access_tokens(&self) {
        self.authorization.revoke_access_tokens();
    }

    /// Accepts a refresh token once more after it was used, as many authorization servers do for some seconds.
    fn accept_last_refresh_token(&self) {
        self.authorization.conform().deviate(Deviation::AcceptLastRefreshToken);
    }

    /// Kills a process when its refresh arrives, before the server does anything.
    fn kill_at_refresh(&self, process: &Process) {
        *self.victim.lock().unwrap() = Some(process.pid());
    }

    /// Lets a process go on to its refresh, and kills it when the refresh token is used up and the response is on its way.
    fn kill_before_response(&self, process: &mut Process) {
        let before = self.refreshes();
        self.authorization.latency(Duration::from_secs(60));
        process.go_on();
        while !self.has_used_up_refresh_token(before) {
            thread::yield_now();
        }
        kill(process.pid());
        self.authorization.latency(Duration::ZERO);
    }

    /// Delays the responses of the authorization server.
    fn delay_tokens(&self, latency: Duration) {
        self.authorization.latency(latency);
    }

    /// Returns whether the refresh with this number has arrived, and has used up its refresh token.
    fn has_used_up_refresh_token(&self, number: usize) -> bool {
        let sent = self.authorization.requests_to(Endpoint::Token).into_iter().filter(is_refresh).nth(number);
        let token = sent.and_then(|request| request.parameter("refresh_token"));
        token.is_some_and(|token| !self.authorization.is_refresh_token_valid(&token))
    }

    /// Returns whether this refresh token is the newest of its login.
    fn is_newest_refresh_token(&self, token: &str) -> bool {
        self.authorization.is_refresh_token_valid(token)
    }

    /// Returns the number of logins that were revoked because a refresh token was used twice.
    fn lost_logins(&self) -> usize {
        self.authorization.reused_refresh_tokens()
    }

    /// Returns the number of refreshes so far.
    fn refreshes(&self) -> usize {
        self.authorization.requests_to(Endpoint::Token).iter().filter(|request| is_refresh(request)).count()
    }
}

fn is_refresh(request: &HttpRequest) -> bool {
    request.parameter("grant_type").as_deref() == Some("refresh_token")
}

/// A server, and the directory of a user who has logged in.
struct Scene {
    server: Server,
    directory: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Scene { server: Server::start(), directory: tempfile::tempdir().unwrap() };
        scene.log_in();
        scene
    }

    fn logins(&self) -> PathBuf {
        self.directory.path().join("logins")
    }

    /// Returns the file with the login.
    fn file(&self) -> PathBuf {
        let mut files = fs::read_dir(self.logins()).unwrap().map(|entry| entry.unwrap().path());
        let is_login = |name: &str| name.starts_with("token-") && !name.contains('.');
        files.find(|path| is_login(path.file_name().unwrap().to_str().unwrap())).unwrap()
    }

    /// Returns whether the stored refresh token is the newest one.
    fn has_stored_newest(&self) -> bool {
        let document: serde_json::Value = serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap();
        self.server.is_newest_refresh_token(document["token"]["refresh_token"].as_str().unwrap())
    }

    fn log_in(&self) {
        block_on(async { self.oauth().login().await.unwrap() });
    }

    fn builder(&self) -> OAuthBuilder {
        OAuth::builder(self.server.url(), "Races").store(FileStore::open(self.logins()).unwrap())
    }

    /// Returns the authorizer of a program whose user logs in when asked to.
    fn oauth(&self) -> OAuth {
        let http = Tokio::current().http_client(&McpServerDef::http(self.server.url())).unwrap();
        self.builder().prompt(AgreeingUser::new(Arc::clone(&http))).build(Tokio::current(), http)
    }

    /// Returns the authorizer of a program that cannot ask its user.
    fn oauth_without_user(&self) -> OAuth {
        self.builder().build_on(Tokio::current()).unwrap()
    }

    fn start(&self, plan: &str) -> Process {
        Process::start(&self.server.url(), &self.logins(), plan)
    }

    /// Starts a process that waits with the lock of a refresh, and one that waits for the lock.
    fn victim_and_second(&self, plan: &str) -> (Process, Process) {
        self.server.refuse_access_tokens();
        let mut victim = self.start(plan);
        victim.expect("waiting");
        victim.go_on();
        victim.expect("locked");
        let mut second = self.start("second");
        second.expect("waiting");
        (victim, second)
    }

    /// Kills a process in its refresh while another one waits for the lock. Returns the outcome of the other one.
    fn kill(&self, plan: &str) -> String {
        let (mut victim, second) = self.victim_and_second(plan);
        match plan {
            KILLED_BEFORE_RESPONSE => self.server.kill_before_response(&mut victim),
            KILLED_AT_REFRESH => {
                self.server.kill_at_refresh(&victim);
                victim.go_on();
            }
            _ => victim.go_on(),
        }
        assert_eq!(victim.outcome(), "killed", "{plan}");
        second.outcome()
    }

    /// Checks that the login is alive, and that a further process can use it, also after one more refresh.
    fn check_alive(&self) {
        assert_eq!(self.start("second").outcome(), "ok");
        self.server.refuse_access_tokens();
        let mut next = self.start("second");
        next.expect("waiting");
        assert_eq!(next.outcome(), "ok");
    }
}

/// Connects a client with this authorizer to the server at this URL.
async fn connect(url: &str, oauth: OAuth) -> Result<McpClient, Error> {
    let options = ConnectOptions::default().http(HttpOptions::default().authorizer(oauth));
    let client = McpClient::connect_with(&McpServerDef::http(url), options)?;
    client.initialize().await?;
    Ok(client)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// The plans of processes that the server kills.
const KILLED_AT_REFRESH: &str = "die at the refresh";
const KILLED_BEFORE_RESPONSE: &str = "die before the response";

/// Runs a test once, or as often as `MCPWIRE_RACE_RUNS` says. Checks that the login was lost `losses_each` times in each run.
fn repeat(losses_each: usize, run: impl Fn(&Scene, usize)) {
    let runs = env::var("MCPWIRE_RACE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1);
    let (scene, start) = (Scene::new(), Instant::now());
    for number in 0..runs {
        run(&scene, number);
        scene.check_alive();
    }
    let lost = scene.server.lost_logins();
    eprintln!("{runs} runs in {:?}, {lost} logins lost", start.elapsed());
    assert_eq!(lost, losses_each * runs);
}

#[test]
fn o1_of_two_processes_that_refresh_at_once_one_sends_a_request() {
    repeat(0, |scene, _| {
        scene.server.refuse_access_tokens();
        let before = scene.server.refreshes();
        let mut both = [scene.start(""), scene.start("")];
        for process in &mut both {
            process.expect("waiting");
        }
        both.iter_mut().for_each(Process::go_on);
        assert_eq!(both.map(Process::outcome), ["ok", "ok"]);
        assert_eq!(scene.server.refreshes(), before + 1);
    });
}

#[test]
fn o1_a_hundred_tasks_of_four_clients_in_one_process_share_one_refresh() {
    repeat(0, |scene, _| {
        let before = scene.server.refreshes();
        let mut process = scene.start("100 tasks");
        process.expect("connected");
        scene.server.refuse_access_tokens();
        process.go_on();
        assert_eq!(process.outcome(), "ok");
        assert_eq!(scene.server.refreshes(), before + 1);
    });
}

/// Kills a process at a place in its refresh where no refresh token can be lost. The other process refreshes in its place, or
/// adopts its token. Fails unless there were so many refreshes.
fn o1_killed(plan: &str, refreshes: usize) {
    repeat(0, |scene, _| {
        let before = scene.server.refreshes();
        assert_eq!(scene.kill(plan), "ok", "{plan}");
        assert_eq!(scene.server.refreshes(), before + refreshes, "{plan}");
    });
}

#[test]
fn o1_a_process_that_is_killed_before_its_request_does_not_stop_the_others() {
    for place in ["locked", "loaded", "checked"] {
        o1_killed(&format!("die {place}"), 1);
    }
}

#[test]
fn o1_a_process_that_is_killed_before_the_server_reads_its_request_loses_nothing() {
    o1_killed(KILLED_AT_REFRESH, 2);
}

#[test]
fn o1_the_token_of_a_process_that_is_killed_after_writing_it_or_before_it_releases_the_lock_is_adopted() {
    for place in ["written", "unlocking"] {
        o1_killed(&format!("die {place}"), 1);
    }
}

#[test]
fn o1_a_new_token_that_is_lost_with_its_process_costs_nothing_if_the_server_accepts_the_old_one_once_more() {
    repeat(0, |scene, _| {
        scene.server.accept_last_refresh_token();
        for plan in [KILLED_BEFORE_RESPONSE, "die received"] {
            assert_eq!(scene.kill(plan), "ok");
        }
    });
}

#[test]
fn o1_a_process_that_is_killed_at_any_moment_of_the_write_leaves_the_old_token_or_the_new_one() {
    repeat(0, |scene, run| {
        scene.server.accept_last_refresh_token();
        // A write takes about a millisecond.
        let (mut victim, second) = scene.victim_and_second(&format!("die within {}", run * 97 % 3000));
        victim.go_on();
        let outcome = victim.outcome();
        assert!(outcome == "killed" || outcome == "ok", "{outcome}");
        assert_eq!(second.outcome(), "ok");
    });
}

#[test]
fn o1_a_new_token_that_is_lost_with_its_process_asks_for_a_login_if_the_server_insists() {
    repeat(2, |scene, _| {
        for plan in [KILLED_BEFORE_RESPONSE, "die received"] {
            let outcome = scene.kill(plan);
            assert!(outcome.starts_with("error: ") && outcome.contains("wants a login"), "{outcome}");
            scene.log_in();
        }
    });
}

#[test]
fn o1_a_process_that_cannot_write_sends_no_refresh_and_another_one_does() {
    repeat(0, |scene, _| {
        scene.server.refuse_access_tokens();
        let before = scene.server.refreshes();
        let mut full = scene.start("disk is full");
        full.expect("waiting");
        full.go_on();
        let outcome = full.outcome();
        assert!(outcome.starts_with("error: ") && outcome.contains("the disk is full"), "{outcome}");
        assert_eq!(scene.server.refreshes(), before);
        let mut second = scene.start("second");
        second.expect("waiting");
        assert_eq!(second.outcome(), "ok");
    });
}

#[test]
fn o1_a_process_whose_write_fails_goes_on_with_the_new_token_and_writes_the_next_one() {
    repeat(0, |scene, _| {
        scene.server.refuse_access_tokens();
        let mut process = scene.start("save fails");
        process.expect("waiting");
        process.go_on();
        process.expect("called");
        scene.server.refuse_access_tokens();
        process.go_on();
        process.expect("waiting");
        process.go_on();
        assert_eq!(process.outcome(), "ok");
    });
}
