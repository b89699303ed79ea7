//! The clocks, and the line that says what they showed.

use std::fmt::{self, Display};
use std::fs;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::task::Task;

/// The clocks.
pub(crate) struct Meter<'t> {
    task: &'t Task,
    begin: Instant,
    processor_time: Duration,
    /// Resident memory at the start, in KiB.
    resident: u64,
    /// How long each thing took, in nanoseconds.
    times: Vec<u128>,
    more: Vec<(&'static str, String)>,
}

impl<'t> Meter<'t> {
    /// Starts the clocks. The peak of memory counts from now on.
    pub(crate) fn start(task: &'t Task) -> Self {
        let times = Vec::with_capacity(task.n);
        // Where that is not possible, the peak is that of the process.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self {
            task,
            times,
            more: Vec::new(),
            resident: status("VmRSS"),
            processor_time: processor_time(),
            begin: Instant::now(),
        }
    }

    /// One thing is done.
    pub(crate) fn took(&mut self, time: Duration) {
        self.times.push(time.as_nanos());
    }

    /// Adds a member to the report.
    pub(crate) fn tell(&mut self, name: &'static str, value: impl Display) {
        self.more.push((name, value.to_string()));
    }

    /// Adds by how much memory has grown for each of the things, in KiB with a decimal.
    pub(crate) fn tell_growth_of_each(&mut self) {
        let tenths =
            status("VmRSS").saturating_sub(self.resident) * 10 / u64::try_from(self.task.n.max(1)).unwrap_or(1);
        self.tell("per_conn_kb", format_args!("{}.{}", tenths / 10, tenths % 10));
    }

    /// Stops the clocks.
    pub(crate) fn stop(mut self) -> Report {
        let wall = self.begin.elapsed();
        let processor_time = processor_time().saturating_sub(self.processor_time);
        self.times.sort_unstable();
        let percentile =
            |percent| self.times.get(self.times.len().saturating_sub(1) * percent / 100).copied().unwrap_or(0);
        let mut members = vec![
            ("mode", format!("\"{}\"", self.task.mode)),
            ("n", self.task.n.to_string()),
            ("size", self.task.size.to_string()),
            ("wall_ns", wall.as_nanos().to_string()),
            ("cpu_ns", processor_time.as_nanos().to_string()),
            ("p50_ns", percentile(50).to_string()),
            ("p99_ns", percentile(99).to_string()),
            ("rss0_kb", self.resident.to_string()),
            ("rss1_kb", status("VmRSS").to_string()),
            ("peak_kb", status("VmHWM").to_string()),
            ("threads", status("Threads").to_string()),
        ];
        members.append(&mut self.more);
        Report(members)
    }
}

/// What the clocks showed, as one line of JSON.
pub(crate) struct Report(Vec<(&'static str, String)>);

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<String> = self.0.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        write!(f, "{{{}}}", members.join(","))
    }
}

/// The processor time of this process, in user space and in the kernel, its children not counted.
fn processor_time() -> Duration {
    let duration = |time: TimeVal| {
        Duration::new(time.tv_sec().try_into().unwrap_or(0), 1000 * u32::try_from(time.tv_usec()).unwrap_or(0))
    };
    getrusage(UsageWho::RUSAGE_SELF)
        .map_or(Duration::ZERO, |usage| duration(usage.user_time()) + duration(usage.system_time()))
}

/// A number from `/proc/self/status`, 0 where there is none: memory is in KiB.
fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
