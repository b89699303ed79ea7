//! The process of a server on Windows, in a job object that also contains its descendants.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::os::windows::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use mcpwire_client::{Exit, McpServerDef};
use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};
use win32job::{ExtendedLimitInfo, Job};

use crate::pipes::Pipes;
use crate::program_file::check_script_arguments;

/// Flag that starts the process suspended, so that it cannot start other processes before it is in the job.
const CREATE_SUSPENDED: u32 = 0x0000_0004;

/// Flag that gives the server a console of its own, without a window. Ctrl-C in the console of this program does not reach it, so
/// this program can end the server in order; and a program without a console, such as an editor, shows no window for each server.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// Error of the system for a file that is neither a program nor a script, such as `server.py`.
const ERROR_BAD_EXE_FORMAT: i32 = 193;

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
            let mut child = command.creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW).spawn().map_err(explained)?;
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

/// Says what to do about a file that the system cannot start. Its own message has only a placeholder for the name of the file.
fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(ERROR_BAD_EXE_FORMAT) => io::Error::new(
            io::ErrorKind::Unsupported,
            "Windows starts only programs (.exe, .com) and scripts (.cmd, .bat). Start the program that runs this file, such as \
             `python`, with the file as its argument",
        ),
        _ => error,
    }
}

/// On Linux, kills all child processes of this program, with their descendants. On Windows, does nothing, because the processes
/// of servers end with this program.
pub fn kill_children() {}

/// On Unix, kills a process that leads a process group, with its descendants. On Windows, does nothing, because the process of a
/// server ends with the program that has started it.
pub fn kill_tree(_: u32) {}
