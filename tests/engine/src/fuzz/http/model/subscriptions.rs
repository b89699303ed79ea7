//! Subscriptions over HTTP: a long request to a modern server, requests and the `GET` stream of a legacy one.

use mcpwire_core::http::Exchange;
use mcpwire_core::{ResubscribePolicy, SendError, SubscribeOptions, SubscriptionEvent, SubscriptionFilter};
use serde_json::Value;

use super::{MAX_SUBSCRIPTIONS, Model};
use crate::fuzz::describe;

impl Model {
    pub(in crate::fuzz::http) fn subscribe(&mut self, bits: u8) {
        let mut wanted = SubscriptionFilter::new();
        wanted.tools_list_changed = bits & 1 != 0;
        if bits & 2 != 0 {
            wanted = wanted.resource("a:1");
        }
        if bits & 4 != 0 {
            wanted = wanted.resource("b");
        }
        let mut options = SubscribeOptions::new();
        options.resubscribe = [ResubscribePolicy::AfterDrop, ResubscribePolicy::Always, ResubscribePolicy::Never]
            [usize::from(bits >> 4) % 3];
        options.seed = Some(bits.into());
        self.trace.line(format_args!("> subscribe {}", describe::json(&wanted)));
        match self.engine.calls().subscribe(&wanted, &options, self.now) {
            Ok(key) => {
                self.trace.line(format_args!("s{}", self.names.subscription(key)));
                assert!(self.subscriptions.len() < MAX_SUBSCRIPTIONS, "one too many");
                self.subscriptions.push(key);
            }
            Err(error) => {
                describe::not_sent(&error, &self.trace);
                if let SendError::TooManyInFlight { .. } = error {
                    assert_eq!(self.subscriptions.len(), MAX_SUBSCRIPTIONS);
                }
            }
        }
    }

    /// Takes what there is to take of one subscription.
    pub(in crate::fuzz::http) fn take(&mut self, which: u8) {
        let Some(at) = usize::from(which).checked_rem(self.subscriptions.len()) else { return };
        let key = self.subscriptions[at];
        self.trace.line(format_args!("> take from s{}", self.names.subscription(key)));
        while let Some(event) = self.engine.calls().poll_subscription(key) {
            self.trace.line(format_args!("{}", describe::subscription_event(&event)));
            if let SubscriptionEvent::Ended(_) = event {
                self.subscriptions.remove(at);
                return;
            }
        }
    }

    pub(in crate::fuzz::http) fn unsubscribe(&mut self, which: u8) {
        let Some(at) = usize::from(which).checked_rem(self.subscriptions.len()) else { return };
        let key = self.subscriptions.remove(at);
        let was_live = self.engine.calls().unsubscribe(key, self.now);
        self.trace.line(format_args!("> unsubscribe s{}: {was_live}", self.names.subscription(key)));
        assert!(!self.engine.calls().unsubscribe(key, self.now), "ended twice");
    }

    /// Acknowledges a subscription in a stream that goes on, with a change behind it, or ends it.
    pub(super) fn respond_to_listen(&mut self, exchange: &Exchange, message: &Value, which: u8) {
        let id = &message["id"];
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
        let notification = |method: &str, more: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{meta}{more}}}}}"#)
        };
        let filter = format!(r#","notifications":{}"#, message["params"]["notifications"]);
        let messages = [
            notification("subscriptions/acknowledged", &filter),
            match which >> 4 & 3 {
                0 => notification("tools/list_changed", ""),
                1 => notification("resources/updated", r#","uri":"a:1""#),
                2 => notification("resources/updated", r#","uri":"b""#),
                _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete",{meta}}}}}"#),
            },
        ];
        let at = self.open.iter().position(|open| open.id == exchange.id).unwrap_or_default();
        let at = u8::try_from(at).unwrap_or_default();
        self.head(at, 200, &[("content-type", "text/event-stream")]);
        for message in messages {
            self.body(at, format!("data: {message}\n\n").as_bytes());
        }
    }
}
