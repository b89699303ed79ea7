//! [`Logs`]: stores the lines that a server writes to standard error, without secrets. The last lines are in memory, and more
//! lines are in log files.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use mcpwire_core::printable;
use mcpwire_files::{Fs as _, Links, SystemFs, check_own_file, open_regular, read_regular};

/// Maximum total size of the log lines of one server in memory: 64 KiB. The log lines of 200 servers then take at most 12.5 MiB.
const MAX_BYTES: usize = 64 * 1024;
/// Maximum number of log lines of one server in memory. At the limit, the oldest line is dropped.
const MAX_LINES: usize = 1_000;

/// Maximum size of one log file: 1 MiB. A server has three log files. They contain the output of several days even if the server
/// writes a lot.
const FILE_BYTES: u64 = 1024 * 1024;
/// Maximum number of log files of one server: the current file and two older files.
const FILES: usize = 3;

/// The last lines that one server wrote to standard error, in memory and in log files. All clones share the lines.
#[derive(Clone, Debug)]
pub(super) struct Logs(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    lines: VecDeque<String>,
    bytes: usize,
    path: Option<PathBuf>,
    file: Option<(File, u64)>,
}

impl Logs {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Logs(Arc::new(Mutex::new(Inner { path, ..Inner::default() })))
    }

    /// Adds a line to the log of the server, in memory and in the log file, without terminal escapes. The caller must have removed
    /// secrets from the line.
    pub(super) fn push(&self, line: &str) {
        let line = printable(line).to_string();
        let mut inner = self.lock();
        // Errors are ignored, because a full disk must not stop a server.
        let _ = inner.write(&line);
        inner.bytes += line.len();
        inner.lines.push_back(line);
        while inner.bytes > MAX_BYTES || inner.lines.len() > MAX_LINES {
            let Some(oldest) = inner.lines.pop_front() else { break };
            inner.bytes -= oldest.len();
        }
    }

    /// Returns the last log lines of the server, oldest first. If the server was not started since the hub was opened, no lines
    /// are in memory. The lines then come from the log files.
    pub(super) fn lines(&self) -> Vec<String> {
        let inner = self.lock();
        if inner.lines.is_empty()
            && let Some(path) = &inner.path
        {
            return tail(path, MAX_LINES).iter().map(|line| without_time(line).to_owned()).collect();
        }
        inner.lines.iter().cloned().collect()
    }

    /// Returns up to `most` of the last log lines of the server that are in memory, oldest first.
    pub(super) fn tail(&self, most: usize) -> Vec<String> {
        let inner = self.lock();
        inner.lines.iter().skip(inner.lines.len().saturating_sub(most)).cloned().collect()
    }

    /// Removes all log lines of the server from memory, and deletes its log files. Called when the server is deleted.
    pub(super) fn remove(&self) -> io::Result<()> {
        let mut inner = self.lock();
        inner.lines.clear();
        inner.bytes = 0;
        inner.file = None;
        let Some(path) = inner.path.take() else { return Ok(()) };
        (0..FILES).try_for_each(|at| if_found(fs::remove_file(numbered(&path, at))))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn write(&mut self, line: &str) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let line = format!("{:.3} {line}\n", Timestamp::now());
        let length = line.len() as u64;
        if self.file.as_ref().is_some_and(|(_, size)| size + length > FILE_BYTES) {
            self.file = None;
            rotate(path)?;
        }
        if self.file.is_none() {
            let file = open(path)?;
            let size = file.metadata()?.len();
            self.file = Some((file, size));
        }
        if let Some((file, size)) = &mut self.file {
            file.write_all(line.as_bytes())?;
            *size += length;
        }
        Ok(())
    }
}

/// Returns the path of the log file with the number `at`: `x.log`, `x.log.1` or `x.log.2`. The file with the highest number is
/// the oldest.
fn numbered(path: &Path, at: usize) -> PathBuf {
    if at == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{at}"));
    PathBuf::from(name)
}

fn rotate(path: &Path) -> io::Result<()> {
    (1..FILES).rev().try_for_each(|at| if_found(fs::rename(numbered(path, at - 1), numbered(path, at))))
}

/// Converts the error for a missing file to success, and returns all other results unchanged. For deleting and renaming files.
pub(super) fn if_found(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if let Some(directory) = path.parent() {
        SystemFs.create_directory(directory)?;
    }
    let (file, metadata) = open_regular(path, options, Links::Refuse)?;
    check_own_file(&metadata)?;
    Ok(file)
}

/// Removes the time from the start of a line of a log file. If the line has no time, because an earlier version of the hub wrote
/// it, returns the line unchanged.
fn without_time(line: &str) -> &str {
    line.split_once(' ').filter(|(time, _)| time.parse::<Timestamp>().is_ok()).map_or(line, |(_, line)| line)
}

/// Reads up to `most` of the last lines from the log files of a server, oldest first. `path` is the path of the newest log file:
/// see [`Layout::log`](crate::layout::Layout::log). Each line starts with its time in UTC (RFC 3339). This works without a
/// running hub.
pub fn tail(path: &Path, most: usize) -> Vec<String> {
    let mut text = String::new();
    for at in (0..FILES).rev() {
        // A single long line may make a file larger than `FILE_BYTES`, so twice the size is allowed.
        if let Ok(bytes) = read_regular(&numbered(path, at), 2 * FILE_BYTES) {
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(most)..].iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_in_memory_and_more_in_a_few_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/a.log");
        let logs = Logs::new(Some(path.clone()));
        let line = "x".repeat(1023);
        for _ in 0..5 * 1024 {
            logs.push(&line);
        }
        logs.push("last");
        assert!(logs.lines().len() <= MAX_BYTES / 1023 + 1);
        assert_eq!(logs.tail(1), ["last"]);
        let size = |at| fs::metadata(numbered(&path, at)).map_or(0, |meta| meta.len());
        let is_full = |at| (FILE_BYTES - 2 * 1024..=FILE_BYTES).contains(&size(at));
        assert!(size(0) <= FILE_BYTES && is_full(1) && is_full(2) && size(3) == 0);
        let last = tail(&path, 2);
        assert_eq!(last.iter().map(|line| without_time(line)).collect::<Vec<_>>(), [line.as_str(), "last"]);
        let (time, _) = last[1].split_once(' ').unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        assert_eq!(Logs::new(Some(path.clone())).lines().last().unwrap(), "last");
        assert_eq!(without_time("a line of an earlier version"), "a line of an earlier version");
        logs.remove().unwrap();
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn escapes_reach_neither_memory_nor_disk() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        let logs = Logs::new(Some(path.clone()));
        logs.push("a line\u{1b}[2J");
        let file = fs::read_to_string(&path).unwrap();
        for text in [&file, &logs.lines()[0]] {
            assert!(text.contains("a line") && !text.contains('\u{1b}'), "{text:?}");
        }
    }

    #[cfg(unix)]
    mod unix {
        use super::*;

        #[test]
        fn a_pipe_in_the_place_of_the_log_file_is_not_waited_for() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.log");
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            let logs = Logs::new(Some(path));
            assert_eq!(logs.lines(), Vec::<String>::new());
            logs.push("the lines in memory remain");
            assert_eq!(logs.lines(), ["the lines in memory remain"]);
        }

        #[test]
        fn the_end_of_a_log_that_is_no_regular_file_is_empty() {
            let directory = tempfile::tempdir().unwrap();
            let at = |name: &str| directory.path().join(name);
            assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
            std::os::unix::fs::symlink(at("pipe"), at("link")).unwrap();
            std::os::unix::fs::symlink("/dev/zero", at("device")).unwrap();
            std::os::unix::fs::symlink("loop", at("loop")).unwrap();
            drop(std::os::unix::net::UnixListener::bind(at("socket")).unwrap());
            for name in ["pipe", "link", "device", "loop", "socket"] {
                assert_eq!(tail(&at(name), 10), Vec::<String>::new(), "{name}");
            }
        }
    }
}
