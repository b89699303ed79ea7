//! [`Target`]: the arguments that select the server of a command. [`Place`]: the option `--config-dir`.

use std::path::PathBuf;

use clap::ArgGroup;

use crate::text;

/// Ids of the arguments that select a server without a URL. Options for servers at a URL, such as `--header`, conflict with
/// these arguments.
const WITHOUT_URL: [&str; 3] = ["demo", "command", "configured"];

/// A server: the name of a configured one, or the options that select another one.
#[derive(Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Named {
    /// The server
    #[arg(value_name = "SERVER")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// The options that select the server of a command. At most one of them is given; a word of the command line selects a configured
/// server too, see [`Words`](super::Words).
///
/// This type and the types that contain it have no `Debug`, because the headers may be secrets.
#[derive(Clone, Default, clap::Args)]
#[group(skip)]
#[command(group = ArgGroup::new("target").args(["demo", "url", "command", "configured"]))]
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
    /// Never ask to log in: use stored logins only, and end with exit status 6 if a login is needed
    #[arg(long)]
    pub(crate) stored_auth_only: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// The options for the HTTP connection to the server of `--url`. Headers are parsed later, because errors of clap would show them.
#[derive(Clone, Default, clap::Args)]
#[command(next_help_heading = "Options for --url")]
pub(crate) struct HttpArgs {
    /// Send a header with each request; can be repeated
    #[arg(long = "header", value_name = "NAME:VALUE", requires = "url", conflicts_with_all = WITHOUT_URL)]
    pub(crate) headers: Vec<String>,
    /// Send the token in this environment variable, as `Authorization: Bearer`
    #[arg(long, value_name = "NAME", requires = "url", conflicts_with_all = WITHOUT_URL)]
    pub(crate) bearer_env: Option<String>,
    /// Use the login of this account to a server over HTTP, see `mcpwire login --account`
    #[arg(long, value_name = "ACCOUNT", conflicts_with_all = ["demo", "command"])]
    pub(crate) account: Option<String>,
    /// Connect to this Unix socket instead of the host of the URL
    #[arg(long, value_name = "PATH", requires = "url", conflicts_with_all = WITHOUT_URL)]
    pub(crate) unix_socket: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
}

/// The options for the certificates and the proxy of a server that is reached over HTTP.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TlsArgs {
    /// Also trust the CA certificates of this PEM file; the variable `SSL_CERT_FILE` can name another such file
    #[arg(long, value_name = "FILE", requires = "url", hide_short_help = true)]
    pub(crate) ca: Option<PathBuf>,
    /// Present the client certificate of this PEM file (mutual TLS)
    #[arg(long, value_name = "FILE", requires = "url", hide_short_help = true)]
    pub(crate) client_cert: Option<PathBuf>,
    /// Read the key of --client-cert from this PEM file [default: the file of --client-cert]
    #[arg(long, value_name = "FILE", requires = "client_cert", hide_short_help = true)]
    pub(crate) client_key: Option<PathBuf>,
    /// Use this proxy instead of the one in the variables `HTTPS_PROXY` and `HTTP_PROXY`
    #[arg(long, value_name = "URL", requires = "url", hide_short_help = true)]
    pub(crate) proxy: Option<String>,
}

impl Target {
    /// Returns whether the command uses configured servers: the server of `--server`, or all configured servers.
    pub(crate) fn is_configured(&self) -> bool {
        !self.demo && self.url.is_none() && self.command.is_empty()
    }

    /// Returns whether the command uses a hub for its servers. A hub has one login to each server, so a command with `--account`
    /// connects to its server directly.
    pub(crate) fn uses_hub(&self) -> bool {
        self.is_configured() && (self.server.is_none() || self.http.account.is_none())
    }

    /// Returns whether one of the options selects a server, so that no word of the command line does.
    pub(super) fn is_selected(&self) -> bool {
        self.server.is_some() || !self.is_configured()
    }

    /// Returns the words of a command line that select the same server, such as `--demo`. Empty for configured servers.
    pub(crate) fn to_words(&self) -> String {
        if self.demo {
            return "--demo".to_owned();
        }
        if let Some(url) = &self.url {
            return format!("--url {}", text::word(&text::url_without_query(url)));
        }
        self.program().map_or(String::new(), |program| format!("-- {program}"))
    }

    /// Returns the command line of the server's process, if the target has one.
    pub(crate) fn program(&self) -> Option<String> {
        let words: Vec<String> = self.command.iter().map(|word| text::word(word)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Returns a command line of this tool for the same server, such as `mcpwire tools things` or `mcpwire tools --demo`. `words`
    /// follow the server.
    pub(crate) fn command(&self, command: &str, words: &str) -> String {
        let server = self.server.as_deref().map(text::word).unwrap_or_default();
        let parts = ["mcpwire", command, &server, words, &self.to_words()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the arguments that select the demo server, as `--demo` does.
    pub(crate) fn to_demo() -> Self {
        Self { demo: true, ..Self::default() }
    }
}

/// The option `--config-dir` for the directory of configuration, secrets and logs.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Place {
    /// Keep configuration, secrets and logs below DIR [default: the user's directories]
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub(crate) config_dir: Option<PathBuf>,
}
