//! An MCP server that wants a login, with its authorization server, and the browser of a user.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Deref;
use std::path::PathBuf;

use mcpwire_testkit::ScriptedServer;
use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint, ProtectedServer, Serving};

use super::{Finished, Place, Running, Words, wait_for};

/// An MCP server over real HTTP that wants a login, and the directory of a user.
pub(crate) struct Guarded {
    pub(crate) authorization: AuthorizationServer,
    pub(crate) server: ProtectedServer,
    place: Place,
    _serving: [Serving; 2],
}

impl Deref for Guarded {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Guarded {
    /// Starts the server. It has the tool `echo`.
    pub(crate) fn start() -> Self {
        Self::start_at([0, 0])
    }

    /// Starts the authorization server and the MCP server at these ports.
    pub(crate) fn start_at(ports: [u16; 2]) -> Self {
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
        // Tests of another checkout may serve at the same ports.
        let serving = [
            wait_for("a port", || authorization.serve(ports[0]).ok()),
            wait_for("a port", || server.serve(ports[1]).ok()),
        ];
        Self { authorization, server, place: Place::new(), _serving: serving }
    }

    /// Configures the server as `notes`.
    pub(crate) fn configured(self) -> Self {
        self.run(&["server", "add", "notes", "--url", &self.server.url()]).exits(0);
        self
    }

    /// Logs in with a browser.
    #[track_caller]
    pub(crate) fn log_in(&self, arguments: &(impl Words + ?Sized)) -> Finished {
        let running = self.begin(&[&["login"], &arguments.words()[..]].concat());
        agree(&running);
        running.finish().exits(0)
    }

    /// Fails the test if a text contains a secret of the authorization server.
    #[track_caller]
    pub(crate) fn assert_no_secret(&self, finished: Finished) -> Finished {
        let secrets = self.authorization.secrets();
        finished.hides(&secrets.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Fails the test if something was sent to an endpoint for logins.
    #[track_caller]
    pub(crate) fn assert_nothing_was_sent(&self) {
        for endpoint in [Endpoint::Token, Endpoint::Authorization, Endpoint::DeviceAuthorization] {
            assert!(self.authorization.requests_to(endpoint).is_empty(), "{endpoint:?}");
        }
    }
}

/// A program in place of a browser. It stores how it was started, and opens nothing.
pub(crate) struct Browser {
    pub(crate) program: String,
    notes: PathBuf,
}

#[cfg(unix)]
impl Browser {
    pub(crate) fn new(place: &Place) -> Self {
        let notes = place.path().join("notes");
        let script = format!(
            "#!/bin/sh\ncat /proc/$$/cmdline /proc/$$/environ | tr '\\0' '\\n' > '{0}.new'\nmv '{0}.new' '{0}'\n",
            notes.display()
        );
        Self { program: place.write_program("browser", &script), notes }
    }

    /// Waits until the program was started. Returns its arguments and its environment, and forgets them.
    pub(crate) fn notes(&self) -> String {
        let notes = wait_for("the browser", || fs::read_to_string(&self.notes).ok());
        fs::remove_file(&self.notes).expect("it can be removed");
        notes
    }

    /// Waits until the program was started, and returns the URL that it got.
    pub(crate) fn url(&self) -> String {
        let notes = self.notes();
        let mut arguments = notes.lines().skip_while(|line| *line != self.program);
        arguments.nth(1).expect("an argument").to_owned()
    }

    pub(crate) fn was_started(&self) -> bool {
        self.notes.exists()
    }
}

/// Waits until a login has printed the URL of its page.
pub(crate) fn login_page(running: &Running) -> String {
    wait_for("the URL of the login page", || url_in(&running.stderr_so_far()))
}

/// Waits for the page of a login, and agrees on it.
#[track_caller]
pub(crate) fn agree(running: &Running) {
    agree_at(&login_page(running));
}

/// Agrees on the page of a login, and lets the browser return to the program.
#[track_caller]
pub(crate) fn agree_at(page: &str) {
    assert_eq!(visit(&answer(page)).0, 200);
}

/// Returns the URL of a login page in a text, if the text has gone on after it.
pub(crate) fn url_in(text: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || c == '"' || c == '\u{1b}';
    let urls = text.match_indices("http://127.0.0.1:").filter_map(|(at, _)| text[at..].split_once(is_end));
    urls.map(|(url, _)| url).find(|url| url.contains("code_challenge=")).map(str::to_owned)
}

/// Opens the login page, on which the user agrees at once. Returns the address to which the browser is sent.
pub(crate) fn answer(page: &str) -> String {
    let (_, response) = visit(page);
    let mut headers = response.lines().filter_map(|line| line.split_once(": "));
    let location = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    location.unwrap_or_else(|| panic!("{page} leads nowhere: {response}")).1.to_owned()
}

/// Visits a page as a browser does, without following redirects. Returns the status and the whole response.
pub(crate) fn visit(url: &str) -> (u16, String) {
    let (authority, target) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL with a path");
    let mut stream = TcpStream::connect(authority).expect("the server listens");
    write!(stream, "GET /{target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n").expect("it is sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    (response.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), response)
}
