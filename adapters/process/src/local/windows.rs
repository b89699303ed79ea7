//! The process of a server on Windows, in a job object that also contains its descendants.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use mcpwire_client::{Exit, McpServerDef};
use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};
use win32job::{ExtendedLimitInfo, Job};

use crate::pipes::Pipes;

/// Flag that starts the process suspended, so that it cannot start other processes before it is in the job.
const CREATE_SUSPENDED: u32 = 0x0000_0004;

/// Flag that hides the console window. Without it, a program that has no console, such as an editor, would show a window for each
/// server.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// Interval at which to check whether the killed server and its descendants have exited.
const KILL_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A server's process on this machine, and its descendants.
#[derive(Debug)]
pub(crate) struct LocalProcess {
    server: Box<dyn ChildWrapper>,
    /// The job object that contains the server and all its descendants. The system kills them when the last handle of the job is
    /// closed, so they also end if this program is killed.
    job: Job,
}

#[expect(clippy::unused_self, reason = "the signatures are the same as on Unix")]
impl LocalProcess {
    /// Starts the command in a new job object. The standard streams of the process are pipes.
    pub(crate) fn start(command: Command, _: &McpServerDef) -> io::Result<(Self, Pipes)> {
        check_script_arguments(&command)?;
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
        // `JobObject` resumes the suspended process, and can kill all processes of the tree. Its own job object would not end
        // them if this program is killed, so `job` is needed too.
        let mut command = CommandWrap::from(command);
        command.wrap(JobObject);
        let mut pipes = None;
        let server = command.spawn_with(|command| {
            let mut child = command.creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW).spawn()?;
            if let Err(error) = job.assign_process(child.as_raw_handle() as isize) {
                let _ = child.kill();
                return Err(io::Error::other(error));
            }
            pipes = Some(Pipes::of(&mut child));
            Ok(child)
        })?;
        Ok((LocalProcess { server, job }, pipes.expect("the process was started")))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.id()
    }

    pub(crate) fn observe(&mut self) -> Option<Exit> {
        let status: ExitStatus = self.server.try_wait().ok()??;
        Some(Exit::new(status.code(), None))
    }

    /// Does nothing: on Windows, a process needs no reaping. The system removes it when its last handle is closed.
    pub(crate) fn reap(&mut self) {}

    pub(crate) fn has_processes(&mut self) -> bool {
        // The list fails if the job has too many processes, so an error means that processes are left.
        self.job.query_process_id_list().map_or(true, |ids| !ids.is_empty())
    }

    /// Does nothing, and returns `false`: no process can leave the job.
    pub(crate) fn find_strays(&mut self) -> bool {
        false
    }

    /// Kills the server and all its descendants, because Windows has no signal that asks a process to end.
    pub(crate) fn terminate(&mut self) {
        self.kill();
    }

    /// Kills the server and all its descendants.
    pub(crate) fn kill(&mut self) {
        let _ = self.server.start_kill();
    }

    /// Blocks until the killed server and its descendants have exited, at most for `timeout`.
    pub(crate) fn reap_all(&mut self, timeout: Duration) {
        let until = Instant::now() + timeout;
        while self.has_processes() && Instant::now() < until {
            std::thread::sleep(KILL_POLL_INTERVAL);
        }
    }
}

/// Returns an error if the command is a script, and an argument contains `%`. `cmd.exe` replaces `%NAME%` by the value of a
/// variable, even within quotes. Std quotes or refuses all other special characters.
fn check_script_arguments(command: &Command) -> io::Result<()> {
    let script = Path::new(command.get_program());
    let is_script = script
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("cmd") || extension.eq_ignore_ascii_case("bat"));
    let with_percent = command.get_args().position(|argument| argument.as_encoded_bytes().contains(&b'%'));
    match with_percent {
        Some(index) if is_script => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "argument {} contains `%`, which the script {} would not get unchanged. Put the value into an environment \
                 variable, or start the program that the script starts",
                index + 1,
                script.display()
            ),
        )),
        _ => Ok(()),
    }
}

/// On Linux, kills all child processes of this program, with their descendants. On Windows, does nothing, because the processes
/// of servers end with this program.
pub fn kill_children() {}

/// On Unix, kills a process that leads a process group, with its descendants. On Windows, does nothing, because the process of a
/// server ends with the program that has started it.
pub fn kill_tree(_: u32) {}
