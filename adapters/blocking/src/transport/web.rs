//! [`Web`]: the transport over HTTP. The calling thread drives the engine and reads the response bodies. One background thread of
//! the program sends the requests, and maintains the connections between calls.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::{self, Context, Wake};
use std::time::Duration;

use mcpwire_client::Direction;
use mcpwire_client::http::{Exchanges, HttpClient};
use mcpwire_core::Timestamp;
use mcpwire_core::http::{Command, Verb};

use super::background::Background;
use super::{Io, Transport};
use crate::cancel::ThreadWaker;

pub(crate) struct Web {
    exchanges: Exchanges,
    background: Background,
    /// Wakes the client's thread while it waits, by sending a message to `woken`.
    waker: task::Waker,
    /// Receives a message when `waker` was called. The client's thread waits for this message.
    woken: Receiver<()>,
    /// Messages that were sent or received, for the program's trace callback.
    traced: Vec<(Direction, Vec<u8>)>,
}

impl Web {
    pub(crate) fn new(client: Arc<dyn HttpClient>, is_traced: bool) -> Self {
        let background = Background::new(client);
        let (wake, woken) = sync_channel(1);
        Web {
            exchanges: Exchanges::new(Arc::new(background.clone()), is_traced),
            background,
            waker: task::Waker::from(Arc::new(ThreadSignal(wake))),
            woken,
            traced: Vec::new(),
        }
    }

    /// Starts the engine's requests, and reads responses if `may_read`, without waiting. Returns whether data has arrived or is
    /// left to deliver to the engine.
    fn poll(&mut self, io: &mut Io, may_read: bool) -> bool {
        if let Some(engine) = io.engine.http() {
            self.exchanges.take_commands(engine, io.clock.now());
        }
        let mut cx = Context::from_waker(&self.waker);
        let has_arrived = self.exchanges.poll(may_read, &mut self.traced, &mut cx);
        self.trace(io);
        io.has_read |= has_arrived;
        has_arrived || self.exchanges.has_more()
    }

    fn trace(&mut self, io: &mut Io) {
        for (direction, message) in self.traced.drain(..) {
            if let Some(tracer) = &mut io.tracer {
                tracer.push(direction, &message);
            }
        }
    }
}

impl Transport for Web {
    fn turn(&mut self, io: &mut Io, until: Option<Timestamp>) -> io::Result<Timestamp> {
        if !self.poll(io, true) {
            // The result is ignored. The only possible error is a timeout, because `waker` owns a sender.
            let _ = match until {
                Some(at) => self.woken.recv_timeout(at.duration_since(io.clock.now())).ok(),
                None => self.woken.recv().ok(),
            };
            self.poll(io, true);
        }
        let now = io.clock.now();
        if let Some(engine) = io.engine.http() {
            self.exchanges.deliver_next(engine, now, &mut self.traced);
            self.trace(io);
        }
        Ok(now)
    }

    fn has_more(&self) -> bool {
        self.exchanges.has_more()
    }

    fn flush(&mut self, io: &mut Io) {
        self.poll(io, false);
    }

    fn waker(&mut self) -> io::Result<ThreadWaker> {
        let waker = self.waker.clone();
        Ok(Box::new(move || waker.wake_by_ref()))
    }

    fn close_in_background(&mut self, io: &mut Io, limit: Duration) {
        let now = io.clock.now();
        let Some(engine) = io.engine.http() else { return };
        engine.close();
        while let Some(command) = engine.poll_exchange(now) {
            if let Command::Start(exchange) = command
                && exchange.verb == Verb::Delete
            {
                self.background.detach(exchange, limit);
            }
        }
    }
}

/// Wakes the client's thread by a message. If a message is already waiting, no second one is needed.
struct ThreadSignal(SyncSender<()>);

impl Wake for ThreadSignal {
    fn wake(self: Arc<Self>) {
        let _ = self.0.try_send(());
    }
}
