//! The group of processes that a server and all that it starts belong to.

#[cfg(not(unix))]
pub(crate) use other::Group;
#[cfg(unix)]
pub(crate) use unix::Group;

#[cfg(unix)]
mod unix {
    #[cfg(target_os = "linux")]
    use std::os::fd::AsFd;
    use std::os::fd::{BorrowedFd, OwnedFd};
    use std::process::Child;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid};

    use super::only_zombies;
    use mcpwire_client::Exit;

    /// How often a system without process descriptors is asked for the exit.
    const TICK: Duration = Duration::from_millis(5);

    #[derive(Debug)]
    pub(crate) struct Group {
        leader: Option<Pid>,
        /// Becomes readable when the leader exits.
        descriptor: Option<OwnedFd>,
    }

    impl Group {
        pub(crate) fn of(child: &Child) -> Group {
            let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            #[cfg(target_os = "linux")]
            let descriptor =
                leader.and_then(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok());
            #[cfg(not(target_os = "linux"))]
            let descriptor = None;
            Group { leader, descriptor }
        }

        pub(crate) fn exit_fd(&self) -> Option<BorrowedFd<'_>> {
            #[cfg(target_os = "linux")]
            return self.descriptor.as_ref().map(AsFd::as_fd);
            #[cfg(not(target_os = "linux"))]
            return self.descriptor.as_ref().map(std::os::fd::AsFd::as_fd);
        }

        pub(crate) fn observe(&self, _: &mut Child) -> Option<Exit> {
            let leader = self.leader?;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(leader), options).ok()??;
            Some(Exit::new(status.exit_status(), status.terminating_signal()))
        }

        /// Whether no process is left in the group. A leader that has not been reaped counts as one.
        pub(crate) fn is_empty(&self) -> bool {
            self.leader.is_none_or(|leader| {
                test_kill_process_group(leader) == Err(rustix::io::Errno::SRCH) || only_zombies(leader)
            })
        }

        pub(crate) fn terminate(&self, _: &mut Child) {
            self.signal(Signal::TERM);
        }

        pub(crate) fn kill(&self, _: &mut Child) {
            self.signal(Signal::KILL);
        }

        fn signal(&self, signal: Signal) {
            if let Some(leader) = self.leader {
                // The only failure that can be is that nobody is left.
                let _ = kill_process_group(leader, signal);
            }
        }

        /// Waits until the leader has exited, but not longer than `at_most`.
        pub(crate) fn wait_for_exit(&self, child: &mut Child, at_most: Duration) {
            let until = Instant::now() + at_most;
            while self.observe(child).is_none() {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return;
                }
                let wait = if self.descriptor.is_some() { left } else { left.min(TICK) };
                let timeout = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
                let result = match &self.descriptor {
                    Some(fd) => poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&timeout)),
                    None => poll(&mut [], Some(&timeout)),
                };
                if result.is_err_and(|error| error != rustix::io::Errno::INTR) {
                    return;
                }
            }
        }
    }
}

/// Whether all that is left of a group has ended, and only waits for a parent to take notice: in a container whose first
/// process does not, it would wait for ever.
#[cfg(target_os = "linux")]
fn only_zombies(leader: rustix::process::Pid) -> bool {
    use std::fs::File;
    use std::io::Read as _;

    let group = format!("{}", leader.as_raw_nonzero());
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let mut found = false;
    // Much more than the first fields of the file.
    let mut stat = [0; 512];
    for process in processes.flatten() {
        let is_number = process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        if !is_number {
            continue;
        }
        let Ok(length) = File::open(process.path().join("stat")).and_then(|mut file| file.read(&mut stat)) else {
            continue;
        };
        let stat = &stat[..length];
        // After the name, which is in brackets and may contain any bytes: state, parent, group.
        let after = stat.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 1);
        let mut fields = stat[after..].split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let (state, _parent, its_group) = (fields.next(), fields.next(), fields.next());
        if its_group == Some(group.as_bytes()) {
            if !matches!(state, Some(b"Z" | b"X")) {
                return false;
            }
            found = true;
        }
    }
    found
}

/// macOS leaves out processes that have ended, and answers `EPERM` if it finds no other in the group. Processes of another user
/// get the same answer, and could not be ended either.
#[cfg(target_vendor = "apple")]
fn only_zombies(leader: rustix::process::Pid) -> bool {
    rustix::process::test_kill_process_group(leader) == Err(rustix::io::Errno::PERM)
}

#[cfg(all(unix, not(any(target_os = "linux", target_vendor = "apple"))))]
fn only_zombies(_: rustix::process::Pid) -> bool {
    false
}

/// Without process groups the process itself is all that can be ended.
#[cfg(not(unix))]
mod other {
    use std::process::Child;
    use std::time::{Duration, Instant};

    use mcpwire_client::Exit;

    #[derive(Debug)]
    pub(crate) struct Group;

    #[expect(clippy::unused_self, reason = "the methods are those that a group has on Unix")]
    impl Group {
        pub(crate) fn of(_: &Child) -> Group {
            Group
        }

        pub(crate) fn observe(&self, child: &mut Child) -> Option<Exit> {
            let status = child.try_wait().ok()??;
            Some(Exit::new(status.code(), None))
        }

        pub(crate) fn is_empty(&self) -> bool {
            true
        }

        pub(crate) fn terminate(&self, child: &mut Child) {
            let _ = child.kill();
        }

        pub(crate) fn kill(&self, child: &mut Child) {
            let _ = child.kill();
        }

        pub(crate) fn wait_for_exit(&self, child: &mut Child, at_most: Duration) {
            let until = Instant::now() + at_most;
            while self.observe(child).is_none() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
