//! HTTP: the calling thread drives the engine and reads the bodies; the requests are made by a thread in the background, one for
//! the whole program, which also keeps the connections while no call waits.

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
use crate::cancel::Waker;

pub(crate) struct Web {
    exchanges: Exchanges,
    background: Background,
    signal: Arc<Signal>,
    waker: task::Waker,
    watched: Vec<(Direction, Vec<u8>)>,
}

impl Web {
    pub(crate) fn new(client: Arc<dyn HttpClient>, is_watched: bool) -> Self {
        let background = Background::new(client);
        let signal = Arc::new(Signal::default());
        Web {
            exchanges: Exchanges::new(Arc::new(background.clone()), is_watched),
            background,
            waker: task::Waker::from(Arc::clone(&signal)),
            signal,
            watched: Vec::new(),
        }
    }

    /// Does what can be done without waiting. Whether something has come, or there may be more.
    fn go_on(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>, may_read: bool) -> bool {
        if let Some(engine) = engine.http() {
            self.exchanges.take_commands(engine, context.clock.now());
        }
        let mut cx = Context::from_waker(&self.waker);
        let has_come = self.exchanges.poll(may_read, &mut self.watched, &mut cx);
        self.show(context);
        has_come || self.exchanges.has_more()
    }

    fn show(&mut self, context: &mut IoContext<'_>) {
        for (direction, message) in self.watched.drain(..) {
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
        if !self.go_on(engine, context, true) {
            self.signal.wait(until.map(|at| at.duration_since(context.clock.now())));
            self.go_on(engine, context, true);
        }
        let now = context.clock.now();
        if let Some(engine) = engine.http() {
            self.exchanges.deliver_next(engine, now, &mut self.watched);
            self.show(context);
        }
        Ok(now)
    }

    fn has_more(&self) -> bool {
        self.exchanges.has_more()
    }

    fn flush(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>) {
        self.go_on(engine, context, false);
    }

    fn close_input(&mut self) {}

    fn idle(&mut self, _: &mut IoContext<'_>, _: Timestamp) {}

    fn last_words(&mut self, _: &mut IoContext<'_>) {}

    fn waker(&mut self) -> io::Result<Waker> {
        Ok(Waker::Task(self.waker.clone()))
    }

    fn abandon(&mut self, engine: &mut AnyEngine, now: Timestamp, limit: Duration) {
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

/// Wakes the thread that waits.
#[derive(Default)]
struct Signal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    /// Waits until it is set, but no longer than so; afterwards it is not set.
    fn wait(&self, at_most: Option<Duration>) {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_set = match at_most {
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
