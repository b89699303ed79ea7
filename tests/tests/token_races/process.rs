//! [`Process`]: a real process that calls a tool with the stored login, and stops, ends or fails where its plan says.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;
use std::{env, process, thread};

use mcpwire_authorization::{FileStore, OAuth, StoreFailed, StoreLock, TokenStore};
use mcpwire_tokio::{McpClient, Tokio};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// A process that runs [`run`] with this program's file. It is killed when this value is dropped.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStderr>>,
}

impl Process {
    /// Starts a process. `plan` says where it stops, ends or fails.
    pub(crate) fn start(url: &str, directory: &Path, plan: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "process::process", "--nocapture"])
            .envs([(URL, url), (PLAN, plan)])
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stderr.take().unwrap());
        Process { child, input, output: BufReader::new(output).lines() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the next line that the process prints, or `None` after its end.
    fn line(&mut self) -> Option<String> {
        self.output.next()?.ok()
    }

    /// Waits until the process says `word`.
    pub(crate) fn expect(&mut self, word: &str) {
        assert_eq!(self.line().as_deref(), Some(word));
    }

    /// Lets the process go on from the place where it waits.
    pub(crate) fn go_on(&mut self) {
        // A process that was killed does not read.
        let _ = self.input.as_mut().unwrap().write_all(b"\n");
    }

    /// Waits for the outcome of the process: "ok", an error, or "killed".
    pub(crate) fn outcome(mut self) -> String {
        let line = self.line();
        // A process that waits once more goes on.
        self.input = None;
        let status = self.child.wait().unwrap();
        line.unwrap_or_else(|| if status.success() { "nothing".into() } else { "killed".into() })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Kills a process as `kill -9` does.
pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

const URL: &str = "MCPWIRE_RACES_URL";
const DIRECTORY: &str = "MCPWIRE_RACES_DIRECTORY";
const PLAN: &str = "MCPWIRE_RACES_PLAN";

/// The process. It does nothing when the tests run it as a test.
#[test]
fn process() {
    let (Ok(url), Ok(plan), Some(directory)) = (env::var(URL), env::var(PLAN), env::var_os(DIRECTORY)) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let outcome = runtime.block_on(run(&url, directory.into(), &plan));
    say(&outcome.map_or_else(|error| format!("error: {error}"), |()| "ok".into()));
    // Without waiting for threads that may wait for a lock.
    process::exit(0);
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

async fn run(url: &str, directory: PathBuf, plan: &str) -> Outcome {
    let store = FileStore::open(directory)?;
    if plan == "100 tasks" {
        return many_tasks(url, store).await;
    }
    let client = connect(url, PlannedStore::new(store, plan)).await?;
    client.call_tool("echo", json!({})).await?;
    if plan == "save fails" {
        say("called");
        wait();
        client.call_tool("echo", json!({})).await?;
    }
    Ok(())
}

/// A hundred tasks over four clients that know nothing of each other.
async fn many_tasks(url: &str, store: FileStore) -> Outcome {
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(connect(url, store.clone()).await?);
    }
    say("connected");
    wait();
    let call = |index: usize| {
        let client: McpClient = clients[index % clients.len()].clone();
        tokio::spawn(async move { client.call_tool("echo", json!({})).await.map(drop) })
    };
    let calls: Vec<_> = (0..100).map(call).collect();
    for call in calls {
        call.await??;
    }
    Ok(())
}

async fn connect(url: &str, store: impl TokenStore) -> Outcome<McpClient> {
    let oauth = OAuth::builder(url, "Races").store(store).build_on(Tokio::current())?;
    Ok(crate::connect(url, oauth).await?)
}

/// A [`FileStore`] that stops, ends the process or fails where its plan says.
///
/// It says "waiting" before it takes the lock of a refresh, and "locked" after it if it is to die, and then waits for the test.
struct PlannedStore {
    inner: FileStore,
    plan: Arc<Plan>,
}

struct Plan {
    text: String,
    /// Whether this process has the lock, so that what it does is part of a refresh.
    has_lock: AtomicBool,
    /// Number of writes that still fail.
    failures: AtomicU32,
}

impl PlannedStore {
    fn new(inner: FileStore, plan: &str) -> Self {
        // The new token, and then the old one, which is put back.
        let failures = if plan == "save fails" { 2 } else { 0 };
        let plan = Plan { text: plan.into(), has_lock: AtomicBool::new(false), failures: failures.into() };
        PlannedStore { inner, plan: Arc::new(plan) }
    }
}

impl Plan {
    /// Ends the process as `kill -9` does, if the plan says so.
    fn die_if(&self, place: &str) {
        if self.text == format!("die {place}") && self.has_lock.load(Ordering::SeqCst) {
            kill(process::id());
            wait();
        }
    }

    /// Ends the process after so many microseconds, if the plan says so.
    fn die_soon(&self) {
        let Some(delay) = self.text.strip_prefix("die within ").and_then(|delay| delay.parse().ok()) else { return };
        let start = Instant::now();
        thread::spawn(move || {
            while start.elapsed().as_micros() < delay {
                std::hint::spin_loop();
            }
            kill(process::id());
        });
    }
}

impl TokenStore for PlannedStore {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed> {
        let loaded = self.inner.load(name);
        self.plan.die_if("loaded");
        loaded
    }

    fn check_save(&self, name: &str) -> Result<(), StoreFailed> {
        if self.plan.text == "disk is full" {
            return Err(StoreFailed("the disk is full".into()));
        }
        self.inner.check_save(name)?;
        self.plan.die_if("checked");
        Ok(())
    }

    fn save(&self, name: &str, document: &[u8]) -> Result<(), StoreFailed> {
        let count = |failures: u32| failures.checked_sub(1);
        if self.plan.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count).is_ok() {
            return Err(StoreFailed("the disk is full".into()));
        }
        self.plan.die_if("received");
        self.plan.die_soon();
        self.inner.save(name, document)?;
        self.plan.die_if("written");
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), StoreFailed> {
        self.inner.remove(name)
    }

    fn lock(&self, name: &str) -> Result<StoreLock, StoreFailed> {
        let plan = Arc::clone(&self.plan);
        say("waiting");
        if plan.text != "second" {
            wait();
        }
        let inner = self.inner.lock(name)?;
        plan.has_lock.store(true, Ordering::SeqCst);
        if plan.text.starts_with("die") {
            say("locked");
            wait();
        }
        plan.die_if("locked");
        Ok(Box::new(PlannedLock { _inner: inner, plan }))
    }
}

struct PlannedLock {
    _inner: StoreLock,
    plan: Arc<Plan>,
}

impl Drop for PlannedLock {
    fn drop(&mut self) {
        self.plan.die_if("unlocking");
        self.plan.has_lock.store(false, Ordering::SeqCst);
    }
}

/// Tells the test where this process is.
fn say(word: &str) {
    let _ = writeln!(std::io::stderr(), "{word}");
}

/// Waits until the test lets this process go on.
fn wait() {
    let _ = std::io::stdin().read_line(&mut String::new());
}
