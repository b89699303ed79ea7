//! [`Browser`]: a login with a browser on this machine.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpwire_driver::http::TokenError;

use super::{LoginPrompt, LoginWindow, LoopbackListener, Redirect, Window, is_response};

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

    /// Sets the host of the redirect URI: `127.0.0.1` (the default), `[::1]` or `localhost`, which some authorization servers want.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.redirect.host = host.into();
        self
    }

    /// Sets the port of the redirect URI. Default: 0, which selects the port of the stored registration, or else a free port.
    pub fn port(mut self, port: u16) -> Self {
        self.redirect.port = port;
        self
    }

    /// Sets the path of the redirect URI. Default: `/callback`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.redirect.path = path.into();
        self
    }

    /// Sets how long to wait for the user. Default: 5 minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn o12_the_port_of_the_stored_registration_is_used_again() {
        let browser = Browser::new(|_| {});
        let first = browser.prepare(None).unwrap();
        let stored = first.redirect_uri().to_owned();
        drop(first);
        let second = browser.prepare(Some(&stored)).unwrap();
        assert_eq!(second.redirect_uri(), stored);
        // While another program has the port, another one is taken.
        assert_ne!(browser.prepare(Some(&stored)).unwrap().redirect_uri(), stored);
        for other in ["https://127.0.0.1:80/callback", "http://localhost:80/callback", "http://127.0.0.1:80/other", ""]
        {
            assert_eq!(browser.redirect.stored_port(other), None, "{other}");
        }
    }

    #[test]
    fn o13_host_port_and_path_can_be_set() {
        let browser = Browser::new(|_| {}).host("localhost").path("/oauth/done");
        let uri = browser.prepare(None).unwrap().redirect_uri().to_owned();
        assert!(uri.starts_with("http://localhost:") && uri.ends_with("/oauth/done"), "{uri}");
    }

    #[test]
    fn a_login_that_is_given_up_ends_its_thread_and_frees_its_port() {
        let window = Browser::new(|_| {}).prepare(None).unwrap();
        let address = window.redirect_uri().trim_start_matches("http://").trim_end_matches("/callback").to_owned();
        let mut login = window.show("https://as.example/authorize?state=x".into());
        assert!(login.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(TcpListener::bind(&address).is_err(), "the login listens");
        drop(login);
        // The thread notices it when it looks the next time.
        while TcpListener::bind(&address).is_err() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_address_that_the_browser_was_sent_to_is_returned() {
        let opened = Arc::new(std::sync::Mutex::new(String::new()));
        let seen = Arc::clone(&opened);
        let browser = Browser::new(move |url| *seen.lock().unwrap() = url.to_owned());
        let window = browser.prepare(None).unwrap();
        let redirect = format!("{}?code=a&state=x", window.redirect_uri());
        let mut login = window.show("https://as.example/authorize?state=x".into());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(login.as_mut().poll(&mut cx).is_pending());
        assert_eq!(*opened.lock().unwrap(), "https://as.example/authorize?state=x");
        let (host, target) = redirect.trim_start_matches("http://").split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{target} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let address = loop {
            match login.as_mut().poll(&mut cx) {
                std::task::Poll::Ready(address) => break address.unwrap(),
                std::task::Poll::Pending => std::thread::yield_now(),
            }
        };
        assert_eq!(address, redirect);
    }
}
