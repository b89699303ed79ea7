//! A user who logs in at once, and servers with their clients in simulated time, for tests of authorization.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::{process, thread};

use mcpwire_authorization::{LoginPrompt, LoginWindow, MemoryStore, OAuth, OAuthBuilder};
use mcpwire_driver::http::{HttpClient, HttpOptions, TokenError};
use mcpwire_driver::protocol::CallToolResult;
use mcpwire_driver::protocol::http::{Exchange, Verb};
use mcpwire_driver::{ConnectOptions, Error, McpClient, McpServerDef};
use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint, ProtectedServer, SimulatedNetwork};
use mcpwire_testkit::{HttpRequest, ScriptedServer, VirtualTime};

use crate::WATCHDOG;

/// The redirect URI of [`AgreeingUser`].
pub const REDIRECT_URI: &str = "http://127.0.0.1:33418/callback";

/// What a user does before the login.
type Pause = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A user who logs in: the login page is requested, and its redirect is the callback. Clones share the list of logins.
#[derive(Clone)]
pub struct AgreeingUser {
    http: Arc<dyn HttpClient>,
    redirect_uri: String,
    pause: Pause,
    shown: Arc<Mutex<Vec<String>>>,
}

impl AgreeingUser {
    /// Creates a user whose browser is this HTTP client, and who logs in at once.
    pub fn new(http: Arc<dyn HttpClient>) -> Self {
        let pause: Pause = Arc::new(|| Box::pin(ready(())));
        AgreeingUser { http, redirect_uri: REDIRECT_URI.into(), pause, shown: Arc::default() }
    }

    /// Lets the user do this before each login: wait, or never come back.
    pub fn after<F: Future<Output = ()> + Send + 'static>(
        mut self,
        pause: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.pause = Arc::new(move || Box::pin(pause()));
        self
    }

    /// Sets the redirect URI.
    pub fn redirect_uri(mut self, redirect_uri: impl Into<String>) -> Self {
        self.redirect_uri = redirect_uri.into();
        self
    }

    /// Returns the URLs that were shown.
    pub fn shown(&self) -> Vec<String> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LoginPrompt for AgreeingUser {
    fn prepare(&self, _: Option<&str>) -> Result<Box<dyn LoginWindow>, TokenError> {
        Ok(Box::new(self.clone()))
    }
}

impl LoginWindow for AgreeingUser {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn show(self: Box<Self>, url: String) -> Pin<Box<dyn Future<Output = Result<String, TokenError>> + Send>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).push(url.clone());
        Box::pin(async move {
            (self.pause)().await;
            let response = self.http.send(Exchange::new(Verb::Get, url)).await?;
            let mut locations = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("location"));
            let (_, location) = locations.next().ok_or("the authorization server did not redirect")?;
            Ok(String::from_utf8_lossy(location).into_owned())
        })
    }
}

/// Ends the program if this value is not dropped within [`WATCHDOG`]: a test that hangs fails.
struct Watchdog {
    _dropped: mpsc::Sender<()>,
}

impl Watchdog {
    fn start() -> Self {
        let (dropped, wait) = mpsc::channel();
        let test = thread::current().name().unwrap_or_default().to_owned();
        thread::spawn(move || {
            if wait.recv_timeout(WATCHDOG) == Err(RecvTimeoutError::Timeout) {
                eprintln!("the test `{test}` hangs: it has not ended within {WATCHDOG:?}");
                process::abort();
            }
        });
        Watchdog { _dropped: dropped }
    }
}

/// An authorization server, an MCP server with the tool `echo`, and their clients, in simulated time. A test with this value that hangs
/// fails.
#[derive(Clone)]
pub struct Web {
    /// The time.
    pub time: VirtualTime,
    /// The authorization server.
    pub authorization: AuthorizationServer,
    /// The MCP server.
    pub server: ProtectedServer,
    /// The store of the logins.
    pub store: MemoryStore,
    _watchdog: Arc<Watchdog>,
}

impl Default for Web {
    fn default() -> Self {
        Web::new()
    }
}

impl Web {
    /// Creates servers that follow the specification.
    pub fn new() -> Self {
        Web::with(&AuthorizationServer::new())
    }

    /// Creates an MCP server that wants tokens of this authorization server.
    pub fn with(authorization: &AuthorizationServer) -> Self {
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi").tool("other", |_| "there"));
        Web {
            time: VirtualTime::new(),
            authorization: authorization.clone(),
            server,
            store: MemoryStore::new(),
            _watchdog: Arc::new(Watchdog::start()),
        }
    }

    /// Returns an HTTP client that reaches all servers.
    pub fn network(&self) -> Arc<SimulatedNetwork> {
        Arc::new(self.server.client_on(self.time.runtime()))
    }

    /// Returns a user who logs in at once.
    pub fn user(&self) -> AgreeingUser {
        AgreeingUser::new(self.network())
    }

    /// Begins an authorizer with the store, without a user.
    pub fn oauth_without_user(&self) -> OAuthBuilder {
        OAuth::builder(self.server.url(), "test").store(self.store.clone())
    }

    /// Begins an authorizer with the store, and with a user who logs in at once.
    pub fn oauth(&self) -> OAuthBuilder {
        self.oauth_without_user().prompt(self.user())
    }

    /// Lets a user log in, and begins an authorizer with the store and without a user.
    ///
    /// # Panics
    /// If the login fails.
    pub fn oauth_after_login(&self) -> OAuthBuilder {
        self.oauth_after_login_of("")
    }

    /// Lets the user of an account log in, and begins an authorizer for the account, with the store and without a user.
    ///
    /// # Panics
    /// If the login fails.
    pub fn oauth_after_login_of(&self, account: &str) -> OAuthBuilder {
        let oauth = self.build(self.oauth().account(account));
        self.time.run(oauth.login()).expect("the user logs in");
        self.oauth_without_user().account(account)
    }

    /// Builds an authorizer.
    pub fn build(&self, builder: OAuthBuilder) -> OAuth {
        builder.build(self.time.runtime(), self.network())
    }

    /// Creates a client with this authorizer.
    ///
    /// # Panics
    /// If the options are wrong.
    pub fn client(&self, oauth: &OAuth) -> McpClient<VirtualTime> {
        let http = HttpOptions::default().client(self.network()).authorizer(oauth.clone());
        let options = ConnectOptions::default().http(http);
        McpClient::connect_on(self.time.runtime(), &McpServerDef::http(self.server.url()), options)
            .expect("the options are right")
    }

    /// Builds an authorizer, connects a client, and runs `program` with it.
    ///
    /// # Panics
    /// If the connection does not open.
    pub fn run<T>(&self, builder: OAuthBuilder, program: impl AsyncFnOnce(McpClient<VirtualTime>) -> T) -> T {
        let oauth = self.build(builder);
        self.time.run(async {
            let client = self.client(&oauth);
            client.initialize().await.expect("the connection opens");
            program(client).await
        })
    }

    /// Builds an authorizer, connects a client, and calls the tool `echo`.
    ///
    /// # Errors
    /// If the connection does not open, or the call fails.
    pub fn call(&self, builder: OAuthBuilder) -> Result<(), Error> {
        let oauth = self.build(builder);
        self.time.run(async {
            let client = self.client(&oauth);
            client.initialize().await?;
            echo(&client).await.map(drop)
        })
    }

    /// Builds an authorizer, connects a client, and returns why the connection does not open.
    ///
    /// # Panics
    /// If the connection opens.
    pub fn refused(&self, builder: OAuthBuilder) -> Error {
        let oauth = self.build(builder);
        self.time
            .run(async { self.client(&oauth).initialize().await.map(drop).expect_err("the connection is refused") })
    }

    /// Returns the requests to the token endpoint.
    pub fn token_requests(&self) -> Vec<HttpRequest> {
        self.authorization.requests_to(Endpoint::Token)
    }

    /// Returns the number of requests to an endpoint.
    pub fn count(&self, endpoint: Endpoint) -> usize {
        self.authorization.requests_to(endpoint).len()
    }

    /// Returns the authorization requests.
    pub fn logins(&self) -> Vec<HttpRequest> {
        self.authorization.requests_to(Endpoint::Authorization)
    }
}

/// Calls the tool `echo`.
///
/// # Errors
/// If the call fails.
pub async fn echo(client: &McpClient<VirtualTime>) -> Result<CallToolResult, Error> {
    client.call_tool("echo", ()).await
}
