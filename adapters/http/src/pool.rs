//! [`Pool`]: connections, and which of them carry nothing.
//!
//! A connection is given back when the end of its answer is read, not a turn of the runtime later: a call that follows at once
//! finds it, and makes no other.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use mcpwire_driver::Timer;
use mcpwire_driver::core::http::Failure;
use mcpwire_driver::http::Net;
use tokio::sync::oneshot;

use crate::body::{Rest, Whole};
use crate::connect::Connector;
use crate::line::{Line, Lines, NotSent};
use crate::time::within;

/// How long a connection may take to be ready for the next request once its answer has ended. That is a turn of its task, but for
/// servers that answer before they have read what they were sent; such a connection is of no more use. 100 ms.
const SETTLE: Duration = Duration::from_millis(100);

/// Where connections go, and those that carry nothing.
pub(crate) struct Pool {
    connector: Connector,
    lines: Lines,
    kept: Arc<Kept>,
    speaks_http2: AtomicBool,
    /// Who connects to a server that speaks HTTP/2: the others wait for that connection.
    turn: tokio::sync::Mutex<()>,
}

/// The connections that carry nothing; of HTTP/2 all.
struct Kept {
    net: Arc<dyn Net>,
    idle: Mutex<Vec<Idle>>,
    most: usize,
    timeout: Duration,
    /// Somebody ends those that are idle for too long, until this is dropped.
    sweeper: Mutex<Option<oneshot::Sender<()>>>,
}

struct Idle {
    origin: Origin,
    line: Line,
    since: Instant,
}

/// What connections have to have in common to be used for one another.
#[derive(Clone, PartialEq, Eq)]
struct Origin(Option<Scheme>, Option<Authority>);

impl Origin {
    fn of(uri: &Uri) -> Self {
        Origin(uri.scheme().cloned(), uri.authority().cloned())
    }
}

/// A connection by HTTP/1.1 that carries an answer.
pub(crate) struct Lent {
    origin: Origin,
    line: Line,
    kept: Weak<Kept>,
}

impl Lent {
    /// The end of the answer is read.
    pub(crate) fn give_back(self) {
        if let Some(kept) = self.kept.upgrade() {
            kept.put(self.origin, self.line);
            sweep(&kept);
        }
    }
}

impl Pool {
    /// No connections yet. At most so many are kept that carry nothing, each for so long.
    pub(crate) fn new(connector: Connector, lines: Lines, most: usize, timeout: Duration) -> Self {
        let net = Arc::clone(&connector.net);
        let kept = Kept { net, idle: Mutex::default(), most, timeout, sweeper: Mutex::default() };
        Pool {
            connector,
            lines,
            kept: Arc::new(kept),
            speaks_http2: AtomicBool::new(false),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// Whether the last connection that was made carries many requests at once.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.speaks_http2.load(Ordering::Relaxed)
    }

    /// Sends a request, and waits for the head of its answer. The body gives the connection back, if that is to be.
    pub(crate) async fn send(&self, mut request: Request<Whole>) -> Result<Response<Rest>, Failure> {
        let origin = Origin::of(request.uri());
        loop {
            let (mut line, is_new) = match self.idle(&origin).await {
                Some(line) => (line, false),
                None => self.connect(request.uri(), &origin).await?,
            };
            match line.send(request).await {
                Ok(response) => {
                    let kept = Arc::downgrade(&self.kept);
                    let meter = line.meter();
                    let lent = (!line.is_shared()).then_some(Lent { origin, line, kept });
                    return Ok(response.map(|body| Rest::new(body, meter, lent)));
                }
                // It had been closed, and nothing was sent.
                Err(NotSent::Closed(same)) if !is_new => {
                    self.kept.forget(&origin, &line);
                    request = *same;
                }
                Err(error) => return Err(error.failure()),
            }
        }
    }

    async fn idle(&self, origin: &Origin) -> Option<Line> {
        while let Some(mut line) = self.kept.take(origin) {
            if line.is_ready() || matches!(within(&*self.connector.net, SETTLE, line.ready()).await, Some(true)) {
                return Some(line);
            }
            self.kept.forget(origin, &line);
        }
        None
    }

    /// Makes a connection. Whether it is one: that of another request may have come about meanwhile.
    async fn connect(&self, uri: &Uri, origin: &Origin) -> Result<(Line, bool), Failure> {
        let _turn = if self.speaks_http2() {
            let turn = self.turn.lock().await;
            if let Some(line) = self.idle(origin).await {
                return Ok((line, false));
            }
            Some(turn)
        } else {
            None
        };
        let wire = self.connector.connect(uri).await?;
        self.speaks_http2.store(wire.is_http2, Ordering::Relaxed);
        let line = self.lines.open(wire).await?;
        if let Some(shared) = line.share() {
            self.kept.put(origin.clone(), shared);
            sweep(&self.kept);
        }
        Ok((line, true))
    }
}

impl Kept {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that was used last: what is left over is closed the sooner. One that can be shared stays.
    fn take(&self, origin: &Origin) -> Option<Line> {
        let mut idle = self.lock();
        idle.retain(|idle| !idle.line.is_closed());
        let at = idle.iter().rposition(|idle| idle.origin == *origin)?;
        if let Some(shared) = idle[at].line.share() {
            idle[at].since = Instant::now();
            return Some(shared);
        }
        Some(idle.remove(at).line)
    }

    fn put(&self, origin: Origin, line: Line) {
        let mut idle = self.lock();
        if idle.len() >= self.most && !idle.is_empty() {
            idle.remove(0);
        }
        idle.push(Idle { origin, line, since: Instant::now() });
    }

    /// A connection that is shared turned out to be of no use.
    fn forget(&self, origin: &Origin, line: &Line) {
        if line.is_shared() {
            self.lock().retain(|idle| idle.origin != *origin);
        }
    }

    /// Closes what was idle for too long. When the next will be.
    fn sweep(&self) -> Option<Duration> {
        let now = Instant::now();
        let age = |idle: &Idle| now.saturating_duration_since(idle.since);
        let mut idle = self.lock();
        // A request under way keeps its connection open by itself.
        idle.retain(|idle| !idle.line.is_closed() && age(idle) < self.timeout);
        idle.iter().map(age).max().map(|oldest| self.timeout.saturating_sub(oldest))
    }
}

/// Sees to it that somebody closes what is idle for too long.
fn sweep(kept: &Arc<Kept>) {
    let mut sweeper = kept.sweeper.lock().unwrap_or_else(PoisonError::into_inner);
    if sweeper.as_ref().is_some_and(|sender| !sender.is_closed()) {
        return;
    }
    let (sender, dropped) = oneshot::channel();
    *sweeper = Some(sender);
    let mut next = kept.net.timer();
    next.reset(kept.timeout);
    kept.net.spawn(Box::pin(Sweeper { kept: Arc::downgrade(kept), dropped, next }));
}

/// Runs until nothing is idle, or the pool is dropped.
struct Sweeper {
    kept: Weak<Kept>,
    dropped: oneshot::Receiver<()>,
    next: Box<dyn Timer>,
}

impl Future for Sweeper {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if Pin::new(&mut this.dropped).poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while this.next.poll(cx).is_ready() {
            let Some(kept) = this.kept.upgrade() else { return Poll::Ready(()) };
            let Some(after) = kept.sweep() else {
                // Under the lock: who puts one back after this finds that nobody sweeps.
                let mut sweeper = kept.sweeper.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.lock().is_empty() {
                    *sweeper = None;
                    return Poll::Ready(());
                }
                this.next.reset(kept.timeout);
                continue;
            };
            this.next.reset(after);
        }
        Poll::Pending
    }
}
