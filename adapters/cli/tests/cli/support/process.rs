//! Runs of the program: arguments, input, output and exit status, at a pseudo-terminal if wanted; and the processes that it starts.

use std::fmt;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{WATCHDOG, wait_for};

/// The program, which is also the demo server.
pub(crate) const MCPWIRE: &str = env!("CARGO_BIN_EXE_mcpwire");

/// The words of a command line: a list of words, or a text that is split at its spaces.
pub(crate) trait Words {
    fn words(&self) -> Vec<&str>;
}

impl Words for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Words for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Words for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Words for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// Returns the command `mcpwire` with these arguments, without variables that turn colors on or off.
pub(crate) fn command(arguments: &(impl Words + ?Sized)) -> Command {
    let mut command = Command::new(MCPWIRE);
    command.args(arguments.words()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Runs `mcpwire` with these arguments and an empty input to its end.
pub(crate) fn mcpwire(arguments: &(impl Words + ?Sized)) -> Finished {
    run(&mut command(arguments))
}

/// Runs a command with an empty input to its end.
pub(crate) fn run(command: &mut Command) -> Finished {
    Running::start(command, "").finish()
}

/// The exit status and output of a finished process. Its assertions print all of it.
pub(crate) struct Finished {
    command: String,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl fmt::Debug for Finished {
    /// Writes command, status and output, each text cut to 2,000 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = [&self.command, &self.stdout, &self.stderr];
        let [command, stdout, stderr] = texts.map(|text| text.chars().take(2_000).collect::<String>());
        write!(f, "{command}: {} after {:?}, stdout: {stdout:?}, stderr: {stderr:?}", self.status, self.took)
    }
}

impl Finished {
    /// Returns the exit status. Fails the test if a signal has ended the process.
    #[track_caller]
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("ended by a signal: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn fails(self) -> Self {
        assert_ne!(self.code(), 0, "{self:?}");
        self
    }

    /// Checks the exit status and the whole standard output.
    #[track_caller]
    pub(crate) fn gives(self, code: i32, stdout: &str) -> Self {
        assert_eq!((self.code(), self.stdout.as_str()), (code, stdout), "{self:?}");
        self
    }

    /// Checks that standard output contains these texts.
    #[track_caller]
    pub(crate) fn shows(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stdout.contains(text), "{text:?} is not in stdout: {self:?}");
        }
        self
    }

    /// Checks that standard error contains these texts.
    #[track_caller]
    pub(crate) fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is not in stderr: {self:?}");
        }
        self
    }

    /// Checks that neither output contains one of these texts.
    #[track_caller]
    pub(crate) fn hides(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(![&self.stdout, &self.stderr].iter().any(|output| output.contains(text)), "{text:?} in {self:?}");
        }
        self
    }

    /// Checks the whole standard error.
    #[track_caller]
    pub(crate) fn says_only(self, stderr: &str) -> Self {
        assert_eq!(self.stderr, stderr, "{self:?}");
        self
    }

    /// Checks the members `code` and `field` of the error.
    #[track_caller]
    pub(crate) fn error_is(self, code: &str, field: &str) -> Self {
        self.error_has("code", code).error_has("field", field)
    }

    /// Checks a member of the error.
    #[track_caller]
    pub(crate) fn error_has(self, member: &str, value: &str) -> Self {
        assert_eq!(self.error()[member], value, "{self:?}");
        self
    }

    /// Checks a value in the JSON document of standard output, by its JSON pointer.
    #[track_caller]
    pub(crate) fn json_has(self, pointer: &str, value: impl Into<Value>) -> Self {
        assert_eq!(self.json().pointer(pointer), Some(&value.into()), "{pointer} of {self:?}");
        self
    }

    /// Parses standard output, which must be one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Parses standard error, which must be one JSON object.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A running process.
pub(crate) struct Running {
    command: String,
    child: Child,
    started: Instant,
    input: Box<dyn Write + Send>,
    stdout: Output,
    stderr: Output,
}

impl Running {
    /// Starts a command with this input.
    pub(crate) fn start(command: &mut Command, input: &str) -> Self {
        let mut running = Self::start_open(command);
        let mut stdin = std::mem::replace(&mut running.input, Box::new(std::io::sink()));
        let input = input.to_owned();
        thread::spawn(move || {
            // An error means that the process does not read its input, which is allowed.
            let _ = stdin.write_all(input.as_bytes());
        });
        running
    }

    /// Starts a command whose input stays open, as that of a service may.
    pub(crate) fn start_open(command: &mut Command) -> Self {
        let name = format!("{command:?}");
        let started = Instant::now();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let input = Box::new(child.stdin.take().expect("it is piped"));
        let stdout = Output::collect(child.stdout.take().expect("it is piped"));
        let stderr = Output::collect(child.stderr.take().expect("it is piped"));
        Self { command: name, child, started, input, stdout, stderr }
    }

    /// Starts a command whose standard input and standard error are a terminal.
    #[cfg(target_os = "linux")]
    pub(crate) fn at_terminal(command: &mut Command, terminal: &super::Terminal) -> Self {
        let name = format!("{command:?}");
        let started = Instant::now();
        command.stdin(terminal.other_end()).stdout(Stdio::piped()).stderr(terminal.other_end());
        let mut child = command.spawn().expect("it starts");
        // Otherwise the command would keep the terminal open, and the output would not end.
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let stdout = Output::collect(child.stdout.take().expect("it is piped"));
        let side = || terminal.file.try_clone().expect("a handle");
        Self { command: name, child, started, input: Box::new(side()), stdout, stderr: Output::collect(side()) }
    }

    /// Writes to standard input, or types at the terminal.
    pub(crate) fn types(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).expect("it reads its input");
    }

    /// Waits until the process has asked this question, and types the answer.
    pub(crate) fn answer(mut self, question: &str, typed: &str) -> Self {
        self.wait_for_stderr(question);
        self.types(typed);
        self
    }

    /// Returns what the process has written to standard error so far.
    pub(crate) fn stderr_so_far(&self) -> String {
        self.stderr.so_far()
    }

    /// Returns what the process has written to standard output so far.
    pub(crate) fn stdout_so_far(&self) -> String {
        self.stdout.so_far()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Sends an interrupt, and waits for the end of the process.
    #[cfg(unix)]
    pub(crate) fn interrupt(self) -> Finished {
        self.signal(rustix::process::Signal::INT);
        self.finish()
    }

    /// Returns whether a signal has stopped the process.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it runs");
        stat.rsplit_once(") ").expect("a state").1.starts_with('T')
    }

    /// Returns the exit status if the process has ended.
    pub(crate) fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it can be waited for")
    }

    /// Waits until the process has written this to standard error.
    pub(crate) fn wait_for_stderr(&self, what: &str) {
        assert!(self.wait_for_stderr_or_end(what), "{what:?} is not in stderr: {}", self.stderr.so_far());
    }

    /// Waits until the process has written this to standard error, or has closed it. Returns whether it has written this.
    pub(crate) fn wait_for_stderr_or_end(&self, what: &str) -> bool {
        wait_for(what, || {
            let is_closed = self.stderr.reader.is_finished();
            let is_written = self.stderr.so_far().contains(what);
            (is_written || is_closed).then_some(is_written)
        })
    }

    /// Waits for the end of the process. After [`WATCHDOG`], kills the process and fails the test.
    pub(crate) fn finish(mut self) -> Finished {
        let status = loop {
            if let Some(status) = self.status() {
                break status;
            }
            if self.started.elapsed() > WATCHDOG {
                let _ = self.child.kill();
                panic!("it did not end: {}", self.command);
            }
            thread::sleep(Duration::from_millis(1));
        };
        let took = self.started.elapsed();
        Finished { command: self.command, status, stdout: self.stdout.whole(), stderr: self.stderr.whole(), took }
    }
}

/// The output of a process, collected as it arrives.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// The thread that collects the output until the process closes it.
    reader: JoinHandle<()>,
}

impl Output {
    fn collect(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut chunk = [0; 16 * 1024];
            // A closed terminal is read as an error.
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                collected.lock().expect("nobody panics").extend_from_slice(&chunk[..length]);
            }
        });
        Self { bytes, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("nobody panics")).into_owned()
    }

    /// Waits until the process has closed its output, and returns the whole output.
    fn whole(self) -> String {
        wait_for("the end of the output", || self.reader.is_finished().then_some(()));
        self.so_far()
    }
}
