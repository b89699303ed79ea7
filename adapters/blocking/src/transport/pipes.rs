//! [`Pipes`]: the pipes of a child process on Unix. The calling thread polls the pipes and the exit of the process.
//!
//! The thread writes and reads in turns, so that a server that writes much before it reads causes no deadlock. Each wait ends with
//! the engine's next deadline.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::internal::AnyEngine;
use nix::poll as nix_poll;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::{IoContext, Transport};
use crate::cancel::ThreadWaker;
use mcpwire_client::Direction;
use mcpwire_process::{EndOfStream, ExitPolling, Process};

/// Maximum duration of a wait without a descriptor to wait for.
const MAX_SLEEP: Duration = Duration::from_millis(20);

/// Maximum duration of a wait for standard output alone.
const OUTPUT_WAIT: Duration = Duration::from_millis(2);

/// Maximum number of consecutive waits for standard output alone, so that a busy output does not starve the other descriptors.
const MAX_OUTPUT_WAITS: u32 = 16;

pub(crate) struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// The read end of the canceller's pipe. `None` before [`Transport::waker`].
    wake: Option<PipeReader>,
    end_of_stream: EndOfStream,
    exit_polling: ExitPolling,
    /// The time after the last turn.
    last_time: Timestamp,
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

impl Pipes {
    pub(crate) fn new(pipes: mcpwire_process::Pipes, process: &Process) -> io::Result<Self> {
        let mcpwire_process::Pipes { stdin, stdout, stderr } = pipes;
        for fd in [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()] {
            set_nonblocking(fd)?;
        }
        Ok(Pipes {
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            wake: None,
            end_of_stream: EndOfStream::of_process(),
            exit_polling: if process.exit_fd().is_some() { ExitPolling::Never } else { ExitPolling::Always },
            last_time: Timestamp::ORIGIN,
            output_waits: 0,
        })
    }

    /// Waits for standard output alone, for at most `limit`. Returns whether it is readable.
    ///
    /// Most responses arrive within this time. Polling the other descriptors, too, would be the most expensive part of a call, and
    /// they can wait for some milliseconds.
    fn wait_for_output(&self, limit: Duration) -> io::Result<bool> {
        let Some(stdout) = &self.stdout else { return Ok(false) };
        let wait = u16::try_from(limit.as_millis()).unwrap_or(u16::MAX);
        if wait == 0 {
            return Ok(false);
        }
        // `poll` of nix, because `poll` of rustix calls `ppoll`, for which the kernel reads the clock once more.
        match nix_poll::poll(&mut [nix_poll::PollFd::new(stdout.as_fd(), nix_poll::PollFlags::POLLIN)], wait) {
            Ok(ready) => Ok(ready > 0),
            Err(nix::errno::Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Polls all descriptors, `stdout` only if `read`, and `stdin` only if `write`.
    fn wait(
        &self,
        process: Option<&Process>,
        read: bool,
        write: bool,
        timeout: Option<Duration>,
    ) -> io::Result<Readiness> {
        // An array, so that a wait allocates nothing.
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
        let mut list = [const { PollFlags::empty() }; 5].map(|none| PollFd::from_borrowed_fd(any, none));
        let mut places = [None; 5];
        let mut count = 0;
        for (place, (fd, flags)) in watched.into_iter().enumerate() {
            if let Some(fd) = fd {
                list[count] = PollFd::from_borrowed_fd(fd, flags);
                places[place] = Some(count);
                count += 1;
            }
        }
        let timeout =
            timeout.map(|wait| Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() });
        match poll(&mut list[..count], timeout.as_ref()) {
            Ok(_) => {}
            // The caller checks the deadline and waits again.
            Err(rustix::io::Errno::INTR) => return Ok(Readiness::default()),
            Err(error) => return Err(error.into()),
        }
        let ready = |place: usize| places[place].is_some_and(|at: usize| !list[at].revents().is_empty());
        Ok(Readiness { stdin: ready(0), stdout: ready(1), stderr: ready(2), exit: ready(3), wake: ready(4) })
    }

    fn read(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>, now: Timestamp) -> io::Result<()> {
        let Some(stdout) = &mut self.stdout else { return Ok(()) };
        let Some(space) = engine.space() else { return Ok(()) };
        match stdout.read(space) {
            Ok(0) => self.stdout = None,
            Ok(n) => {
                context.observe(Direction::Received, &space[..n]);
                engine.filled(n, now);
            }
            Err(error) if is_transient(&error) => {
                // The pipe is empty after the exit: a child of the server may hold it open, so no end of the stream follows.
                if context.process.as_ref().is_some_and(|process| process.exit().is_some()) {
                    self.stdout = None;
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn write(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>) {
        while let Some(stdin) = &mut self.stdin {
            let bytes = engine.transmit();
            if bytes.is_empty() {
                return;
            }
            match stdin.write(bytes) {
                Ok(n) => {
                    context.observe(Direction::Sent, &bytes[..n]);
                    let is_complete = n == bytes.len();
                    engine.transmitted(n);
                    // After a partial write, the pipe is full.
                    if !is_complete {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The server has closed its input. Its output or its exit shows whether it has ended.
                Err(_) => {
                    self.stdin = None;
                    self.end_of_stream.input_broke(context.clock.now());
                }
            }
        }
    }

    fn read_stderr(&mut self, context: &mut IoContext<'_>) {
        let mut buffer = [0; 8 * 1024];
        // A limit, so that a server that floods its standard error does not delay responses.
        for _ in 0..16 {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(&mut buffer) {
                Ok(n) if n > 0 => context.stderr.push(&buffer[..n]),
                Err(error) if is_transient(&error) => return,
                _ => {
                    context.stderr.flush();
                    self.stderr = None;
                }
            }
        }
    }

    /// Reports the end of the stream to the engine, when the output, the exit and standard error are complete or overdue.
    fn check_end(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>, now: Timestamp) {
        if self.stdout.is_none() {
            self.end_of_stream.output_ended(now);
        }
        if context.process.as_ref().is_some_and(|process| process.exit().is_some()) {
            // The rest of standard error is in the pipe, and is read below.
            self.end_of_stream.stderr_ended();
        }
        if self.end_of_stream.poll(context.process.as_deref_mut(), self.exit_polling, now) {
            self.read_stderr(context);
            self.stdout = None;
            engine.receive_eof(now);
        }
    }
}

impl Transport for Pipes {
    fn turn(
        &mut self,
        engine: &mut AnyEngine,
        context: &mut IoContext<'_>,
        until: Option<Timestamp>,
    ) -> io::Result<Timestamp> {
        self.write(engine, context);
        if !self.reports_exit() {
            // Also before the wait, which ends when the exit is to be checked again.
            self.check_end(engine, context, context.clock.now());
        }
        if self.end_of_stream.is_over() {
            return Ok(context.clock.now());
        }
        let write = !engine.transmit().is_empty();
        let read = engine.space().is_some();
        let until = [until, self.end_of_stream.deadline()].into_iter().flatten().min();
        // All output of a process that has exited is already in the pipe, so the turn does not wait.
        let has_exited = context.process.as_ref().is_some_and(|process| process.exit().is_some());
        let output_only =
            read && !write && !has_exited && !self.end_of_stream.is_near() && self.output_waits < MAX_OUTPUT_WAITS;
        // The short wait reuses the last timestamp, because reading the clock costs more than the precision is worth.
        let mut recent_time = context.recent_time.take();
        let limit =
            until.map_or(OUTPUT_WAIT, |at| at.duration_since(recent_time.unwrap_or(self.last_time)).min(OUTPUT_WAIT));
        let ready = if output_only && self.wait_for_output(limit)? {
            self.output_waits += 1;
            Readiness { stdout: true, ..Readiness::default() }
        } else {
            recent_time = None;
            self.output_waits = 0;
            let now = context.clock.now();
            let timeout = if has_exited { Some(Duration::ZERO) } else { until.map(|at| at.duration_since(now)) };
            self.wait(context.process.as_deref(), read, write, timeout)?
        };
        let now = recent_time.unwrap_or_else(|| context.clock.now());
        self.last_time = now;
        if ready.stderr {
            self.read_stderr(context);
        }
        if ready.exit
            && let Some(process) = &mut context.process
        {
            process.observe();
        }
        if ready.stdout || ready.exit || has_exited {
            self.read(engine, context, now)?;
        }
        if ready.stdin {
            self.write(engine, context);
        }
        self.check_end(engine, context, now);
        if ready.wake
            && let Some(wake) = &mut self.wake
        {
            let _ = wake.read(&mut [0; 16]);
        }
        Ok(now)
    }

    fn flush(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>) {
        self.write(engine, context);
    }

    fn close_input(&mut self) {
        self.stdin = None;
    }

    fn wait_for_exit(&mut self, context: &mut IoContext<'_>, until: Timestamp) {
        let timeout = until.duration_since(context.clock.now());
        // Output is read and discarded: with a full pipe, the server could not exit.
        let Ok(ready) = self.wait(context.process.as_deref(), true, false, Some(timeout)) else { return };
        if ready.stderr {
            self.read_stderr(context);
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
        Ok(ThreadWaker::Pipe(write))
    }
}

/// Creates the pipe that ends a wait: the client's thread polls the read end, and a canceller writes to the write end.
///
/// Both ends are non-blocking, so that a canceller never waits. Servers do not inherit them: the standard library sets
/// close-on-exec, atomically on systems with `pipe2` (not macOS).
fn wake_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (read, write) = io::pipe()?;
    set_nonblocking(&read)?;
    set_nonblocking(&write)?;
    Ok((read, write))
}

fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&fd)?;
    Ok(fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?)
}

/// Returns whether a later attempt can succeed.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use rustix::io::{FdFlags, fcntl_getfd};

    use super::*;

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
