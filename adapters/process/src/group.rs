//! [`ProcessGroup`]: the process group of a server and of all processes that the server starts.

#[cfg(not(unix))]
pub(crate) use other::ProcessGroup;
#[cfg(unix)]
pub(crate) use unix::ProcessGroup;

#[cfg(unix)]
mod unix {
    #[cfg(target_os = "linux")]
    use std::os::fd::AsFd;
    use std::os::fd::{BorrowedFd, OwnedFd};
    use std::process::Child;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid};

    use super::has_only_zombies;
    use mcpwire_client::Exit;

    /// How often to check whether the leader has exited, on systems without process descriptors.
    const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(5);

    #[derive(Debug)]
    pub(crate) struct ProcessGroup {
        /// The server's process. Its id is also the id of the group.
        leader: Option<Pid>,
        /// Becomes readable when the leader exits.
        descriptor: Option<OwnedFd>,
    }

    impl ProcessGroup {
        pub(crate) fn new(child: &Child) -> ProcessGroup {
            let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            #[cfg(target_os = "linux")]
            let descriptor =
                leader.and_then(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok());
            #[cfg(not(target_os = "linux"))]
            let descriptor = None;
            ProcessGroup { leader, descriptor }
        }

        pub(crate) fn exit_fd(&self) -> Option<BorrowedFd<'_>> {
            #[cfg(target_os = "linux")]
            return self.descriptor.as_ref().map(AsFd::as_fd);
            #[cfg(not(target_os = "linux"))]
            return self.descriptor.as_ref().map(std::os::fd::AsFd::as_fd);
        }

        /// Returns the exit status of the leader, without reaping it: its id must not be reused while the group is signalled.
        pub(crate) fn observe(&self, _: &mut Child) -> Option<Exit> {
            let leader = self.leader?;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(leader), options).ok()??;
            Some(Exit::new(status.exit_status(), status.terminating_signal()))
        }

        /// Returns whether the group has no processes. A leader that was not reaped is still a member.
        pub(crate) fn is_empty(&self) -> bool {
            self.leader.is_none_or(|leader| {
                test_kill_process_group(leader) == Err(rustix::io::Errno::SRCH) || has_only_zombies(leader)
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
                // Fails only if the group has no processes.
                let _ = kill_process_group(leader, signal);
            }
        }

        /// Blocks until the leader has exited, at most for `timeout`.
        pub(crate) fn wait_for_exit(&self, child: &mut Child, timeout: Duration) {
            let until = Instant::now() + timeout;
            while self.observe(child).is_none() {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return;
                }
                let wait = if self.descriptor.is_some() { left } else { left.min(EXIT_POLL_INTERVAL) };
                let poll_timeout =
                    Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
                let result = match &self.descriptor {
                    Some(fd) => poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&poll_timeout)),
                    None => poll(&mut [], Some(&poll_timeout)),
                };
                if result.is_err_and(|error| error != rustix::io::Errno::INTR) {
                    return;
                }
            }
        }
    }
}

/// Returns whether the group has only zombies: processes that have exited and that no parent has reaped.
///
/// In a container whose init process reaps no children, zombies would keep the group non-empty forever.
#[cfg(target_os = "linux")]
fn has_only_zombies(leader: rustix::process::Pid) -> bool {
    use std::fs::File;
    use std::io::Read as _;

    let group = format!("{}", leader.as_raw_nonzero());
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let mut found = false;
    // The first fields, which are the needed ones, take less than 100 bytes.
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
        // The fields after the name are the state, the parent and the group. The name is in parentheses and may contain any bytes.
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

/// Returns whether the group has only zombies, or only processes that this user may not signal.
///
/// macOS reports `EPERM` in both cases, and processes of another user cannot be ended anyway.
#[cfg(target_vendor = "apple")]
fn has_only_zombies(leader: rustix::process::Pid) -> bool {
    rustix::process::test_kill_process_group(leader) == Err(rustix::io::Errno::PERM)
}

#[cfg(all(unix, not(any(target_os = "linux", target_vendor = "apple"))))]
fn has_only_zombies(_: rustix::process::Pid) -> bool {
    false
}

/// Systems without process groups: only the server's own process can be ended.
#[cfg(not(unix))]
mod other {
    use std::process::Child;
    use std::time::{Duration, Instant};

    use mcpwire_client::Exit;

    #[derive(Debug)]
    pub(crate) struct ProcessGroup;

    #[expect(clippy::unused_self, reason = "the signatures are the same as on Unix")]
    impl ProcessGroup {
        pub(crate) fn new(_: &Child) -> ProcessGroup {
            ProcessGroup
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

        pub(crate) fn wait_for_exit(&self, child: &mut Child, timeout: Duration) {
            let until = Instant::now() + timeout;
            while self.observe(child).is_none() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
