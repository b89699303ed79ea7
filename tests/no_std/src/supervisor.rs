//! The supervisor starts a server that cannot start, and says why.

use alloc::string::{String, ToString};

use mcpwire_core::Timestamp;
use mcpwire_supervisor::{
    Action, Command, CommandId, Effect, Event, Failure, McpStatus, PackageKind, Policy, ServerId, ServerSpec,
    Supervisor, SupervisorSettings,
};

/// Returns the message that a host would show for the server.
pub(crate) fn drive() -> Result<String, &'static str> {
    let now = Timestamp::ORIGIN;
    let mut supervisor = Supervisor::new(SupervisorSettings::default(), 7);
    let id = ServerId::from_random(1);
    supervisor.add(id, ServerSpec::new("files", Policy::new(PackageKind::Binary)), now).map_err(|_| "add")?;
    supervisor.command(id, CommandId(1), Command::Start, now);
    let mut refused = false;
    while let Some(action) = supervisor.poll_action() {
        match action {
            Action::Perform { server, effect: Effect::Resolve { generation } } => {
                supervisor.event(server, generation, Event::Resolved, now);
            }
            Action::Perform { server, effect: Effect::Launch { generation } } => {
                supervisor.event(server, generation, Event::Failed(Failure::missing_credentials(["TOKEN"])), now);
            }
            Action::Reply { command: CommandId(1), result } => refused = result.is_err(),
            _ => {}
        }
    }
    match supervisor.status(id) {
        Some(McpStatus::Error { message }) if refused => Ok(message.to_string()),
        _ => Err("another status"),
    }
}
