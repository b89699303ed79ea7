//! What can be asked about configured servers, and in which words.

use std::path::PathBuf;

use clap::{ArgGroup, Subcommand};

/// Where the configuration is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Place {
    /// Keep configurations, secrets and logs below DIR [default: the usual directories of this user]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
}

/// Which of the configured servers, where no other server is named.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Configured {
    /// Only this one of the configured servers
    #[arg(long = "server", id = "configured", value_name = "NAME", conflicts_with_all = ["demo", "url", "command"])]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Configure a server: a command, a package, an image or an address; a running hub starts it
    #[command(
        override_usage = "mcpwire server add [OPTIONS] NAME (--npm PACKAGE | --pypi PACKAGE | --docker IMAGE | --url URL | -- COMMAND [ARG]...)",
        group = ArgGroup::new("package").args(["npm", "pypi", "docker", "address", "program"]).required(true)
    )]
    Add {
        /// What to call it
        name: String,
        /// A package of npm, run by npx
        #[arg(long, value_name = "PACKAGE")]
        npm: Option<String>,
        /// A package of the Python index, run by uvx
        #[arg(long, value_name = "PACKAGE")]
        pypi: Option<String>,
        /// An image of a container, run by docker
        #[arg(long, value_name = "IMAGE")]
        docker: Option<String>,
        /// An address
        #[arg(long = "url", id = "address", value_name = "URL")]
        url: Option<String>,
        /// A variable that is a secret: its value is kept apart, and set by `mcpwire secret set`; can be repeated
        #[arg(long = "secret", value_name = "NAME")]
        secrets: Vec<String>,
        /// Start it only when one of its tools is called
        #[arg(long)]
        lazy: bool,
        /// The program with its arguments; the arguments of a package
        #[arg(last = true, id = "program", value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Take over the servers of another program's file
    Import {
        /// The file
        file: PathBuf,
        /// What it is, if it cannot be told: claude-desktop, claude-code, cursor, windsurf, vs-code, zed, gemini-cli, codex-toml, server-json
        #[arg(long, value_name = "DIALECT")]
        from: Option<String>,
        /// Agree to what they start without being shown it
        #[arg(long)]
        trust: bool,
    },
    /// List the configured servers
    List,
    /// Show what is configured of a server, and what it starts
    Show {
        /// The server's name or id
        server: String,
    },
    /// Allow a server to be started, and see that it can be
    Enable {
        /// The server's name or id
        server: String,
        /// Agree to what it starts without being shown it
        #[arg(long)]
        trust: bool,
    },
    /// End a server, and keep it from being started
    Disable {
        /// The server's name or id
        server: String,
    },
    /// Start a server of the running hub
    Start {
        /// The server's name or id
        server: String,
    },
    /// End a server of the running hub
    Stop {
        /// The server's name or id
        server: String,
    },
    /// End a server of the running hub and start it
    Restart {
        /// The server's name or id
        server: String,
    },
    /// Forget a server, with its secrets and logs
    Remove {
        /// The server's name or id
        server: String,
    },
    /// Show what a server wrote on standard error
    Logs {
        /// The server's name or id
        server: String,
        /// So many of the last lines
        #[arg(long, value_name = "N", default_value_t = 100)]
        lines: usize,
    },
    /// Try all servers, and say of each what is wrong with it and what to do
    Doctor,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Keep a secret of a server; its value is read from standard input, or asked for
    Set {
        /// The server's name or id
        server: String,
        /// The name of the variable
        name: String,
    },
    /// List the names of a server's secrets, and those that are missing
    List {
        /// The server's name or id
        server: String,
    },
    /// Forget a secret of a server
    Remove {
        /// The server's name or id
        server: String,
        /// The name of the variable
        name: String,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum HubCommand {
    /// Run all enabled servers until Ctrl-C, and share them with other commands
    Run,
    /// Let the running hub read servers.json again: only servers that have changed are touched
    Reload,
}
