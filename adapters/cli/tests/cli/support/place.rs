//! A directory of one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Finished, MCPWIRE, Running, command};

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
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        // The arguments after `--` are those of the server.
        let end = arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len());
        let (ours, theirs) = arguments.split_at(end);
        command(&[ours, &["--config-dir", self.path.to_str().expect("a plain path")], theirs].concat())
    }

    /// Runs `mcpwire` with its configuration in this directory, and an empty input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        self.begin(arguments).finish()
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Finished {
        Running::start(&mut self.command(arguments), input).finish()
    }

    /// Starts `mcpwire` with its configuration in this directory, and an empty input.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Running {
        Running::start(&mut self.command(arguments), "")
    }

    /// Starts `mcpwire` with an input that stays open.
    pub(crate) fn begin_open(&self, arguments: &[&str]) -> Running {
        Running::start_open(&mut self.command(arguments))
    }

    /// Starts `mcpwire` at a terminal, with these environment variables.
    #[cfg(target_os = "linux")]
    pub(crate) fn at_terminal(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Running {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        Running::at_terminal(&mut command, &super::Terminal::open())
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
        self.run(&["call", tool, super::SUM]).gives(0, "42\n");
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
