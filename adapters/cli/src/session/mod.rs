//! [`Session`]: the connection of a command to its server or servers.

mod configured;
mod definition;
mod direct;
mod requests;
mod trace;

use mcpwire_tokio::protocol::Json;

pub(crate) use self::configured::{Configured, warn_of_changes};
pub(crate) use self::direct::{CallMode, Called, Direct, ListedTools, Listener};
use crate::args::{Options, Target};
use crate::console::Console;
use crate::failure::Failure;
use crate::login::ServerLogin;

/// The connection of a command to one server (`Direct`), or to the configured servers through a hub (`Configured`).
pub(crate) enum Session<'a> {
    Direct(Box<Direct<'a>>),
    Configured(Configured<'a>),
}

impl<'a> Session<'a> {
    /// Prepares the connection to the server that the command line names. If the command uses configured servers, opens a hub.
    pub(crate) fn start(target: &Target, options: &'a Options) -> Result<Self, Failure> {
        let console = Console::new(options);
        if target.is_configured() {
            return Configured::open(target, options, console).map(Session::Configured);
        }
        Direct::start(target, options, console, None).map(|direct| Session::Direct(Box::new(direct)))
    }

    /// Lists the available tools. [`Session::call`] accepts the names in the list.
    pub(crate) fn list_tools(&mut self) -> Result<ListedTools, Failure> {
        match self {
            Session::Direct(direct) => direct.open().and_then(|_| direct.list_tools()),
            Session::Configured(configured) => configured.list_tools(),
        }
    }

    /// Calls a tool. If the call fails, the failure may contain a suggestion for the user.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure> {
        match self {
            Session::Direct(direct) => direct.open().and_then(|_| direct.call(tool, arguments, mode)),
            Session::Configured(configured) => configured.call(tool, arguments, mode),
        }
    }

    /// Takes the login of the server from the session, to let the user log in. Returns `None` for servers of a hub, and for
    /// servers that cannot have a login.
    pub(crate) fn take_login(&mut self) -> Option<ServerLogin> {
        match self {
            Session::Direct(direct) => direct.login.take(),
            Session::Configured(_) => None,
        }
    }

    pub(crate) fn console(&self) -> &Console {
        match self {
            Session::Direct(direct) => &direct.console,
            Session::Configured(configured) => &configured.handle.console,
        }
    }

    /// Ends the servers that this command has started. Servers of the running hub continue to run.
    pub(crate) fn close(self) {
        match self {
            Session::Direct(direct) => drop(direct.close()),
            Session::Configured(configured) => drop(configured),
        }
    }
}
