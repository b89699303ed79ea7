//! What is to be measured, what all clients under measurement have in common, and the clocks with the line that says what they showed.

use std::error::Error;
use std::fmt::{self, Display};
use std::time::{Duration, Instant};
use std::{env, fs};

use mcpwire_client::McpServerDef;
use mcpwire_core::{CallToolResult, Config, ContentBlock, Negotiate};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::Serialize;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long the slow consumer of `floodslow` stands still.
pub(crate) const STANDSTILL: Duration = Duration::from_secs(2);

/// What is to be measured.
pub(crate) struct Task {
    pub(crate) mode: String,
    pub(crate) n: usize,
    pub(crate) size: usize,
    pub(crate) in_flight: usize,
    server: Vec<String>,
}

impl Task {
    /// From words of the command line, `MODE N SIZE -- SERVER [ARGUMENT...]`, and the number of calls in flight from
    /// `PEERS_INFLIGHT`.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mode = words.next()?;
        let n = words.next()?.parse().ok()?;
        let size = words.next()?.parse().ok()?;
        let in_flight = env::var("PEERS_INFLIGHT").map_or(Some(64), |n| n.parse().ok())?;
        (words.next()? == "--").then(|| Self { mode, n, size, in_flight, server: words.collect() })
    }

    /// How often a thing is done before the clock starts.
    pub(crate) fn warm_up(&self) -> usize {
        (self.n / 5).max(1)
    }

    pub(crate) fn server(&self) -> Outcome<McpServerDef> {
        let (program, arguments) = self.server.split_first().ok_or("no server is given")?;
        Ok(McpServerDef::new(program).args(arguments.iter().cloned()))
    }

    pub(crate) fn echo(&self) -> Echo {
        Echo { message: "a message of sixty-four bytes, that is as long as many arguments", bytes: self.size }
    }

    pub(crate) fn check_list(&self, tools: usize) -> Outcome {
        let size = self.size;
        if tools == size { Ok(()) } else { Err(format!("{tools} tools are listed, not {size}").into()) }
    }
}

pub(crate) fn config(name: &str) -> Config {
    let mut config = Config::new(name, env!("CARGO_PKG_VERSION"));
    // The other clients of a comparison do not ask for the era either.
    config.negotiate = Negotiate::Legacy;
    config
}

/// The arguments of `echo`, with a message that makes the request as long as usual ones are.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Echo {
    message: &'static str,
    bytes: usize,
}

impl Echo {
    /// A client that is fast because it is answered wrongly is not fast.
    pub(crate) fn check(self, result: &CallToolResult) -> Outcome {
        let len = result.content.first().and_then(ContentBlock::as_text).map(str::len);
        let bytes = self.bytes;
        if len == Some(bytes) { Ok(()) } else { Err(format!("the answer has {len:?} bytes, not {bytes}").into()) }
    }
}

#[derive(Serialize)]
pub(crate) struct Flood {
    pub(crate) count: usize,
}

// The clocks.

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
