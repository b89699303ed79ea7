//! [`Pipes`]: the pipes of a child process on Unix. The calling thread polls the pipes and the exit of the process.
//!
//! The thread alternates between writing and reading. Otherwise, a server that fills its output pipe before it reads would cause
//! a deadlock. Each wait ends at the engine's next deadline.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use mcpwire_core::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use super::{Io, Transport, observe};
use crate::cancel::ThreadWaker;
use mcpwire_client::Direction;
use mcpwire_process::{EndOfStream, ExitPolling, Process};

/// Maximum duration of a wait if all descriptors are closed. The thread then sleeps, and the caller checks for the exit again.
const MAX_SLEEP: Duration = Duration::from_millis(20);

/// Maximum duration of a wait for standard output alone. Other descriptors are polled after that.
const OUTPUT_WAIT: Duration = Duration::from_millis(2);

/// Maximum duration of one wait for descriptors: a day. Systems refuse much longer timeouts, such as [`Duration::MAX`].
const MAX_POLL: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum number of consecutive waits for standard output alone. Without a limit, a busy output would starve the other
/// descriptors.
const MAX_OUTPUT_WAITS: u32 = 16;

/// Starts the transport to a child process.
pub(crate) fn start(pipes: mcpwire_process::Pipes, process: &Process) -> io::Result<Box<dyn Transport>> {
    Ok(Box::new(Pipes::new(pipes, process)?))
}

struct Pipes {
    stdin: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    /// The read end of the canceller's pipe. `None` before [`Transport::waker`].
    wake: Option<PipeReader>,
    end_of_stream: EndOfStream,
    exit_polling: ExitPolling,
    /// Number of consecutive waits for standard output alone.
    output_waits: u32,
}

/// The descriptors that `poll` has reported as ready.
#[expect(clippy::struct_excessive_bools, reason = "one for each descriptor, all independent")]
#[derive(Default)]
struct Readiness {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    exit: bool,
    wake: bool,
}

impl Io {
    /// Returns whether the server's process is known to have exited. Does not ask the system.
    fn has_exited(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.exit().is_some())
    }
}

impl Pipes {
    fn new(pipes: mcpwire_process::Pipes, process: &Process) -> io::Result<Self> {
        let [stdin, stdout, stderr] = pipes.into_files()?;
        Ok(Pipes {
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            wake: None,
            end_of_stream: EndOfStream::of_process(),
            exit_polling: if process.exit_fd().is_some() { ExitPolling::Never } else { ExitPolling::Always },
            output_waits: 0,
        })
    }

    /// Waits for standard output alone, for at most `limit`. Returns whether standard output is readable.
    ///
    /// Most responses arrive within [`OUTPUT_WAIT`]. Polling all descriptors for them would be the most expensive part of a call.
    fn wait_for_output(&self, limit: Duration) -> io::Result<bool> {
        let Some(stdout) = &self.stdout else { return Ok(false) };
        let mut list = [PollFd::new(stdout, PollFlags::IN)];
        poll_descriptors(&mut list, Some(limit))?;
        Ok(!list[0].revents().is_empty())
    }

    /// Waits until a descriptor is ready, for at most `timeout`, and returns which are ready. Polls standard output only if
    /// `read`, and standard input only if `write`.
    fn wait(
        &self,
        process: Option<&Process>,
        read: bool,
        write: bool,
        timeout: Option<Duration>,
    ) -> io::Result<Readiness> {
        let exit = process.filter(|process| process.exit().is_none()).and_then(Process::exit_fd);
        let stdin = self.stdin.as_ref().filter(|_| write).map(AsFd::as_fd);
        let stdout = self.stdout.as_ref().filter(|_| read).map(AsFd::as_fd);
        let stderr = self.stderr.as_ref().map(AsFd::as_fd);
        let wake = self.wake.as_ref().map(AsFd::as_fd);
        let watched = [
            (stdin, PollFlags::OUT),
            (stdout, PollFlags::IN),
            (stderr, PollFlags::IN),
            (exit, PollFlags::IN),
            (wake, PollFlags::IN),
        ];
        let Some(any) = watched.iter().find_map(|(fd, _)| *fd) else {
            std::thread::sleep(timeout.unwrap_or(MAX_SLEEP).min(MAX_SLEEP));
            return Ok(Readiness::default());
        };
        // The list is an array, so that a wait allocates nothing. `poll` needs a descriptor for each entry: an unused entry
        // contains any open descriptor, with no events to wait for.
        let mut list = watched.map(|(fd, flags)| match fd {
            Some(fd) => PollFd::from_borrowed_fd(fd, flags),
            None => PollFd::from_borrowed_fd(any, PollFlags::empty()),
        });
        poll_descriptors(&mut list, timeout)?;
        let ready = |place: usize| watched[place].0.is_some() && !list[place].revents().is_empty();
        Ok(Readiness { stdin: ready(0), stdout: ready(1), stderr: ready(2), exit: ready(3), wake: ready(4) })
    }

    fn read(&mut self, io: &mut Io, now: Timestamp) {
        let Some(stdout) = &mut self.stdout else { return };
        let Some(space) = io.engine.stream().and_then(|engine| engine.space()) else { return };
        let error = match stdout.read(space) {
            Ok(n) if n > 0 => {
                io.has_read = true;
                observe(&mut io.tracer, &io.context, Direction::Received, &space[..n]);
                if let Some(engine) = io.engine.stream() {
                    engine.filled(n, now);
                }
                return;
            }
            Err(error) if is_transient(&error) && !io.has_exited() => return,
            // The server has exited, and the pipe is empty. A child of the server may hold the pipe open, so this is the end.
            Err(error) if is_transient(&error) => None,
            end => end.err(),
        };
        self.stdout = None;
        self.end_of_stream.output_ended(error.as_ref(), now);
    }

    fn write(&mut self, io: &mut Io) {
        while let Some(stdin) = &mut self.stdin {
            let Some(engine) = io.engine.stream() else { return };
            let bytes = engine.transmit();
            if bytes.is_empty() {
                return;
            }
            match stdin.write(bytes) {
                Ok(n) => {
                    observe(&mut io.tracer, &io.context, Direction::Sent, &bytes[..n]);
                    let is_complete = n == bytes.len();
                    engine.transmitted(n);
                    // After a partial write, the pipe is full.
                    if !is_complete {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // This is not the end of the connection yet: the output or the exit of the server tells why its input has failed.
                Err(error) => {
                    self.stdin = None;
                    self.end_of_stream.input_broke(&error, io.clock.now());
                }
            }
        }
    }

    fn read_stderr(&mut self, io: &mut Io) {
        let mut buffer = [0; 8 * 1024];
        // The number of reads is limited, so that a server that writes much to standard error does not delay its responses.
        for _ in 0..16 {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(&mut buffer) {
                Ok(n) if n > 0 => io.stderr.push(&buffer[..n]),
                Err(error) if is_transient(&error) => return,
                _ => {
                    io.stderr.flush();
                    self.stderr = None;
                }
            }
        }
    }

    /// Passes the end of the stream to the engine, once the output, standard error and the exit status are complete or overdue.
    fn check_end(&mut self, io: &mut Io, now: Timestamp) {
        if io.has_exited() {
            // All that the server has written to standard error is in the pipe, and is read below.
            self.end_of_stream.stderr_ended();
        }
        if self.end_of_stream.poll(io.process.as_mut(), self.exit_polling, now) {
            self.read_stderr(io);
            self.stdout = None;
            io.end(&mut self.end_of_stream, now);
        }
    }
}

impl Transport for Pipes {
    fn turn(&mut self, io: &mut Io, until: Option<Timestamp>) -> io::Result<Timestamp> {
        self.write(io);
        let now = io.clock.now();
        if !self.reports_exit() {
            // The exit is checked before the wait, too. The wait ends when the next check is due.
            self.check_end(io, now);
        }
        if self.end_of_stream.is_over() {
            return Ok(now);
        }
        let Some(engine) = io.engine.stream() else { return Ok(now) };
        let write = !engine.transmit().is_empty();
        let read = engine.space().is_some();
        let until = [until, self.end_of_stream.deadline()].into_iter().flatten().min();
        // If the process has exited, all its output is already in the pipe, so the turn does not wait.
        let has_exited = io.has_exited();
        let left = |now| until.map(|at| at.duration_since(now));
        let output_wait = left(now).map_or(OUTPUT_WAIT, |left| left.min(OUTPUT_WAIT));
        let output_only = read
            && !write
            && !has_exited
            && !output_wait.is_zero()
            && !self.end_of_stream.is_near()
            && self.output_waits < MAX_OUTPUT_WAITS;
        let ready = if output_only && self.wait_for_output(output_wait)? {
            self.output_waits += 1;
            Readiness { stdout: true, ..Readiness::default() }
        } else {
            self.output_waits = 0;
            let timeout = if has_exited { Some(Duration::ZERO) } else { left(io.clock.now()) };
            self.wait(io.process.as_ref(), read, write, timeout)?
        };
        let now = io.clock.now();
        if ready.stderr {
            self.read_stderr(io);
        }
        if ready.exit {
            io.observe_exit();
        }
        if ready.stdout || ready.exit || has_exited {
            self.read(io, now);
        }
        if ready.stdin {
            self.write(io);
        }
        self.check_end(io, now);
        if ready.wake
            && let Some(wake) = &mut self.wake
        {
            let _ = wake.read(&mut [0; 16]);
        }
        Ok(now)
    }

    fn flush(&mut self, io: &mut Io) {
        self.write(io);
    }

    fn close_input(&mut self) {
        self.stdin = None;
    }

    fn wait_for_exit(&mut self, io: &mut Io, until: Timestamp) {
        let timeout = until.duration_since(io.clock.now());
        // Output is read and discarded, because a server cannot exit while its pipe is full.
        let Ok(ready) = self.wait(io.process.as_ref(), true, false, Some(timeout)) else { return };
        if ready.stderr {
            self.read_stderr(io);
        }
        if ready.stdout {
            let mut buffer = [0; 8 * 1024];
            match self.stdout.as_mut().map(|stdout| stdout.read(&mut buffer)) {
                Some(Ok(0)) => self.stdout = None,
                Some(Err(error)) if !is_transient(&error) => self.stdout = None,
                _ => {}
            }
        }
    }

    fn reports_exit(&self) -> bool {
        self.exit_polling == ExitPolling::Never
    }

    fn has_stderr(&self) -> bool {
        self.stderr.is_some()
    }

    fn waker(&mut self) -> io::Result<ThreadWaker> {
        let (read, write) = wake_pipe()?;
        self.wake = Some(read);
        // The error is ignored: if the pipe is full, the thread is woken anyway.
        Ok(Box::new(move || drop((&write).write(&[1]))))
    }
}

/// Creates the pipe with which a canceller ends a wait. The canceller writes to one end, and the client's thread polls the other
/// end.
///
/// Both ends are non-blocking, so that a canceller never waits. Servers do not inherit them, because the standard library sets
/// close-on-exec. On systems without `pipe2`, such as macOS, it does not set the flag atomically.
fn wake_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (read, write) = io::pipe()?;
    ioctl_fionbio(&read, true)?;
    ioctl_fionbio(&write, true)?;
    Ok((read, write))
}

/// Waits until a descriptor is ready, for at most `timeout` and [`MAX_POLL`]. `None` means no timeout.
///
/// Also returns when a signal arrives. The caller checks its deadline again.
fn poll_descriptors(list: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout
        .map(|wait| wait.min(MAX_POLL))
        .map(|wait| Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() });
    match poll(list, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a later attempt to read can succeed, because the stream has no data now or a signal interrupted the read.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::mem;
    use std::sync::Arc;

    use mcpwire_client::{Clock, ConnectOptions, Exit, McpServerDef, Transport as TransportKind};
    use mcpwire_core::internal::AnyEngine;
    use mcpwire_core::{CloseReason, ConnectError, stdio};
    use mcpwire_process::RunningServer;
    use rustix::io::{FdFlags, fcntl_getfd};

    use super::*;
    use crate::McpClient;
    use crate::connection::Connection;
    use crate::pending_replies::DroppedHandles;

    /// Connects to a server that reads its input to the end. Its standard output is replaced by a directory, which cannot be
    /// read.
    fn connect_with_broken_output() -> McpClient {
        let def = McpServerDef::new("/bin/sh").args(["-c", "cat > /dev/null"]);
        let Ok(RunningServer::Local(process, pipes)) = RunningServer::start(&def, None) else { panic!("it starts") };
        let mut transport = Pipes::new(pipes, &process).unwrap();
        transport.stdout = Some(File::open("/").unwrap());
        let options = ConnectOptions::default();
        let mut options = options.into_parts(Some(Arc::new(def)), TransportKind::Stdio, Clock::system());
        let engine = AnyEngine::Stream(stdio::Engine::new(mem::take(&mut options.config)));
        let connection = Connection::new(engine, Box::new(transport), Some(process), options);
        McpClient { connection, dropped: DroppedHandles::default() }
    }

    #[test]
    fn an_error_of_the_output_ends_the_connection_and_is_its_reason() {
        let mut client = connect_with_broken_output();
        let error = client.initialize().unwrap_err();
        let Some(ConnectError::Failed(why)) = error.connect_error() else { panic!("{error}") };
        assert!(why.contains("directory"), "{error}");
        let end = client.connection_end().expect("the connection has ended");
        let failed = CloseReason::NotOpened(ConnectError::Failed(Arc::clone(why)).into());
        assert_eq!(end.reason, failed);
        assert_eq!(end.process.expect("there is a process").exit(), None);
        let later = client.ping().unwrap_err();
        assert!(later.to_string().contains(&**why), "{later}");
        assert_eq!(client.shutdown().unwrap().exit, Some(Exit::new(Some(0), None)));
    }

    #[test]
    fn a_wake_pipe_never_blocks() {
        let (mut read, mut write) = wake_pipe().expect("there is room for two descriptors");
        assert_eq!(read.read(&mut [0; 16]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let full = loop {
            if let Err(error) = write.write(&[1; 4096]) {
                break error;
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_server_inherits_no_wake_pipe() {
        let (read, write) = wake_pipe().expect("there is room for two descriptors");
        for fd in [read.as_fd(), write.as_fd()] {
            assert!(fcntl_getfd(fd).expect("it is open").contains(FdFlags::CLOEXEC));
        }
    }
}
