//! The hub with real processes. The servers are this test program: see `server.rs`.
#![cfg(target_os = "linux")]

mod callbacks;
mod configuration;
mod in_process;
mod lifecycle;
mod one_language;
mod required;
mod secrets;
mod server;
mod tools;
mod worker;

use std::path::Path;
use std::time::Duration;

use mcpwire_client::GracePeriods;
use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::layout::Layout;
use mcpwire_hub::service::{BootReport, Events, HubEvent};
use mcpwire_hub::{ConnectOptions, Hub, HubError, HubOptions, McpService, Uuid};
use mcpwire_supervisor::State;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::server::MODE;

/// Timeout of all operations in these tests. Only a hang exceeds it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A temporary directory for a hub.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Place(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::below(self.path())
    }

    /// Opens a hub in this directory that restarts servers after short delays, and soon kills servers that do not end.
    pub(crate) async fn hub(&self) -> Hub {
        let soon = Duration::from_millis(300);
        let grace_periods = GracePeriods { after_close: soon, after_terminate: soon };
        let options = HubOptions::new(self.layout()).policy(|_, policy| {
            policy.first_backoff = Duration::from_millis(20);
            policy.longest_backoff = Duration::from_millis(50);
            policy.refresh_interval = Duration::from_millis(50);
        });
        let options = options.connections(ConnectOptions::default().grace_periods(grace_periods));
        Hub::open(options).await.expect("the hub opens")
    }

    /// Opens a hub in this directory with these servers. None is started.
    pub(crate) async fn hub_with(&self, configs: impl IntoIterator<Item = McpConfig>) -> Hub {
        let hub = self.hub().await;
        for config in configs {
            hub.create(config).await.expect("it is created");
        }
        hub
    }

    /// Opens a hub in this directory with this server, and starts the server.
    pub(crate) async fn running(&self, config: &McpConfig) -> Hub {
        let hub = self.hub_with([config.clone()]).await;
        soon(hub.start(config.id)).await.expect("it starts");
        hub
    }
}

/// Opens a hub with this server, which is not started.
pub(crate) async fn one(config: McpConfig) -> (Place, Hub, Uuid) {
    let (place, id) = (Place::new(), config.id);
    let hub = place.hub_with([config]).await;
    (place, hub, id)
}

/// Opens a hub with this server, which runs.
pub(crate) async fn running(config: McpConfig) -> (Place, Hub, Uuid) {
    let (place, hub, id) = one(config).await;
    soon(hub.start(id)).await.expect("it starts");
    (place, hub, id)
}

pub(crate) fn begin_start(hub: &Hub, id: Uuid) -> JoinHandle<Result<(), HubError>> {
    let hub = hub.clone();
    tokio::spawn(async move { hub.start(id).await })
}

pub(crate) fn begin_boot(hub: &Hub) -> JoinHandle<Result<BootReport, HubError>> {
    let hub = hub.clone();
    tokio::spawn(async move { hub.boot().await })
}

/// Creates a server without faults.
pub(crate) fn good(name: &str) -> McpConfig {
    server(name, "good")
}

/// Creates a server with this mode. See `server.rs` for the modes.
pub(crate) fn server(name: &str, mode: &str) -> McpConfig {
    let program = std::env::current_exe().expect("this program");
    McpConfig::binary(name, program.to_string_lossy())
        .args(["server::serve", "--exact", "--nocapture", "--test-threads=1"])
        .env(EnvVarConfig::value(MODE, mode))
}

/// Creates a server whose program does not exist.
pub(crate) fn missing(name: &str) -> McpConfig {
    McpConfig::binary(name, "/no/such/program")
}

/// Changes a server so that a shell runs the commands `first` and then the server.
pub(crate) fn under_shell(config: &McpConfig, first: &str) -> McpConfig {
    let mut under = config.clone();
    let mut args = vec!["-c".to_owned(), format!("{first}; \"$0\" \"$@\""), config.package.identifier.clone()];
    args.append(&mut under.args);
    under.args = args;
    under.package.identifier = "/bin/sh".into();
    under
}

/// Fails the test if it takes too long.
pub(crate) async fn soon<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future.into_future()).await.expect("it takes too long")
}

/// Waits until this is true.
pub(crate) async fn until_true(is_true: impl Fn() -> bool) {
    soon(async {
        while !is_true() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Waits until a server is in this state. Returns the error of the event.
pub(crate) async fn until(events: &mut Events, wanted: Uuid, in_state: State) -> Option<HubError> {
    soon(async {
        loop {
            match events.next().await.expect("the hub is there") {
                HubEvent::Status { id, state, error, .. } if id == wanted && state == in_state => return error,
                _ => {}
            }
        }
    })
    .await
}

/// Waits until the tools of the hub meet a condition.
pub(crate) async fn until_tools(hub: &Hub, events: &mut Events, are: impl Fn(&Hub) -> bool) {
    soon(async {
        while !are(hub) {
            events.next().await.expect("the hub is there");
        }
    })
    .await;
}

/// Calls a tool, and returns the text of its result.
pub(crate) async fn call(hub: &Hub, id: Uuid, tool: &str, arguments: Value) -> Result<String, HubError> {
    soon(hub.call_tool(id, tool, &arguments)).await
}

pub(crate) fn state(hub: &Hub, id: Uuid) -> State {
    hub.status_detail(id).expect("it is configured").state
}

pub(crate) fn pid(hub: &Hub, id: Uuid) -> u32 {
    hub.status_detail(id).and_then(|detail| detail.pid).expect("it has a process")
}

pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
}

/// Returns whether a process runs. A zombie does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.split_ascii_whitespace().next())
        .is_some_and(|state| !"ZX".contains(state))
}

/// Waits until a process has ended. It polls, because the end of a foreign process is not reported.
pub(crate) async fn until_gone(pid: u32) {
    soon(async {
        while is_alive(pid) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

/// Returns the processes whose environment contains a text.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").expect("processes").flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(text) && is_alive(pid) {
            found.push(pid);
        }
    }
    found
}
