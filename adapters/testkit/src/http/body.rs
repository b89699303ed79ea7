//! [`Body`]: the body of a scripted HTTP response, which arrives in the time of the client's runtime.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use futures_io::AsyncRead;
use mcpwire_driver::Runtime;
use mcpwire_driver::protocol::Timestamp;

use super::messages::{HttpRequest, Part};
use crate::lock;
use crate::progress_and_responses::Alarm;
use crate::response::Output;
use crate::server::ScriptedServer;

/// The source of the bytes of a response body.
pub(super) enum Source {
    /// The parts of a scripted response, each with the time at which it arrives.
    Parts(VecDeque<(Timestamp, Part)>),
    Events(Events),
}

/// The output of one connection of the scripted server. Each message becomes a server-sent event.
pub(crate) struct Events {
    pub(super) server: ScriptedServer,
    pub(super) connection: usize,
    /// Whether the response to the request was sent.
    pub(super) has_answered: bool,
}

/// The result of reading from the source of a body.
enum Next {
    Bytes(Vec<u8>),
    /// The end of the body, or the error if the connection was lost.
    End(io::Result<()>),
    /// There are no bytes until this time. `None`: until the task is woken.
    Wait(Option<Timestamp>),
}

impl Source {
    fn next(&mut self, now: Timestamp, cx: &Context<'_>) -> Next {
        match self {
            Source::Events(events) => events.next(now, cx),
            Source::Parts(parts) => match parts.front() {
                Some((at, _)) if *at > now => Next::Wait(Some(*at)),
                _ => match parts.pop_front() {
                    Some((_, Part::Bytes(bytes))) => Next::Bytes(bytes),
                    Some((_, Part::Cut(kind))) => Next::End(Err(kind.into())),
                    None => Next::End(Ok(())),
                },
            },
        }
    }
}

impl Events {
    fn next(&mut self, now: Timestamp, cx: &Context<'_>) -> Next {
        let event = |line: &str| Next::Bytes(format!("event: message\ndata: {line}\n\n").into_bytes());
        // The waker is stored first, so that output which is planned from now on wakes this task.
        self.server.set_waker(self.connection, cx);
        let mut state = self.server.lock();
        let Some(outbox) = state.outboxes.get_mut(&self.connection) else { return Next::End(Ok(())) };
        match outbox.pop(now) {
            Some(Output::Line(line)) => event(&line),
            Some(Output::Response(line)) => {
                self.has_answered = true;
                event(&line)
            }
            Some(Output::Raw(bytes)) => Next::Bytes(bytes),
            Some(Output::Close) => Next::End(Ok(())),
            None if self.has_answered && outbox.is_idle() => Next::End(Ok(())),
            None => Next::Wait(outbox.next()),
        }
    }
}

/// The requests whose response the client has dropped before its end.
pub(crate) type Aborted = Arc<Mutex<Vec<HttpRequest>>>;

/// The body of a simulated HTTP response. If the client drops it before its end, the request is recorded as aborted.
pub(super) struct Body {
    source: Source,
    pub(super) alarm: Alarm,
    /// Bytes of the source that the client has not read yet.
    buffer: VecDeque<u8>,
    is_over: bool,
    request: HttpRequest,
    aborted: Aborted,
}

impl Body {
    pub(super) fn new(source: Source, runtime: &dyn Runtime, request: HttpRequest, aborted: Aborted) -> Self {
        Body { source, alarm: Alarm::new(runtime), buffer: VecDeque::new(), is_over: false, request, aborted }
    }
}

impl AsyncRead for Body {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        while this.buffer.is_empty() && !this.is_over {
            match this.source.next(this.alarm.now(), cx) {
                Next::Bytes(bytes) => this.buffer = bytes.into(),
                Next::End(end) => {
                    this.is_over = true;
                    end?;
                }
                Next::Wait(None) => return Poll::Pending,
                Next::Wait(Some(at)) => ready!(this.alarm.poll_until(at, cx)),
            }
        }
        Poll::Ready(this.buffer.read(buf))
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let is_read = match &self.source {
            Source::Parts(parts) => parts.is_empty(),
            Source::Events(events) => {
                events.server.disconnect(events.connection);
                false
            }
        };
        if !self.is_over && !is_read {
            lock(&self.aborted).push(self.request.clone());
        }
    }
}
