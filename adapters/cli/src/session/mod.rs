//! [`Session`]: the server or servers of one command.

mod calls;
mod configured;
mod definition;
mod direct;
mod direct_calls;
mod requests;
mod trace;

use mcpwire_blocking::protocol::Json;

pub(crate) use self::calls::{CallMode, Called, ListedTools};
pub(crate) use self::configured::{Configured, warn_of_changes};
pub(crate) use self::direct::{Direct, Listener};
use crate::args::{Options, Target};
use crate::console::Console;
use crate::failure::Failure;

/// The server or servers of a command: one server, connected directly, or the configured servers, through a hub.
pub(crate) enum Session<'a> {
    Direct(Box<Direct<'a>>),
    Configured(Configured<'a>),
}

impl<'a> Session<'a> {
    /// Prepares the connection to the server of the command line, or opens the hub.
    pub(crate) fn start(target: &Target, options: &'a Options) -> Result<Self, Failure> {
        let console = Console::new(options);
        if target.is_configured() {
            return Configured::open(target, options, console).map(Session::Configured);
        }
        Direct::start(target, options, console, None).map(|direct| Session::Direct(Box::new(direct)))
    }

    /// Lists the tools, under the names for [`Session::call`].
    pub(crate) fn list_tools(&mut self) -> Result<ListedTools, Failure> {
        match self {
            Session::Direct(direct) => direct.open().and_then(|_| direct.list_tools()),
            Session::Configured(configured) => configured.list_tools(),
        }
    }

    /// Calls a tool. A failure contains a suggestion, if there is one.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure> {
        match self {
            Session::Direct(direct) => direct.open().and_then(|_| direct.call(tool, arguments, mode)),
            Session::Configured(configured) => configured.call(tool, arguments, mode),
        }
    }

    pub(crate) fn console(&self) -> &Console {
        match self {
            Session::Direct(direct) => &direct.console,
            Session::Configured(configured) => &configured.console,
        }
    }

    /// Ends the servers that the command has started.
    pub(crate) fn close(self) {
        match self {
            Session::Direct(direct) => drop(direct.close()),
            Session::Configured(configured) => configured.close(),
        }
    }
}
