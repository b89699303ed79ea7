//! What calls took, of time and of memory.

use std::error::Error;
use std::fs;
use std::time::Instant;

/// What the command line asks for: where, how many calls, how many of them together.
pub(crate) fn task() -> Result<(String, usize, usize), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(url), Some(n), Some(together)) = (words.next(), words.next(), words.next()) else {
        return Err("usage: URL N TOGETHER".into());
    };
    Ok((url, n.parse()?, together.parse()?))
}

/// The clocks.
pub(crate) struct Took {
    begin: Instant,
    ticks: u64,
}

impl Took {
    /// Starts them.
    pub(crate) fn begin() -> Self {
        Took { begin: Instant::now(), ticks: ticks() }
    }

    /// Stops them, and prints a line of JSON.
    pub(crate) fn say(self, n: usize) {
        let wall = self.begin.elapsed().as_micros();
        // A hundredth of a second each, on any Linux that there is.
        let processor = (ticks() - self.ticks) * 10_000;
        println!(
            r#"{{"n":{n},"wall_us":{wall},"cpu_us":{processor},"peak_kb":{},"threads":{}}}"#,
            status("VmHWM"),
            status("Threads")
        );
    }
}

/// What the process has used of the processors: fields 14 and 15 of its `stat`, the 12th and 13th after the name.
fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn status(name: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.chars().filter(char::is_ascii_digit).collect()
}
