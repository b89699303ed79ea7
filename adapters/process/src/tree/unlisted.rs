//! Unix systems that have no list of the children of a process.

use rustix::process::Pid;

/// The descendants of a server that have left its process group. They are not found here.
#[derive(Debug, Default)]
pub(super) struct Strays {}

#[expect(clippy::unused_self, reason = "the signatures are the same as on Linux")]
impl Strays {
    pub(super) fn find(&mut self, _group: Pid, _unreaped_server: Option<Pid>) -> bool {
        false
    }

    pub(super) fn for_each(&self, _f: &mut dyn FnMut(Pid)) {}
}

/// Returns whether the group has only zombies, or only processes that this user may not signal.
///
/// macOS reports `EPERM` in both cases, and processes of another user cannot be ended anyway. Other systems are not known to
/// report it for zombies.
pub(super) fn has_only_zombies(group: Pid) -> bool {
    cfg!(target_vendor = "apple") && rustix::process::test_kill_process_group(group) == Err(rustix::io::Errno::PERM)
}

/// Returns whether the process is in the group that it led at its start.
pub(super) fn leads_its_group(process: Pid) -> bool {
    rustix::process::getpgid(Some(process)) == Ok(process)
}
