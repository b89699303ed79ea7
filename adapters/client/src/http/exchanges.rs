//! [`Exchanges`]: performs the HTTP exchanges that the protocol engine requests. An exchange is a request with its response.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::ready;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use mcpwire_core::Timestamp;
use mcpwire_core::http::{Command, Engine, Exchange, ExchangeId, Failure, FailureKind};

use super::trace::{MessageTrace, TracedMessages, push_line};
use super::wake_queue::{ExchangeWaker, WakeQueue};
use super::{HttpClient, HttpResponse, ResponseFuture};
use crate::{Direction, Reader, catch_panic};

/// Size of the buffer for reading response bodies, in bytes. 16 KiB: the maximum size of a TLS record.
const READ_SIZE: usize = 16 * 1024;

/// Maximum number of reads in one poll, before the engine and other tasks run. 64 reads return at most 1 MiB.
const MAX_READS: usize = 64;

/// Maximum number of reads of one body in a poll, so that a fast response does not delay the other exchanges.
const MAX_READS_OF_ONE: usize = 4;

/// The HTTP exchanges of a connection: sends the requests of an [`Engine`] with an [`HttpClient`], and returns the responses.
///
/// The code that drives the engine repeats these steps:
///
/// 1. Call [`take_commands`](Exchanges::take_commands).
/// 2. Call [`poll`](Exchanges::poll).
/// 3. Call [`deliver_next`](Exchanges::deliver_next) until it returns `false`, and poll the engine's events after each call.
///
/// At most 1 MiB of responses is read before the engine takes it. Dropping this value aborts the exchanges in flight.
pub struct Exchanges {
    client: Arc<dyn HttpClient>,
    /// Commands of the engine that `poll` has not performed yet.
    commands: Vec<Command>,
    /// Exchanges that wait because as many requests as [`HttpClient::capacity`] allows are in flight.
    waiting: VecDeque<Exchange>,
    running: HashMap<ExchangeId, RunningExchange>,
    /// Number of running exchanges that count towards [`HttpClient::capacity`]. Event streams do not count.
    counted: usize,
    woken: Arc<WakeQueue>,
    /// Parts of responses that `deliver_next` has not passed to the engine yet.
    parts: VecDeque<(ExchangeId, ResponsePart)>,
    buffer: Box<[u8]>,
    trace: Option<MessageTrace>,
}

struct RunningExchange {
    stage: ExchangeStage,
    exchange_waker: Arc<ExchangeWaker>,
    is_counted: bool,
}

enum ExchangeStage {
    /// The request was sent, and the head of the response has not arrived.
    Head(ResponseFuture),
    Body(Reader),
}

enum ResponsePart {
    Head { status: u16, headers: Vec<(String, Vec<u8>)> },
    Body(Vec<u8>),
    End,
    Failure(Failure),
}

impl Exchanges {
    /// Creates an empty set of exchanges for this HTTP client. If `is_traced` is set, the messages are recorded for the program's
    /// trace callback.
    pub fn new(client: Arc<dyn HttpClient>, is_traced: bool) -> Self {
        Exchanges {
            client,
            commands: Vec::new(),
            waiting: VecDeque::new(),
            running: HashMap::new(),
            counted: 0,
            woken: Arc::default(),
            parts: VecDeque::new(),
            buffer: vec![0; READ_SIZE].into(),
            trace: is_traced.then(MessageTrace::default),
        }
    }

    /// Takes the commands of the engine to start and abort exchanges. [`Exchanges::poll`] performs the commands.
    pub fn take_commands(&mut self, engine: &mut Engine, now: Timestamp) {
        while let Some(command) = engine.poll_exchange(now) {
            self.commands.push(command);
        }
    }

    /// Passes the next part of a response to the engine. Returns `false` if no part is ready.
    ///
    /// If messages are traced, adds each message that is now complete to `traced`, as a line.
    pub fn deliver_next(
        &mut self,
        engine: &mut Engine,
        now: Timestamp,
        traced: &mut Vec<(Direction, Vec<u8>)>,
    ) -> bool {
        let Some((id, part)) = self.parts.pop_front() else { return false };
        if let Some(trace) = &mut self.trace {
            match &part {
                ResponsePart::Head { headers, .. } => trace.begin(id, headers),
                ResponsePart::Body(bytes) => trace.body(id, bytes, traced),
                ResponsePart::End | ResponsePart::Failure(_) => trace.end(id, traced),
            }
        }
        match part {
            ResponsePart::Head { status, headers } => {
                let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
                engine.response(id, status, headers, now);
            }
            ResponsePart::Body(bytes) => engine.body(id, &bytes, now),
            ResponsePart::End => engine.ended(id, now),
            ResponsePart::Failure(failure) => engine.failed(id, failure, now),
        }
        true
    }

    /// Starts and aborts exchanges as commanded, and reads responses if `may_read` is set.
    ///
    /// Returns whether a part of a response is ready for [`deliver_next`](Exchanges::deliver_next). If not, the task of `cx` is
    /// woken when a part may be ready. While parts wait for the engine, this method reads nothing. That slows down a server that
    /// sends too fast.
    ///
    /// This method runs code of the HTTP client. Call it without holding a lock.
    pub fn poll(&mut self, may_read: bool, traced: &mut Vec<(Direction, Vec<u8>)>, cx: &mut Context<'_>) -> bool {
        for command in std::mem::take(&mut self.commands) {
            match command {
                Command::Start(exchange) => {
                    if self.trace.is_some() && !exchange.body.is_empty() {
                        push_line(Direction::Sent, exchange.body.clone(), traced);
                    }
                    self.waiting.push_back(exchange);
                }
                Command::Abort(id) => self.abort(id, traced),
                _ => {}
            }
        }
        self.start_waiting();
        if may_read && self.parts.is_empty() {
            self.read(cx);
            self.start_waiting();
        }
        !self.parts.is_empty()
    }

    /// Returns whether the next call of [`poll`](Exchanges::poll) can make progress without waiting: no part waits for the
    /// engine, and an exchange was woken.
    pub fn has_more(&self) -> bool {
        self.parts.is_empty() && !self.woken.is_empty()
    }

    fn abort(&mut self, id: ExchangeId, traced: &mut TracedMessages) {
        self.waiting.retain(|exchange| exchange.id != id);
        self.parts.retain(|(of, _)| *of != id);
        self.remove(id);
        if let Some(trace) = &mut self.trace {
            trace.end(id, traced);
        }
    }

    fn remove(&mut self, id: ExchangeId) {
        if let Some(running) = self.running.remove(&id) {
            self.counted -= usize::from(running.is_counted);
        }
    }

    /// Starts waiting exchanges up to the capacity of the HTTP client. Exchanges that do not count towards the capacity start at
    /// once.
    fn start_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let capacity = self.client.capacity().max(1);
        let mut at = 0;
        while at < self.waiting.len() {
            let is_counted = self.waiting[at].is_request && !self.waiting[at].is_long;
            if is_counted && self.counted >= capacity {
                at += 1;
            } else if let Some(exchange) = self.waiting.remove(at) {
                self.counted += usize::from(is_counted);
                self.start(exchange, is_counted);
            }
        }
    }

    fn start(&mut self, exchange: Exchange, is_counted: bool) {
        let id = exchange.id;
        let response = catch_panic(|| self.client.send(exchange))
            .unwrap_or_else(|message| Box::pin(ready(Err(panic_failure(&message)))));
        let exchange_waker = ExchangeWaker::new(id, &self.woken);
        Arc::clone(&exchange_waker).wake();
        self.running.insert(id, RunningExchange { stage: ExchangeStage::Head(response), exchange_waker, is_counted });
    }

    /// Polls the exchanges that were woken, and stores the parts of responses that have arrived.
    fn read(&mut self, cx: &mut Context<'_>) {
        let mut left = MAX_READS;
        for woken in self.woken.take(cx) {
            if left == 0 {
                // The limit of this poll is reached, so the exchange is queued for the next poll.
                woken.wake();
                continue;
            }
            let Some(running) = self.running.get_mut(&woken.id) else { continue };
            let max_reads = left.min(MAX_READS_OF_ONE);
            let before = self.parts.len();
            let parts = &mut self.parts;
            let last = catch_panic(|| running.poll(&mut self.buffer, max_reads, parts))
                .unwrap_or_else(|message| Some(ResponsePart::Failure(panic_failure(&message))));
            if let Some(last) = last {
                self.parts.push_back((woken.id, last));
                self.remove(woken.id);
            }
            left = left.saturating_sub(self.parts.len() - before);
        }
    }
}

impl RunningExchange {
    /// Polls for the head of the response, and then reads its body at most `max_reads` times. Returns the last part of the
    /// response if the exchange has ended.
    fn poll(
        &mut self,
        buffer: &mut [u8],
        max_reads: usize,
        parts: &mut VecDeque<(ExchangeId, ResponsePart)>,
    ) -> Option<ResponsePart> {
        let id = self.exchange_waker.id;
        let waker = Waker::from(Arc::clone(&self.exchange_waker));
        let mut cx = Context::from_waker(&waker);
        if let ExchangeStage::Head(response) = &mut self.stage {
            match response.as_mut().poll(&mut cx) {
                Poll::Pending => return None,
                Poll::Ready(Err(failure)) => return Some(ResponsePart::Failure(failure)),
                Poll::Ready(Ok(HttpResponse { status, headers, body })) => {
                    parts.push_back((id, ResponsePart::Head { status, headers }));
                    self.stage = ExchangeStage::Body(body);
                }
            }
        }
        let ExchangeStage::Body(body) = &mut self.stage else { return None };
        for _ in 0..max_reads {
            match body.as_mut().poll_read(&mut cx, buffer) {
                Poll::Pending => return None,
                Poll::Ready(Ok(0)) => return Some(ResponsePart::End),
                Poll::Ready(Ok(n)) => parts.push_back((id, ResponsePart::Body(buffer[..n].to_vec()))),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Some(ResponsePart::Failure(read_failure(&error))),
            }
        }
        Arc::clone(&self.exchange_waker).wake();
        None
    }
}

/// Creates the failure of an exchange whose HTTP client panicked. Its kind is `Broken`, because the client may have sent the
/// request.
#[cold]
fn panic_failure(message: &str) -> Failure {
    Failure::new(FailureKind::Broken, format!("the HTTP client panicked: {message}"))
}

fn read_failure(error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::InvalidData => FailureKind::Invalid,
        _ => FailureKind::Broken,
    };
    Failure::new(kind, error.to_string())
}

impl fmt::Debug for Exchanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchanges")
            .field("running", &self.running.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}
