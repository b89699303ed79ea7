//! The exchanges of a connection: begun, read, and given up, by the task of the driver, or by the thread that calls.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::ready;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::{Direction, catch_panic};
use mcpwire_core::Timestamp;
use mcpwire_core::http::{Command, Engine, Exchange, ExchangeId, Failure, FailureKind};

use super::ready::{Flag, Ready};
use super::watch::{self, Watch};
use super::{Begun, HttpClient, HttpResponse};
use crate::Reader;

/// How much of a body is read at once. 16 KiB: a record of TLS.
const PIECE: usize = 16 * 1024;

/// How many pieces are read before the engine looks at them, and before others of the runtime have their turn. 64, which is 1 MiB.
const MOST: usize = 64;

/// How many pieces in a row are read of one body, while others wait.
const IN_A_ROW: usize = 4;

/// The exchanges that an [`Engine`](mcpwire_core::http::Engine) has under way, for who drives one: it takes what the engine
/// wants to be done, lets an [`HttpClient`] do it, and tells the engine what came.
///
/// In turns: [`take_commands`](Exchanges::take_commands), [`go_on`](Exchanges::go_on), then
/// [`tell_next`](Exchanges::tell_next) until there is nothing more to tell, with the engine's events polled after each. What it
/// has read and not told is 1 MiB at most; nothing more is read meanwhile. Dropped, it gives up what is under way.
pub struct Exchanges {
    client: Arc<dyn HttpClient>,
    /// What is to be done, as the engine said it.
    commands: Vec<Command>,
    /// What waits for a place.
    waiting: VecDeque<Exchange>,
    running: HashMap<ExchangeId, Running>,
    /// How many places are taken.
    taken: usize,
    ready: Arc<Ready>,
    /// What has come, and the engine has not been told.
    parts: VecDeque<(ExchangeId, Part)>,
    buffer: Box<[u8]>,
    watch: Option<Watch>,
}

struct Running {
    stage: Stage,
    flag: Arc<Flag>,
    waker: Waker,
    has_place: bool,
}

enum Stage {
    Begun(Begun),
    Body(Reader),
}

enum Part {
    Head { status: u16, headers: Vec<(String, Vec<u8>)> },
    Piece(Vec<u8>),
    Ended,
    Failed(Failure),
}

impl Exchanges {
    /// No exchanges yet; this client will make them. Whether somebody watches the messages that go over the wire.
    pub fn new(client: Arc<dyn HttpClient>, is_watched: bool) -> Self {
        Exchanges {
            client,
            commands: Vec::new(),
            waiting: VecDeque::new(),
            running: HashMap::new(),
            taken: 0,
            ready: Arc::default(),
            parts: VecDeque::new(),
            buffer: vec![0; PIECE].into(),
            watch: is_watched.then(Watch::default),
        }
    }

    /// Takes what the engine wants to be done; [`Exchanges::go_on`] does it.
    pub fn take_commands(&mut self, engine: &mut Engine, now: Timestamp) {
        while let Some(command) = engine.poll_exchange(now) {
            self.commands.push(command);
        }
    }

    /// Tells the engine the next thing that has come. Whether there was one. If the messages are watched, those that are whole
    /// with it are added to `watched`, each as a line.
    pub fn tell_next(&mut self, engine: &mut Engine, now: Timestamp, watched: &mut Vec<(Direction, Vec<u8>)>) -> bool {
        let Some((id, part)) = self.parts.pop_front() else { return false };
        if let Some(watch) = &mut self.watch {
            match &part {
                Part::Head { headers, .. } => watch.head(id, headers),
                Part::Piece(bytes) => watch.piece(id, bytes, watched),
                Part::Ended | Part::Failed(_) => watch.end(id, watched),
            }
        }
        match part {
            Part::Head { status, headers } => {
                let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
                engine.response(id, status, headers, now);
            }
            Part::Piece(bytes) => engine.body(id, &bytes, now),
            Part::Ended => engine.ended(id, now),
            Part::Failed(failure) => engine.failed(id, failure, now),
        }
        true
    }

    /// Does what is to be done, and reads what can be read, if it may. Whether the engine has something to be told; if not, the
    /// task is woken when there may be more. What is polled here is the HTTP client's: not to be called with a lock held.
    ///
    /// While what came before has not been told, nothing more is read: whoever sends too fast, waits.
    pub fn go_on(&mut self, may_read: bool, watched: &mut Vec<(Direction, Vec<u8>)>, cx: &mut Context<'_>) -> bool {
        for command in std::mem::take(&mut self.commands) {
            match command {
                Command::Start(exchange) => {
                    if self.watch.is_some() && !exchange.body.is_empty() {
                        watch::show(Direction::Sent, exchange.body.clone(), watched);
                    }
                    self.waiting.push_back(exchange);
                }
                Command::Abort(id) => self.abort(id, watched),
                _ => {}
            }
        }
        self.begin_waiting();
        if may_read && self.parts.is_empty() {
            self.read(cx);
            self.begin_waiting();
        }
        !self.parts.is_empty()
    }

    /// Whether something could be read that was not, because it is enough for now.
    pub fn has_more(&self) -> bool {
        self.parts.is_empty() && !self.ready.is_empty()
    }

    /// Nobody is interested any more.
    fn abort(&mut self, id: ExchangeId, watched: &mut Vec<(Direction, Vec<u8>)>) {
        self.waiting.retain(|exchange| exchange.id != id);
        self.parts.retain(|(of, _)| *of != id);
        self.remove(id);
        if let Some(watch) = &mut self.watch {
            watch.end(id, watched);
        }
    }

    fn remove(&mut self, id: ExchangeId) {
        if let Some(running) = self.running.remove(&id) {
            self.taken -= usize::from(running.has_place);
        }
    }

    /// Begins what waits, as far as there are places. What needs none overtakes the rest.
    fn begin_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let capacity = self.client.capacity().max(1);
        let mut at = 0;
        while at < self.waiting.len() {
            let needs_place = self.waiting[at].is_request && !self.waiting[at].is_long;
            if needs_place && self.taken >= capacity {
                at += 1;
            } else if let Some(exchange) = self.waiting.remove(at) {
                self.taken += usize::from(needs_place);
                self.begin(exchange, needs_place);
            }
        }
    }

    fn begin(&mut self, exchange: Exchange, has_place: bool) {
        let id = exchange.id;
        let begun = catch_panic(|| self.client.begin(exchange))
            .unwrap_or_else(|message| Box::pin(ready(Err(panicked(&message)))));
        let flag = Flag::new(id, &self.ready);
        let waker = Waker::from(Arc::clone(&flag));
        Arc::clone(&flag).wake();
        self.running.insert(id, Running { stage: Stage::Begun(begun), flag, waker, has_place });
    }

    /// Polls those that were woken.
    fn read(&mut self, cx: &mut Context<'_>) {
        let mut left = MOST;
        for flag in self.ready.take(cx) {
            if left == 0 {
                // Its turn comes after what was read has been looked at.
                flag.wake();
                continue;
            }
            let Some(running) = self.running.get_mut(&flag.id) else { continue };
            let most = left.min(IN_A_ROW);
            let before = self.parts.len();
            let parts = &mut self.parts;
            let is_over = catch_panic(|| running.go_on(&mut self.buffer, most, parts)).unwrap_or_else(|message| {
                self.parts.push_back((flag.id, Part::Failed(panicked(&message))));
                true
            });
            left = left.saturating_sub(self.parts.len() - before);
            if is_over {
                self.remove(flag.id);
            }
        }
    }
}

impl Running {
    /// Reads at most so many pieces. Whether it has ended.
    fn go_on(&mut self, buffer: &mut [u8], most: usize, parts: &mut VecDeque<(ExchangeId, Part)>) -> bool {
        let id = self.flag.id;
        let mut cx = Context::from_waker(&self.waker);
        if let Stage::Begun(begun) = &mut self.stage {
            match begun.as_mut().poll(&mut cx) {
                Poll::Pending => return false,
                Poll::Ready(Err(failure)) => {
                    parts.push_back((id, Part::Failed(failure)));
                    return true;
                }
                Poll::Ready(Ok(HttpResponse { status, headers, body })) => {
                    parts.push_back((id, Part::Head { status, headers }));
                    self.stage = Stage::Body(body);
                }
            }
        }
        let Stage::Body(body) = &mut self.stage else { return false };
        for _ in 0..most {
            match body.as_mut().poll_read(&mut cx, buffer) {
                Poll::Pending => return false,
                Poll::Ready(Ok(0)) => {
                    parts.push_back((id, Part::Ended));
                    return true;
                }
                Poll::Ready(Ok(n)) => parts.push_back((id, Part::Piece(buffer[..n].to_vec()))),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => {
                    parts.push_back((id, Part::Failed(failure(&error))));
                    return true;
                }
            }
        }
        Arc::clone(&self.flag).wake();
        false
    }
}

/// The failure of an exchange in whose making the HTTP client panicked. How far it had come is not known.
#[cold]
fn panicked(message: &str) -> Failure {
    Failure::new(FailureKind::Broken, format!("the HTTP client panicked: {message}"))
}

fn failure(error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::InvalidData => FailureKind::Invalid,
        _ => FailureKind::Broken,
    };
    Failure::new(kind, error.to_string())
}

impl fmt::Debug for Exchanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchanges")
            .field("running", &self.running.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}
