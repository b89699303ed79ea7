//! Configured servers: `mcpwire server`, `secret`, `status`, `hub`, and `tools` and `call` where no other server is named.

mod advice;
pub(crate) mod args;
mod call;
mod doctor;
mod link;
mod requests;
mod secret;
mod serve;
mod servers;
mod status;

use mcpwire_hub::layout::Layout;
use mcpwire_hub::{ConnectOptions, HubError, HubOptions};

use self::args::{HubCommand, Place};
use self::link::Link;
use crate::args::{Command, Options};
use crate::failure::Failure;

/// The name under which this program keeps its things.
const APPLICATION: &str = "mcpwire";
/// The variable that says where, if no option does.
const DIRECTORY: &str = "MCPWIRE_CONFIG_DIR";

/// Runs a command about configured servers and says the exit status; `None` if it is about another server.
pub(crate) fn run(command: &Command, options: &Options) -> Option<u8> {
    let done = match command {
        Command::Server { command, place } => servers::run(command, place, options),
        Command::Secret { command, place } => secret::run(command, place, options),
        Command::Status { watch, place } => status::run(*watch, place, options),
        Command::Hub { command: HubCommand::Run, place } => serve::run(place, options),
        Command::Hub { command: HubCommand::Reload, place } => {
            servers::of_hub(requests::Request::Reload, place, options).map(|()| 0)
        }
        Command::Tools { configured, connection } if connection.is_none() => call::list(configured, options),
        Command::Call { tool, arguments, save, task, detach, configured, connection } if connection.is_none() => {
            if *task || *detach {
                Err(Failure::usage("task", "a call by the name over all servers is waited for: leave --task out"))
            } else {
                call::run(tool, arguments.as_deref(), save.directory.as_deref(), configured, options)
            }
        }
        _ => return None,
    };
    Some(done.unwrap_or_else(|failure| {
        failure.report(options.json);
        failure.exit()
    }))
}

/// Where configurations, secrets and logs are.
fn layout(place: &Place) -> Result<Layout, Failure> {
    let directory = place.config_dir.clone().or_else(|| std::env::var_os(DIRECTORY).map(Into::into));
    match directory {
        Some(directory) => Ok(Layout::below(std::path::absolute(&directory).unwrap_or(directory))),
        None => Layout::of_application(APPLICATION).ok_or_else(|| {
            Failure::usage("config_dir", "it is not known where your files are: say it by --config-dir")
        }),
    }
}

fn hub_options(layout: &Layout, options: &Options) -> HubOptions {
    let (negotiate, max_message) = (options.protocol, options.max_message);
    HubOptions::new(layout.clone())
        .connect(move |_| {
            let mut connect = ConnectOptions::default();
            connect = connect.negotiate(negotiate);
            match max_message {
                Some(most) => connect.max_message_bytes(most),
                None => connect,
            }
        })
        // Whoever calls a tool while its server starts waits for that, as without a hub.
        .policy(|_, policy| policy.call_wait_start = policy.first_start_timeout)
}

/// A connection to the running hub, or a hub of this command's own.
fn link(place: &Place, options: &Options) -> Result<Link, Failure> {
    let layout = layout(place)?;
    Link::open(&layout, options.json, || hub_options(&layout, options)).map_err(of)
}

/// As the failure of a command.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn of(error: HubError) -> Failure {
    Failure::of_contract(&error)
}
