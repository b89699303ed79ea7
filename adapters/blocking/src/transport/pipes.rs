//! A child's pipes on Unix: one `poll` of the calling thread watches them all, and its exit.
//!
//! Writing and reading go on at the same time, so that a server which must be read before it reads on is no deadlock; and
//! whatever the server does, the wait ends with the engine's next deadline.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::internal::{AnyEngine, EndOfStream};
use nix::poll as brief;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::{IoContext, Transport};
use crate::cancel::Waker;
use mcpwire_client::Direction;
use mcpwire_process::Process;

/// How often the exit is checked where the system cannot tell it.
const TICK: Duration = Duration::from_millis(20);

/// How long the output alone is waited for.
const SOON: Duration = Duration::from_millis(2);

/// After so many waits for the output alone the others are looked at, however busy the output is.
const UNHURRIED: u32 = 16;

pub(crate) struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Read end of the pipe of the canceller, once there is one.
    wake: Option<PipeReader>,
    ending: EndOfStream,
    ended: bool,
    /// The last time that is known.
    now: Timestamp,
    /// How often in a row the output alone was waited for.
    unhurried: u32,
}

/// What `poll` says of each.
#[expect(clippy::struct_excessive_bools, reason = "one for each descriptor, all independent")]
#[derive(Default)]
struct Ready {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    exit: bool,
    wake: bool,
}

impl Pipes {
    pub(crate) fn new(pipes: mcpwire_process::Pipes) -> io::Result<Self> {
        let mcpwire_process::Pipes { stdin, stdout, stderr } = pipes;
        for fd in [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()] {
            set_nonblocking(fd)?;
        }
        Ok(Pipes {
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            wake: None,
            ending: EndOfStream::of_process(),
            ended: false,
            now: Timestamp::ORIGIN,
            unhurried: 0,
        })
    }

    /// Waits for the output alone, and not for long. Most answers come within this time, and watching the other descriptors
    /// as well would cost more than all else that a call does. Nothing of them is lost by looking a moment later.
    fn wait_for_output(&self, at_most: Duration) -> io::Result<bool> {
        let Some(stdout) = &self.stdout else { return Ok(false) };
        let wait = u16::try_from(at_most.as_millis()).unwrap_or(u16::MAX);
        if wait == 0 {
            return Ok(false);
        }
        // In whole milliseconds, the system reads the clock once less than for `ppoll`, which `poll` of rustix is.
        match brief::poll(&mut [brief::PollFd::new(stdout.as_fd(), brief::PollFlags::POLLIN)], wait) {
            Ok(ready) => Ok(ready > 0),
            Err(nix::errno::Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn wait(&self, process: Option<&Process>, read: bool, write: bool, timeout: Option<Duration>) -> io::Result<Ready> {
        // Fixed places, so that no list is made for each wait. Who is not watched asks for nothing on a descriptor that is.
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
            std::thread::sleep(timeout.unwrap_or(TICK).min(TICK));
            return Ok(Ready::default());
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
        let limit =
            if exit.is_none() && process.is_some_and(|process| process.exit().is_none()) { Some(TICK) } else { None };
        let timeout = [timeout, limit].into_iter().flatten().min();
        let timeout =
            timeout.map(|wait| Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() });
        match poll(&mut list[..count], timeout.as_ref()) {
            Ok(_) => {}
            // The caller looks at the time and comes back.
            Err(rustix::io::Errno::INTR) => return Ok(Ready::default()),
            Err(error) => return Err(error.into()),
        }
        let ready = |place: usize| places[place].is_some_and(|at: usize| !list[at].revents().is_empty());
        Ok(Ready { stdin: ready(0), stdout: ready(1), stderr: ready(2), exit: ready(3), wake: ready(4) })
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
            Err(error) if is_passing(&error) => {
                // Everything that was written before the exit has been read.
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
                    let whole = n == bytes.len();
                    engine.transmitted(n);
                    // A pipe that did not take all is full.
                    if !whole {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Nobody reads any more. Whether the server has ended, its output and its exit tell.
                Err(_) => {
                    self.stdin = None;
                    self.ending.input_broke(context.clock.now());
                }
            }
        }
    }

    fn read_stderr(&mut self, context: &mut IoContext<'_>) {
        let mut buffer = [0; 8 * 1024];
        // A server that floods its standard error is not to hold up the answers.
        for _ in 0..16 {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(&mut buffer) {
                Ok(n) if n > 0 => context.stderr.push(&buffer[..n]),
                Err(error) if is_passing(&error) => return,
                _ => {
                    context.stderr.flush();
                    self.stderr = None;
                }
            }
        }
    }

    /// Tells the engine that the stream has ended, once everything is known that there is to know.
    fn check_end(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>) {
        let now = context.clock.now();
        if context.process.as_ref().is_none_or(|process| process.exit().is_some()) {
            self.ending.exited(now);
            // What it wrote on standard error is in the pipe, and is read at once.
            self.ending.errors_ended();
        }
        if self.stdout.is_none() {
            self.ending.output_ended(now);
        }
        if self.ending.is_over(now) && !self.ended {
            self.read_stderr(context);
            self.ended = true;
            self.stdout = None;
            engine.receive_eof(now);
        }
    }

    fn has_hints_of_end(&self, context: &IoContext<'_>) -> bool {
        self.stdout.is_none()
            || self.ending.is_near()
            || context.process.as_ref().is_some_and(|process| process.exit().is_some())
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
        if self.ended {
            return Ok(context.clock.now());
        }
        let write = !engine.transmit().is_empty();
        let read = engine.space().is_some();
        let until = [until, self.ending.deadline()].into_iter().flatten().min();
        // What an ended process wrote is there already: nothing is to be waited for.
        let exited = context.process.as_ref().is_some_and(|process| process.exit().is_some());
        let at_once = read && !write && !exited && !self.ending.is_near() && self.unhurried < UNHURRIED;
        // For a wait that is so short, the time need not be known better than from before it, or from the last one: asking for
        // it costs.
        let mut recent_time = context.recent_time.take();
        let soon = until.map_or(SOON, |at| at.duration_since(recent_time.unwrap_or(self.now)).min(SOON));
        let ready = if at_once && self.wait_for_output(soon)? {
            self.unhurried += 1;
            Ready { stdout: true, ..Ready::default() }
        } else {
            recent_time = None;
            self.unhurried = 0;
            let now = context.clock.now();
            let timeout = if exited { Some(Duration::ZERO) } else { until.map(|at| at.duration_since(now)) };
            self.wait(context.process.as_deref(), read, write, timeout)?
        };
        let now = recent_time.unwrap_or_else(|| context.clock.now());
        self.now = now;
        if ready.stderr {
            self.read_stderr(context);
        }
        if (ready.exit
            || (!ready.stdout && context.process.as_ref().is_some_and(|process| process.exit_fd().is_none())))
            && let Some(process) = &mut context.process
        {
            process.observe();
        }
        if ready.stdout || ready.exit || exited {
            self.read(engine, context, now)?;
        }
        if ready.stdin {
            self.write(engine, context);
        }
        if self.has_hints_of_end(context) {
            self.check_end(engine, context);
        }
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

    fn idle(&mut self, context: &mut IoContext<'_>, until: Timestamp) {
        let timeout = until.duration_since(context.clock.now());
        // Not read in time, an answer that is still being written would keep the server from ending.
        let Ok(ready) = self.wait(context.process.as_deref(), true, false, Some(timeout)) else { return };
        if ready.stderr {
            self.read_stderr(context);
        }
        if ready.stdout {
            let mut buffer = [0; 8 * 1024];
            match self.stdout.as_mut().map(|stdout| stdout.read(&mut buffer)) {
                Some(Ok(0)) => self.stdout = None,
                Some(Err(error)) if !is_passing(&error) => self.stdout = None,
                _ => {}
            }
        }
    }

    fn last_words(&mut self, context: &mut IoContext<'_>) {
        // A pipe holds 64 KiB as a rule, which is read in one go.
        self.read_stderr(context);
    }

    fn waker(&mut self) -> io::Result<Waker> {
        let (read, write) = wake_pipe()?;
        self.wake = Some(read);
        Ok(Waker::Pipe(write))
    }
}

/// Creates the pipe that ends a wait: this thread polls the read end, a canceller writes to the other.
///
/// Neither end blocks, so that a canceller never waits for room. Neither is inherited by servers: the standard library makes
/// both close-on-exec, in one step where the system has `pipe2`, which macOS lacks.
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

/// Not an error of the stream: it is to be tried again later.
fn is_passing(error: &io::Error) -> bool {
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
