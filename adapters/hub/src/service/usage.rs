//! [`Usage`]: what the processes of a server use.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What the processes of a server use, those that it has started included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// How many processes they are.
    pub processes: u32,
    /// The memory that they hold, in bytes; what they share is counted for each.
    pub memory: u64,
}

/// The usage of process groups, each named by its leader, which is the process that was started.
#[cfg(target_os = "linux")]
pub(super) fn of_groups(leaders: &[(Uuid, u32)]) -> Vec<(Uuid, Usage)> {
    let mut found: Vec<(Uuid, Usage)> = leaders.iter().map(|(id, _)| (*id, Usage::default())).collect();
    let page = rustix::param::page_size() as u64;
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        // After the name, which is in brackets and may hold anything: state, parent, group; the resident pages are 22nd.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
        let (Some(group), Some(pages)) = (number(2), number(21)) else { continue };
        if let Some(at) = leaders.iter().position(|(_, pid)| u64::from(*pid) == group) {
            found[at].1.processes += 1;
            found[at].1.memory += pages * page;
        }
    }
    found.retain(|(_, usage)| usage.processes > 0);
    found
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of_groups(_: &[(Uuid, u32)]) -> Vec<(Uuid, Usage)> {
    Vec::new()
}
