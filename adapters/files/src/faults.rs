//! [`FaultyFs`]: a file system for tests that fails or loses power at a given step.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Fs, NewFile, SystemFs};

/// A fault that [`FaultyFs`] simulates, to test code that replaces files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The machine loses power: later steps fail, and files that were not synced lose half of their content.
    Crash,
    /// The step fails with this error, and later steps succeed.
    Fails(io::ErrorKind),
}

/// A file system for tests. It changes real files, and simulates a fault at a chosen step. A step is one change, such as creating
/// or renaming a file.
#[derive(Clone, Debug)]
pub struct FaultyFs {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    fault: Fault,
    /// Number of steps that still succeed before the fault. `None` after the fault.
    left: Option<usize>,
    steps: usize,
    /// The files whose content was not synced to the disk, so that a loss of power would damage it.
    volatile: BTreeSet<PathBuf>,
}

impl FaultyFs {
    /// Creates a file system on which the first `steps` changes succeed. The next change causes `fault`.
    pub fn new(steps: usize, fault: Fault) -> Self {
        let state = State { fault, left: Some(steps), steps: 0, volatile: BTreeSet::new() };
        FaultyFs { state: Arc::new(Mutex::new(state)) }
    }

    /// Returns the number of changes that callers have made or tried so far. A test runs once without a fault to find this
    /// number.
    pub fn steps(&self) -> usize {
        self.lock_state().steps
    }

    /// Simulates a loss of power: truncates each file that was not synced to half of its content.
    pub fn lose_power(&self) {
        for path in &self.lock_state().volatile {
            if let Ok(bytes) = fs::read(path) {
                let _ = fs::write(path, &bytes[..bytes.len() / 2]);
            }
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step<T>(&self, change: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.lock_state();
        state.steps += 1;
        match (state.left, state.fault) {
            (None, Fault::Crash) => Err(io::Error::other("the machine is off")),
            (Some(0), Fault::Crash) => {
                state.left = None;
                Err(io::Error::other("the machine is off"))
            }
            (Some(0), Fault::Fails(kind)) => {
                state.left = None;
                Err(kind.into())
            }
            (left, _) => {
                state.left = left.map(|left| left - 1);
                change(&mut state)
            }
        }
    }
}

impl Fs for FaultyFs {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        SystemFs.read(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        SystemFs.resolve(path)
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        SystemFs.mode(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.step(|_| SystemFs.create_directory(path))
    }

    fn lock(&self, path: &Path, timeout: Duration) -> io::Result<File> {
        self.step(|_| SystemFs.lock(path, timeout))
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn NewFile>> {
        self.step(|state| {
            let file = SystemFs.create(path, mode)?;
            state.volatile.insert(path.to_owned());
            Ok(Box::new(FaultyFile { fs: self.clone(), path: path.to_owned(), file }) as Box<dyn NewFile>)
        })
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|_| SystemFs.link(from, to))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|state| {
            SystemFs.rename(from, to)?;
            if state.volatile.remove(from) {
                state.volatile.insert(to.to_owned());
            }
            Ok(())
        })
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.step(|_| SystemFs.sync_directory(path))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|state| {
            state.volatile.remove(path);
            SystemFs.remove(path)
        })
    }
}

struct FaultyFile {
    fs: FaultyFs,
    path: PathBuf,
    file: Box<dyn NewFile>,
}

impl NewFile for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (file, half) = (&mut self.file, bytes.len() / 2);
        // Half of the bytes are written even if the step fails, as in a real partial write.
        file.write(&bytes[..half])?;
        self.fs.step(|_| file.write(&bytes[half..]))
    }

    fn sync(&mut self) -> io::Result<()> {
        let (file, path) = (&mut self.file, &self.path);
        self.fs.step(|state| {
            state.volatile.remove(path);
            file.sync()
        })
    }
}
