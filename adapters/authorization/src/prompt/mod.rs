//! [`LoginPrompt`]: how a user logs in. [`Browser`] and [`PasteBack`] are the prompts of this crate.

mod loopback;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use mcpwire_driver::http::TokenError;

pub use loopback::{LoopbackError, LoopbackListener};

/// Lets a user log in, for example in a browser. Without a prompt, requests that need a login fail.
pub trait LoginPrompt: Send + Sync + 'static {
    /// Prepares a login, and chooses its redirect URI. `stored` is the redirect URI of an earlier registration, or `None` if the
    /// client has not registered. Use it again if possible: many authorization servers accept only the registered redirect URI.
    fn prepare(&self, stored: Option<&str>) -> Result<Box<dyn LoginWindow>, TokenError>;
}

/// A login that is ready to be shown to the user. [`LoginPrompt::prepare`] creates one for each login.
pub trait LoginWindow: Send {
    /// Returns the redirect URI, to which the browser is sent at the end of the login.
    fn redirect_uri(&self) -> &str;

    /// Shows the URL to the user. The future returns the address to which the browser was sent: the redirect URI with a query.
    ///
    /// Logins are stored, so the user may also return the address of an earlier run of the program, in which the same URL was
    /// shown. Dropping the future gives up the login.
    fn show(self: Box<Self>, url: String) -> Pin<Box<dyn Future<Output = Result<String, TokenError>> + Send>>;
}

/// Host, port and path of a redirect URI on this machine. Port 0: not chosen yet.
#[derive(Clone, Debug)]
struct Redirect {
    host: String,
    port: u16,
    path: String,
}

impl Default for Redirect {
    fn default() -> Self {
        Redirect { host: "127.0.0.1".into(), port: 0, path: "/callback".into() }
    }
}

impl Redirect {
    /// Returns the port to try first: the port of the settings, or else the port of the stored redirect URI. Returns `None` if
    /// any port will do, because the stored redirect URI is missing or has another host or path.
    fn preferred_port(&self, stored: Option<&str>) -> Option<u16> {
        if self.port != 0 {
            return Some(self.port);
        }
        let rest = stored?.strip_prefix("http://")?.strip_prefix(&*self.host)?.strip_prefix(':')?;
        rest.strip_suffix(&*self.path)?.parse().ok()
    }
}

/// A login that waits for its user on a thread of its own, because the user may take minutes.
///
/// `start` takes the URL of the login, and returns the function that the thread runs. This function returns the address to which
/// the browser was sent. Its argument tells it whether the login was given up.
struct Window<S> {
    redirect_uri: String,
    start: S,
}

impl<S, W> LoginWindow for Window<S>
where
    S: FnOnce(String) -> W + Send + 'static,
    W: FnOnce(&dyn Fn() -> bool) -> Result<String, TokenError> + Send + 'static,
{
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn show(self: Box<Self>, url: String) -> Pin<Box<dyn Future<Output = Result<String, TokenError>> + Send>> {
        Box::pin(async move {
            let wait = (self.start)(url);
            let (sender, receiver) = oneshot::channel();
            let run = move || {
                let address = wait(&|| sender.is_canceled());
                // Fails if the caller has given up the login.
                let _ = sender.send(address);
            };
            thread::Builder::new().name("mcpwire-login".into()).spawn(run)?;
            receiver.await.map_err(|_| "the program failed while it asked for the address")?
        })
    }
}

/// Returns whether an address is the response to the login at `login_url`: both have the same `state`.
///
/// A page of another site can send a browser to the redirect URI. Its request must not end the login.
fn is_response(address: &str, login_url: &str) -> bool {
    let state = |url: &str| {
        let (_, query) = url.split_once('?')?;
        let query = query.split('#').next()?;
        query.split('&').find_map(|parameter| parameter.strip_prefix("state=")).map(str::to_owned)
    };
    // A `state` is base64url, which percent-encoding does not change.
    state(login_url).is_none_or(|expected| state(address) == Some(expected))
}

/// Logs users in with a browser on this machine, and receives the browser's redirect on a local port.
#[derive(Clone)]
#[must_use = "a prompt has no effect until it is used"]
pub struct Browser {
    open: Arc<dyn Fn(&str) + Send + Sync>,
    redirect: Redirect,
    timeout: Duration,
}

impl Browser {
    /// Creates a prompt. `open` opens a URL in the browser, or shows the URL to the user. It must not pass the URL to a shell.
    pub fn new(open: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Browser { open: Arc::new(open), redirect: Redirect::default(), timeout: Duration::from_secs(300) }
    }

    mcpwire_text::setters! {
        /// Sets the host of the redirect URI: `127.0.0.1` (the default), `[::1]` or `localhost`, which some authorization servers
        /// want.
        fn host(host: impl Into<String>) => redirect.host = host.into();

        /// Sets the port of the redirect URI. Default: 0, which selects the port of the stored registration, or else a free port.
        fn port(port: u16) => redirect.port = port;

        /// Sets the path of the redirect URI. Default: `/callback`.
        fn path(path: impl Into<String>) => redirect.path = path.into();

        /// Sets how long to wait for the user. Default: 5 minutes.
        fn timeout(timeout: Duration) => timeout = timeout;
    }
}

impl LoginPrompt for Browser {
    fn prepare(&self, stored: Option<&str>) -> Result<Box<dyn LoginWindow>, TokenError> {
        let bind = |port| LoopbackListener::bind(&self.redirect.host, port, &self.redirect.path);
        let listener = match self.redirect.preferred_port(stored) {
            // If another program uses the stored port now, a free port is used. The client then registers again, with the new
            // redirect URI.
            Some(port) if self.redirect.port == 0 => bind(port).or_else(|_| bind(0))?,
            port => bind(port.unwrap_or(0))?,
        };
        let (open, timeout) = (Arc::clone(&self.open), self.timeout);
        let redirect_uri = listener.redirect_uri().to_owned();
        let start = move |url: String| {
            open(&url);
            move |is_given_up: &dyn Fn() -> bool| {
                Ok(listener.wait_for(Instant::now, timeout, is_given_up, |address| is_response(address, &url))?)
            }
        };
        Ok(Box::new(Window { redirect_uri, start }))
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser")
            .field("redirect", &self.redirect)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Maximum number of times that the user is asked for the address. After that, the login fails.
const MAX_PASTES: u32 = 3;

/// Shows a URL, and returns the text that the user pastes.
type Ask = dyn Fn(&str) -> io::Result<String> + Send + Sync;

/// Logs users in with a browser on any machine. The user pastes the address to which the browser was sent.
///
/// No program listens at the redirect URI, so the browser shows that it cannot connect. The user copies the address from its
/// address bar.
#[derive(Clone)]
#[must_use = "a prompt has no effect until it is used"]
pub struct PasteBack {
    ask: Arc<Ask>,
    redirect: Redirect,
}

impl PasteBack {
    /// Creates a prompt. `ask` shows the URL, and returns the text that the user pastes. It may block: it is called on a thread
    /// of its own, and again if the text is not the address of a response.
    pub fn new(ask: impl Fn(&str) -> io::Result<String> + Send + Sync + 'static) -> Self {
        PasteBack { ask: Arc::new(ask), redirect: Redirect::default() }
    }

    mcpwire_text::setters! {
        /// Sets the host of the redirect URI: `127.0.0.1` (the default), `[::1]` or `localhost`, which some authorization servers
        /// want.
        fn host(host: impl Into<String>) => redirect.host = host.into();

        /// Sets the port of the redirect URI. Default: 0, which selects the port of the stored registration, or else a free port.
        fn port(port: u16) => redirect.port = port;

        /// Sets the path of the redirect URI. Default: `/callback`.
        fn path(path: impl Into<String>) => redirect.path = path.into();
    }
}

impl LoginPrompt for PasteBack {
    fn prepare(&self, stored: Option<&str>) -> Result<Box<dyn LoginWindow>, TokenError> {
        let Redirect { host, path, .. } = &self.redirect;
        let redirect_uri = match self.redirect.preferred_port(stored) {
            Some(port) => format!("http://{host}:{port}{path}"),
            // The listener only finds a free port, and is closed at once. No program listens at that port, so none gets the
            // response.
            None => LoopbackListener::bind(host, 0, path)?.redirect_uri().to_owned(),
        };
        let ask = Arc::clone(&self.ask);
        let start = move |url: String| {
            move |is_given_up: &dyn Fn() -> bool| {
                let mut pasted = ask(&url)?;
                for _ in 1..MAX_PASTES {
                    if !is_response(pasted.trim(), &url) && !is_given_up() {
                        pasted = ask(&url)?;
                    }
                }
                Ok(pasted.trim().to_owned())
            }
        };
        Ok(Box::new(Window { redirect_uri, start }))
    }
}

impl fmt::Debug for PasteBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasteBack").field("redirect", &self.redirect).finish_non_exhaustive()
    }
}
