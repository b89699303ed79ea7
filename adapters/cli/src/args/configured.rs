//! The arguments of the commands that manage configured servers: `server`, `secret` and `hub`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Subcommand};
use mcpwire_hub::import::Dialect;

use super::target::TlsArgs;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Add a server: a command, a package, an image or a URL
    #[command(
        override_usage = "mcpwire server add [OPTIONS] NAME (--npm PACKAGE | --pypi PACKAGE | --docker IMAGE | --url URL | -- COMMAND [ARG]...)",
        group = ArgGroup::new("package").args(["npm", "pypi", "docker", "url", "program"]).required(true),
        after_help = "Examples:\n  \
            mcpwire server add things --npm @modelcontextprotocol/server-everything\n  \
            mcpwire server add notes --secret NOTES_TOKEN -- ./notes-server --read-only\n  \
            mcpwire server add search --url https://example.com/mcp"
    )]
    Add(Box<AddServer>),
    /// Import servers from another client's configuration
    #[command(after_help = "Examples:\n  \
        mcpwire server import ~/.cursor/mcp.json\n  \
        mcpwire server import .vscode/mcp.json --folder . --trust")]
    Import {
        /// The configuration file
        file: PathBuf,
        /// Client that the configuration file belongs to [default: detected]
        #[arg(long, value_name = "CLIENT", value_parser = client())]
        from: Option<Dialect>,
        /// Import the servers of this project folder, and use the folder for ${workspaceFolder}
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Approve the commands of all imported servers without being asked
        #[arg(long)]
        trust: bool,
    },
    /// List the configured servers
    List,
    /// Show the configuration of a server, with the command or URL that it uses
    Show {
        /// Name or id of the server
        server: String,
    },
    /// Approve and enable servers, and check that they start
    #[command(after_help = "Examples:\n  mcpwire server enable notes\n  mcpwire server enable --all --trust")]
    Enable {
        /// Names or ids of the servers
        #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "SERVER")]
        servers: Vec<String>,
        /// Enable all servers
        #[arg(long)]
        all: bool,
        /// Approve the commands of the servers without being asked
        #[arg(long)]
        trust: bool,
    },
    /// Stop servers, and keep them from being started
    Disable {
        /// Names or ids of the servers
        #[arg(required = true, value_name = "SERVER")]
        servers: Vec<String>,
    },
    /// Start a server of the running hub
    Start {
        /// Name or id of the server
        server: String,
    },
    /// Stop a server of the running hub
    Stop {
        /// Name or id of the server
        server: String,
    },
    /// Restart a server of the running hub
    Restart {
        /// Name or id of the server
        server: String,
    },
    /// Remove a server with its secrets and logs
    Remove {
        /// Name or id of the server
        server: String,
    },
    /// Show what a server wrote on stderr
    Logs {
        /// Name or id of the server
        server: String,
        /// Maximum number of lines
        #[arg(long, value_name = "N", default_value_t = 100)]
        lines: usize,
    },
    /// Start all enabled servers, and explain what is wrong with the servers that fail
    Doctor,
}

/// The arguments of `mcpwire server add`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AddServer {
    /// A name for the server
    pub(crate) name: String,
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
    /// Set this environment variable from a stored secret, see `mcpwire secret set`; can be repeated
    #[arg(long = "secret", value_name = "NAME")]
    pub(crate) secrets: Vec<String>,
    /// Start the server only when one of its tools is called
    #[arg(long)]
    pub(crate) lazy: bool,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    /// The command with its arguments; with --npm, --pypi or --docker, only the arguments
    #[arg(last = true, id = "program", value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
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
        /// Name of the environment variable
        name: String,
    },
    /// List the names of a server's stored secrets, and of its missing secrets
    List {
        /// Name or id of the server
        server: String,
    },
    /// Remove a secret of a server
    Remove {
        /// Name or id of the server
        server: String,
        /// Name of the environment variable
        name: String,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum HubCommand {
    /// Run all enabled servers until Ctrl-C, and share them with other commands
    Run,
    /// Read servers.json again, and restart the servers whose configuration has changed
    Reload,
}
