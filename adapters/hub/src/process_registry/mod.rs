//! [`ProcessRegistry`]: the processes that run, so that the next start can end what a crash of the hub left behind.
//!
//! A server usually ends when its input does. One that does not, and a container, would outlive a hub that was killed. So each
//! process is noted with what makes it unmistakable, and [`ProcessRegistry::reap`] ends those whose hub is gone, and only if they are
//! still what was noted: ids of processes are used again.
//!
//! | system | a process is known by | its descendants are found by |
//! |---|---|---|
//! | Linux | the time it was started at, in ticks since a boot with this id | its group, and the variable [`MARK`](crate::launch::MARK) |
//! | other Unixes | the time it was started at, in seconds, as `ps` says | its group, while it lives itself |
//! | Windows | nothing: none is ended | |

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

/// How long another hub may hold the lock: it holds it for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process, and when it was started: no other ever has both in common with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pid: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<String>,
}

impl Host {
    /// This process.
    pub fn current() -> Self {
        Host::of(std::process::id())
    }

    fn of(pid: u32) -> Self {
        Host { pid, started: process::started(pid) }
    }

    /// Whether it runs. If it cannot be told whether it is the same one, any process with its id counts.
    fn is_alive(&self) -> bool {
        let is_same = self.started.is_none() || process::started(self.pid) == self.started;
        is_same && process::exists(self.pid)
    }

    /// A short text that no other process on this machine has, for [`Instance::host`](crate::launch::Instance::host).
    pub fn token(&self) -> String {
        let digits = |text: &str| text.rsplit(':').next().unwrap_or_default().to_owned();
        match &self.started {
            Some(started) => format!("{}-{}", self.pid, digits(started).replace(|c: char| !c.is_alphanumeric(), "")),
            None => self.pid.to_string(),
        }
    }
}

/// A process of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// The server.
    pub id: Uuid,
    /// Which start of it.
    pub generation: u64,
    /// Its process, which leads its group. 0 before it is started.
    pub pid: u32,
    /// The container that it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

/// What [`ProcessRegistry::reap`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reaped {
    /// Those that were still there, or whose descendants were, and are gone now.
    pub ended: Vec<ServerProcess>,
    /// Those that are still there: they could not be ended.
    pub left: Vec<ServerProcess>,
    /// Those whose id another process has now, or of which it cannot be told. Nothing was done to these.
    pub foreign: Vec<ServerProcess>,
    /// Containers that may still be there. They are to be removed with their
    /// [`remove_command`](Container::remove_command).
    pub containers: Vec<Container>,
}

/// The file of the processes that run. Several hubs may share it.
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
    /// The registry in this file, which need not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        ProcessRegistry { path: path.into(), fs: Box::new(SystemFs), host: Host::current() }
    }

    /// Records a start of a server, in place of what was recorded of the same start.
    ///
    /// To be called before the process is started, with 0 as its id, so that a hub that is killed meanwhile leaves nothing
    /// unrecorded: on Linux, the process is found without its id. To be called again as soon as the process runs, because the
    /// time of its start is read now.
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

    /// Ends what hubs have left that are gone: asks each to end, waits for them together, but not longer than `grace`, and kills
    /// the rest. What belongs to a hub that runs, this one included, is not touched.
    ///
    /// Processes that are still there, and containers, stay recorded until [`forget_reaped`](Self::forget_reaped): if this hub is killed
    /// before, the next one finds them.
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

    /// Removes the records of what was left by hubs that are gone, after its containers have been removed.
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

    /// Returns the records of hubs that are gone.
    fn orphans(&self) -> Result<Vec<Entry>, HubError> {
        // A file is replaced as a whole, so it is read without the lock.
        let entries = self.read()?;
        Ok(entries.children.into_iter().filter(|entry| !entry.host.is_alive()).collect())
    }

    fn read(&self) -> Result<Entries, HubError> {
        let bytes = self.fs.read(&self.path).map_err(|error| unavailable("read", &self.path, &error))?;
        // What is not a registry tells of no process, and a new one is worth more than none.
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
        let bytes = serde_json::to_vec_pretty(&entries).unwrap_or_default();
        replace_for_now(&*self.fs, &self.path, &bytes).map_err(|error| unavailable("written", &self.path, &error))
    }
}

impl fmt::Debug for ProcessRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessRegistry").field("path", &self.path).field("host", &self.host).finish_non_exhaustive()
    }
}
