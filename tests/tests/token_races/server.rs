//! [`Server`]: an authorization server on a real port that rotates refresh tokens, and the MCP server that it protects.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcpwire_tests::web::{Reply, Request, Web, said, tools};
use serde_json::json;

/// Where the server kills the process that sends a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KillOnRefresh {
    /// Before the server has done anything: the refresh token is still good.
    BeforeRotation,
    /// After the refresh token was used up. The response is lost.
    AfterRotation,
}

/// An authorization server, and an MCP server with one tool that wants its tokens.
///
/// Each refresh token is accepted once. If one comes a second time, the whole family is revoked: access token, refresh token
/// and their successors. With `grace`, the last used refresh token is accepted once more, as some authorization servers do for
/// clients whose connection broke.
pub(crate) struct Server {
    web: Web,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Number of logins.
    logins: u32,
    /// The number of the valid refresh token. It grows with each refresh, and by a login.
    refresh: u64,
    /// The number of the refresh token that was used last, if it is still accepted.
    grace: Option<u64>,
    has_grace: bool,
    /// The number of the valid access token, or `None` after [`Server::refuse_access_token`].
    access: Option<u64>,
    is_revoked: bool,
    refreshes: u32,
    kill: Option<(KillOnRefresh, u32)>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        Server { web: Web::start(move |request, reply| respond(&shared, request, reply)), state }
    }

    pub(crate) fn url(&self) -> String {
        self.web.url()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Lets the MCP server refuse the access token that clients have, as if it had expired there.
    pub(crate) fn refuse_access_token(&self) {
        self.state().access = None;
    }

    /// Sets whether the last used refresh token is accepted once more.
    pub(crate) fn set_grace(&self, has_grace: bool) {
        self.state().has_grace = has_grace;
    }

    /// Kills the process `pid` at its next refresh.
    pub(crate) fn kill_on_refresh(&self, kill: KillOnRefresh, pid: u32) {
        self.state().kill = Some((kill, pid));
    }

    /// Returns whether the family of the last login was revoked.
    pub(crate) fn is_revoked(&self) -> bool {
        self.state().is_revoked
    }

    /// Returns the number of refresh requests so far.
    pub(crate) fn refreshes(&self) -> u32 {
        self.state().refreshes
    }

    /// Returns the number of logins so far.
    pub(crate) fn logins(&self) -> u32 {
        self.state().logins
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn respond(state: &Mutex<State>, request: &Request, reply: &mut Reply<'_>) {
    let origin = format!("http://{}", request.header("host").unwrap_or_default());
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            reply.json(200, &json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}));
        }
        "/.well-known/oauth-authorization-server" => reply.json(
            200,
            &json!({"issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"), "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"]}),
        ),
        "/register" => {
            let mut client = request.body.clone();
            client["client_id"] = json!("client");
            reply.json(201, &client);
        }
        "/authorize" => {
            let parameter = |name: &str| parameter(query, name).unwrap_or_default();
            let to = format!("{}?code=code&state={}", parameter("redirect_uri"), parameter("state"));
            reply.full(302, &format!("Location: {to}\r\n"), "");
        }
        "/token" => token(state, request, reply),
        "/mcp" => mcp(state, request, reply),
        _ => reply.full(404, "", ""),
    }
}

/// Returns the value of a parameter. The values of these tests contain no escapes but those of a redirect URI.
fn parameter(form: &str, name: &str) -> Option<String> {
    let mut pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(other, _)| *other == name)?;
    Some(value.replace("%3A", ":").replace("%2F", "/"))
}

fn token(state: &Mutex<State>, request: &Request, reply: &mut Reply<'_>) {
    let mut state = lock(state);
    if parameter(&request.text, "grant_type").as_deref() == Some("authorization_code") {
        state.logins += 1;
        state.is_revoked = false;
        state.grace = None;
    } else {
        let kill = state.kill.take();
        state.refreshes += 1;
        if let Some((KillOnRefresh::BeforeRotation, pid)) = kill {
            crate::process::kill(pid);
            return reply.cut();
        }
        let sent =
            parameter(&request.text, "refresh_token").and_then(|token| token.strip_prefix("refresh-")?.parse().ok());
        let is_good = sent == Some(state.refresh) || (sent.is_some() && sent == state.grace.take());
        if state.is_revoked || !is_good {
            (state.is_revoked, state.access) = (true, None);
            return reply.json(400, &json!({"error": "invalid_grant"}));
        }
        state.grace = sent.filter(|_| state.has_grace);
        if let Some((KillOnRefresh::AfterRotation, pid)) = kill {
            state.rotate();
            crate::process::kill(pid);
            return reply.cut();
        }
    }
    let number = state.rotate();
    reply.json(
        200,
        &json!({"access_token": format!("access-{number}"), "refresh_token": format!("refresh-{number}"),
            "token_type": "Bearer", "expires_in": 3600}),
    );
}

impl State {
    fn rotate(&mut self) -> u64 {
        self.refresh += 1;
        self.access = Some(self.refresh);
        self.refresh
    }
}

fn mcp(state: &Mutex<State>, request: &Request, reply: &mut Reply<'_>) {
    let valid = lock(state).access.map(|number| format!("Bearer access-{number}"));
    if valid.is_none() || request.header("authorization") != valid.as_deref() {
        let challenge = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n";
        return reply.full(401, challenge, "");
    }
    match request.method() {
        "server/discover" => {
            let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
            reply.json(200, &request.answer(result));
        }
        "tools/list" => reply.json(200, &request.answer(tools())),
        "tools/call" => reply.json(200, &request.answer(said("echo"))),
        _ => reply.full(202, "", ""),
    }
}
