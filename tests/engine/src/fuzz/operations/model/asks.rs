//! What the server asks for: it is answered, refused, or given up.

use mcpwire_core::{Json, RpcError, SendError, ServerRequestId};

use super::Model;
use crate::fuzz::describe;

impl Model {
    pub(in crate::fuzz::operations) fn answer(&mut self, which: usize, answer: &Json) {
        let Some((key, during)) = self.ask(which) else {
            let gone = self.dead_ask.map(|dead| self.engine.calls().answer(dead, answer, self.now));
            return assert!(gone.is_none_or(|answered| answered != Ok(true)), "nobody waits for it");
        };
        self.trace.line(format_args!("> answer a{} {answer}", self.names.ask(key)));
        match self.engine.calls().answer(key, answer, self.now) {
            Ok(answered) => {
                assert!(answered, "it is waited for");
                self.asked_no_more(key, during);
            }
            Err(error) => {
                describe::not_sent(&error, &self.trace);
                assert!(matches!(error, SendError::NotAnObject { .. }), "{error:?}");
            }
        }
        self.drain();
    }

    pub(in crate::fuzz::operations) fn refuse(&mut self, which: usize) {
        let error = RpcError::new(-1, "no");
        let Some((key, during)) = self.ask(which) else {
            let gone = self.dead_ask.is_some_and(|dead| self.engine.calls().refuse(dead, &error, self.now));
            return assert!(!gone, "nobody waits for it");
        };
        self.trace.line(format_args!("> refuse a{}", self.names.ask(key)));
        assert!(self.engine.calls().refuse(key, &error, self.now), "it is waited for");
        self.asked_no_more(key, during);
        self.drain();
        assert!(during.is_none_or(|number| !self.waiting.contains_key(&number)), "refused, and its request goes on");
    }

    fn ask(&self, which: usize) -> Option<(ServerRequestId, Option<usize>)> {
        self.asks.get(which % 8).copied()
    }

    pub(super) fn asked_no_more(&mut self, key: ServerRequestId, during: Option<usize>) {
        let at = self.asks.iter().position(|(asked, _)| *asked == key).expect("it was asked");
        self.asks.remove(at);
        self.dead_ask = Some(key);
        if during.is_none() && !self.holds_up_the_server() {
            // A legacy server can go on.
            for waiting in self.waiting.values_mut() {
                waiting.idle = waiting.idle.max(self.now + waiting.timeout);
            }
        }
    }

    pub(super) fn holds_up_the_server(&self) -> bool {
        self.asks.iter().any(|(_, during)| during.is_none())
    }
}
