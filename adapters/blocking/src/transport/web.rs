//! [`Web`]: HTTP. The calling thread drives the engine and reads the response bodies. One background thread of the program sends
//! the requests, and maintains the connections between calls.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{self, Context, Wake};
use std::time::Duration;

use mcpwire_client::Direction;
use mcpwire_client::http::{Exchanges, HttpClient};
use mcpwire_core::Timestamp;
use mcpwire_core::http::{Command, Verb};
use mcpwire_core::internal::AnyEngine;

use super::background::Background;
use super::{IoContext, Transport};
use crate::cancel::ThreadWaker;

pub(crate) struct Web {
    exchanges: Exchanges,
    background: Background,
    signal: Arc<Signal>,
    waker: task::Waker,
    /// Messages for the tracer.
    traced: Vec<(Direction, Vec<u8>)>,
}

impl Web {
    pub(crate) fn new(client: Arc<dyn HttpClient>, is_traced: bool) -> Self {
        let background = Background::new(client);
        let signal = Arc::new(Signal::default());
        Web {
            exchanges: Exchanges::new(Arc::new(background.clone()), is_traced),
            background,
            waker: task::Waker::from(Arc::clone(&signal)),
            signal,
            traced: Vec::new(),
        }
    }

    /// Starts requests, and reads responses if `may_read`, without waiting. Returns whether anything arrived or may be left.
    fn poll(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>, may_read: bool) -> bool {
        if let Some(engine) = engine.http() {
            self.exchanges.take_commands(engine, context.clock.now());
        }
        let mut cx = Context::from_waker(&self.waker);
        let has_arrived = self.exchanges.poll(may_read, &mut self.traced, &mut cx);
        self.trace(context);
        has_arrived || self.exchanges.has_more()
    }

    fn trace(&mut self, context: &mut IoContext<'_>) {
        for (direction, message) in self.traced.drain(..) {
            if let Some(tracer) = &mut context.tracer {
                tracer.push(direction, &message);
            }
        }
    }
}

impl Transport for Web {
    fn turn(
        &mut self,
        engine: &mut AnyEngine,
        context: &mut IoContext<'_>,
        until: Option<Timestamp>,
    ) -> io::Result<Timestamp> {
        if !self.poll(engine, context, true) {
            self.signal.wait(until.map(|at| at.duration_since(context.clock.now())));
            self.poll(engine, context, true);
        }
        let now = context.clock.now();
        if let Some(engine) = engine.http() {
            self.exchanges.deliver_next(engine, now, &mut self.traced);
            self.trace(context);
        }
        Ok(now)
    }

    fn has_more(&self) -> bool {
        self.exchanges.has_more()
    }

    fn flush(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>) {
        self.poll(engine, context, false);
    }

    fn close_input(&mut self) {}

    fn waker(&mut self) -> io::Result<ThreadWaker> {
        Ok(ThreadWaker::Task(self.waker.clone()))
    }

    fn close_in_background(&mut self, engine: &mut AnyEngine, now: Timestamp, limit: Duration) {
        let Some(engine) = engine.http() else { return };
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

/// A flag that the client's thread waits for.
#[derive(Default)]
struct Signal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    /// Waits until the signal is set, for at most `limit`, and clears it.
    fn wait(&self, limit: Option<Duration>) {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_set = match limit {
            Some(limit) => {
                let waited = self.changed.wait_timeout_while(is_set, limit, |is_set| !*is_set);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.changed.wait_while(is_set, |is_set| !*is_set).unwrap_or_else(PoisonError::into_inner),
        };
        *is_set = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }
}
