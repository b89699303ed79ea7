//! [`Body`]: the body of a scripted HTTP response, which arrives in the time of the client's runtime.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_io::AsyncRead;
use mcpwire_driver::protocol::Timestamp;
use mcpwire_driver::{Clock, Runtime, Timer};

use super::answer::Part;
use super::request::HttpRequest;
use crate::outbox::{Outbox, Output};
use crate::server::ScriptedServer;

/// The source of a body.
pub(super) enum Source {
    /// A scripted response: its parts, each with its time.
    Parts(VecDeque<(Timestamp, Part)>),
    /// The scripted server: the output of this connection is sent as events.
    Events(ScriptedServer, usize),
}

/// The result of reading from a source.
enum Next {
    Bytes(Vec<u8>),
    End,
    Cut(io::ErrorKind),
    /// There is nothing until this time, or until the task is woken.
    Wait(Option<Timestamp>),
}

impl Source {
    fn next(&mut self, now: Timestamp, cx: &Context<'_>, has_answered: &mut bool) -> Next {
        match self {
            Source::Parts(parts) => match parts.front() {
                None => Next::End,
                Some((at, _)) if *at > now => Next::Wait(Some(*at)),
                Some(_) => match parts.pop_front() {
                    Some((_, Part::Bytes(bytes))) => Next::Bytes(bytes),
                    Some((_, Part::Cut(kind))) => Next::Cut(kind),
                    None => Next::End,
                },
            },
            Source::Events(server, connection) => {
                let mut state = server.lock();
                let Some(outbox) = state.outboxes.get_mut(connection) else { return Next::End };
                let next = match outbox.pop(now) {
                    Some(Output::Line(line)) => Next::Bytes(event(&line)),
                    Some(Output::Response(line)) => {
                        *has_answered = true;
                        Next::Bytes(event(&line))
                    }
                    Some(Output::Raw(bytes)) => Next::Bytes(bytes),
                    Some(Output::Close) => Next::End,
                    None if *has_answered && outbox.is_idle() => Next::End,
                    None => Next::Wait(outbox.next()),
                };
                let former = match next {
                    Next::Wait(_) => outbox.waker.replace(cx.waker().clone()),
                    _ => None,
                };
                drop(state);
                // The lock is not held here: dropping a waker may drop its task, which may use the server.
                drop(former);
                next
            }
        }
    }
}

fn event(line: &str) -> Vec<u8> {
    format!("event: message\ndata: {line}\n\n").into_bytes()
}

/// The requests whose responses the client has dropped before their end.
pub(crate) type Aborted = Arc<Mutex<Vec<HttpRequest>>>;

/// The body of a response. If it is dropped before its end, its request is recorded as aborted.
pub(super) struct Body {
    source: Source,
    clock: Clock,
    timer: Box<dyn Timer>,
    /// The time for which `timer` is set.
    armed: Option<Timestamp>,
    /// Bytes of the source that the client has not read yet.
    buffer: Vec<u8>,
    read: usize,
    has_answered: bool,
    is_over: bool,
    request: HttpRequest,
    aborted: Aborted,
}

impl Body {
    pub(super) fn new(source: Source, runtime: &Arc<dyn Runtime>, request: HttpRequest, aborted: Aborted) -> Self {
        Body {
            source,
            clock: runtime.clock(),
            timer: runtime.timer(),
            armed: None,
            buffer: Vec::new(),
            read: 0,
            has_answered: false,
            is_over: false,
            request,
            aborted,
        }
    }

    /// Polls the timer for this time.
    pub(super) fn poll_until(&mut self, at: Timestamp, cx: &mut Context<'_>) -> Poll<()> {
        let now = self.clock.now();
        if at <= now {
            return Poll::Ready(());
        }
        if self.armed != Some(at) {
            self.timer.reset(at.duration_since(now));
            self.armed = Some(at);
        }
        let poll = self.timer.poll(cx);
        if poll.is_ready() {
            self.armed = None;
        }
        poll
    }
}

impl AsyncRead for Body {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        loop {
            let rest = this.buffer.get(this.read..).unwrap_or_default();
            if !rest.is_empty() {
                let length = rest.len().min(buf.len());
                buf[..length].copy_from_slice(&rest[..length]);
                this.read += length;
                return Poll::Ready(Ok(length));
            }
            if this.is_over {
                return Poll::Ready(Ok(0));
            }
            match this.source.next(this.clock.now(), cx, &mut this.has_answered) {
                Next::Bytes(bytes) => (this.buffer, this.read) = (bytes, 0),
                Next::End => this.is_over = true,
                Next::Cut(kind) => {
                    this.is_over = true;
                    return Poll::Ready(Err(kind.into()));
                }
                Next::Wait(None) => return Poll::Pending,
                Next::Wait(Some(at)) => {
                    if this.poll_until(at, cx).is_pending() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if let Source::Events(server, connection) = &self.source {
            let outbox: Option<Outbox> = server.lock().outboxes.remove(connection);
            drop(outbox);
        }
        if !self.is_over && !matches!(&self.source, Source::Parts(parts) if parts.is_empty()) {
            self.aborted.lock().unwrap_or_else(PoisonError::into_inner).push(self.request.clone());
        }
    }
}
