//! [`ProcessRegistry`]: the file of running servers, with which the next hub ends the processes that a crash has left.
//!
//! A server usually exits when its input ends. A server that does not, and a container, would outlive a hub that was killed. So
//! the registry has a record of each server process. [`ProcessRegistry::reap`] ends a process only if the hub of its record has
//! ended, and if the process is the recorded one: the system reuses process ids.
//!
//! | system | a record identifies a process by | descendants are found by |
//! |---|---|---|
//! | Linux | its id, start time, boot and PID namespace | the process group, the parent, [`MARK`](crate::launch::MARK) |
//! | other Unix systems | its id, and its start time in seconds from `ps` | the process group, while its leader runs |
//! | other systems | nothing: no process is ended | |
//!
//! When in doubt, a hub counts as running. On Linux, a process id has a meaning only within a PID namespace: a hub in a container
//! cannot tell whether a hub outside of it runs. So a hub of another namespace counts as running until the next boot. The
//! same applies to records of older versions, which contain no namespace. All hubs of a registry must be on one machine.

mod host;
#[cfg_attr(not(unix), path = "unsupported.rs")]
mod process;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::HubError;
use crate::disk::{Fs, SystemFs, replace_for_now, unavailable};
use crate::launch::Container;

pub use host::Host;

/// Maximum time to wait for the lock of the file, which another hub holds for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum number of records. Records of hubs in other PID namespaces stay until the next boot, so they could grow without limit.
const MAX_RECORDS: usize = 10_000;

/// The process of one start of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// The id of the server.
    pub id: Uuid,
    /// The number of the start.
    pub generation: u64,
    /// The id of the process, which leads its process group. 0 before the process is started.
    pub pid: u32,
    /// The container that the process has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

/// The outcome of [`ProcessRegistry::reap`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reaped {
    /// The processes that were ended, or whose descendants were.
    pub ended: Vec<ServerProcess>,
    /// The processes that are still running: they could not be ended.
    pub left: Vec<ServerProcess>,
    /// The processes whose id now belongs to another process, or possibly does. Nothing was done to these.
    pub foreign: Vec<ServerProcess>,
    /// The containers that may still exist. The caller removes each with its [`remove_command`](Container::remove_command).
    pub containers: Vec<Container>,
}

/// The file of running server processes. Several hubs may share it.
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
    /// Returns whether both are about the same start of a server.
    fn is_same_start(&self, host: &Host, child: &ServerProcess) -> bool {
        self.host == *host && (self.child.id, self.child.generation) == (child.id, child.generation)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Entries {
    version: u32,
    children: Vec<Entry>,
}

impl ProcessRegistry {
    /// Creates a registry in a file. The first record creates the file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        ProcessRegistry { path: path.into(), fs: Box::new(SystemFs), host: Host::current() }
    }

    /// Records a start of a server. Replaces the record of the same start.
    ///
    /// Call this before the process is started, with 0 as its id, so that nothing is left unrecorded if the hub is killed
    /// meanwhile: on Linux, the process is found without its id. Call it again as soon as the process runs, because it reads the
    /// start time of the process.
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

    /// Removes the record of a start of a server, after its process has ended.
    ///
    /// # Errors
    ///
    /// `SERVICE_UNAVAILABLE` if the file cannot be written.
    pub fn forget(&self, child: &ServerProcess) -> Result<(), HubError> {
        self.change(|entries| entries.retain(|entry| !entry.is_same_start(&self.host, child)))
    }

    /// Ends the processes that ended hubs have left: asks each to end, waits for all of them for at most `grace`, and kills
    /// the rest. Does not touch the processes of a running hub, this one included.
    ///
    /// Processes that are still running, and containers, stay recorded until [`forget_reaped`](Self::forget_reaped). If this hub is
    /// killed before that, the next one finds them.
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

    /// Removes the records of processes that ended hubs have left, after the caller has removed their containers.
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

    /// Returns the records of ended hubs.
    fn orphans(&self) -> Result<Vec<Entry>, HubError> {
        // A file is replaced as a whole, so it is read without the lock.
        let entries = self.read()?;
        Ok(entries.children.into_iter().filter(|entry| !entry.host.is_alive()).collect())
    }

    fn read(&self) -> Result<Entries, HubError> {
        let bytes = self.fs.read(&self.path).map_err(|error| unavailable("read", &self.path, &error))?;
        // An invalid file names no processes. It is replaced, so that the next hub can find the processes of this one.
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> Result<(), HubError> {
        if let Some(directory) = self.path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            self.fs.create_directory(directory).map_err(|error| unavailable("made", directory, &error))?;
        }
        let lock = self.path.with_extension("lock");
        let _held = self.fs.lock(&lock, PATIENCE).map_err(|error| unavailable("locked", &lock, &error))?;
        let mut entries = self.read()?;
        entries.version = 1;
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
