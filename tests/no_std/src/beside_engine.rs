//! The crates beside the engine: the supervisor, tools for a model, and a login.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use mcpwire_core::{Json, Timestamp, Tool};
use mcpwire_oauth::{
    BearerChallenge, Discovery, Entropy, Flow, Input, Login, OAuthSettings, Request, Response, UnixTime,
};
use mcpwire_supervisor::{
    Command, CommandId, Effect, Event, Failure, McpStatus, PackageKind, Policy, ServerId, ServerSpec, Supervisor,
    SupervisorSettings,
};
use mcpwire_tool_client::ModelTools;

/// Starts a server that cannot start. Returns the message that a host would show for the server.
pub(crate) fn supervise() -> Result<String, &'static str> {
    let now = Timestamp::ORIGIN;
    let mut supervisor = Supervisor::new(SupervisorSettings::default(), 7);
    let id = ServerId::from_random(1);
    supervisor.add(id, ServerSpec::new("files", Policy::new(PackageKind::Binary)), now).map_err(|_| "add")?;
    supervisor.command(id, CommandId(1), Command::Start, now);
    let mut refused = false;
    while let Some(action) = supervisor.poll_action() {
        match action {
            mcpwire_supervisor::Action::Perform { server, effect: Effect::Resolve { generation } } => {
                supervisor.event(server, generation, Event::Resolved, now);
            }
            mcpwire_supervisor::Action::Perform { server, effect: Effect::Launch { generation } } => {
                supervisor.event(server, generation, Event::Failed(Failure::missing_credentials(["TOKEN"])), now);
            }
            mcpwire_supervisor::Action::Reply { command: CommandId(1), result } => refused = result.is_err(),
            _ => {}
        }
    }
    match supervisor.status(id) {
        Some(McpStatus::Error { message }) if refused => Ok(message.to_string()),
        _ => Err("another status"),
    }
}

/// Returns the JSON of a tool, under a name that the API accepts.
pub(crate) fn convert() -> Result<String, &'static str> {
    let tool = Json::parse(r#"{"name":"files.read"}"#).map_err(|_| "parse")?;
    let tools = ModelTools::new([tool.decode::<Tool>().map_err(|_| "decode")?]);
    let json = Json::from_value(&tools.anthropic()).map_err(|_| "serialize")?;
    if json.get().contains(r#""name":"files_read""#) { Ok(json.get().into()) } else { Err("another name") }
}

/// Logs in: from a challenge to the URL at which the user logs in, and from the callback to a token. Returns the step that failed, if one did.
pub(crate) fn log_in() -> Result<(), &'static str> {
    let challenge = BearerChallenge::parse([r#"Bearer scope="read""#]);
    let settings = OAuthSettings::new("no-std", "http://127.0.0.1:1/callback").client_id("client");
    let discovered =
        run(Discovery::new("https://server.test/mcp", challenge.as_ref(), &settings)).ok_or("discovery")?;
    let login = Login::new(discovered, settings, None, Entropy::new([7; 32])).challenge(challenge.as_ref());
    let started = run(login).ok_or("login")?;
    let callback = format!("/callback?code=code&state={}", started.attempt.state.expose());
    let exchange = started.attempt.finish(&callback, None, Entropy::new([8; 32])).map_err(|_| "callback")?;
    let token = run(exchange).ok_or("token")?;
    if token.access_token.expose() == "token" { Ok(()) } else { Err("another token") }
}

fn run<F: Flow>(mut flow: F) -> Option<F::Output> {
    let now = UnixTime::from_secs(0);
    let mut action = flow.start(now).ok()?;
    loop {
        let input = match action {
            mcpwire_oauth::Action::Fetch(request) => Input::Response(answer(&request)),
            mcpwire_oauth::Action::Sign { .. } => return None,
            mcpwire_oauth::Action::Done(output) => return Some(output),
        };
        action = flow.resume(input, now).ok()?;
    }
}

/// Answers as a server of revision 2025-03-26, which has no metadata.
fn answer(request: &Request) -> Response {
    let (status, body) = match request.url.as_str() {
        "https://server.test/token" => (200, &br#"{"access_token":"token"}"#[..]),
        _ => (404, &b""[..]),
    };
    Response { status, headers: Vec::new(), body: body.to_vec() }
}
