//! [`PasteBack`]: a login in a browser on another machine, whose result the user pastes.

use std::fmt;
use std::io;
use std::sync::Arc;

use mcpwire_driver::http::TokenError;

use super::{LoginPrompt, LoginWindow, LoopbackListener, Redirect, Window, is_response};

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
    /// Creates a prompt. `ask` shows the URL, and returns the text that the user pastes. It may block: it is called on a thread of its
    /// own, and again if the text is not the address of a response.
    pub fn new(ask: impl Fn(&str) -> io::Result<String> + Send + Sync + 'static) -> Self {
        PasteBack { ask: Arc::new(ask), redirect: Redirect::default() }
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const URL: &str = "https://as.example/authorize?state=x";

    /// Lets a user paste these texts, and returns what the login gets and how often it asked.
    fn paste(texts: &[&str]) -> (Result<String, TokenError>, usize) {
        let asked = Arc::new(Mutex::new(0));
        let (count, texts) = (Arc::clone(&asked), texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        let prompt = PasteBack::new(move |url| {
            assert_eq!(url, URL);
            let mut count = count.lock().unwrap();
            *count += 1;
            texts.get(*count - 1).cloned().ok_or(io::ErrorKind::UnexpectedEof.into())
        });
        let mut login = prompt.prepare(None).unwrap().show(URL.into());
        let result = loop {
            match login.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(result) => break result,
                Poll::Pending => std::thread::yield_now(),
            }
        };
        let asked = *asked.lock().unwrap();
        (result, asked)
    }

    #[test]
    fn o14_the_user_pastes_the_address_and_is_asked_again_for_another_text() {
        let right = "http://127.0.0.1:9/callback?code=a&state=x";
        assert_eq!(paste(&[&format!(" {right}\n")]).0.unwrap(), right);
        let (result, asked) = paste(&["yes", "http://127.0.0.1:9/callback?code=a&state=y", right]);
        assert_eq!((result.unwrap().as_str(), asked), (right, 3));
        let (result, asked) = paste(&["1", "2", "3", right]);
        assert_eq!((result.unwrap().as_str(), asked), ("3", 3));
        assert!(paste(&[]).0.is_err(), "standard input is closed");
    }

    #[test]
    fn nobody_listens_at_the_redirect_uri() {
        let prompt = PasteBack::new(|_| Ok(String::new()));
        let uri = prompt.prepare(None).unwrap().redirect_uri().to_owned();
        let host = uri.trim_start_matches("http://").trim_end_matches("/callback");
        assert!(std::net::TcpStream::connect(host).is_err());
        assert_eq!(prompt.prepare(Some(&uri)).unwrap().redirect_uri(), uri, "that of the stored registration");
        let prompt = prompt.host("localhost").port(7777).path("/done");
        assert_eq!(prompt.prepare(Some(&uri)).unwrap().redirect_uri(), "http://localhost:7777/done");
        assert!(!format!("{prompt:?}").is_empty());
    }
}
