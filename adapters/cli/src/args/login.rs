//! The arguments of `mcpwire login`, `mcpwire logout` and `mcpwire whoami`.

use super::place::Place;
use super::target::TlsArgs;

/// The server and the account of a login.
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
    /// Open no browser: print the address, and read the address that the browser is sent to at the end
    #[arg(long, conflicts_with = "device")]
    pub(crate) no_browser: bool,
    /// Print a code to enter on another device, and wait
    #[arg(long)]
    pub(crate) device: bool,
    /// Start over: forget a login that was interrupted, and register with the authorization server again
    #[arg(long)]
    pub(crate) restart: bool,
    /// Request this scope instead of those that the server asks for; can be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,
    /// Send the browser to this address of this machine at the end
    #[arg(
        long,
        value_name = "URI",
        conflicts_with = "device",
        help = "Send the browser to this address of this machine at the end, such as http://localhost:3118/callback; \
            without a port, a free one [default: the address in the server's configuration, or http://127.0.0.1/callback]"
    )]
    pub(crate) redirect_uri: Option<String>,
    /// Use this client, which is registered with the authorization server, instead of registering one
    #[arg(long, value_name = "ID", requires = "url")]
    pub(crate) client_id: Option<String>,
    /// Read the secret of --client-id from this environment variable
    #[arg(long, value_name = "NAME", requires = "client_id")]
    pub(crate) client_secret_env: Option<String>,
    /// Send the secret of --client-id by this method [default: the first that the authorization server lists]
    #[arg(long, value_name = "METHOD", requires = "client_secret_env", value_parser = ["client_secret_basic", "client_secret_post"])]
    pub(crate) client_auth_method: Option<String>,
    /// Send the secret of the client to this authorization server only: the one that has issued it. For a configured server, it
    /// is stored as `oauth.issuer`
    #[arg(long, value_name = "URL")]
    pub(crate) issuer: Option<String>,
    // At the end, because its heading applies to all options that follow.
    #[command(flatten)]
    pub(crate) login: LoginPlace,
}
