//! The hub that commands use for configured servers: the running hub (`mcpwire hub run`), or else a hub in the process of the
//! command.

mod advice;
mod client;
mod configuration;
mod handle;
mod previews;
mod protocol;
#[cfg(unix)]
mod server;
mod service;
#[cfg(unix)]
mod socket;

pub(crate) use self::advice::{
    advice, changed_tool, enable_command, not_started, restart_command, sentence, start_advice, with_login_command,
};
pub(crate) use self::client::Client;
#[cfg(unix)]
pub(crate) use self::configuration::hub_options;
pub(crate) use self::configuration::{configured, find_configured, find_in, layout};
pub(crate) use self::handle::{HubHandle, Previews};
pub(crate) use self::protocol::{Request, Row};
#[cfg(unix)]
pub(crate) use self::server::serve;
pub(crate) use self::service::{lacks_tools, unknown_tool};
