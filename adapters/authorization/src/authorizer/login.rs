//! The login of a user in a browser.

use std::sync::Arc;

use mcpwire_driver::http::TokenError;
use mcpwire_oauth::{ClientInformation, ClientSource, Discovered, Login, Secret, StoredToken};

use super::inner::{Inner, new_entropy, spawn};
use super::login_request::{LoginRequest, StoredAttempt};
use super::state::{Ended, Running, Task};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::OneUseRequest;
use crate::prompt::{LoginPrompt, LoginWindow};
use crate::status::LoginStatus;

impl Inner {
    /// Logs the user in. If another task does, waits for its login.
    pub(super) async fn login(
        self: &Arc<Self>,
        prompt: &dyn LoginPrompt,
        request: LoginRequest,
    ) -> Result<LoginStatus, LoginError> {
        match self.shared.begin(Task::Login) {
            Ok(running) => self.run_login(running, prompt, request).await,
            Err(ended) => self.other_login(ended).await,
        }
    }

    /// Logs the user in, in a task of its own: it goes on when the request that needed it is given up, because the user may be at
    /// the page of the login.
    pub(super) async fn login_in_task(
        self: &Arc<Self>,
        prompt: &Arc<dyn LoginPrompt>,
        request: LoginRequest,
    ) -> Result<LoginStatus, LoginError> {
        let running = match self.shared.begin(Task::Login) {
            Ok(running) => running,
            Err(ended) => return self.other_login(ended).await,
        };
        let (inner, prompt) = (Arc::clone(self), Arc::clone(prompt));
        let login = async move { inner.run_login(running, &*prompt, request).await };
        spawn(&*self.runtime, login).await.unwrap_or(Err(LoginError::OtherLoginFailed))
    }

    /// Waits for the end of the login that another task runs.
    async fn other_login(&self, mut ended: Ended) -> Result<LoginStatus, LoginError> {
        loop {
            let _ = ended.await;
            let mut state = self.shared.lock();
            if !state.is_running(Task::Login) {
                return state.last_login.clone().unwrap_or(Err(LoginError::OtherLoginFailed));
            }
            ended = state.wait();
        }
    }

    /// Logs the user in, and tells the result to the tasks that wait for this login.
    async fn run_login(
        self: &Arc<Self>,
        _running: Running,
        prompt: &dyn LoginPrompt,
        request: LoginRequest,
    ) -> Result<LoginStatus, LoginError> {
        if request.challenge.is_some() {
            self.shared.lock().challenge.clone_from(&request.challenge);
        }
        let result = self.login_now(prompt, request).await;
        self.shared.lock().last_login = Some(result.clone());
        result
    }

    async fn login_now(
        self: &Arc<Self>,
        prompt: &dyn LoginPrompt,
        request: LoginRequest,
    ) -> Result<LoginStatus, LoginError> {
        let discovered = self.discover(self.token().as_ref()).await?;
        if let Some(stored) = self.usable_attempt(&discovered, &request).await? {
            let window = prompt.prepare(Some(&stored.attempt.redirect_uri)).map_err(prompt_failed)?;
            if window.redirect_uri() == stored.attempt.redirect_uri {
                return self.show(window, stored).await;
            }
        }
        // Before a window opens: the user may have to be asked first.
        let _ = self.login_settings(&discovered, &request).await?;
        let last = self.documents.load_client(&discovered.metadata.issuer, None).await?;
        let window = prompt.prepare(last.as_ref().map(|client| &*client.redirect_uri)).map_err(prompt_failed)?;
        let stored = self.begin(discovered, window.redirect_uri(), request).await?;
        self.show(window, stored).await
    }

    /// Begins a login without showing its URL.
    pub(super) async fn begin_login(
        self: &Arc<Self>,
        redirect_uri: &str,
        request: LoginRequest,
    ) -> Result<StoredAttempt, LoginError> {
        let discovered = self.discover(None).await?;
        match self.usable_attempt(&discovered, &request).await? {
            Some(stored) if stored.attempt.redirect_uri == redirect_uri => Ok(stored),
            _ => self.begin(discovered, redirect_uri, request).await,
        }
    }

    /// Begins a login, and stores it, so that it can be finished after a restart of the program.
    async fn begin(
        self: &Arc<Self>,
        discovered: Discovered,
        redirect_uri: &str,
        request: LoginRequest,
    ) -> Result<StoredAttempt, LoginError> {
        let settings = self.login_settings(&discovered, &request).await?.redirect_uri(redirect_uri);
        let client = self.stored_client(&discovered, redirect_uri, &request).await?;
        self.to_the_end(OneUseRequest::Registration, |inner| async move {
            let resource = discovered.resource.clone();
            let login = Login::new(discovered, settings, client.clone(), new_entropy()?)
                .challenge(request.challenge.as_ref())
                .requested_before(request.requested_before);
            let started = inner.run(login).await?;
            inner.keep_client(&started.attempt.client, client.as_ref()).await?;
            let stored = StoredAttempt {
                url: started.url,
                resource,
                attempt: started.attempt,
                chosen_scopes: request.scopes,
                settings: inner.settings.fingerprint(),
            };
            inner.documents.save_attempt(&stored).await?;
            Ok(stored)
        })
        .await
    }

    /// Returns the registration of an earlier login, or `None` if there is none, or if the login begins anew.
    pub(super) async fn stored_client(
        &self,
        discovered: &Discovered,
        redirect_uri: &str,
        request: &LoginRequest,
    ) -> Result<Option<ClientInformation>, LoginError> {
        if request.anew {
            return Ok(None);
        }
        Ok(self.documents.load_client(&discovered.metadata.issuer, Some(redirect_uri)).await?)
    }

    /// Keeps a new registration for the next login, or the issuer of a pre-registered client, before credentials are sent there.
    pub(super) async fn keep_client(
        &self,
        client: &ClientInformation,
        stored: Option<&ClientInformation>,
    ) -> Result<(), LoginError> {
        match client.source {
            ClientSource::Registered if stored != Some(client) => Ok(self.documents.save_client(client).await?),
            ClientSource::PreRegistered => self.remember_issuer(&client.client_id, &client.issuer).await,
            _ => Ok(()),
        }
    }

    async fn show(
        self: &Arc<Self>,
        window: Box<dyn LoginWindow>,
        stored: StoredAttempt,
    ) -> Result<LoginStatus, LoginError> {
        let callback = window.show(stored.url.clone()).await.map_err(prompt_failed)?;
        self.finish(stored, callback).await
    }

    /// Returns the login that waits for the user if this one can go on with it: it is at the same authorization server, for the
    /// same settings and scopes. Otherwise returns `None`.
    async fn usable_attempt(
        &self,
        discovered: &Discovered,
        request: &LoginRequest,
    ) -> Result<Option<StoredAttempt>, LoginError> {
        let stored = self.stored_attempt().await?;
        Ok(stored.filter(|stored| stored.is_usable_for(discovered, request, &self.settings)))
    }

    /// Returns the login that waits for the user, or `None` if none waits. Deletes a login that is too old.
    pub(super) async fn stored_attempt(&self) -> Result<Option<StoredAttempt>, LoginError> {
        let stored: Option<StoredAttempt> = self.documents.load_attempt().await?;
        match stored {
            Some(stored) if stored.is_too_old(self.now()) => {
                self.documents.remove_attempt().await?;
                Ok(None)
            }
            stored => Ok(stored),
        }
    }

    /// Exchanges the code of a response for a token, and stores the token.
    pub(super) async fn finish(
        self: &Arc<Self>,
        stored: StoredAttempt,
        callback: String,
    ) -> Result<LoginStatus, LoginError> {
        self.to_the_end(OneUseRequest::Code, |inner| async move {
            let StoredAttempt { attempt, resource, .. } = stored;
            inner.check_stored_client(&attempt.client, &attempt.endpoint.issuer).await?;
            let request = attempt.finish(&callback, inner.client_key(), new_entropy()?);
            // A response that somebody else has made up must not end the login.
            if attempt.is_response(&callback) && !inner.claim(&attempt.state).await? {
                let has_other_login = inner.adopt_stored().await?;
                let status = inner.documents.load().await?.map(|grant| LoginStatus::new(&grant, &inner.account));
                return status.filter(|_| has_other_login).ok_or(LoginError::NotPending);
            }
            let response = inner.run(request?.dpop(inner.dpop())).await?;
            let client = Some(attempt.client.clone());
            inner.store_token(client, |previous| attempt.stored_token(resource, response, previous)).await
        })
        .await
    }

    /// Deletes the stored login. Returns whether its code may be sent: not if another task or process has done so, because the
    /// authorization server revokes the token when a code comes twice.
    async fn claim(&self, state: &Secret) -> Result<bool, LoginError> {
        let _lock = self.documents.lock().await?;
        let stored: Option<StoredAttempt> = self.documents.load_attempt().await?;
        match stored {
            Some(stored) if stored.attempt.state == *state => {
                self.documents.remove_attempt().await?;
                Ok(true)
            }
            // Another process has begun a login since. It goes on, too.
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    /// Stores the token of a login, and uses it from now on. `new` gets the token that it replaces.
    pub(super) async fn store_token(
        &self,
        client: Option<ClientInformation>,
        new: impl FnOnce(Option<&StoredToken>) -> StoredToken,
    ) -> Result<LoginStatus, LoginError> {
        let mut grant = Grant { token: new(self.token().as_ref()), client };
        let saved = self.documents.save_login(&mut grant).await;
        let status = LoginStatus::new(&grant, &self.account);
        self.shared.change(|state| state.replace(grant))?;
        saved?;
        Ok(status)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn prompt_failed(error: TokenError) -> LoginError {
    LoginError::Prompt(error.to_string())
}
