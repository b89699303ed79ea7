//! What the engine sends, looked at as a server would.

use mcpwire_core::{Era, RequestKey};
use serde_json::Value;

use crate::fuzz::reference;

#[derive(Default)]
pub(super) struct Wire {
    /// The beginning of a line.
    part: Vec<u8>,
    era: Option<Era>,
    /// How many bytes had been written when the era became known, and how many have been taken.
    opened_at: usize,
    taken: usize,
    pub(super) dead_key: Option<RequestKey>,
    /// This side closed the connection: a line may stay unfinished.
    cut_off: bool,
    last_id: u64,
}

/// The id of a call, and what it was marked with.
pub(super) fn marked(line: &[u8]) -> Option<(u64, u64)> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let mark = message["params"]["name"].as_str()?.rsplit_once('#')?.1;
    Some((message["id"].as_u64()?, mark.parse().ok()?))
}

impl Wire {
    /// Takes bytes that were sent.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.part.extend_from_slice(bytes);
        let Some(end) = memchr::memrchr(b'\n', &self.part) else { return };
        let rest = self.part.split_off(end + 1);
        let lines = core::mem::replace(&mut self.part, rest);
        for line in lines[..end].split(|byte| *byte == b'\n') {
            self.taken += line.len() + 1;
            self.line(line);
        }
    }

    /// The id of the request that was just written.
    pub(super) fn id_of_last_request(&mut self, bytes: &[u8]) -> u64 {
        let line = bytes.strip_suffix(b"\n").expect("a whole line");
        let message: Value = serde_json::from_slice(line).expect("JSON");
        let id = message["id"].as_u64().expect("an id that is a whole number");
        assert!(id > self.last_id, "ids only grow");
        self.last_id = id;
        if self.era == Some(Era::Modern) {
            let meta = &message["params"]["_meta"];
            for name in ["protocolVersion", "clientInfo", "clientCapabilities"] {
                let member = &meta[format!("io.modelcontextprotocol/{name}")];
                assert!(!member.is_null() && !member.is_number(), "{name}: {message}");
            }
        }
        id
    }

    pub(super) fn era(&self) -> Option<Era> {
        self.era
    }

    /// The lines of `pending` that are whole: the first may have begun before.
    pub(super) fn whole_lines<'p>(&self, pending: &'p [u8]) -> impl Iterator<Item = &'p [u8]> {
        pending.split_inclusive(|byte| *byte == b'\n').skip(usize::from(!self.part.is_empty()))
    }

    /// The connection is open, and `pending` bytes wait to be sent.
    pub(super) fn open(&mut self, era: Era, pending: usize) {
        self.era = Some(era);
        self.opened_at = self.taken + self.part.len() + pending;
    }

    pub(super) fn cut_off(&mut self) {
        self.cut_off = true;
    }

    pub(super) fn finish(&self) {
        assert!(self.cut_off || self.part.is_empty(), "half a line at the end");
    }

    fn line(&mut self, line: &[u8]) {
        let text = str::from_utf8(line).expect("UTF-8");
        if reference::may_have_lone_surrogates(text) {
            // An id of the server's that comes back as it was.
            assert!(reference::is_json(text), "{text}");
            return;
        }
        let message: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(message["jsonrpc"], "2.0");
        assert_eq!(reference::repeated_key(text), None, "{text}");
        assert!(!text.contains('\r'), "a line break within: {text}");
        let answer = message.get("result").is_some() || message.get("error").is_some();
        assert!(answer != message["method"].is_string(), "neither a question nor an answer: {text}");
        let before = self.taken <= self.opened_at;
        assert!(!answer || before || self.era != Some(Era::Modern), "a modern server is not answered: {text}");
    }
}
