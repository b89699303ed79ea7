//! What the engine says: events, and exchanges that are to be made or given up.

use std::collections::BTreeSet;

use mcpwire_core::http::{Command, Exchange, Flavour, Verb};
use mcpwire_core::{
    Event, Reply, ResubscribePolicy, SendError, SubscribeOptions, SubscriptionEvent, SubscriptionFilter,
};
use serde_json::Value;

use super::{AnyTicket, MAX_SUBSCRIPTIONS, Model};
use crate::fuzz::describe;

impl Model {
    pub(super) fn trace_stand(&mut self) {
        if !self.trace.is_on() {
            return;
        }
        let stood = format!(
            "{}, {} in flight, {} subscriptions, {} exchanges, idle {}, wake {:?}, {}",
            describe::phase(self.engine.session().phase()),
            self.engine.session().in_flight(),
            self.engine.session().subscriptions(),
            self.engine.exchanges(),
            self.engine.is_idle(),
            self.engine.poll_timeout(),
            describe::stats(self.engine.session().stats()),
        );
        if stood != self.stood {
            self.trace.line(format_args!("= {stood}"));
            self.stood = stood;
        }
    }

    pub(super) fn drain(&mut self) {
        let mut bound = 64 + 8 * self.waiting.len() + 4 * self.open.len() + self.received;
        let mut commands = Vec::new();
        loop {
            if let Some(event) = self.engine.poll_event() {
                assert!(!self.over, "an event after the end: {event:?}");
                self.names.event(&event, &self.trace);
                self.event(event);
            } else if let Some(command) = self.engine.poll_exchange(self.now) {
                commands.push(command.clone());
                self.command(command);
            } else {
                break;
            }
            self.happened += 1;
            bound = bound.checked_sub(1).expect("events or commands without end");
        }
        self.trace_commands(&commands);
    }

    /// Adds commands to the trace. Whether an exchange is given up before or after others are made is up to the engine, so
    /// all that are given up at a time come first.
    fn trace_commands(&self, commands: &[Command]) {
        let aborted =
            commands.iter().filter_map(|command| if let Command::Abort(id) = command { Some(*id) } else { None });
        for id in aborted.collect::<BTreeSet<_>>() {
            self.trace.line(format_args!("abort {}", id.get()));
        }
        for command in commands {
            if let Command::Start(exchange) = command {
                describe::exchange(exchange, &self.trace);
            }
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Start(exchange) => {
                assert!(self.started.insert(exchange.id), "an exchange started twice");
                assert_eq!(exchange.body.is_empty(), exchange.verb != Verb::Post);
                assert!(exchange.uri.starts_with("http://server.test/"), "{}", exchange.uri);
                for (name, value) in &exchange.headers {
                    assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{name}: {value:?}");
                    let same = exchange.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).count();
                    assert_eq!(same, 1, "{name}");
                }
                self.open.push(exchange);
            }
            Command::Abort(id) => {
                let before = self.open.len();
                self.open.retain(|exchange| exchange.id != id);
                assert_eq!(self.open.len() + 1, before, "given up, and it was not under way");
                self.engine.ended(id, self.now);
            }
            command => panic!("{command:?}"),
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Connected => {
                assert!(!core::mem::replace(&mut self.connected, true), "connected twice");
                let flavour = match self.engine.flavour().expect("the connection is open") {
                    Flavour::Streamable => "streamable",
                    Flavour::Sse => "sse",
                    _ => "another flavour",
                };
                let server = self.engine.session().server().expect("the connection is open");
                self.trace.line(format_args!("to {flavour} {}", describe::server(server)));
            }
            Event::Reply(reply) => self.reply(reply),
            Event::ServerRequest(ask) => self.asks.push(ask.key),
            Event::DeliveryFailed { error, .. } => assert!(error.to_string().len() < 2000),
            Event::Restart => panic!("there is nothing to start"),
            Event::Closed(how) => {
                assert!(how.to_string().len() < 3000);
                self.over = true;
            }
            _ => {}
        }
    }

    fn reply(&mut self, mut reply: Reply) {
        let number = self.names.request(reply.key());
        let ticket = self.waiting.remove(&number).expect("a reply to a request that has ended");
        let read = match ticket {
            AnyTicket::Call(ticket) => ticket.decode_mut(&mut reply).map(|result| describe::json(&result)),
            AnyTicket::Raw(ticket) => ticket.decode_mut(&mut reply).map(|result| describe::json(&result)),
        };
        describe::result(&read, &self.trace);
        if let Err(error) = read {
            let text = error.to_string();
            assert!(text.len() < 3000 && !text.contains('\u{1b}'), "{text:?}");
        }
    }
}

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
