//! What the engine writes, looked at as a server would.

use std::collections::VecDeque;

use mcpwire_core::{Era, RequestKey};
use serde_json::Value;

use crate::fuzz::content;
use crate::fuzz::trace::{Shown, Trace};

/// How many requests of the engine's a server remembers.
const REMEMBERED: usize = 32;

#[derive(Default)]
pub(super) struct Wire {
    /// Bytes that have been looked at, and that the server has not read yet.
    unread: Vec<u8>,
    era: Option<Era>,
    pub(super) dead_key: Option<RequestKey>,
    last_id: u64,
    /// The latest requests that the server may still answer, whoever in the engine sent them.
    asked: VecDeque<Asked>,
    /// The latest requests that open a subscription.
    listens: VecDeque<u64>,
    trace: Trace,
}

/// A request or notification of the engine's.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// `None` for a notification.
    pub(super) id: Option<u64>,
    pub(super) method: String,
    pub(super) params: Value,
}

impl Asked {
    /// What a request that may be sent again was marked with: a call in its tool's name, others in their trace.
    pub(super) fn mark(&self) -> Option<u64> {
        let mark = self.params["name"].as_str().or_else(|| self.params["_meta"]["traceparent"].as_str())?;
        mark.rsplit_once('#')?.1.parse().ok()
    }

    /// Whether it is about this task.
    pub(super) fn is_about(&self, method: &str, task: &str) -> bool {
        self.method == method && self.params["taskId"] == task
    }
}

impl Wire {
    pub(super) fn new(trace: Trace) -> Self {
        Wire { trace, ..Wire::default() }
    }

    /// Looks at what was written since the last time.
    pub(super) fn look(&mut self, pending: &[u8]) -> Vec<Asked> {
        let new = pending.strip_prefix(&*self.unread).expect("what was written has changed");
        self.unread.extend_from_slice(new);
        let Some(lines) = new.strip_suffix(b"\n") else {
            assert!(new.is_empty(), "half a line: {}", Shown(new));
            return Vec::new();
        };
        lines.split(|byte| *byte == b'\n').filter_map(|line| self.line(line)).collect()
    }

    /// The server has read so many bytes.
    pub(super) fn read(&mut self, n: usize) {
        self.unread.drain(..n);
    }

    /// This side closed the connection: what was not read is dropped.
    pub(super) fn cut_off(&mut self) {
        self.unread.clear();
    }

    pub(super) fn era(&self) -> Option<Era> {
        self.era
    }

    /// The connection is open.
    pub(super) fn open(&mut self, era: Era) {
        self.era = Some(era);
    }

    /// One of the requests that may be answered, counted from the latest.
    pub(super) fn asked(&self, which: u8) -> Option<&Asked> {
        self.asked.iter().rev().nth(usize::from(which) % self.asked.len().max(1))
    }

    /// The server has answered it.
    pub(super) fn answered(&mut self, id: Option<u64>) {
        self.asked.retain(|asked| asked.id != id);
    }

    /// The id of a request that opened a subscription, counted from the latest.
    pub(super) fn listen(&self, which: u8) -> Option<u64> {
        self.listens.iter().rev().nth(usize::from(which) % self.listens.len().max(1)).copied()
    }

    fn line(&mut self, line: &[u8]) -> Option<Asked> {
        self.trace.line(format_args!("sent {}", Shown(line)));
        let text = str::from_utf8(line).expect("UTF-8");
        if content::may_have_lone_surrogates(text) {
            // An id of the server's that comes back as it was.
            assert!(content::is_json(text), "{text}");
            return None;
        }
        let mut message: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(message["jsonrpc"], "2.0");
        assert_eq!(content::repeated_key(text), None, "{text}");
        assert!(!text.contains('\r'), "a line break within: {text}");
        let answer = message.get("result").is_some() || message.get("error").is_some();
        assert!(answer != message["method"].is_string(), "neither a question nor an answer: {text}");
        assert!(!answer || self.era != Some(Era::Modern), "a modern server is not answered: {text}");
        let method = message["method"].as_str()?.to_owned();
        let params = message["params"].take();
        let id = message.get("id").map(|id| id.as_u64().expect("an id that is a whole number"));
        let asked = Asked { id, method, params };
        if let Some(id) = id {
            self.request(id, &asked);
        }
        Some(asked)
    }

    fn request(&mut self, id: u64, asked: &Asked) {
        assert!(id > self.last_id, "ids only grow");
        self.last_id = id;
        if self.era == Some(Era::Modern) {
            let meta = &asked.params["_meta"];
            for name in ["protocolVersion", "clientInfo", "clientCapabilities"] {
                let member = &meta[format!("io.modelcontextprotocol/{name}")];
                assert!(!member.is_null() && !member.is_number(), "{name}: {asked:?}");
            }
        }
        remember(&mut self.asked, asked.clone());
        if asked.method == "subscriptions/listen" {
            remember(&mut self.listens, id);
        }
    }
}

fn remember<T>(latest: &mut VecDeque<T>, one: T) {
    if latest.len() == REMEMBERED {
        latest.pop_front();
    }
    latest.push_back(one);
}
