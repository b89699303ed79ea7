//! [`Redirect`]: where the browser is sent at the end of a login.

/// Host, port and path of a redirect URI on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: String,
}

impl Default for Redirect {
    fn default() -> Self {
        Redirect { host: "127.0.0.1".into(), port: 0, path: "/callback".into() }
    }
}

impl Redirect {
    /// Returns the port of a stored redirect URI that differs from this one in its port alone.
    pub(crate) fn stored_port(&self, stored: &str) -> Option<u16> {
        let rest = stored.strip_prefix("http://")?.strip_prefix(&*self.host)?.strip_prefix(':')?;
        rest.strip_suffix(&*self.path)?.parse().ok()
    }

    /// Returns the port to try first: that of the settings, or else that of the stored redirect URI.
    pub(crate) fn preferred_port(&self, stored: Option<&str>) -> Option<u16> {
        if self.port != 0 { Some(self.port) } else { stored.and_then(|stored| self.stored_port(stored)) }
    }
}

/// Returns whether an address is the response to the login at `login_url`: both have the same `state`.
///
/// A page of another site can send a browser to the redirect URI. Its request must not end the login.
pub(crate) fn is_response(address: &str, login_url: &str) -> bool {
    let state = |url: &str| {
        let (_, query) = url.split_once('?')?;
        let query = query.split('#').next()?;
        query.split('&').find_map(|parameter| parameter.strip_prefix("state=")).map(str::to_owned)
    };
    // The value is base64url, which no encoder changes.
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
