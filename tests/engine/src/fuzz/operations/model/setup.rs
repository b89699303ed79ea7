//! What the first byte of an input says: how the engine is configured, and what the server says when it is asked.

use core::time::Duration;

use mcpwire_core::{CacheLimits, Config, Negotiate};

use super::{MAX_ASKS, MAX_IN_FLIGHT, MAX_KEPT, MAX_MESSAGE, MAX_ROUNDS, MAX_SUBSCRIPTIONS, MAX_TASKS, MAX_TRANSMIT};

/// An answer is kept for so long at most.
pub(super) const LONGEST_KEPT: Duration = Duration::from_secs(60);

/// How an input begins.
#[derive(Clone, Copy)]
pub(super) struct Setup(u8);

impl Setup {
    pub(super) fn of(byte: u8) -> Self {
        Setup(byte)
    }

    pub(super) fn config(self) -> Config {
        let mut config = Config::new("fuzz", "1");
        config.max_message = MAX_MESSAGE;
        config.max_transmit = MAX_TRANSMIT;
        config.max_in_flight = MAX_IN_FLIGHT;
        config.max_server_requests = MAX_ASKS;
        config.max_input_rounds = MAX_ROUNDS;
        config.max_retry_bytes = MAX_KEPT;
        config.max_tasks = MAX_TASKS;
        config.max_subscriptions = MAX_SUBSCRIPTIONS;
        config.cache = CacheLimits::new(2_000, 4, LONGEST_KEPT);
        config.answer("roots/list");
        config.request_timeout = Duration::from_millis(500);
        config.total_timeout = Duration::from_secs(5);
        config.negotiate = match self.0 % 8 {
            0 | 4 => Negotiate::Legacy,
            1 | 5 => Negotiate::Modern,
            _ => Negotiate::Auto,
        };
        if self.0 & 16 != 0 {
            config.declare_tasks();
        }
        config
    }

    /// The server's answer to what opens the connection, if it is to be open at once.
    pub(super) fn answer(self) -> Option<String> {
        let result = match self.0 % 4 {
            0 => r#""protocolVersion":"2025-11-25""#,
            1 => r#""supportedVersions":["2026-07-28"]"#,
            _ => return None,
        };
        let capabilities = match (self.0 & 8 != 0, self.cancels_tasks()) {
            (false, _) => "",
            (true, true) => {
                r#","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#
            }
            (true, false) => {
                r#","capabilities":{"tools":{},"resources":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}"#
            }
        };
        Some(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{result}{capabilities}}}}}"#))
    }

    /// Whether a server that says what it can do takes `tasks/cancel`.
    pub(super) fn cancels_tasks(self) -> bool {
        self.0 & 64 == 0
    }
}
