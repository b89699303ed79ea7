//! Implements [`Authorizer`]: adds credentials to requests, and acts on refusals.

use std::future::ready;

use mcpwire_driver::http::{
    AfterRefusal, AuthorizationContext, AuthorizeFuture, AuthorizedRequest, Authorizer, AuthorizerError, Credentials,
    Refusal, RefusalFuture, ResponseHead, SettleFuture, TokenError,
};
use mcpwire_oauth::{BearerChallenge, Decision, Scopes};

use super::login_request::LoginRequest;
use super::oauth::{NO_TOKEN, OAuth};
use crate::error::{LoginError, LoginErrorKind, TokenRefused};

impl OAuth {
    async fn credentials(&self, request: AuthorizedRequest<'_>) -> Result<Credentials, LoginError> {
        self.load(false).await?;
        let mut has_asked = false;
        loop {
            let (answer, ended) = {
                let mut state = self.lock();
                (state.credentials(request.verb(), request.url(), self.now()), state.waiters.wait())
            };
            match answer {
                Ok((credentials, renewal)) => {
                    self.start_renewal(renewal);
                    match credentials {
                        Some(credentials) => return Ok(credentials),
                        None => drop(ended.await),
                    }
                }
                Err(error) if error.kind() == LoginErrorKind::LoginRequired && !has_asked => {
                    // Another process may have logged in.
                    if !self.adopt_stored().await? {
                        has_asked = true;
                        self.ask_for_login(LoginRequest::default(), &reason(error)).await?;
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Lets the user log in with the prompt of the builder. Without a prompt, returns an error that contains `reason`.
    async fn ask_for_login(&self, request: LoginRequest, reason: &str) -> Result<(), LoginError> {
        if let Some(prompt) = &self.0.options.prompt {
            return self.login_in_task(prompt, request).await.map(drop);
        }
        let challenged = request.challenge.and_then(|challenge| challenge.scopes);
        Err(if self.0.options.grant.is_some() {
            self.token_refused(challenged, reason.into())
        } else {
            self.login_required(request.requested_before.or(challenged), reason).into()
        })
    }

    /// Creates the error for a refused token of a `MachineGrant`, where no user can log in. `scopes` are the scopes that the
    /// server has named.
    fn token_refused(&self, scopes: Option<Scopes>, reason: String) -> LoginError {
        TokenRefused { server_url: self.0.server_url.clone(), scopes, reason }.into()
    }

    /// Converts an error of a login or renewal to the error of the request that needed the login or renewal.
    fn request_error(&self, error: LoginError) -> TokenError {
        let error = match (error.kind(), error) {
            (LoginErrorKind::LoginRequired, LoginError::Flow(error)) if self.0.options.grant.is_some() => {
                return self.token_refused(None, error.without_advice().to_string()).into();
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

    async fn after_refusal(&self, refusal: Refusal<'_>) -> Result<AfterRefusal, LoginError> {
        let headers: Vec<_> = refusal.response.values("www-authenticate").collect();
        let challenge = BearerChallenge::parse(headers.iter().map(|value| &**value));
        let (decision, renewal, ended) = {
            let mut state = self.lock();
            let decision = state.refused(&refusal, challenge.as_ref(), self.now());
            let starts = matches!(decision, Decision::Renew { start_renewal: true });
            (decision, state.started(starts), state.waiters.wait())
        };
        match decision {
            Decision::Repeat => {}
            Decision::Renew { .. } => {
                self.start_renewal(renewal);
                let _ = ended.await;
            }
            // Another process may have logged in.
            Decision::StepUp { .. } | Decision::LoginRequired(_) if self.adopt_stored().await? => {}
            Decision::StepUp { scopes } => {
                let request = LoginRequest { challenge, requested_before: Some(scopes), ..LoginRequest::default() };
                self.ask_for_login(request, "the stored token lacks them").await?;
            }
            // Without a challenge, the server may want another authorization than OAuth, so the caller gets the response.
            Decision::LoginRequired(_) if challenge.is_none() && self.0.options.prompt.is_none() => {
                return Ok(AfterRefusal::GiveUp);
            }
            Decision::LoginRequired(_) => {
                let reason = if refusal.sent.id == 0 { NO_TOKEN } else { "the server refuses the stored token" };
                self.ask_for_login(LoginRequest { challenge, ..LoginRequest::default() }, reason).await?;
            }
            Decision::Failed(error) => return Err(error.into()),
            _ => return Ok(AfterRefusal::GiveUp),
        }
        Ok(AfterRefusal::Repeat)
    }
}

impl Authorizer for OAuth {
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
        let (method, url, now) = (request.verb(), request.url(), self.now());
        let credentials = {
            let mut state = self.lock();
            let is_ready = state.is_loaded && state.access.is_ready(now);
            is_ready.then(|| state.credentials(method, url, now))
        };
        // Usually the token is valid. This path avoids the allocation of the large future below.
        if let Some(Ok((Some(credentials), None))) = credentials {
            return Box::pin(ready(Ok(credentials)));
        }
        Box::pin(async move { self.credentials(request).await.map_err(|error| self.request_error(error)) })
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        Box::pin(async move { self.after_refusal(refusal).await.map_err(|error| self.request_error(error)) })
    }

    fn responded(&self, request: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        // The method `refused` takes the nonce of these responses.
        if matches!(response.status, 401 | 403) {
            return;
        }
        let mut state = self.lock();
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
        Some(self.lock().context.clone())
    }

    fn settle(&self) -> SettleFuture<'_> {
        Box::pin(async { Ok(self.settle().await?) })
    }
}

/// Returns the reason for a required login from an error, without advice: the caller adds the advice to log in.
fn reason(error: LoginError) -> String {
    match error {
        LoginError::Flow(error) => error.without_advice().to_string(),
        LoginError::LoginRequired(required) => required.reason,
        other => other.to_string(),
    }
}
