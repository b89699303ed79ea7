//! [`ProcessStat`]: the state of a process, from the `/proc` file system of Linux.
//!
//! This module makes system calls through `rustix`: the file functions of std would add 10 KiB to small programs.

use std::ffi::CStr;
use std::mem::{self, MaybeUninit};
use std::os::fd::OwnedFd;
use std::process;

use rustix::fs::{CWD, Mode, OFlags, RawDir, open, readlinkat_raw};
use rustix::io::read;

/// The state of a process, from `/proc/<pid>/stat` (see `proc_pid_stat(5)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// The id of the process.
    pub pid: u32,
    /// Whether the process has exited, and its parent has not reaped it.
    pub is_zombie: bool,
    /// The id of the process group.
    pub group: u32,
    /// The time at which the process was started, in clock ticks since the boot.
    ///
    /// No other process has both the same id and the same start time, until the next boot.
    pub start_time: u64,
    /// Resident memory in pages.
    pub resident_pages: u64,
}

impl ProcessStat {
    /// Reads the state of a process.
    ///
    /// Returns `None` if there is no such process, or if `/proc` shows another PID namespace: there, the id means another
    /// process.
    pub fn read(pid: u32) -> Option<Self> {
        if !shows_own_namespace() {
            return None;
        }
        // The needed fields are at the beginning: a name of up to 64 bytes, and 23 others, most of which are short.
        let mut buffer = [0; 512];
        let length = read(open_file(&format!("/proc/{pid}/stat\0"))?, &mut buffer).ok()?;
        let stat = buffer.get(..length)?;
        // The name is the second field. It is in parentheses and may contain any bytes; the other fields contain no parentheses.
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let is_zombie = matches!(stat.get(name_end + 2)?, b'Z' | b'X');
        let mut fields = [0; 23];
        let mut unread = fields.iter_mut();
        Numbers::default().parse(stat.get(name_end..)?, &mut |number| {
            if let Some(field) = unread.next() {
                *field = number;
            }
        });
        let is_complete = unread.len() == 0;
        // The first of these is the second field of the file.
        let [_, _, _, group, .., start_time, _, resident_pages] = fields;
        is_complete.then_some(ProcessStat { pid, is_zombie, group: id(group), start_time, resident_pages })
    }

    /// Returns the children of a process. A zombie has none.
    pub fn children(pid: u32) -> Vec<ProcessStat> {
        let mut children = Vec::new();
        for_each_child(pid, &mut |child| children.extend(ProcessStat::read(child)));
        children
    }

    /// Returns all processes of the PID namespace.
    pub fn all() -> Vec<ProcessStat> {
        let mut all = Vec::new();
        for_each(&mut |stat| all.push(stat));
        all
    }
}

/// Calls `f` with all processes of the PID namespace.
pub(crate) fn for_each(f: &mut dyn FnMut(ProcessStat)) {
    for_each_number_in_directory("/proc\0", &mut |pid| ProcessStat::read(pid).into_iter().for_each(&mut *f));
}

/// Calls `f` with the ids of the children of a process. A zombie has no children.
pub(crate) fn for_each_child(pid: u32, f: &mut dyn FnMut(u32)) {
    // Each thread has a list of the children that it has started.
    for_each_number_in_directory(&format!("/proc/{pid}/task\0"), &mut |thread| {
        let Some(list) = open_file(&format!("/proc/{pid}/task/{thread}/children\0")) else { return };
        let (mut buffer, mut numbers) = ([0; 512], Numbers::default());
        while let Ok(length @ 1..) = read(&list, &mut buffer) {
            numbers.parse(buffer.get(..length).unwrap_or_default(), &mut |child| f(id(child)));
        }
    });
}

/// Returns whether `/proc` shows the processes of this process' PID namespace.
pub fn shows_own_namespace() -> bool {
    let mut id = [0; 16];
    let length = readlinkat_raw(CWD, c"/proc/self", &mut id).unwrap_or_default();
    id.get(..length).and_then(number) == Some(process::id())
}

/// Calls `f` with the entries of a directory whose names are numbers. The path ends with a NUL.
fn for_each_number_in_directory(path: &str, f: &mut dyn FnMut(u32)) {
    let Some(directory) = open_file(path) else { return };
    let mut buffer = [MaybeUninit::uninit(); 4_096];
    let mut entries = RawDir::new(directory, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        if let Some(number) = number(entry.file_name().to_bytes()) {
            f(number);
        }
    }
}

/// Opens a file or directory. The path ends with a NUL.
fn open_file(path: &str) -> Option<OwnedFd> {
    open(CStr::from_bytes_until_nul(path.as_bytes()).ok()?, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Parses a process id. Returns `None` for a name that is not a number.
fn number(name: &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for byte in name {
        number = number.checked_mul(10)?.checked_add(char::from(*byte).to_digit(10)?)?;
    }
    Some(number)
}

fn id(number: u64) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

/// Parses numbers, each followed by a space. Other bytes are ignored.
#[derive(Default)]
struct Numbers(u64);

impl Numbers {
    fn parse(&mut self, bytes: &[u8], f: &mut dyn FnMut(u64)) {
        for byte in bytes {
            match byte {
                b'0'..=b'9' => self.0 = self.0.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
                b' ' => f(mem::take(&mut self.0)),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
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
