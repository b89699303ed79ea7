//! [`LoginPrompt`]: how a user logs in. [`Browser`] and [`PasteBack`] are the prompts of this crate.

mod browser;
mod loopback;
mod paste_back;

use std::future::Future;
use std::pin::Pin;
use std::thread;

use futures_channel::oneshot;
use mcpwire_driver::http::TokenError;

pub use browser::Browser;
pub use loopback::{LoopbackError, LoopbackListener};
pub use paste_back::PasteBack;

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
    /// Returns the port of a stored redirect URI, or `None` if its host or path differs from these settings.
    fn stored_port(&self, stored: &str) -> Option<u16> {
        let rest = stored.strip_prefix("http://")?.strip_prefix(&*self.host)?.strip_prefix(':')?;
        rest.strip_suffix(&*self.path)?.parse().ok()
    }

    /// Returns the port to try first: the port of the settings, or else the port of the stored redirect URI. Returns `None` if
    /// any port will do.
    fn preferred_port(&self, stored: Option<&str>) -> Option<u16> {
        if self.port != 0 { Some(self.port) } else { stored.and_then(|stored| self.stored_port(stored)) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z2_only_an_address_with_the_state_of_the_login_is_its_response() {
        let login = "https://as.example/authorize?response_type=code&state=abc-_1&x=y";
        assert!(is_response("http://127.0.0.1:1/callback?code=a&state=abc-_1", login));
        assert!(is_response("/callback?state=abc-_1&error=access_denied#top", login));
        for other in ["/callback?code=a", "/callback?code=a&state=abc", "/callback", "", "/callback?xstate=abc-_1"] {
            assert!(!is_response(other, login), "{other}");
        }
        assert!(is_response("/callback?code=a", "https://as.example/login"), "a page without a state");
    }

    #[test]
    fn o12_the_port_of_the_settings_comes_before_the_stored_one() {
        let mut redirect = Redirect::default();
        assert_eq!(redirect.preferred_port(Some("http://127.0.0.1:7777/callback")), Some(7777));
        assert_eq!(redirect.preferred_port(Some("http://localhost:7777/callback")), None);
        redirect.port = 1234;
        assert_eq!(redirect.preferred_port(Some("http://127.0.0.1:7777/callback")), Some(1234));
    }
}
