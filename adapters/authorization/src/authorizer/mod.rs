//! [`OAuth`]: an [`Authorizer`](mcpwire_driver::http::Authorizer) that gets, refreshes and stores the tokens of one server.
//! This file has its builder.
//!
//! | file | content |
//! |---|---|
//! | `oauth` | [`OAuth`]: its fields, and the helpers that the other files share |
//! | `state` | the state that all connections share, behind a lock |
//! | `requests` | adds credentials to requests, and reacts to refused requests |
//! | `renewal`, `machine_grant` | renew the token in separate tasks, with a refresh token or without a user |
//! | `login_request`, `login`, `device`, `client_issuer`, `logout` | logins and logouts |

mod client_issuer;
mod device;
mod login;
mod login_request;
mod logout;
mod machine_grant;
mod oauth;
mod renewal;
mod requests;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex};

use mcpwire_driver::http::{HttpClient, check_applied};
use mcpwire_driver::{HttpSetupError, McpServerDef, Runtime};
use mcpwire_oauth::{ClientKey, OAuthSettings};
use mcpwire_text::url::without_query;

pub use self::login_request::{LoginRequest, LoginStatus, PendingLogin};
pub use self::logout::{LoggedOut, RevocationOutcome};
pub use self::machine_grant::{Enterprise, MachineGrant};
pub use self::oauth::OAuth;
use self::oauth::{Inner, Options};
use self::state::State;
use crate::documents::Documents;
use crate::flow_runner::FlowRunner;
use crate::in_flight::Owner;
use crate::prompt::LoginPrompt;
use crate::signing_key::Signer;
use crate::store::{MemoryStore, TokenStore};

/// Builds an [`OAuth`], the authorizer of one MCP server. [`OAuth::builder`] and [`OAuth::for_server`] create the builder.
#[must_use = "a builder has no effect until it is used"]
pub struct OAuthBuilder {
    /// The URL and the name of the MCP server. Its CA certificates and its proxy are for the requests to the authorization
    /// server.
    def: McpServerDef,
    store: Arc<dyn TokenStore>,
    allows_private_addresses: bool,
    options: Options,
}

impl OAuth {
    /// Creates a builder for the authorizer of the MCP server at this URL. Authorization servers show `client_name` to users who
    /// log in.
    pub fn builder(server_url: impl Into<String>, client_name: impl Into<String>) -> OAuthBuilder {
        OAuth::for_server(&McpServerDef::http(server_url), client_name)
    }

    /// Creates a builder for the authorizer of the MCP server `def`, which must have a URL. The requests to the authorization
    /// server use the CA certificates and the proxy of `def`, too. Authorization servers show `client_name` to users who log in.
    pub fn for_server(def: &McpServerDef, client_name: impl Into<String>) -> OAuthBuilder {
        let mut http = McpServerDef::http(def.url.clone().unwrap_or_default());
        http.name.clone_from(&def.name);
        http.ca_file.clone_from(&def.ca_file);
        http.proxy.clone_from(&def.proxy);
        OAuthBuilder {
            def: http,
            store: Arc::new(MemoryStore::new()),
            allows_private_addresses: false,
            options: Options::new(OAuthSettings::new(client_name, "")),
        }
    }
}

impl OAuthBuilder {
    /// Changes the OAuth settings: the client, its scopes, and how to treat servers that deviate from the specification. `change`
    /// gets the current settings and returns the new ones.
    pub fn settings(mut self, change: impl FnOnce(OAuthSettings) -> OAuthSettings) -> Self {
        self.options.settings = change(self.options.settings);
        self
    }

    mcpwire_text::setters! {
        /// Names the account of the user, for users with several accounts on one server. Each account has its own stored login.
        /// Default: empty, for users with one account.
        fn account(account: impl Into<String>) => options.account = account.into();

        /// Sets where to keep tokens, registrations and keys. Default: in memory, so that they are lost when the program ends.
        fn store(store: impl TokenStore) => store = Arc::new(store);

        /// Sets how users log in when a request needs a login. Without a prompt, which is the default, such a request fails with
        /// [`LoginRequired`](crate::LoginRequired).
        fn prompt(prompt: impl LoginPrompt) => options.prompt = Some(Arc::new(prompt));

        /// Lets the program get tokens without asking a user, for example with client credentials. Default: a user logs in.
        fn machine_grant(grant: MachineGrant) => options.grant = Some(grant);

        /// Sets the private key by which the client authenticates at the token endpoint (`private_key_jwt`). Default: none.
        fn client_key(description: ClientKey, key: impl Signer)
            => options.client_key = Some((description, Arc::new(key)));

        /// Sets whether requests to authorization servers may go to loopback, private and link-local addresses. Default: `false`.
        ///
        /// The host of the MCP server is always allowed, and so is this machine if the MCP server runs on it.
        fn allow_private_addresses(allowed: bool) => allows_private_addresses = allowed;
    }

    /// Sets whether tokens are bound to a private key (DPoP, RFC 9449), so that a stolen token is useless without the key. An
    /// unbound token is then never sent. The authorizer creates the key and keeps it in the store. Default: `false`.
    pub fn dpop(mut self, dpop: bool) -> Self {
        self.options.uses_dpop = dpop;
        self.options.settings = self.options.settings.dpop_bound_tokens(dpop);
        self
    }

    /// Binds tokens to this private key (DPoP, RFC 9449), for example a key in a hardware module. In contrast to
    /// [`dpop`](Self::dpop), no key is created and stored.
    pub fn dpop_key(mut self, key: impl Signer) -> Self {
        self.options.dpop_key = Some(Arc::new(key));
        self.dpop(true)
    }

    /// Builds the authorizer on a runtime. An HTTP client of the runtime sends the requests to the authorization server.
    ///
    /// Token refreshes run on the runtime's [`process_runtime`](Runtime::process_runtime), so that the end of the runtime does
    /// not lose their responses.
    ///
    /// # Errors
    /// If the HTTP client cannot be created, for example because the runtime was built without its feature `http`.
    pub fn build_on(self, runtime: Arc<dyn Runtime>) -> Result<OAuth, HttpSetupError> {
        let client = runtime.process_runtime().unwrap_or_else(|| Arc::clone(&runtime)).http_client(&self.def)?;
        Ok(self.build(runtime, client))
    }

    /// Builds the authorizer on a runtime. `client` sends the requests to the authorization server, as [`FlowRunner::new`]
    /// describes. If `client` stops when the runtime ends, token refreshes fail then, too. [`build_on`](Self::build_on) avoids
    /// that.
    ///
    /// If `client` does not [apply](HttpClient::applies) the CA certificates or the proxy of the server's definition, all
    /// requests to the authorization server fail.
    pub fn build(self, runtime: Arc<dyn Runtime>, client: Arc<dyn HttpClient>) -> OAuth {
        let not_applied = check_applied(&self.def, &*client).err();
        let refusal = not_applied.map(|error| format!("server `{}`: {error}", self.def.display_name()));
        let server_url = self.def.url.unwrap_or_default();
        let process_runtime = runtime.process_runtime().unwrap_or_else(|| Arc::clone(&runtime));
        let documents = Documents::new(self.store, Arc::clone(&process_runtime), &server_url, &self.options.account);
        let runner = FlowRunner::new(Arc::clone(&process_runtime), client)
            .server_url(&server_url)
            .refuse_requests(refusal)
            .allow_private_addresses(self.allows_private_addresses);
        OAuth(Arc::new(Inner {
            state: Mutex::new(State::new(&server_url, self.options.grant.is_some())),
            server_url,
            name: self.def.name,
            owner: Owner::new(),
            runner,
            runtime,
            process_runtime,
            documents,
            options: self.options,
        }))
    }
}

impl fmt::Debug for OAuthBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthBuilder")
            .field("server_url", &self.def.url.as_deref().map(without_query))
            .field("account", &self.options.account)
            .finish_non_exhaustive()
    }
}
