//! The directories of configurations, secrets and logs, and the options of the tool's hubs.

use mcpwire_hub::layout::Layout;
use mcpwire_hub::{ConnectOptions, HubOptions};

use crate::args::{Options, Place};
use crate::failure::Failure;

/// The name of this program's directories below those of the user, such as `~/.config`.
const APPLICATION: &str = "mcpwire";
/// The environment variable with the directory of all files. `--config-dir` takes precedence.
const DIRECTORY: &str = "MCPWIRE_CONFIG_DIR";

/// Returns the directories of configurations, secrets and logs.
pub(crate) fn layout(place: &Place) -> Result<Layout, Failure> {
    let directory = place.config_dir.clone().or_else(|| std::env::var_os(DIRECTORY).map(Into::into));
    match directory {
        Some(directory) => Ok(Layout::below(std::path::absolute(&directory).unwrap_or(directory))),
        None => Layout::of_application(APPLICATION).ok_or_else(|| {
            Failure::usage("config_dir", "your home directory is not known: name a directory with --config-dir")
        }),
    }
}

/// A function that adds the handlers of requests to the options of a connection. Gets the name of the server.
pub(crate) type AddHandlers = Box<dyn Fn(&str, ConnectOptions) -> ConnectOptions + Send + Sync>;

/// Returns the options of a hub. Without `handlers`, requests of servers to the user are refused.
pub(crate) fn hub_options(layout: &Layout, options: &Options, handlers: Option<AddHandlers>) -> HubOptions {
    let (negotiate, max_message) = (options.protocol, options.max_message);
    HubOptions::new(layout.clone())
        .connect(move |config| {
            let mut connect = ConnectOptions::default().negotiate(negotiate);
            if let Some(most) = max_message {
                connect = connect.max_message_bytes(most);
            }
            match &handlers {
                Some(add) => add(config.name.trim(), connect),
                None => connect,
            }
        })
        // A call waits while its server starts, as for a server that the command itself starts.
        .policy(|_, policy| policy.call_wait_start = policy.first_start_timeout)
}
