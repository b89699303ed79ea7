//! The hub that commands use for configured servers: the running hub (`mcpwire hub run`), or else a hub in the process of the
//! command. This file finds the configuration: its directories, the configured servers, and the options for opening a hub.

mod advice;
mod handle;
mod notices;
mod platform;
mod protocol;
mod questions;
mod server;
mod service;
mod socket;

use mcpwire_hub::config::{McpConfig, folded};
use mcpwire_hub::layout::Layout;
use mcpwire_hub::store::Store;
use mcpwire_hub::{ConnectOptions, HubError, HubOptions};
use mcpwire_tokio::protocol::LoggingLevel;

pub(crate) use self::advice::{
    advice, changed_tool, is_starting, not_started, refusal, secret_command, sentence, server_command, start_advice,
    starting, still_starting,
};
pub(crate) use self::handle::{HubHandle, Previews, update_approved};
pub(crate) use self::notices::{Notice, OnNotice, listen, task};
pub(crate) use self::platform::{detach, leave_session};
pub(crate) use self::protocol::{Answer, Answerer, Asked, CallMode, Called, Request, Row, are_accepted, decoded};
pub(crate) use self::server::serve;
pub(crate) use self::service::{exposed_tools, lacks_tools, unknown_tool};
pub(crate) use self::socket::is_hub_running;
use crate::args::{Options, Place};
use crate::failure::Failure;
use crate::text;

/// Name of the directory in which this program keeps its files, below a directory of the user such as `~/.config`.
const APPLICATION: &str = "mcpwire";
/// Environment variable that names the directory of configuration, secrets and logs. The option `--config-dir` takes
/// precedence.
const DIRECTORY: &str = "MCPWIRE_CONFIG_DIR";

/// Returns the directories of configuration, secrets and logs. They are below `--config-dir` or `MCPWIRE_CONFIG_DIR`, or else
/// the usual directories of the user.
pub(crate) fn layout(place: &Place) -> Result<Layout, Failure> {
    let directory = place.config_dir.clone().or_else(|| std::env::var_os(DIRECTORY).map(Into::into));
    match directory {
        Some(directory) => Ok(Layout::below(std::path::absolute(&directory).unwrap_or(directory))),
        None => Layout::of_application(APPLICATION).ok_or_else(|| {
            Failure::usage("config_dir", "your home directory is not known: name a directory with --config-dir")
        }),
    }
}

/// A function that adds handlers for requests of a server, such as elicitation, to the options of the connection. Its first
/// parameter is the name of the server.
pub(crate) type AddHandlers = Box<dyn Fn(&str, ConnectOptions) -> ConnectOptions + Send + Sync>;

/// Returns the options for opening a hub. Without `handlers`, the hub refuses requests of servers to the user, such as
/// elicitation.
pub(crate) fn hub_options(layout: &Layout, options: &Options, handlers: Option<AddHandlers>) -> HubOptions {
    let (negotiate, max_message, timeout) = (options.protocol, options.max_message, options.timeout);
    HubOptions::new(layout.clone())
        .connect(move |config| {
            let mut connect = ConnectOptions::default().negotiate(negotiate).log_level(LoggingLevel::Info);
            if let Some(most) = max_message {
                connect = connect.max_message_bytes(most);
            }
            match &handlers {
                Some(add) => add(config.name.trim(), connect),
                None => connect,
            }
        })
        // A tool call waits as long for its server as the first start of the server may take.
        .policy(move |_, policy| {
            if let Some(limit) = timeout {
                // `--timeout` limits the start too.
                for time in [
                    &mut policy.launch_timeout,
                    &mut policy.negotiate_timeout,
                    &mut policy.first_start_timeout,
                    &mut policy.list_timeout,
                ] {
                    *time = (*time).min(limit);
                }
            }
            policy.call_wait_start = policy.first_start_timeout;
        })
}

/// Returns the configured servers in `servers.json`, without the entries that cannot be read.
pub(crate) fn configured(layout: &Layout) -> Result<Vec<McpConfig>, HubError> {
    Ok(Store::new(layout.servers()).load()?.configs)
}

/// Returns the configured server with this name or id.
pub(crate) fn find_configured(layout: &Layout, server: &str) -> Result<McpConfig, HubError> {
    find_in(configured(layout)?, server)
}

/// Returns the configuration whose name or id is `server`. The error for an unknown server suggests a similar name.
pub(crate) fn find_in(configs: Vec<McpConfig>, server: &str) -> Result<McpConfig, HubError> {
    let name = folded(server);
    let names: Vec<String> = configs.iter().map(|config| config.name.trim().to_owned()).collect();
    let is_it = |config: &McpConfig| config.folded_name() == name || server.parse() == Ok(config.id);
    configs.into_iter().find(is_it).ok_or_else(|| {
        let instead = match text::nearest(server, names.iter().map(|name| (name.as_str(), name))) {
            Some(nearest) => format!("Did you mean `{nearest}`?"),
            None if names.is_empty() => "None is configured. Add one: mcpwire server add --help".to_owned(),
            None => format!("Configured servers: {}", names.join(", ")),
        };
        HubError::not_found("server", format!("no server is called `{server}`. {instead}"))
    })
}
