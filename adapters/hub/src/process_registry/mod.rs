//! [`ProcessRegistry`]: a file that lists the running server processes. After a crash of a hub, the next hub ends the processes
//! that this file lists.
//!
//! A server usually exits when its standard input is closed. But a container, or a server that hangs, would outlive a hub that
//! was killed. For this reason, the registry has a record of each server process. [`ProcessRegistry::reap`] ends a process only
//! if the hub that wrote the record has ended. It also checks that the process is the recorded one, because the system reuses
//! process ids.
//!
//! | system | a record identifies a process by | descendants are found by |
//! |---|---|---|
//! | Linux | its id, start time, boot and PID namespace | the process group, the parent, [`MARK`](crate::launch::MARK) |
//! | other Unix systems | its id, and its start time in seconds | the process group, the parent, [`MARK`](crate::launch::MARK) |
//! | other systems | nothing: no process is ended | |
//!
//! If it is not known whether a hub has ended, the hub counts as running. On Linux, a process id is valid only within a PID
//! namespace: a hub in a container cannot find out whether a hub outside of the container is running. A hub of another namespace
//! therefore counts as running until the next boot. So does a hub of an older version, whose records contain no namespace. All
//! hubs that share a registry must be on one machine.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mcpwire_config::disk::{check_version, unavailable};
use mcpwire_files::{Fs, SystemFs, replace_for_now};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[cfg(not(unix))]
use other as process;
#[cfg(unix)]
use unix as process;

pub(crate) use process::memory_of_groups;

use crate::HubError;
use crate::launch::Container;

/// Maximum time to wait for the lock of the registry file: 10 s. Other hubs hold this lock only for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The version of the registry file that this program writes. It refuses files of later versions.
const VERSION: u32 = 1;

/// Maximum number of server processes in the registry. At the limit, each new record replaces the oldest one. Without a limit the
/// file could grow forever, because processes of hubs in other PID namespaces stay recorded until the next boot.
const MAX_RECORDS: usize = 10_000;

/// The record of one server process: which server and which start it belongs to, its process id, and its container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// The id of the server in the configuration.
    pub id: Uuid,
    /// The number of this start of the server. The hub counts the starts of each server.
    pub generation: u64,
    /// The process id that the operating system has assigned. The process leads a process group. 0 if the process has not been
    /// started yet.
    pub pid: u32,
    /// The container that the process has started, or `None` if the server does not run in a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

/// The result of [`ProcessRegistry::reap`]: the processes and containers that ended hubs have left, and what happened to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reaped {
    /// The recorded processes that `reap` has ended. Of some of these, only descendants were still running.
    pub ended: Vec<ServerProcess>,
    /// The recorded processes that `reap` could not end. They are still running.
    pub left: Vec<ServerProcess>,
    /// The recorded processes whose process id now belongs to another process, or may belong to another process. `reap` does not
    /// signal that process.
    pub foreign: Vec<ServerProcess>,
    /// The containers of ended hubs that may still exist. The caller removes each container with its
    /// [`remove_command`](Container::remove_command).
    pub containers: Vec<Container>,
}

/// A file that lists the running server processes, so that the next hub can end the processes that survive a crash. Several hubs
/// may share one file.
pub struct ProcessRegistry {
    path: PathBuf,
    fs: Box<dyn Fs>,
    host: Host,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    child: ServerProcess,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    host: Host,
}

impl Entry {
    /// Returns whether this record was written by the hub `host`, and is about the same start of the same server as `child`.
    fn is_same_start(&self, host: &Host, child: &ServerProcess) -> bool {
        self.host == *host && (self.child.id, self.child.generation) == (child.id, child.generation)
    }
}

/// The version of the registry file. It is read before the rest, whose format depends on the version.
#[derive(Deserialize)]
struct Header {
    version: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Entries {
    version: u32,
    children: Vec<Entry>,
}

impl ProcessRegistry {
    /// Creates a registry that stores its records in the file `path`. The file is created when the first process is recorded.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        ProcessRegistry { path: path.into(), fs: Box::new(SystemFs), host: Host::current() }
    }

    /// Checks that this program can read the registry file. A missing file is accepted.
    ///
    /// # Errors
    ///
    /// `SERVICE_UNAVAILABLE` if a later version of this program has written the file, or if it cannot be read.
    pub fn check(&self) -> Result<(), HubError> {
        self.read().map(drop)
    }

    /// Records the process of a server, so that the next hub can end it if this hub is killed. Replaces an earlier record of the
    /// same start of the server.
    ///
    /// Call this twice for each start. Before the process is started, pass 0 as the process id: on Linux, the next hub can then
    /// find the process even if this hub is killed before the second call. As soon as the process runs, pass its id. This method
    /// reads the start time of the process, so the process must still run.
    ///
    /// # Errors
    ///
    /// `SERVICE_UNAVAILABLE` if the file cannot be written.
    pub fn record(&self, child: &ServerProcess) -> Result<(), HubError> {
        let entry = Entry { child: child.clone(), started: process::started(child.pid), host: self.host.clone() };
        self.change(|entries| {
            entries.retain(|known| !known.is_same_start(&self.host, child));
            entries.push(entry);
        })
    }

    /// Removes the record of a server process from the file. Call this after the process has ended.
    ///
    /// # Errors
    ///
    /// `SERVICE_UNAVAILABLE` if the file cannot be written.
    pub fn forget(&self, child: &ServerProcess) -> Result<(), HubError> {
        self.change(|entries| entries.retain(|entry| !entry.is_same_start(&self.host, child)))
    }

    /// Ends the server processes that ended hubs have left running. Asks each process to end, waits up to `grace` for all of
    /// them, and kills the rest. Does not touch the processes of a running hub, including this hub.
    ///
    /// Processes that could not be ended stay recorded, and so do containers until [`forget_reaped`](Self::forget_reaped). If
    /// this hub is killed meanwhile, the next hub finds them again.
    ///
    /// # Errors
    ///
    /// `SERVICE_UNAVAILABLE` if the file cannot be read or written.
    pub fn reap(&self, grace: Duration) -> Result<Reaped, HubError> {
        let orphans = self.orphans()?;
        let mut reaped = Reaped::default();
        let mut targets = Vec::new();
        for Entry { child, started, host } in &orphans {
            reaped.containers.extend(child.container.clone());
            let mark = format!("{}.{}.{}", child.id, child.generation, host.token());
            let target = process::Target::find(child.pid, started.as_deref(), &mark);
            match target {
                Some(target) => targets.push((child, target)),
                None if process::exists(child.pid) => reaped.foreign.push(child.clone()),
                None => {}
            }
        }
        process::end(&targets.iter().map(|(_, target)| target).collect::<Vec<_>>(), grace);
        for (child, target) in targets {
            let list = if target.is_gone() { &mut reaped.ended } else { &mut reaped.left };
            list.push(child.clone());
        }
        let is_done = |entry: &Entry| entry.child.container.is_none() && !reaped.left.contains(&entry.child);
        let done: Vec<Entry> = orphans.into_iter().filter(is_done).collect();
        if !done.is_empty() {
            self.change(|entries| entries.retain(|entry| !done.contains(entry)))?;
        }
        Ok(reaped)
    }

    /// Removes the records of the containers in `reaped`, with the processes that started them. Call this after you have removed
    /// these containers. A process that is still running stays recorded.
    ///
    /// # Errors
    ///
    /// `SERVICE_UNAVAILABLE` if the file cannot be written.
    pub fn forget_reaped(&self, reaped: &Reaped) -> Result<(), HubError> {
        let is_done = |entry: &Entry| {
            let container = entry.child.container.as_ref();
            container.is_some_and(|container| reaped.containers.contains(container))
                && !reaped.left.contains(&entry.child)
        };
        self.change(|entries| entries.retain(|entry| entry.host.is_alive() || !is_done(entry)))
    }

    /// Returns the records of the server processes whose hub has ended. These processes may still be running.
    fn orphans(&self) -> Result<Vec<Entry>, HubError> {
        // The registry file is replaced as a whole, so it can be read without the lock.
        let entries = self.read()?;
        Ok(entries.children.into_iter().filter(|entry| !entry.host.is_alive()).collect())
    }

    fn read(&self) -> Result<Entries, HubError> {
        let bytes = self.fs.read(&self.path).map_err(|error| unavailable("read", &self.path, &error))?;
        let Some(bytes) = bytes else { return Ok(Entries::default()) };
        if let Ok(Header { version }) = serde_json::from_slice(&bytes) {
            check_version(&self.path, version, VERSION.into())?;
        }
        // An invalid registry file counts as empty. The hub then replaces the file, so that the next hub can find the processes
        // of this hub.
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> Result<(), HubError> {
        if let Some(directory) = self.path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            self.fs.create_directory(directory).map_err(|error| unavailable("made", directory, &error))?;
        }
        let lock = self.path.with_extension("lock");
        let _held = self.fs.lock(&lock, PATIENCE).map_err(|error| unavailable("locked", &lock, &error))?;
        let mut entries = self.read()?;
        entries.version = VERSION;
        change(&mut entries.children);
        let oldest = entries.children.len().saturating_sub(MAX_RECORDS);
        entries.children.drain(..oldest);
        let bytes = serde_json::to_vec_pretty(&entries).unwrap_or_default();
        replace_for_now(&*self.fs, &self.path, &bytes).map_err(|error| unavailable("written", &self.path, &error))
    }
}

impl fmt::Debug for ProcessRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessRegistry").field("path", &self.path).field("host", &self.host).finish_non_exhaustive()
    }
}

/// Identifies the process of a hub among all processes of the machine, even if the system reuses its process id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pid: u32,
    /// The start time of the process, as [`process::started`] returns it. `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    /// The Linux namespaces in which `pid` and `started` are valid, as [`process::namespaces`] returns them. `None` on other
    /// systems, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespaces: Option<String>,
}

impl Host {
    /// Returns the identity of the current process, which is the hub.
    pub fn current() -> Self {
        let pid = std::process::id();
        Host { pid, started: process::started(pid), namespaces: process::namespaces() }
    }

    /// Returns whether the process of the hub is still running. Returns `true` if this is not known.
    fn is_alive(&self) -> bool {
        if let Some(started) = &self.started
            && process::is_of_another_boot(started)
        {
            return false;
        }
        if !process::can_judge(self.namespaces.as_deref()) {
            return true;
        }
        match (&self.started, process::started(self.pid)) {
            (Some(recorded), Some(now)) if *recorded != now => false,
            // Without two start times to compare, any process with the hub's id counts as the hub.
            _ => process::exists(self.pid),
        }
    }

    /// Returns a short text that identifies the hub among all processes of this machine. It is part of the names of containers:
    /// see [`Instance::host`](crate::launch::Instance::host).
    pub fn token(&self) -> String {
        // Uses the start time without the boot id, and only the number of the PID namespace. Letters and digits are valid in the
        // name of a container.
        let digits = |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
        let started = self.started.as_deref().map(|started| digits(started.rsplit(':').next().unwrap_or_default()));
        let namespace = self.namespaces.as_deref().and_then(|namespaces| namespaces.split(' ').next());
        let namespace = namespace.map(|namespace| digits(namespace.rsplit(':').next().unwrap_or_default()));
        [Some(self.pid.to_string()), started, namespace].into_iter().flatten().collect::<Vec<_>>().join("-")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod linux_tests;
