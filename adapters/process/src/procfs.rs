//! [`ProcessStat`]: the state of a process, read from the `/proc` file system of Linux.

use std::{fs, process};

/// The state of a process at one moment, from `/proc/<pid>/stat` (see `proc_pid_stat(5)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// The id of the process.
    pub pid: u32,
    /// Whether the process has exited, but its parent has not reaped it yet.
    pub is_zombie: bool,
    /// The id of the process group to which the process belongs.
    pub group: u32,
    /// The time at which the process was started, in clock ticks since the boot.
    ///
    /// No other process has both the same id and the same start time, until the next boot.
    pub start_time: u64,
    /// The resident memory of the process, in pages.
    pub resident_pages: u64,
}

impl ProcessStat {
    /// Reads the current state of the process with the id `pid`.
    ///
    /// Returns `None` if no such process exists. Also returns `None` if `/proc` shows another PID namespace, where the same id
    /// means another process.
    pub fn read(pid: u32) -> Option<Self> {
        if !shows_own_namespace() {
            return None;
        }
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name is the second field. It is in parentheses and may contain any bytes; the other fields contain no parentheses.
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let fields: Vec<&str> = str::from_utf8(stat.get(name_end + 1..)?).ok()?.split_ascii_whitespace().collect();
        // The documentation numbers the fields from 1. The fields after the name begin with number 3.
        let field = |number: usize| fields.get(number - 3).copied();
        Some(ProcessStat {
            pid,
            is_zombie: matches!(field(3)?, "Z" | "X"),
            group: field(5)?.parse().ok()?,
            start_time: field(22)?.parse().ok()?,
            resident_pages: field(24)?.parse().ok()?,
        })
    }

    /// Returns the state of each child of a process. A zombie has no children.
    pub fn children(pid: u32) -> Vec<ProcessStat> {
        child_ids(pid).filter_map(ProcessStat::read).collect()
    }

    /// Returns the state of all processes in the PID namespace of this process.
    pub fn all() -> Vec<ProcessStat> {
        numbers_in_directory("/proc").filter_map(ProcessStat::read).collect()
    }
}

/// Returns the ids of the children of a process.
pub(crate) fn child_ids(pid: u32) -> impl Iterator<Item = u32> {
    // `/proc` has one list for each thread, with the children that this thread has started.
    let lists = numbers_in_directory(&format!("/proc/{pid}/task"))
        .filter_map(move |thread| fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok());
    lists.flat_map(|list| list.split_ascii_whitespace().flat_map(str::parse).collect::<Vec<u32>>())
}

/// Returns whether `/proc` shows the PID namespace of this process. If not, process ids in `/proc` mean other processes.
pub fn shows_own_namespace() -> bool {
    fs::read_link("/proc/self").is_ok_and(|id| id.as_os_str() == process::id().to_string().as_str())
}

/// Returns the numbers among the names of a directory's entries. Empty if the directory cannot be read.
fn numbers_in_directory(path: &str) -> impl Iterator<Item = u32> + use<> {
    fs::read_dir(path).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let directory = std::env::temp_dir().join(format!("mcpwire-procfs-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        let program = directory.join("a) Z 1 (b");
        fs::copy("/bin/sleep", &program).unwrap();
        let mut child = Command::new(&program).arg("1000").spawn().unwrap();
        let stat = ProcessStat::read(child.id()).unwrap();
        let own = ProcessStat::read(process::id()).unwrap();
        assert_eq!((stat.pid, stat.is_zombie, stat.group), (child.id(), false, own.group));
        assert!(stat.start_time >= own.start_time);
        assert!(own.resident_pages > 0);
        let is_child = |other: &ProcessStat| (other.pid, other.start_time) == (stat.pid, stat.start_time);
        assert!(ProcessStat::children(process::id()).iter().any(is_child));
        assert!(ProcessStat::all().iter().any(is_child));
        child.kill().unwrap();
        while ProcessStat::read(child.id()).is_some_and(|stat| !stat.is_zombie) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(ProcessStat::read(child.id()), None);
        fs::remove_dir_all(&directory).unwrap();
    }
}
