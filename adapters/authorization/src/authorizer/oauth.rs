//! [`OAuth`]: an [`Authorizer`] that gets, refreshes and stores the tokens of one server.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcpwire_driver::http::{
    AfterRefusal, AuthorizationContext, AuthorizeFuture, AuthorizedRequest, Authorizer, AuthorizerError, Credentials,
    Refusal, RefusalFuture, ResponseHead, SettleFuture, TokenError,
};
use mcpwire_driver::protocol::printable;
use mcpwire_oauth::{BearerChallenge, Decision, DeviceCode, Scopes, Secret};
use mcpwire_text::url::without_query;

use super::inner::{Inner, MORE_SCOPES, NO_PROMPT, NO_TOKEN, TOKEN_REFUSED};
use super::login_request::{LoginParameters, LoginRequest};
use super::pending::PendingLogin;
use super::{renewal, state};
use crate::browser::LoginPrompt;
use crate::error::{LoginError, LoginErrorKind};
use crate::status::{LoggedOut, LoginStatus};

/// Authorizes the requests to one MCP server with OAuth.
///
/// It sends the stored token, refreshes it before it expires and when the server refuses it, and logs a user in if a
/// [`LoginPrompt`] is set. Without a prompt, requests that need a login fail at once. Use one value for all connections to a
/// server: they then share one token, and refresh it once. Clones are the same value.
#[derive(Clone)]
pub struct OAuth(pub(super) Arc<Inner>);

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
        Box::pin(Inner::login(&self.0, prompt, request.into())).await
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
        self.0.login_by_device(&request.into(), &mut show).await
    }

    /// Begins a login, and stores it. Open the URL of the result, and pass the address to which the browser is sent to
    /// [`finish_login`](Self::finish_login), in this program or in another one with the same store.
    ///
    /// `redirect_uri` is an `https` URL of the program, or an `http` URL of this machine.
    ///
    /// # Errors
    /// If the authorization server cannot be found, or does not register the client.
    pub async fn begin_login(&self, redirect_uri: &str, request: LoginRequest) -> Result<PendingLogin, LoginError> {
        Ok(self.0.begin_login(redirect_uri, &request.into()).await?.into())
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
        self.0.finish(stored, callback).await
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
        self.0.shared.lock().secrets().cloned().collect()
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

impl Inner {
    async fn credentials(self: &Arc<Self>, request: AuthorizedRequest<'_>) -> Result<Credentials, LoginError> {
        self.ensure_loaded().await?;
        let mut has_asked = false;
        loop {
            let answer = self.shared.lock().credentials(request.verb(), request.url(), self.now());
            let waiting = match answer {
                Ok(state::Answer::Send { credentials, renewal_to_start }) => {
                    if let Some(renewal) = renewal_to_start {
                        renewal::spawn(self, renewal);
                    }
                    return Ok(credentials);
                }
                Ok(state::Answer::Wait { renewal_to_start, waiting }) => {
                    if let Some(renewal) = renewal_to_start {
                        renewal::spawn(self, renewal);
                    }
                    waiting
                }
                Err(error) if error.kind() == LoginErrorKind::LoginRequired && !has_asked => {
                    // Another process may have logged in.
                    if !self.adopt_stored().await? {
                        has_asked = true;
                        self.ask_for_login(LoginParameters::default(), &reason(error)).await?;
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            let _ = waiting.await;
        }
    }

    /// Lets the user log in, or fails if nobody can be asked.
    async fn ask_for_login(self: &Arc<Self>, parameters: LoginParameters, reason: &str) -> Result<(), LoginError> {
        let Some(prompt) = &self.prompt else {
            let challenged = parameters.challenge.and_then(|challenge| challenge.scopes);
            if self.grant.is_some() {
                return Err(self.token_refused(challenged.as_ref(), reason));
            }
            return Err(self.login_required(parameters.requested_before.or(challenged), reason).into());
        };
        Inner::login_in_task(self, prompt, parameters).await.map(drop)
    }

    /// Returns the error of a program without a user, for which a login is no help.
    fn token_refused(&self, wanted: Option<&Scopes>, reason: &str) -> LoginError {
        let server = printable(without_query(&self.server_url));
        LoginError::TokenRefused(match wanted {
            Some(scopes) => format!(
                "the server {server} wants the scopes `{scopes}` of this program's token: {reason}; set these `scopes`, and \
                 have the client allowed to use them at the authorization server"
            ),
            None => format!(
                "the server {server} does not accept the token of this program: {reason}; check what the client is allowed \
                 to do at the authorization server"
            ),
        })
    }

    /// Converts an error for the request that failed with it.
    fn request_error(&self, error: LoginError) -> TokenError {
        let error = match (error.kind(), error) {
            (LoginErrorKind::LoginRequired, LoginError::Flow(error)) if self.grant.is_some() => {
                return self.token_refused(None, &error.without_advice().to_string()).into();
            }
            (_, LoginError::LoginRequired(required)) => required,
            (LoginErrorKind::LoginRequired | LoginErrorKind::NotCompleted, error) => {
                self.login_required(None, &reason(error))
            }
            (LoginErrorKind::Temporary, error) => return AuthorizerError::Temporary(error.into()).into(),
            (_, error) => return error.into(),
        };
        AuthorizerError::LoginRequired(error.into()).into()
    }

    async fn after_refusal(self: &Arc<Self>, refusal: Refusal<'_>) -> Result<AfterRefusal, LoginError> {
        let headers: Vec<_> = refusal.response.values("www-authenticate").collect();
        let challenge = BearerChallenge::parse(headers.iter().map(|value| &**value));
        let nonce = refusal.response.values("dpop-nonce").next();
        let operation = refusal.request.operation();
        let (decision, renewal_to_start, waiting) = {
            let mut state = self.shared.lock();
            let (url, now) = (refusal.request.url(), self.now());
            let has_new_nonce = nonce.is_some_and(|nonce| state.access.take_nonce(url, &nonce));
            let date = refusal.response.values("date").next();
            let has_new_time = date.zip(challenge.as_ref());
            let has_new_time =
                has_new_time.is_some_and(|(date, challenge)| state.access.take_date(url, challenge, &date, now));
            let changes_proof = has_new_nonce || has_new_time;
            let decision = state.refused(&refusal, challenge.as_ref(), changes_proof, &operation, now);
            let waiting = matches!(decision, Decision::Renew { .. }).then(|| state.wait_for_renewal());
            let starts = matches!(decision, Decision::Renew { start_renewal: true });
            (decision, state.started(starts), waiting)
        };
        match decision {
            Decision::Repeat => {}
            Decision::Renew { .. } => {
                if let Some(renewal) = renewal_to_start {
                    renewal::spawn(self, renewal);
                }
                if let Some(waiting) = waiting {
                    let _ = waiting.await;
                }
            }
            // Another process may have logged in.
            Decision::StepUp { .. } | Decision::LoginRequired(_) if self.adopt_stored().await? => {}
            Decision::StepUp { scopes } => {
                let parameters =
                    LoginParameters { challenge, requested_before: Some(scopes), ..LoginParameters::default() };
                self.ask_for_login(parameters, MORE_SCOPES).await?;
            }
            // Without a challenge the server may want something else than OAuth.
            Decision::LoginRequired(_) if challenge.is_none() && self.prompt.is_none() => {
                return Ok(AfterRefusal::GiveUp);
            }
            Decision::LoginRequired(_) => {
                let reason = if refusal.sent.id == 0 { NO_TOKEN } else { TOKEN_REFUSED };
                self.ask_for_login(LoginParameters { challenge, ..LoginParameters::default() }, reason).await?;
            }
            Decision::Failed(error) => return Err(error.into()),
            _ => return Ok(AfterRefusal::GiveUp),
        }
        Ok(AfterRefusal::Repeat)
    }
}

impl Authorizer for OAuth {
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
        // Usually the token is valid, and its future is small.
        if let Some(credentials) = self.0.shared.ready_credentials(request.verb(), request.url(), self.0.now()) {
            return Box::pin(ready(Ok(credentials)));
        }
        Box::pin(async move { self.0.credentials(request).await.map_err(|error| self.0.request_error(error)) })
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        Box::pin(async move { self.0.after_refusal(refusal).await.map_err(|error| self.0.request_error(error)) })
    }

    fn responded(&self, request: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        // `refused` looks at the nonce of a refusal.
        if matches!(response.status, 401 | 403) {
            return;
        }
        let mut state = self.0.shared.lock();
        if state.dpop_key.is_some()
            && let Some(nonce) = response.values("dpop-nonce").next()
        {
            state.access.take_nonce(request.url(), &nonce);
        }
        if state.has_stepped_up && response.status < 400 {
            state.access.succeeded(&request.operation());
        }
    }

    fn context(&self) -> Option<AuthorizationContext> {
        Some(self.0.shared.lock().context.clone())
    }

    fn settle(&self) -> SettleFuture<'_> {
        Box::pin(async { Ok(self.0.settle().await?) })
    }
}

/// Returns why a login is required. What helps against it is to log in.
fn reason(error: LoginError) -> String {
    match error {
        LoginError::Flow(error) => error.without_advice().to_string(),
        LoginError::LoginRequired(required) => required.reason,
        other => other.to_string(),
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
