//! Starts the program in a directory of one test, and servers for it, and waits for what they do.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "most tests are for Linux"))]

pub(crate) mod login;
mod process;
#[cfg(unix)]
pub(crate) mod servers;
#[cfg(target_os = "linux")]
mod terminal;

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use process::{Finished, MCPWIRE, Running, Words, command, mcpwire, run};
#[cfg(target_os = "linux")]
pub(crate) use terminal::{Mark, Terminal};

/// Maximum time to wait in a test. It is far longer than anything here takes, so only a failing test waits so long.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(300);

/// Arguments of the demo's tool `add`, whose result is 42.
pub(crate) const SUM: &str = r#"{"a":2,"b":40}"#;

/// A call that takes ten minutes, with progress.
pub(crate) const SLOW: [&str; 3] = ["call", "slow", r#"{"seconds":600}"#];

/// Runs a test for all cases at the same time. The name of a thread is its case, so each failure is printed with its case.
pub(crate) fn each<T: Debug + Send>(cases: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    thread::scope(|scope| {
        let test = &test;
        let start = |case: T| {
            let builder = thread::Builder::new().name(format!("{case:?}"));
            builder.spawn_scoped(scope, move || test(case)).expect("a thread")
        };
        let started: Vec<_> = cases.into_iter().map(start).collect();
        let failed = started.into_iter().filter_map(|thread| {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            thread.join().err().map(|_| name)
        });
        let failed: Vec<String> = failed.collect();
        assert!(failed.is_empty(), "failed cases: {failed:#?}");
    });
}

/// Calls `found` until it returns something.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < WATCHDOG, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a file, such as a trace, contains this text.
pub(crate) fn wait_for_text(file: impl AsRef<Path>, text: &str) {
    wait_for(text, || fs::read_to_string(&file).is_ok_and(|content| content.contains(text)).then_some(()));
}

/// A directory with the configuration of one user, and with other files of a test.
pub(crate) struct Place {
    path: PathBuf,
    _directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self { path: directory.path().canonicalize().expect("it exists"), _directory: directory }
    }

    /// Creates a directory with this path below a new one.
    pub(crate) fn below(path: &str) -> Self {
        let place = Self::new();
        let path = place.path.join(path);
        fs::create_dir_all(&path).expect("it is created");
        Self { path, ..place }
    }

    /// Creates a directory in which the demo server is configured as `demo`.
    pub(crate) fn with_demo() -> Self {
        let place = Self::new();
        place.add_demo("demo");
        place
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in this directory.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path().join(name).to_str().expect("a plain path").to_owned()
    }

    /// Writes a file, and returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let file = self.file(name);
        fs::write(&file, content).expect("it can be written");
        file
    }

    /// Writes a file with these servers for an import, and returns its path.
    pub(crate) fn write_import(&self, servers: &Value) -> String {
        self.write("import.json", json!({"mcpServers": servers}).to_string())
    }

    /// Writes a program, and returns its path.
    #[cfg(unix)]
    pub(crate) fn write_program(&self, name: &str, script: &str) -> String {
        let file = self.write(name, script);
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("it is ours");
        file
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("it can be read")
    }

    /// Returns the command `mcpwire` with these arguments, and with its configuration in this directory.
    pub(crate) fn command(&self, arguments: &(impl Words + ?Sized)) -> Command {
        let arguments = arguments.words();
        // The arguments after `--` are those of the server.
        let end = arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len());
        let (ours, theirs) = arguments.split_at(end);
        command(&[ours, &["--config-dir", self.path.to_str().expect("a plain path")], theirs].concat())
    }

    /// Returns the option that names this directory, for commands that are not started with [`Place::command`].
    pub(crate) fn option(&self) -> String {
        format!("--config-dir {}", self.path.display())
    }

    /// Runs `mcpwire` with its configuration in this directory, and an empty input.
    pub(crate) fn run(&self, arguments: &(impl Words + ?Sized)) -> Finished {
        self.begin(arguments).finish()
    }

    pub(crate) fn run_with_input(&self, arguments: &(impl Words + ?Sized), input: &str) -> Finished {
        Running::start(&mut self.command(arguments), input).finish()
    }

    /// Starts `mcpwire` with its configuration in this directory, and an empty input.
    pub(crate) fn begin(&self, arguments: &(impl Words + ?Sized)) -> Running {
        Running::start(&mut self.command(arguments), "")
    }

    /// Starts `mcpwire` with an input that stays open.
    pub(crate) fn begin_open(&self, arguments: &(impl Words + ?Sized)) -> Running {
        Running::start_open(&mut self.command(arguments))
    }

    /// Starts `mcpwire` at a terminal, with these environment variables.
    #[cfg(target_os = "linux")]
    pub(crate) fn at_terminal(&self, arguments: &(impl Words + ?Sized), variables: &[(&str, &str)]) -> Running {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        Running::at_terminal(&mut command, &Terminal::open())
    }

    /// Configures a server that is this command.
    #[track_caller]
    pub(crate) fn add(&self, name: &str, server: &[&str]) {
        self.run(&[&["server", "add", name, "--"], server].concat()).gives(0, "");
    }

    /// Configures a server that is a shell script.
    #[track_caller]
    pub(crate) fn add_script(&self, name: &str, script: &str) {
        self.add(name, &["sh", "-c", script]);
    }

    /// Configures the demo server under this name.
    #[track_caller]
    pub(crate) fn add_demo(&self, name: &str) {
        self.add(name, &[MCPWIRE, "demo-server"]);
    }

    /// Calls the tool `add`, and checks its result.
    #[track_caller]
    pub(crate) fn adds_up(&self, tool: &str) {
        self.run(&["call", tool, SUM]).gives(0, "42\n");
    }

    /// Starts a hub, and waits until it listens.
    pub(crate) fn hub(&self) -> Running {
        self.hub_with(&[])
    }

    /// Creates a directory with a hub whose server `demo` runs.
    pub(crate) fn with_running_demo() -> (Self, Running) {
        let place = Self::with_demo();
        let hub = place.hub();
        hub.wait_for_stderr("demo: running");
        (place, hub)
    }

    /// Starts a hub with these environment variables, and waits until it listens.
    pub(crate) fn hub_with(&self, variables: &[(&str, &str)]) -> Running {
        let mut hub = self.command(&["hub", "run"]);
        let hub = Running::start(hub.envs(variables.iter().copied()), "");
        hub.wait_for_stderr("listening at ");
        hub
    }

    /// Returns the configuration.
    pub(crate) fn servers(&self) -> Value {
        serde_json::from_str(&self.read("mcp/servers.json")).expect("JSON")
    }

    /// Changes the configuration, as an editor does.
    pub(crate) fn edit_servers(&self, edit: impl FnOnce(&mut Value)) {
        let mut servers = self.servers();
        edit(&mut servers);
        self.write("mcp/servers.json", servers.to_string());
    }

    /// Returns the rows of `mcpwire status`.
    pub(crate) fn status(&self) -> Value {
        self.run(&["status", "--json"]).json()
    }
}
