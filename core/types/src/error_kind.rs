//! [`ErrorKind`]: the kinds of errors of all crates, for programs that act on them.

use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! error_kinds {
    ($($(#[$meta:meta])* $kind:ident = $name:literal,)*) => {
        /// The kinds of errors, for programs that act on them.
        ///
        /// The errors of the clients, of the hub and of `ToolClient` have the same kinds. The same failure of a server has the
        /// same kind, whichever of them reports it.
        ///
        /// *Clients* below are the clients of one server, such as `McpClient`. The *hub* manages many servers. An implementation
        /// of `ToolClient` reports the kinds of the client or hub that it uses.
        ///
        /// `Display`, `Serialize` and `Deserialize` use the kind's name in snake case, such as `tool_not_found`. A name that is
        /// not known, for example of a later version, is read as [`ErrorKind::Other`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$meta])* $kind,)*
        }

        impl ErrorKind {
            /// All kinds, in the order of their documentation.
            pub const ALL: &[ErrorKind] = &[$(ErrorKind::$kind),*];

            /// Returns the name of the kind in snake case.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(ErrorKind::$kind => $name,)*
                }
            }
        }
    };
}

error_kinds! {
    /// The process of the server could not be started: for example, its program does not exist or is not executable.
    ///
    /// Install the program, or correct the command, the working directory or the permissions. Reported by clients and the hub.
    Start = "start",
    /// The connection could not be opened: the server cannot be reached, ended at once, refused the client, or supports no
    /// protocol version of the client.
    ///
    /// The message says which. Check that the command or URL is that of an MCP server. Reported by clients and the hub.
    Connect = "connect",
    /// No response arrived in time, or the connection was not opened in time.
    ///
    /// A tool may have run. Allow more time, or call again if the tool may run twice. Reported by clients and the hub.
    Timeout = "timeout",
    /// The program cancelled the request, or the opening of the connection. For the hub also: the server was stopped or deleted
    /// before the request was complete, or a user did not finish a login.
    ///
    /// Nothing needs to be done. A tool may have run. Reported by clients and the hub.
    Cancelled = "cancelled",
    /// The server does not have the tool, or the hub's settings exclude the tool.
    ///
    /// List the tools again, and choose another. Reported by clients and the hub.
    ToolNotFound = "tool_not_found",
    /// The tool ran and failed, and the caller requested its text or structured content. The message contains the tool's text.
    ///
    /// Show the message to the model or the user. Reported by clients and the hub.
    Tool = "tool",
    /// The server responded with a JSON-RPC error, or with an HTTP status for which there is no other kind.
    ///
    /// `rpc_error()` has the code, the message and the data. The code -32602 usually means that the arguments of a tool call do
    /// not match the tool's schema: correct them. Reported by clients and the hub.
    Server = "server",
    /// The server requires credentials, or rejected those of the request (HTTP status 401, 403 or 407), and the client cannot
    /// get other credentials by a login. Or the program provided no token.
    ///
    /// Configure a token or another header. Reported by clients and the hub.
    Unauthorized = "unauthorized",
    /// A user must log in to the server before the request can succeed.
    ///
    /// Start a login, then repeat the request. Reported by clients and the hub.
    LoginRequired = "login_required",
    /// A limit allows no further request now: a limit of the server (HTTP status 429), of the client (requests in flight, bytes to
    /// be sent), or the hub's rate limit for the server. The tool did not run.
    ///
    /// Wait as long as `retry_after()` says, if it is known, and repeat the request. Reported by clients and the hub.
    RateLimited = "rate_limited",
    /// The server, or a service or file that the request requires, is temporarily not available: for example HTTP status 408, 425
    /// or 500 to 599, an authorization server that issues no token now, Docker, or a full disk.
    ///
    /// Repeat the request later. Reported by clients and the hub.
    Unavailable = "unavailable",
    /// No MCP server is at this URL (HTTP status 404, 405 or 410).
    ///
    /// Correct the URL. Reported by clients and the hub.
    EndpointNotFound = "endpoint_not_found",
    /// The server required input for the request, and the program's handler did not provide it.
    ///
    /// Set a handler for such requests, or correct it. Reported by clients and the hub.
    Input = "input",
    /// The server's response violates the protocol, or is not MCP.
    ///
    /// Report it to the authors of the server. The message contains an excerpt. Reported by clients and the hub.
    Protocol = "protocol",
    /// The connection has ended: the server ended, closed its output, or the client was shut down. A tool may have run.
    ///
    /// Connect again. The message contains the exit status and last output of the server's process, if there is one. The hub
    /// starts the server again by itself. Reported by clients and the hub.
    Closed = "closed",
    /// The HTTP request could not be made, or its network connection was lost. Other requests may succeed. A tool may have run.
    ///
    /// Check the network, and call again if the tool may run twice. Reported by clients and the hub.
    Network = "network",
    /// The program used the client incorrectly: the call is invalid in this state of the connection, its parameters are invalid
    /// or too large, or the client lacks a setting that the server needs.
    ///
    /// Correct the program. The request was not sent. Reported by clients and the hub.
    Usage = "usage",
    /// No configured server has this name or id.
    ///
    /// List the configured servers. Reported by the hub.
    ServerNotFound = "server_not_found",
    /// The package or image of the server does not exist in its registry.
    ///
    /// Correct the name or version of the package. Reported by the hub, which reads the output of package managers.
    PackageNotFound = "package_not_found",
    /// A file, or something else that the request names, does not exist.
    ///
    /// The message names it. Reported by the hub.
    NotFound = "not_found",
    /// The configuration of a server, or another input of the user, is invalid.
    ///
    /// Correct it: `field()` names the setting. Reported by the hub.
    InvalidConfiguration = "invalid_configuration",
    /// A value that the server requires is missing, such as an API key.
    ///
    /// Set it: `field()` names the variable or header. Reported by the hub.
    MissingValue = "missing_value",
    /// The server is disabled in the hub's configuration.
    ///
    /// Enable it. Reported by the hub.
    Disabled = "disabled",
    /// The user has not agreed to what the server starts.
    ///
    /// Show the command or URL to the user, and pass on the consent. Reported by the hub.
    NeedsConsent = "needs_consent",
    /// The program, or the person that it asked, did not allow the tool call. If the program decided after the call, the tool has
    /// run.
    ///
    /// Tell the model, and do not repeat the call. Reported by the hub.
    Denied = "denied",
    /// The operation conflicts with the current state. For example, the name is in use, or the configuration has changed.
    ///
    /// Read the state again, then decide. Reported by the hub.
    Conflict = "conflict",
    /// The server does not run: it was stopped, has failed, or is restarted later. The tool did not run.
    ///
    /// The message says why, also if the start has failed. Start the server, or wait as long as `retry_after()` says. The start
    /// reports the kind of its own failure, such as [`ErrorKind::Start`]. Reported by the hub.
    NotRunning = "not_running",
    /// The server is still starting. The tool did not run.
    ///
    /// Try again in a moment. Reported by the hub.
    Starting = "starting",
    /// The hub is shutting down, or has ended.
    ///
    /// Start another hub. Reported by the hub.
    ShuttingDown = "shutting_down",
    /// This implementation does not support the operation.
    ///
    /// Use another implementation. Reported by implementations of the hub's trait `McpService`.
    Unsupported = "unsupported",
    /// Any failure that no other kind describes.
    ///
    /// Show the message. Reported by other implementations of `ToolClient`, and for kinds of a later version.
    #[serde(other)]
    Other = "other",
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    #[test]
    fn a_kind_is_read_as_it_is_written_and_an_unknown_one_as_other() {
        for kind in ErrorKind::ALL {
            let json = serde_json::to_string(kind).unwrap();
            assert_eq!(json, format!("\"{kind}\""));
            assert_eq!(serde_json::from_str::<ErrorKind>(&json).unwrap(), *kind);
        }
        assert_eq!(serde_json::from_str::<ErrorKind>("\"of_tomorrow\"").unwrap(), ErrorKind::Other);
        assert!(serde_json::from_str::<ErrorKind>("1").is_err());
    }

    #[test]
    fn the_name_of_a_kind_is_that_of_its_variant_in_snake_case() {
        for kind in ErrorKind::ALL {
            let mut name = String::new();
            for c in format!("{kind:?}").chars() {
                if c.is_ascii_uppercase() && !name.is_empty() {
                    name.push('_');
                }
                name.push(c.to_ascii_lowercase());
            }
            assert_eq!(kind.as_str(), name);
        }
    }
}
