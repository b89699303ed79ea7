//! An MCP server that wants a login, with its authorization server, and the browser of a user.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use mcpwire_testkit::ScriptedServer;
use mcpwire_testkit::authorization::{AuthorizationServer, ProtectedServer, Serving};
use tempfile::TempDir;

use super::configured::at;
use super::terminal::{Screen, Terminal};
use super::{Finished, Running, command, wait_for};

/// An MCP server over real HTTP that wants a login, and a directory for the configuration and the logins of one user.
pub(crate) struct Guarded {
    pub(crate) authorization: AuthorizationServer,
    pub(crate) server: ProtectedServer,
    place: TempDir,
    _serving: [Serving; 2],
}

impl Guarded {
    /// Starts the server. It has the tool `echo`.
    pub(crate) fn start() -> Self {
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
        let serving = [authorization.serve(0), server.serve(0)].map(|serving| serving.expect("a port"));
        Self { authorization, server, place: tempfile::tempdir().expect("a directory"), _serving: serving }
    }

    /// Configures the server as `notes`.
    pub(crate) fn configured(self) -> Self {
        let added = self.run(&["server", "add", "notes", "--url", &self.server.url()]);
        assert_eq!(added.code(), 0, "{added:?}");
        self
    }

    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// Runs `mcpwire` with the directory of this user.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        at(self.place(), arguments)
    }

    /// Starts `mcpwire` with the directory of this user, and an empty input.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Running {
        Running::start(&self.words(arguments), "")
    }

    /// Starts `mcpwire` at a terminal. `browser` is the command that opens URLs.
    pub(crate) fn at_terminal(&self, arguments: &[&str], browser: &str) -> (Child, Screen, std::fs::File) {
        self.at_terminal_with(arguments, &[("BROWSER", browser)])
    }

    /// Starts `mcpwire` at a terminal, with these environment variables.
    pub(crate) fn at_terminal_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (Child, Screen, std::fs::File) {
        let terminal = Terminal::open();
        let typing = terminal.file.try_clone().expect("a handle");
        let mut program = command(&self.words(arguments));
        program.stdin(terminal.other_end()).stderr(terminal.other_end()).stdout(Stdio::null());
        program.envs(variables.iter().copied());
        (program.spawn().expect("it starts"), terminal.screen(), typing)
    }

    /// Logs in with a browser.
    pub(crate) fn log_in(&self, arguments: &[&str]) -> Finished {
        let running = self.begin(&[&["login"], arguments].concat());
        let address = answer(&login_page(&running));
        assert_eq!(visit(&address).status, 200);
        let finished = running.finish();
        assert_eq!(finished.code(), 0, "{finished:?}");
        finished
    }

    /// Fails the test if a text contains a secret of the authorization server.
    #[track_caller]
    pub(crate) fn assert_no_secret(&self, finished: &Finished) {
        for secret in self.authorization.secrets() {
            assert!(
                !finished.stdout.contains(&secret) && !finished.stderr.contains(&secret),
                "{secret} in {finished:?}"
            );
        }
    }

    pub(crate) fn words<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--config-dir", self.place().to_str().expect("a plain path")]].concat()
    }
}

/// Waits until a login has printed the URL of its page.
pub(crate) fn login_page(running: &Running) -> String {
    wait_for("the URL of the login page", || url_in(&running.stderr_so_far()))
}

/// Returns the URL of a login page in a text, if the text has gone on after it.
pub(crate) fn url_in(text: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || c == '"' || c == '\u{1b}';
    let urls = text.match_indices("http://127.0.0.1:").filter_map(|(at, _)| text[at..].split_once(is_end));
    urls.map(|(url, _)| url).find(|url| url.contains("code_challenge=")).map(str::to_owned)
}

/// Opens the login page, on which the user agrees at once. Returns the address to which the browser is sent.
pub(crate) fn answer(page: &str) -> String {
    let response = visit(page);
    response.location.unwrap_or_else(|| panic!("{page} leads nowhere: {} {}", response.status, response.body))
}

/// The response to a request of a browser.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: String,
}

/// Visits a page as a browser does, without following redirects.
pub(crate) fn visit(url: &str) -> Response {
    let (authority, target) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL with a path");
    let mut stream = TcpStream::connect(authority).expect("the server listens");
    write!(stream, "GET /{target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n").expect("it is sent");
    let mut reader = BufReader::new(stream);
    let (mut head, mut body) = (String::new(), String::new());
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).expect("a response"), 0, "{head}");
    }
    let header = |wanted: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.to_owned())
    };
    // The test server does not close its connections.
    let length = header("content-length").map_or(0, |length| length.parse().expect("a number"));
    reader.take(length).read_to_string(&mut body).expect("a body");
    Response {
        status: head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"),
        location: header("location"),
        body,
    }
}
