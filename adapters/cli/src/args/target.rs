//! [`Target`]: the server of a command.

use std::path::PathBuf;

use clap::ArgGroup;

use super::header::Header;
use super::place::Place;

/// The arguments that select a server without a URL. Options for HTTP conflict with them.
const WITHOUT_URL: [&str; 3] = ["demo", "command", "configured"];

/// The server of a command. Exactly one of the ways to select it is required. For `tools` and `call`, none means all configured
/// servers.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(group = ArgGroup::new("target").args(["demo", "url", "command", "configured"]).required(true))]
pub(crate) struct Target {
    /// Use the built-in demo server
    #[arg(long)]
    pub(crate) demo: bool,
    /// Use a configured server, by name or id
    #[arg(long = "server", id = "configured", value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Use the server at this URL, over HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Start the server with this command and its arguments
    #[arg(last = true, num_args = 1.., value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) http: HttpArgs,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// How to reach the server of `--url`.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options for --url")]
pub(crate) struct HttpArgs {
    /// Send a header with each request; can be repeated
    #[arg(long = "header", value_name = "NAME:VALUE", requires = "url", conflicts_with_all = WITHOUT_URL)]
    pub(crate) headers: Vec<Header>,
    /// Send the token of this environment variable, as `Authorization: Bearer`
    #[arg(long, value_name = "NAME", requires = "url", conflicts_with_all = WITHOUT_URL)]
    pub(crate) bearer_env: Option<String>,
    /// Connect to this Unix socket instead of the host of the URL
    #[arg(long, value_name = "PATH", requires = "url", conflicts_with_all = WITHOUT_URL)]
    pub(crate) unix_socket: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
}

/// Certificates and proxy of a server that is reached over HTTP.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TlsArgs {
    /// Trust the CA certificates of this PEM file too, as those of `SSL_CERT_FILE`
    #[arg(long, value_name = "FILE", requires = "url", hide_short_help = true)]
    pub(crate) ca: Option<PathBuf>,
    /// Present the client certificate of this PEM file (mutual TLS)
    #[arg(long, value_name = "FILE", requires = "url", hide_short_help = true)]
    pub(crate) client_cert: Option<PathBuf>,
    /// Read the key of --client-cert from this PEM file [default: the file of --client-cert]
    #[arg(long, value_name = "FILE", requires = "client_cert", hide_short_help = true)]
    pub(crate) client_key: Option<PathBuf>,
    /// Use this proxy instead of those of `HTTPS_PROXY` and `HTTP_PROXY`
    #[arg(long, value_name = "URL", requires = "url", hide_short_help = true)]
    pub(crate) proxy: Option<String>,
}

impl Target {
    /// Returns whether the servers are the configured ones: one of them, or all.
    pub(crate) fn is_configured(&self) -> bool {
        !self.demo && self.url.is_none() && self.command.is_empty()
    }

    /// Returns the target of `--demo`.
    pub(crate) fn to_demo() -> Self {
        Self { demo: true, ..Self::default() }
    }
}
