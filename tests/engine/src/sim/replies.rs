//! What came of requests, until somebody asks for it.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::{CallError, CallTool, Method, Reply, RequestKey, Ticket};

/// Replies by their requests, and when each came.
#[derive(Default)]
pub(super) struct Replies(BTreeMap<RequestKey, (Duration, Reply)>);

impl Replies {
    pub(super) fn add(&mut self, at: Duration, reply: Reply) {
        let before = self.0.insert(reply.key(), (at, reply));
        assert!(before.is_none(), "two replies to one request");
    }

    pub(super) fn take<M: Method>(&mut self, ticket: Ticket<M>) -> Option<Result<M::Result, CallError>> {
        self.reply(ticket.key()).map(|reply| ticket.decode(reply))
    }

    pub(super) fn reply(&mut self, key: RequestKey) -> Option<Reply> {
        self.0.remove(&key).map(|(_, reply)| reply)
    }

    pub(super) fn text(&mut self, ticket: Ticket<CallTool>) -> String {
        self.take(ticket).expect("it has ended").expect("it went well").text().into_string()
    }

    pub(super) fn error<M: Method<Result: fmt::Debug>>(&mut self, ticket: Ticket<M>) -> CallError {
        self.take(ticket).expect("it has ended").expect_err("it did not go well")
    }

    pub(super) fn ended_at<M: Method>(&self, ticket: Ticket<M>) -> Option<Duration> {
        self.0.get(&ticket.key()).map(|(at, _)| *at)
    }
}
