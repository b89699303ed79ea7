//! [`Peer`]: a connection to a server, with raw lines in both directions.

use std::mem;
use std::time::{Duration, Instant};

use mcpwire_driver::protocol::stdio::Engine;
use mcpwire_driver::protocol::{Config, Era, Event, Negotiate, ServerInfo, Timestamp};
use mcpwire_driver::{McpServerDef, SpawnError};
use serde_json::{Map, Value, json};

use super::messages::{Incoming, Response, read};
use super::process::{Output, ServerProcess};

/// Minimum time for the handshake. Interpreters take some time to start.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The name and version with which a test introduces itself.
const NAME: &str = "mcpwire-test";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An open connection to a server.
pub(super) struct Peer {
    pub(super) process: ServerProcess,
    pub(super) server: ServerInfo,
    /// The lines that have opened the connection.
    pub(super) opening: Vec<Vec<u8>>,
    /// The members of `_meta` in each request, from revision 2026-07-28 on.
    meta: Option<Value>,
    next_id: u64,
    responses: Vec<Response>,
    /// What the server has written to its standard output that is no message.
    noise: Vec<String>,
}

/// What a wait for responses has seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Waited {
    /// All responses have arrived.
    Answered,
    /// The time is over, and the server still runs.
    Silent,
    /// The server has ended. The text says how, such as `exited with code 1`.
    Ended(String),
    /// The program has stopped the test.
    Stopped,
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum OpenError {
    Spawn(SpawnError),
    /// The server has refused the connection, or has ended. Contains the reason, and the last lines of standard error.
    Refused(String, Vec<String>),
    Stopped,
}

/// How to open connections.
pub(super) struct Opening<'a> {
    pub(super) def: &'a McpServerDef,
    pub(super) negotiate: Negotiate,
    pub(super) timeout: Duration,
    pub(super) is_stopped: &'a dyn Fn() -> bool,
}

/// What the handshake has sent and received.
#[derive(Default)]
struct Handshake {
    sent: Vec<u8>,
    noise: Vec<String>,
}

impl Peer {
    /// Starts a server and opens a connection. A server that ends when it is asked for the modern protocol is started once more.
    pub(super) fn open(opening: &Opening<'_>) -> Result<Peer, OpenError> {
        let mut negotiate = opening.negotiate;
        loop {
            let (mut process, mut handshake) =
                (ServerProcess::start(opening.def).map_err(OpenError::Spawn)?, Handshake::default());
            let Some(server) = connect(&mut process, &mut handshake, negotiate, opening)? else {
                negotiate = Negotiate::Legacy;
                continue;
            };
            let fields = json!({
                "io.modelcontextprotocol/protocolVersion": server.protocol_version.as_str(),
                "io.modelcontextprotocol/clientInfo": {"name": NAME, "version": VERSION},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            // A legacy server was asked for the modern protocol first, which it needs no more.
            let is_needed = |line: &&[u8]| {
                let probes = br#""method":"server/discover""#;
                let is_probe = server.era == Era::Legacy && line.windows(probes.len()).any(|part| part == probes);
                !line.is_empty() && !is_probe
            };
            let lines = handshake.sent.split(|byte| *byte == b'\n').filter(is_needed);
            return Ok(Peer {
                process,
                opening: lines.map(<[u8]>::to_vec).collect(),
                meta: (server.era == Era::Modern).then_some(fields),
                server,
                // The handshake has used the first ids.
                next_id: 1_000,
                responses: Vec::new(),
                noise: handshake.noise,
            });
        }
    }

    /// Returns an id that no request of this connection has used.
    pub(super) fn new_id(&mut self) -> Value {
        self.next_id += 1;
        self.next_id.into()
    }

    /// Returns a request as a line without its end. Adds the `_meta` of the protocol where the revision has it.
    pub(super) fn request_line(&self, id: &Value, method: &str, params: Option<Value>) -> Vec<u8> {
        let mut params = params;
        if let Some(meta) = &self.meta
            && let Value::Object(members) = params.get_or_insert_with(|| Map::new().into())
        {
            let own = members.entry("_meta").or_insert_with(|| Map::new().into());
            if let (Value::Object(own), Value::Object(meta)) = (own, meta) {
                for (key, value) in meta {
                    own.entry(key).or_insert_with(|| value.clone());
                }
            }
        }
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if let Some(params) = params {
            request["params"] = params;
        }
        request.to_string().into_bytes()
    }

    /// Sends a request, and returns its id.
    pub(super) fn request(&mut self, method: &str, params: Option<Value>) -> Value {
        let id = self.new_id();
        let mut line = self.request_line(&id, method, params);
        line.push(b'\n');
        self.process.send(line);
        id
    }

    /// Returns the request that every server of this revision must answer: `ping`, or `server/discover`.
    pub(super) fn sign_of_life(&self) -> &'static str {
        if self.meta.is_some() { "server/discover" } else { "ping" }
    }

    /// Waits until the server has answered these requests, or until a time.
    pub(super) fn wait(&mut self, ids: &[Value], until: Instant, is_stopped: &dyn Fn() -> bool) -> Waited {
        loop {
            if ids.iter().all(|id| self.responses.iter().any(|response| response.id == *id)) {
                return Waited::Answered;
            }
            if is_stopped() {
                return Waited::Stopped;
            }
            match self.process.read(until) {
                Output::Line(line) => self.receive(&line),
                Output::Ended => return Waited::Ended(self.process.wait_for_exit()),
                Output::Nothing if until <= Instant::now() => return Waited::Silent,
                Output::Nothing => {}
            }
        }
    }

    fn receive(&mut self, line: &[u8]) {
        for message in read(line, Some(self.server.protocol_version)) {
            match message {
                Incoming::Response(response) => self.responses.push(response),
                Incoming::Notification => {}
                Incoming::Noise(text) => self.noise.push(text),
                Incoming::Request(id, method) => {
                    let answer = if method == "ping" {
                        json!({"jsonrpc": "2.0", "id": id, "result": {}})
                    } else {
                        let error = json!({"code": -32601, "message": "the test has no such method"});
                        json!({"jsonrpc": "2.0", "id": id, "error": error})
                    };
                    self.process.send(format!("{answer}\n").into_bytes());
                }
            }
        }
    }

    /// Removes and returns all responses that have arrived.
    pub(super) fn take_responses(&mut self) -> Vec<Response> {
        mem::take(&mut self.responses)
    }

    /// Removes and returns what has arrived that is no message.
    pub(super) fn take_noise(&mut self) -> Vec<String> {
        mem::take(&mut self.noise)
    }
}

/// Performs the handshake with an engine. Returns `None` if the server must be started again, for the legacy protocol.
fn connect(
    process: &mut ServerProcess,
    handshake: &mut Handshake,
    negotiate: Negotiate,
    opening: &Opening<'_>,
) -> Result<Option<ServerInfo>, OpenError> {
    let start = Instant::now();
    let now = || Timestamp::from_origin(start.elapsed());
    let mut config = Config::new(NAME, VERSION);
    config.negotiate = negotiate;
    config.connect_timeout = opening.timeout.max(CONNECT_TIMEOUT);
    let mut engine = Engine::new(config);
    let refused = |process: &mut ServerProcess, reason: String| {
        process.wait_for_exit();
        Err(OpenError::Refused(reason, process.stderr()))
    };
    if let Err(error) = engine.calls().initialize(now()) {
        return refused(process, error.to_string());
    }
    loop {
        let event = engine.poll_event();
        let sent = engine.transmit().to_vec();
        engine.transmitted(sent.len());
        handshake.sent.extend(&sent);
        process.send(sent);
        match event {
            Some(Event::Connected) => return Ok(engine.session().server().cloned()),
            Some(Event::Restart) => return Ok(None),
            Some(Event::Closed(reason)) => return refused(process, reason.to_string()),
            Some(Event::InvalidMessage { excerpt }) => handshake.noise.push(excerpt),
            Some(_) => {}
            None if (opening.is_stopped)() => return Err(OpenError::Stopped),
            None => match process.read(Instant::now() + opening.timeout) {
                Output::Line(line) => {
                    // The engine takes all of a line, unless the line is longer than its maximum. Then the handshake times out.
                    engine.receive(&line, now());
                }
                Output::Ended => engine.receive_eof(now()),
                Output::Nothing => {}
            },
        }
        engine.handle_timeout(now());
    }
}
