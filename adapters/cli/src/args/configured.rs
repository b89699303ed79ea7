//! The arguments of the commands that manage configured servers and logins: `server`, `secret`, `hub`, `login`, `logout` and
//! `whoami`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Subcommand};
use mcpwire_hub::import::Dialect;

use super::target::{Place, TlsArgs};

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Add a server: a command, a package, an image or a URL
    #[command(
        override_usage = "mcpwire server add [OPTIONS] [NAME] (URL | (--npm PACKAGE | --pypi PACKAGE | --docker IMAGE) [-- ARG...] | -- COMMAND [ARG]...)",
        group = ArgGroup::new("package").args(["npm", "pypi", "docker", "url", "address"]),
        after_help = "Examples:\n  \
            mcpwire server add things --npm @modelcontextprotocol/server-everything\n  \
            mcpwire server add notes --secret NOTES_TOKEN -- ./notes-server --read-only\n  \
            mcpwire server add search https://example.com/mcp\n  \
            mcpwire server add -- uvx --from git+https://github.com/oraios/serena serena start-mcp-server"
    )]
    Add(Box<AddServer>),
    /// Import servers from the configuration of other clients
    #[command(after_help = "Examples:\n  \
        mcpwire server import ~/.cursor/mcp.json\n  \
        mcpwire server import .vscode/mcp.json --folder . --trust\n  \
        mcpwire server import --all")]
    Import(ImportServers),
    /// List the configured servers
    List,
    /// Show the configuration of a server, with the command or URL that it uses
    Show(ServerName),
    /// Approve and enable servers, and check that they start
    #[command(
        after_help = "Examples:\n  mcpwire server enable notes\n  mcpwire server enable --all\n  mcpwire server enable --all --yes"
    )]
    Enable {
        /// Names or ids of the servers
        #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "SERVER")]
        servers: Vec<String>,
        /// Enable all servers
        #[arg(long)]
        all: bool,
        /// Approve the commands of the servers without being asked
        #[arg(long, visible_alias = "yes")]
        trust: bool,
    },
    /// Stop servers, and keep them from being started
    Disable {
        /// Names or ids of the servers
        #[arg(required = true, value_name = "SERVER")]
        servers: Vec<String>,
    },
    /// Start a server of the running hub
    Start(ServerName),
    /// Stop a server of the running hub
    Stop(ServerName),
    /// Restart a server of the running hub
    Restart(ServerName),
    /// Remove servers with their secrets and logs
    Remove {
        /// Names or ids of the servers
        #[arg(required = true, value_name = "SERVER")]
        servers: Vec<String>,
    },
    /// Show the last lines that a server wrote on stderr
    Logs {
        /// Name or id of the server
        server: String,
        /// Show at most this number of lines
        #[arg(long, value_name = "N", default_value_t = 100)]
        lines: usize,
    },
    /// Start all enabled servers, and explain what is wrong with the servers that fail
    Doctor,
}

/// The argument that selects a configured server.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(crate) struct ServerName {
    /// Name or id of the server
    pub(crate) server: String,
}

/// The arguments of `mcpwire server add`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AddServer {
    /// Name by which other commands select the server [default: that of the package, the program or the host]
    pub(crate) name: Option<String>,
    /// Connect to this URL over HTTP, as with --url
    #[arg(value_name = "URL", id = "address")]
    pub(crate) address: Option<String>,
    /// Run this npm package with npx
    #[arg(long, value_name = "PACKAGE")]
    pub(crate) npm: Option<String>,
    /// Run this package of the Python index with uvx
    #[arg(long, value_name = "PACKAGE")]
    pub(crate) pypi: Option<String>,
    /// Run this container image with docker
    #[arg(long, value_name = "IMAGE")]
    pub(crate) docker: Option<String>,
    /// Connect to this URL over HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Set the environment variable NAME from the secret NAME, see `mcpwire secret set`; can be repeated
    #[arg(long = "secret", value_name = "NAME")]
    pub(crate) secrets: Vec<String>,
    /// Start the server only when one of its tools is called
    #[arg(long)]
    pub(crate) lazy: bool,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    /// The command with its arguments; with --npm, --pypi or --docker, only the arguments
    #[arg(
        last = true,
        id = "program",
        value_name = "COMMAND",
        conflicts_with_all = ["url", "address"]
    )]
    pub(crate) command: Vec<String>,
}

/// The arguments of `mcpwire server import`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ImportServers {
    /// The configuration file
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) file: Option<PathBuf>,
    /// Find the configuration files of all known clients, and show which servers they have; with --yes, import these servers
    #[arg(long)]
    pub(crate) all: bool,
    /// With --all, import the servers
    #[arg(long, requires = "all")]
    pub(crate) yes: bool,
    /// Client that the configuration file belongs to [default: detected; with --all, every client]
    #[arg(long, value_name = "CLIENT", value_parser = client())]
    pub(crate) from: Option<Dialect>,
    /// Import the servers of this project folder, and use the folder for ${workspaceFolder}
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Import the servers, and approve their commands without being asked
    #[arg(long)]
    pub(crate) trust: bool,
}

/// Returns the parser for the names of clients whose configuration files can be imported. The names that earlier versions of
/// this tool used are accepted too.
fn client() -> impl TypedValueParser<Value = Dialect> {
    let value = |dialect: Dialect| {
        let value = PossibleValue::new(dialect.name());
        match dialect {
            Dialect::VsCode => value.alias("vs-code"),
            Dialect::GeminiCli => value.alias("gemini-cli"),
            Dialect::CodexToml => value.alias("codex-toml"),
            _ => value,
        }
    };
    let named = move |name: String| {
        let found = Dialect::ALL.into_iter().find(|dialect| value(*dialect).matches(&name, false));
        found.ok_or("unknown client")
    };
    PossibleValuesParser::new(Dialect::ALL.map(value)).try_map(named)
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Set a secret of a server; reads the value from stdin, or asks for it at a terminal
    #[command(after_help = "Examples:\n  \
        mcpwire secret set notes NOTES_TOKEN\n  \
        pass show notes | mcpwire secret set notes NOTES_TOKEN")]
    Set {
        /// Name or id of the server
        server: String,
        /// Name of the secret, such as `NOTES_TOKEN`
        name: String,
    },
    /// List the names of a server's stored secrets, and of its missing secrets
    List(ServerName),
    /// Remove a secret of a server
    Remove {
        /// Name or id of the server
        server: String,
        /// Name of the secret
        name: String,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum HubCommand {
    /// Run all enabled servers until Ctrl-C, and share them with other commands
    Run {
        /// Leave the session of the terminal, so that the hub goes on when the terminal is closed
        #[arg(long, hide = true)]
        own_session: bool,
    },
    /// Run all enabled servers in the background, until `mcpwire hub stop`
    Start,
    /// End the running hub and its servers (exit status 0 also if no hub is running)
    Stop,
    /// End the running hub, and start it in the background
    Restart,
    /// Let commands start the hub in the background when they need a configured server, or no longer
    #[command(after_help = "Examples:\n  mcpwire hub auto on\n  mcpwire hub auto off")]
    Auto {
        /// `on` or `off`
        #[arg(value_name = "on|off", value_parser = PossibleValuesParser::new(["on", "off"]).map(|word| word == "on"), action = clap::ArgAction::Set)]
        on: bool,
    },
    /// Show whether a hub is running; if not, the exit status is 3
    Status,
    /// Show the last lines of the log of the hub in the background
    Logs {
        /// Go on with new lines until Ctrl-C
        #[arg(short, long)]
        follow: bool,
        /// Show at most this number of lines
        #[arg(long, value_name = "N", default_value_t = 100)]
        lines: usize,
    },
    /// Print a unit that starts the hub with your session, for systemd, launchd or the registry of Windows
    Service {
        /// The program that starts services [default: that of this system]
        #[arg(value_name = "MANAGER")]
        manager: Option<Manager>,
    },
    /// Read servers.json again, and restart the servers whose configuration has changed
    Reload,
}

/// A program that starts the services of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Manager {
    Systemd,
    Launchd,
    Registry,
}

impl Manager {
    /// The manager of services of this operating system.
    pub(crate) const USUAL: Manager = if cfg!(windows) {
        Manager::Registry
    } else if cfg!(target_vendor = "apple") {
        Manager::Launchd
    } else {
        Manager::Systemd
    };
}

/// The arguments that select a login: the server and the account.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct LoginPlace {
    /// Name or id of a configured server
    #[arg(id = "configured", value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Use the server at this URL, over HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Name the account, to keep several logins to one server [default: the account in the server's configuration, or none]
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) account: Option<String>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// The arguments of `mcpwire login`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(crate) struct LoginArgs {
    /// Log in with a browser on any machine: print the URL of the login page, and read the address of the last page, which you
    /// paste
    #[arg(long, conflicts_with = "device")]
    pub(crate) no_browser: bool,
    /// Log in on another device: print a code to enter there, and wait until you have logged in
    #[arg(long)]
    pub(crate) device: bool,
    /// Start over: forget a login that was interrupted, and register with the authorization server again
    #[arg(long)]
    pub(crate) restart: bool,
    /// Request this OAuth scope instead of the scopes that the server asks for; can be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    // This field is the last one, because its help heading applies to all options that follow.
    #[command(flatten)]
    pub(crate) login: LoginPlace,
}

/// The options of `mcpwire login` for the OAuth client that the login uses at the authorization server, such as `--client-id`.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct ClientArgs {
    /// Redirect the browser to this address of this machine after the login
    #[arg(
        long,
        value_name = "URI",
        conflicts_with = "device",
        help = "Send the browser to this address of this machine at the end, such as http://localhost:3118/callback; \
            without a port, a free one [default: the address in the server's configuration, or http://127.0.0.1/callback]"
    )]
    pub(crate) redirect_uri: Option<String>,
    /// Use the client with this id, which is registered with the authorization server, instead of registering one
    #[arg(long, value_name = "ID", requires = "url")]
    pub(crate) client_id: Option<String>,
    /// Read the secret of --client-id from this environment variable
    #[arg(long, value_name = "NAME", requires = "client_id")]
    pub(crate) client_secret_env: Option<String>,
    /// Send the secret of --client-id by this method [default: the first that the authorization server lists]
    #[arg(long, value_name = "METHOD", requires = "client_secret_env", value_parser = ["client_secret_basic", "client_secret_post"])]
    pub(crate) client_auth_method: Option<String>,
    /// Send the secret of the client only to this authorization server, which has issued the secret. For a configured server, the
    /// URL is stored as `oauth.issuer`
    #[arg(long, value_name = "URL")]
    pub(crate) issuer: Option<String>,
}
