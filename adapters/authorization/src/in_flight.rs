//! [`InFlight`]: the requests that have used up a credential, and whose response is not stored yet.
//!
//! Some credentials work once, such as a refresh token or the code of a login. If the program ends between a request with such a
//! credential and the write of its response, the login is lost. Each such request is therefore registered here until its response
//! is stored, and the program waits for it before it ends.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use mcpwire_driver::protocol::printable;
use mcpwire_text::url::without_query;

/// Maximum time to wait for the requests in flight before a program ends. 10 s: token endpoints answer within 2 s, and a user who
/// has pressed Ctrl-C does not wait longer.
pub const SETTLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The requests in flight of all authorizers in this process. They continue when a runtime or a client ends, so only the end of
/// the process can lose a response.
pub(crate) static OF_PROCESS: InFlight = InFlight::new();

/// Waits until all requests of this process that use up a credential have ended and their responses are stored. Returns the
/// logins of the requests that are still in flight after `timeout`. Afterwards, the process sends no such request any more.
///
/// Does not wait again for a request that [`OAuth::settle`](crate::OAuth::settle) has waited for in vain.
///
/// Call this before the process ends, unless [`OAuth::settle`](crate::OAuth::settle) or the `shutdown` of all clients has
/// waited. It blocks, and needs no runtime.
pub fn settle_logins(timeout: Duration) -> Vec<UnsettledLogin> {
    OF_PROCESS.close_and_wait(timeout)
}

/// Returns the logins that would be lost if the process ended now, because a request that uses up a credential is in flight.
pub fn unsettled_logins() -> Vec<UnsettledLogin> {
    OF_PROCESS.lock().logins()
}

/// A login that is lost if the program ends now: the response to a request that has used up a credential is not stored yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsettledLogin {
    /// The name of the server in the program. `None` if the server has no name.
    pub server: Option<String>,
    /// The URL of the server.
    pub server_url: String,
    /// The name of the user's account. Empty if the user has one account on the server.
    pub account: String,
    /// The request that was sent.
    pub request: OneUseRequest,
}

/// The kind of a request that uses up a credential, so that its response must not be lost. `Display` describes it: "a token
/// refresh".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OneUseRequest {
    /// Exchanges a refresh token for the next one.
    Refresh,
    /// Exchanges the authorization code of a login for tokens.
    Code,
    /// Exchanges the device code of a login for tokens.
    DeviceCode,
    /// Registers the client that a login uses.
    Registration,
    /// Exchanges the user's token at the identity provider of an enterprise.
    IdentityToken,
}

impl fmt::Display for OneUseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            OneUseRequest::Refresh => "a token refresh",
            OneUseRequest::Code => "the code of a login",
            OneUseRequest::DeviceCode => "the device code of a login",
            OneUseRequest::Registration => "the registration of the client",
            OneUseRequest::IdentityToken => "a token of the identity provider",
        })
    }
}

impl fmt::Display for UnsettledLogin {
    /// Writes "the login of NAME may be lost: a token refresh was sent". The caller appends why it no longer waits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.server.as_deref().unwrap_or_else(|| without_query(&self.server_url));
        write!(f, "the login of {}", printable(server))?;
        if !self.account.is_empty() {
            write!(f, " (account `{}`)", printable(&self.account))?;
        }
        write!(f, " may be lost: {} was sent", self.request)
    }
}

/// The registry of requests that use up a credential and whose response is not stored yet.
pub(crate) struct InFlight {
    requests: Mutex<Requests>,
    ended: Condvar,
}

struct Requests {
    /// Whether the program ends, so that no further request may be sent.
    is_closed: bool,
    next_id: u64,
    sent: Vec<SentRequest>,
    /// The tasks that wait for the end of a request.
    waiters: Waiters,
}

struct SentRequest {
    id: u64,
    owner: Owner,
    login: UnsettledLogin,
    /// Whether a task has waited in vain for the end of this request, so that the end of the program does not wait again.
    is_given_up: bool,
}

/// Tasks that wait for an event. Dropping the value wakes the tasks.
///
/// Drop the value without holding a lock: a waker may run code of the program.
#[derive(Default)]
pub(crate) struct Waiters(Vec<oneshot::Sender<()>>);

impl Waiters {
    /// Adds a waiter. Returns a receiver that resolves at the next event.
    pub(crate) fn wait(&mut self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.0.retain(|sender| !sender.is_canceled());
        self.0.push(sender);
        receiver
    }
}

/// Identifies the `OAuth` that has sent a request, so that each `OAuth` can wait for its own requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(u64);

impl Owner {
    /// Creates an owner that differs from all others of this process.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Owner(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A request in flight. Drop the value when the response is stored, or when no response comes.
pub(crate) struct InFlightRequest {
    registry: &'static InFlight,
    id: u64,
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        let mut requests = self.registry.lock();
        requests.sent.retain(|sent| sent.id != self.id);
        let waiters = mem::take(&mut requests.waiters);
        drop(requests);
        self.registry.ended.notify_all();
        drop(waiters);
    }
}

impl Requests {
    fn logins(&self) -> Vec<UnsettledLogin> {
        self.sent.iter().map(|sent| sent.login.clone()).collect()
    }
}

impl InFlight {
    const fn new() -> Self {
        let requests = Requests { is_closed: false, next_id: 0, sent: Vec::new(), waiters: Waiters(Vec::new()) };
        InFlight { requests: Mutex::new(requests), ended: Condvar::new() }
    }

    /// Registers a request that is about to be sent. Returns `None` if the program ends: the request must not be sent.
    pub(crate) fn begin(&'static self, owner: Owner, login: UnsettledLogin) -> Option<InFlightRequest> {
        let mut requests = self.lock();
        if requests.is_closed {
            return None;
        }
        let id = requests.next_id;
        requests.next_id += 1;
        requests.sent.push(SentRequest { id, owner, login, is_given_up: false });
        Some(InFlightRequest { registry: self, id })
    }

    /// Returns a receiver that resolves when a request has ended, or `None` if the owner has no request in flight.
    pub(crate) fn next_end(&self, owner: Owner) -> Option<oneshot::Receiver<()>> {
        let mut requests = self.lock();
        let has_sent = requests.sent.iter().any(|sent| sent.owner == owner);
        has_sent.then(|| requests.waiters.wait())
    }

    /// Marks the requests of an owner as given up, so that the end of the program does not wait for them again. Returns the login
    /// of one request, or `None` if the owner has no request in flight.
    pub(crate) fn give_up(&self, owner: Owner) -> Option<UnsettledLogin> {
        let mut requests = self.lock();
        let mut given_up = None;
        for sent in requests.sent.iter_mut().filter(|sent| sent.owner == owner) {
            sent.is_given_up = true;
            given_up = Some(sent.login.clone());
        }
        self.ended.notify_all();
        given_up
    }

    fn close_and_wait(&self, timeout: Duration) -> Vec<UnsettledLogin> {
        let start = Instant::now();
        let mut requests = self.lock();
        requests.is_closed = true;
        while requests.sent.iter().any(|sent| !sent.is_given_up)
            && let Some(left) = timeout.checked_sub(start.elapsed())
        {
            requests = self.ended.wait_timeout(requests, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        requests.logins()
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn registry() -> &'static InFlight {
        Box::leak(Box::new(InFlight::new()))
    }

    fn login(server_url: &str) -> UnsettledLogin {
        UnsettledLogin {
            server: None,
            server_url: server_url.into(),
            account: "work".into(),
            request: OneUseRequest::Refresh,
        }
    }

    #[test]
    fn the_end_of_a_program_waits_until_each_request_has_ended() {
        let registry = registry();
        let sent = [1, 2].map(|_| registry.begin(Owner::new(), login("https://a/")).unwrap());
        let waiting = thread::spawn(|| registry.close_and_wait(Duration::from_secs(600)));
        drop(sent);
        assert_eq!(waiting.join().unwrap(), []);
    }

    #[test]
    fn a_program_that_ends_sends_no_further_request() {
        let registry = registry();
        assert_eq!(registry.close_and_wait(Duration::ZERO), []);
        assert!(registry.begin(Owner::new(), login("https://a/")).is_none());
    }

    #[test]
    fn requests_that_do_not_end_are_named_without_the_query_of_their_server() {
        let registry = registry();
        let _sent = registry.begin(Owner::new(), login("https://a/mcp?key=secret")).unwrap();
        let left = registry.close_and_wait(Duration::ZERO);
        let text: Vec<String> = left.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["the login of https://a/mcp (account `work`) may be lost: a token refresh was sent"]);
    }

    #[test]
    fn the_end_of_a_program_names_a_request_that_was_given_up_and_does_not_wait_again() {
        let (registry, owner) = (registry(), Owner::new());
        let _sent = registry.begin(owner, login("https://a/")).unwrap();
        assert_eq!(registry.give_up(owner), Some(login("https://a/")));
        assert_eq!(registry.close_and_wait(Duration::from_secs(600)), [login("https://a/")]);
    }

    #[test]
    fn each_owner_waits_for_its_own_requests() {
        let (registry, owners) = (registry(), [Owner::new(), Owner::new()]);
        let sent = registry.begin(owners[0], login("https://a/")).unwrap();
        assert!(registry.next_end(owners[1]).is_none());
        let mut end = registry.next_end(owners[0]).unwrap();
        assert_eq!(end.try_recv(), Ok(None));
        drop(sent);
        assert!(end.try_recv().is_err(), "the sender was dropped, which wakes the receiver");
        assert!(registry.next_end(owners[0]).is_none());
    }
}
