//! [`OAuth`]: an [`Authorizer`](mcpwire_driver::http::Authorizer) that gets, refreshes and stores the tokens of one server.
//!
//! | file | content |
//! |---|---|
//! | `builder` | the settings of an [`OAuth`] |
//! | `state` | the state that all connections share, behind a lock |
//! | `inner` | what the clones of an [`OAuth`] share, and what all tasks need |
//! | `requests` | what a request to the server gets, and what its refusal causes |
//! | `renewal`, `machine_grants` | renewals, as tasks of their own |
//! | `login_request`, `login`, `device`, `client_issuer`, `logout` | logins and logouts |

mod builder;
mod client_issuer;
mod device;
mod inner;
mod login;
mod login_request;
mod logout;
mod machine_grants;
mod renewal;
mod requests;
mod state;

use std::fmt;
use std::sync::Arc;

use mcpwire_oauth::{DeviceCode, Secret};
use mcpwire_text::url::without_query;

pub use self::builder::OAuthBuilder;
use self::inner::{Inner, NO_PROMPT};
pub use self::login_request::{LoginRequest, PendingLogin};
pub use self::machine_grants::{Enterprise, MachineGrant};
use crate::error::LoginError;
use crate::prompt::LoginPrompt;
use crate::status::{LoggedOut, LoginStatus};

/// Authorizes the requests to one MCP server with OAuth.
///
/// It sends the stored token, refreshes it before it expires and when the server refuses it, and logs a user in if a
/// [`LoginPrompt`] is set. Without a prompt, requests that need a login fail at once. Use one value for all connections to a
/// server: they then share one token, and refresh it once. Clones are the same value.
#[derive(Clone)]
pub struct OAuth(Arc<Inner>);

impl OAuth {
    /// Logs the user in now with the prompt of the builder, whether or not there is a token.
    ///
    /// Dropping the future gives up the login. If the program ends in between, a login of its next run goes on with this one.
    ///
    /// # Errors
    /// If there is no [`LoginPrompt`], or the login fails.
    pub async fn login(&self) -> Result<LoginStatus, LoginError> {
        let prompt = self.0.prompt.as_ref().ok_or_else(|| self.0.login_required(None, NO_PROMPT))?;
        self.login_with(&**prompt, LoginRequest::default()).await
    }

    /// Logs the user in now with another prompt, for example because the user has asked for it.
    ///
    /// # Errors
    /// If the login fails.
    pub async fn login_with(&self, prompt: &dyn LoginPrompt, request: LoginRequest) -> Result<LoginStatus, LoginError> {
        self.0.ensure_loaded_for_login().await?;
        // Boxed, because the future contains the flows of the whole login.
        Box::pin(self.0.login(prompt, request)).await
    }

    /// Logs the user in with a code that the user enters in a browser on any device (RFC 8628).
    ///
    /// `show` shows the code and the address at which to enter it. The future resolves when the user has done so.
    ///
    /// # Errors
    /// If the authorization server has no such login, or the login fails.
    pub async fn login_by_device(
        &self,
        request: LoginRequest,
        mut show: impl FnMut(&DeviceCode) + Send,
    ) -> Result<LoginStatus, LoginError> {
        self.0.ensure_loaded_for_login().await?;
        self.0.login_by_device(&request, &mut show).await
    }

    /// Begins a login, and stores it. Open the URL of the result, and pass the address to which the browser is sent to
    /// [`finish_login`](Self::finish_login), in this program or in another one with the same store.
    ///
    /// `redirect_uri` is an `https` URL of the program, or an `http` URL of this machine.
    ///
    /// # Errors
    /// If the authorization server cannot be found, or does not register the client.
    pub async fn begin_login(&self, redirect_uri: &str, request: LoginRequest) -> Result<PendingLogin, LoginError> {
        Ok(self.0.begin_login(redirect_uri, request).await?.into())
    }

    /// Returns the login that waits for the user, for half an hour from its begin. Sends nothing.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn pending_login(&self) -> Result<Option<PendingLogin>, LoginError> {
        Ok(self.0.stored_attempt().await?.map(PendingLogin::from))
    }

    /// Finishes the login that waits for the user. `callback` is the whole address to which the browser was sent.
    ///
    /// # Errors
    /// If no login waits, the address is not its response, or the login has failed. A response with another `state` leaves the login as
    /// it is.
    pub async fn finish_login(&self, callback: &str) -> Result<LoginStatus, LoginError> {
        self.0.ensure_loaded_for_login().await?;
        let stored = self.0.stored_attempt().await?.ok_or(LoginError::NotPending)?;
        self.0.finish(stored, callback.to_owned()).await
    }

    /// Returns what is known of the stored login, or `None` if there is none. Sends nothing.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn status(&self) -> Result<Option<LoginStatus>, LoginError> {
        let grant = self.0.documents.load().await?;
        Ok(grant.map(|grant| LoginStatus::new(&grant, &self.0.account)))
    }

    /// Deletes the token and the login that waits for the user, and asks the authorization server to revoke the token if `revoke`.
    ///
    /// The token is deleted even if the revocation fails. The registration of the client is kept for the next login.
    ///
    /// # Errors
    /// If the token cannot be deleted.
    pub async fn logout(&self, revoke: bool) -> Result<LoggedOut, LoginError> {
        // A login that cannot be loaded is deleted, too.
        let _ = self.0.load(true).await;
        self.0.logout(revoke).await
    }

    /// Returns whether the server, or the origin of its URL, publishes the metadata of an authorization server. Asks for it.
    ///
    /// A server that does not, and that answers without a token, needs no login.
    ///
    /// # Errors
    /// If the metadata cannot be read, or is not trusted.
    pub async fn has_authorization_server(&self) -> Result<bool, LoginError> {
        Ok(!self.0.discover(None).await?.is_assumed())
    }

    /// Waits until the requests of this value have ended whose response replaces a credential that works once, such as a token
    /// refresh, and until the new credential is stored. Waits at most 10 s.
    ///
    /// Many authorization servers accept a refresh token once, and revoke the login if it comes again. So call this before the
    /// program ends, or [`settle_logins`](crate::settle_logins) for all logins. The `shutdown` of a client with this authorizer does
    /// so, too. Dropping clients or their runtime loses nothing, as long as the process goes on.
    ///
    /// # Errors
    /// If a request has not ended in time. It goes on, but the login is lost if the program ends before it.
    pub async fn settle(&self) -> Result<(), LoginError> {
        self.0.settle().await
    }

    /// Returns the tokens and client secrets that this value has used, with some that were replaced since. A program removes
    /// them from what it shows: servers may repeat them.
    pub fn secrets(&self) -> Vec<Secret> {
        self.0.shared.lock().secrets.iter().cloned().collect()
    }

    /// Returns the URL of the server.
    pub fn server_url(&self) -> &str {
        &self.0.server_url
    }

    /// Returns the account of the user. Empty for the only one.
    pub fn account(&self) -> &str {
        &self.0.account
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("server_url", &without_query(&self.0.server_url))
            .field("account", &self.0.account)
            .finish_non_exhaustive()
    }
}
