//! The hub that commands use for configured servers: the running hub (`mcpwire hub run`), or else a hub in the process of the
//! command.

mod advice;
#[cfg_attr(not(unix), path = "client_elsewhere.rs")]
mod client;
mod handle;
mod options;
mod previews;
mod protocol;
#[cfg(unix)]
mod server;
mod service;
#[cfg(unix)]
mod socket;

pub(crate) use self::advice::{
    advice, changed_tool, enable_command, not_started, restart_command, sentence, start_advice, with_login_command,
    word,
};
pub(crate) use self::handle::{HubHandle, InProcess, runtime};
#[cfg(unix)]
pub(crate) use self::options::hub_options;
pub(crate) use self::options::layout;
pub(crate) use self::previews::{Previewed, Previews};
pub(crate) use self::protocol::{Request, Row};
#[cfg(unix)]
pub(crate) use self::server::serve;
pub(crate) use self::service::{HubService, find_in, lacks_tools, unknown_tool};
