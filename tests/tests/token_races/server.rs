//! [`Server`]: an MCP server that wants a login, and its authorization server, over real HTTP.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint, ProtectedServer, Serving};
use mcpwire_testkit::{HttpAnswer, HttpRequest, ScriptedServer};

use crate::process::{Process, kill};

/// An MCP server with one tool, and an authorization server that revokes a login if a refresh token is used twice.
pub(crate) struct Server {
    authorization: AuthorizationServer,
    protected: ProtectedServer,
    /// The process that is killed when its refresh arrives.
    victim: Arc<Mutex<Option<u32>>>,
    _serving: [Serving; 2],
}

impl Server {
    pub(crate) fn start() -> Self {
        let authorization = AuthorizationServer::new();
        let protected = authorization.protect(ScriptedServer::new().tool("echo", |_| "echo"));
        let serving = [authorization.serve(0).unwrap(), protected.serve(0).unwrap()];
        let victim = Arc::new(Mutex::new(None));
        let taken = Arc::clone(&victim);
        authorization.on_request(move |request| {
            let pid = is_refresh(request).then(|| taken.lock().unwrap_or_else(PoisonError::into_inner).take())??;
            kill(pid);
            Some(HttpAnswer::status(503))
        });
        Server { authorization, protected, victim, _serving: serving }
    }

    pub(crate) fn url(&self) -> String {
        self.protected.url()
    }

    /// Lets the MCP server refuse the access tokens that clients have, as if they had expired there.
    pub(crate) fn refuse_access_tokens(&self) {
        self.authorization.revoke_access_tokens();
    }

    /// Accepts a refresh token once more after it was used, as many authorization servers do for some seconds.
    pub(crate) fn accept_last_refresh_token(&self) {
        self.authorization.conform().deviate(Deviation::AcceptLastRefreshToken);
    }

    /// Kills a process when its refresh arrives, before the server does anything.
    pub(crate) fn kill_at_refresh(&self, process: &Process) {
        *self.victim.lock().unwrap() = Some(process.pid());
    }

    /// Lets a process go on to its refresh, and kills it when the refresh token is used up and the response is on its way.
    pub(crate) fn kill_before_response(&self, process: &mut Process) {
        let before = self.refreshes();
        self.authorization.latency(Duration::from_secs(60));
        process.go_on();
        while !self.has_used_up_refresh_token(before) {
            thread::yield_now();
        }
        kill(process.pid());
        self.authorization.latency(Duration::ZERO);
    }

    /// Delays the responses of the authorization server.
    pub(crate) fn delay_tokens(&self, latency: Duration) {
        self.authorization.latency(latency);
    }

    /// Returns whether the refresh with this number has arrived, and has used up its refresh token.
    pub(crate) fn has_used_up_refresh_token(&self, number: usize) -> bool {
        let sent = self.authorization.requests_to(Endpoint::Token).into_iter().filter(is_refresh).nth(number);
        let token = sent.and_then(|request| request.parameter("refresh_token"));
        token.is_some_and(|token| !self.authorization.is_refresh_token_valid(&token))
    }

    /// Returns whether this refresh token is the newest of its login.
    pub(crate) fn is_newest_refresh_token(&self, token: &str) -> bool {
        self.authorization.is_refresh_token_valid(token)
    }

    /// Returns the number of logins that were revoked because a refresh token was used twice.
    pub(crate) fn lost_logins(&self) -> usize {
        self.authorization.reused_refresh_tokens()
    }

    /// Returns the number of refreshes so far.
    pub(crate) fn refreshes(&self) -> usize {
        self.authorization.requests_to(Endpoint::Token).iter().filter(|request| is_refresh(request)).count()
    }
}

fn is_refresh(request: &HttpRequest) -> bool {
    request.parameter("grant_type").as_deref() == Some("refresh_token")
}
