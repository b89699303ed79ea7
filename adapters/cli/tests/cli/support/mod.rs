//! Runs the binary with a timeout, and collects its output.

#[cfg(target_os = "linux")]
pub(crate) mod configured;
#[cfg(target_os = "linux")]
pub(crate) mod guarded;
#[cfg(unix)]
pub(crate) mod http;
#[cfg(target_os = "linux")]
mod mark;
#[cfg(target_os = "linux")]
pub(crate) mod terminal;

use std::fmt;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
pub(crate) use mark::Mark;
use serde_json::Value;

/// Maximum time to wait in a test. It is far longer than anything here takes, so only a failing test waits so long.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(300);

/// The exit status and output of a finished process.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl fmt::Debug for Finished {
    /// Writes status and output for failed assertions, with the output cut to 2,000 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [stdout, stderr] = [&self.stdout, &self.stderr].map(|text| text.chars().take(2_000).collect::<String>());
        write!(f, "{} after {:?}, stdout: {stdout:?}, stderr: {stderr:?}", self.status, self.took)
    }
}

impl Finished {
    /// Returns the exit status. Fails the test if a signal has ended the process.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("ended by a signal: {self:?}"))
    }

    /// Parses standard output, which must be one JSON document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Parses standard error, which must be one JSON object.
    pub(crate) fn error(&self) -> Value {
        serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs `mcpwire` with these arguments to its end.
pub(crate) fn mcpwire(arguments: &[&str]) -> Finished {
    mcpwire_with_input(arguments, "")
}

/// Runs `mcpwire` as [`mcpwire`] does, with this input.
pub(crate) fn mcpwire_with_input(arguments: &[&str], input: &str) -> Finished {
    Running::start(arguments, input).finish()
}

/// Returns the command `mcpwire` with these arguments, without variables that turn colors on or off.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcpwire"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// A running `mcpwire` process.
pub(crate) struct Running {
    child: Child,
    started: Instant,
    stdout: Output,
    stderr: Output,
}

impl Running {
    pub(crate) fn start(arguments: &[&str], input: &str) -> Self {
        let (running, mut stdin) = Self::start_and_write(arguments);
        let input = input.to_owned();
        thread::spawn(move || {
            // An error means that the process does not read its input, which is allowed.
            let _ = stdin.write_all(input.as_bytes());
        });
        running
    }

    /// Starts the process, and leaves its input to the test.
    pub(crate) fn start_and_write(arguments: &[&str]) -> (Self, ChildStdin) {
        Self::start_command(command(arguments))
    }

    /// Starts a [`command`] to which the test has added something.
    pub(crate) fn start_command(mut command: Command) -> (Self, ChildStdin) {
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = Output::collect(child.stdout.take());
        let stderr = Output::collect(child.stderr.take());
        (Self { child, started, stdout, stderr }, stdin)
    }

    /// Returns what the process has written to standard error so far.
    #[cfg(target_os = "linux")]
    pub(crate) fn stderr_so_far(&self) -> String {
        self.stderr.so_far()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Waits until the process has written this to standard error.
    #[cfg(target_os = "linux")]
    pub(crate) fn wait_for_stderr(&self, what: &str) {
        wait_for(what, || self.stderr.so_far().contains(what).then_some(()));
    }

    /// Waits until the process has written this to standard error, or has closed it. Returns whether it has written this.
    #[cfg(target_os = "linux")]
    pub(crate) fn wait_for_stderr_or_end(&self, what: &str) -> bool {
        wait_for(what, || {
            let is_closed = self.stderr.is_closed();
            let is_written = self.stderr.so_far().contains(what);
            (is_written || is_closed).then_some(is_written)
        })
    }

    /// Waits for the end of the process. After [`WATCHDOG`], kills the process and fails the test.
    pub(crate) fn finish(mut self) -> Finished {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status;
            }
            if self.started.elapsed() > WATCHDOG {
                let _ = self.child.kill();
                panic!("it did not end");
            }
            thread::sleep(Duration::from_millis(1));
        };
        let took = self.started.elapsed();
        Finished { status, stdout: self.stdout.whole(), stderr: self.stderr.whole(), took }
    }
}

/// The output of a process, collected as it arrives.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    closed: mpsc::Receiver<()>,
}

impl Output {
    fn collect(pipe: Option<impl Read + Send + 'static>) -> Self {
        let mut pipe = pipe.expect("it is piped");
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&bytes);
        let (sender, closed) = mpsc::channel();
        thread::spawn(move || {
            let mut chunk = [0; 16 * 1024];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                collected.lock().expect("nobody panics").extend_from_slice(&chunk[..length]);
            }
            sender.send(())
        });
        Self { bytes, closed }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("nobody panics")).into_owned()
    }

    /// Returns whether the process has closed its output. Then the whole output was collected.
    #[cfg(target_os = "linux")]
    fn is_closed(&self) -> bool {
        self.closed.try_recv() != Err(mpsc::TryRecvError::Empty)
    }

    fn whole(self) -> String {
        // The sender is gone if somebody has asked before whether the output is closed.
        assert_ne!(self.closed.recv_timeout(WATCHDOG), Err(mpsc::RecvTimeoutError::Timeout), "it is not closed");
        self.so_far()
    }
}

/// Calls `found` until it returns something.
#[cfg(unix)]
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < WATCHDOG, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A legacy server as a shell script. It answers `tools/list` with the result `$1` and `tools/call` with the result `$2`.
///
/// If `$2` starts with a quote, it contains the members of the response instead. Before this response, the script writes `$3`.
#[cfg(unix)]
pub(crate) const SCRIPTED: &str = r#"
case $2 in '"'*) answer=$2 ;; *) answer='"result":'$2 ;; esac
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"scripted","version":"1"}}}\n' "$id" ;;
    *'"method":"logging/setLevel"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1" ;;
    *'"method":"tools/call"'*) printf '%s' "$3"; printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer" ;;
  esac
done
"#;

/// Returns the arguments `before`, followed by the command of [`SCRIPTED`] with these parameters.
#[cfg(unix)]
pub(crate) fn scripted<'a>(before: &[&'a str], list: &'a str, call: &'a str, first: &'a str) -> Vec<&'a str> {
    [before, &["--", "sh", "-c", SCRIPTED, "scripted", list, call, first]].concat()
}

/// Returns a path for a file of one test. The tool refuses configurations in directories that other users can change, and the
/// checkout may be in one.
pub(crate) fn scratch(name: &str) -> std::path::PathBuf {
    let target = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let is_trusted = mcpwire_hub::files::check_trusted(&target).is_ok();
    let place = if is_trusted { target } else { std::env::temp_dir() };
    let directory = place.join(format!("cli-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for the test");
    directory.join(name)
}
