//! The login of a user.

use std::error::Error;
use std::sync::Arc;

use futures_channel::oneshot;
use mcpwire_oauth::{ClientInformation, ClientSource, Discovered, Login, OAuthSettings, Scopes, Secret, StoredToken};

use super::inner::{Inner, new_entropy};
use super::login_request::LoginParameters;
use super::pending::StoredAttempt;
use super::state::Ended;
use crate::browser::{LoginPrompt, LoginWindow};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::OneUseRequest;
use crate::status::LoginStatus;

impl Inner {
    /// Logs the user in. If another task does, waits for its login.
    pub(super) async fn login(
        inner: &Arc<Inner>,
        prompt: &dyn LoginPrompt,
        parameters: LoginParameters,
    ) -> Result<LoginStatus, LoginError> {
        match RunningLogin::begin(inner) {
            Ok(running) => running.run(prompt, parameters).await,
            Err(waiting) => inner.other_login(waiting).await,
        }
    }

    /// Logs the user in, in a task of its own: it goes on when the request that needed it is given up, because the user may be at
    /// the page of the login.
    pub(super) async fn login_in_task(
        inner: &Arc<Inner>,
        prompt: &Arc<dyn LoginPrompt>,
        parameters: LoginParameters,
    ) -> Result<LoginStatus, LoginError> {
        let running = match RunningLogin::begin(inner) {
            Ok(running) => running,
            Err(waiting) => return inner.other_login(waiting).await,
        };
        let (sender, receiver) = oneshot::channel();
        let prompt = Arc::clone(prompt);
        inner.runtime.spawn(Box::pin(async move {
            // The request may have been given up.
            let _ = sender.send(running.run(&*prompt, parameters).await);
        }));
        receiver.await.unwrap_or(Err(LoginError::OtherLoginFailed))
    }

    /// Waits for the end of the login that another task runs.
    async fn other_login(&self, mut waiting: Ended) -> Result<LoginStatus, LoginError> {
        loop {
            let _ = waiting.await;
            let mut state = self.shared.lock();
            if !state.is_logging_in {
                return state.last_login.clone().unwrap_or(Err(LoginError::OtherLoginFailed));
            }
            waiting = state.wait_for_renewal();
        }
    }

    async fn login_now(
        self: &Arc<Self>,
        prompt: &dyn LoginPrompt,
        parameters: &LoginParameters,
    ) -> Result<LoginStatus, LoginError> {
        let previous = self.shared.lock().access.token().cloned();
        let discovered = self.discover(previous.as_ref().map(|token| &*token.endpoint.issuer)).await?;
        if let Some(stored) = self.usable_attempt(&discovered, parameters).await? {
            let window = prompt.prepare(Some(&stored.attempt.redirect_uri)).map_err(|error| prompt_failed(&*error))?;
            if window.redirect_uri() == stored.attempt.redirect_uri {
                return self.show(window, stored).await;
            }
        }
        // Before a window opens: the user may have to be asked first.
        let _ = self.login_settings(&discovered, parameters).await?;
        let last = self.documents.load_client(&discovered.metadata.issuer, None).await?;
        let window = prompt
            .prepare(last.as_ref().map(|client| &*client.redirect_uri))
            .map_err(|error| prompt_failed(&*error))?;
        let stored = self.begin(discovered, window.redirect_uri(), parameters).await?;
        self.show(window, stored).await
    }

    /// Begins a login without showing its URL.
    pub(super) async fn begin_login(
        self: &Arc<Self>,
        redirect_uri: &str,
        parameters: &LoginParameters,
    ) -> Result<StoredAttempt, LoginError> {
        let discovered = self.discover(None).await?;
        if let Some(stored) = self.usable_attempt(&discovered, parameters).await?
            && stored.attempt.redirect_uri == redirect_uri
        {
            return Ok(stored);
        }
        self.begin(discovered, redirect_uri, parameters).await
    }

    /// Begins a login, and stores it, so that it can be finished after a restart of the program.
    async fn begin(
        self: &Arc<Self>,
        discovered: Discovered,
        redirect_uri: &str,
        parameters: &LoginParameters,
    ) -> Result<StoredAttempt, LoginError> {
        let settings = self.login_settings(&discovered, parameters).await?.redirect_uri(redirect_uri);
        let client = self.stored_client(&discovered, redirect_uri, parameters).await?;
        let (inner, parameters) = (Arc::clone(self), parameters.clone());
        self.to_the_end(OneUseRequest::Registration, async move {
            inner.register_and_begin(discovered, settings, client, &parameters).await
        })
        .await
    }

    async fn register_and_begin(
        &self,
        discovered: Discovered,
        settings: OAuthSettings,
        client: Option<ClientInformation>,
        parameters: &LoginParameters,
    ) -> Result<StoredAttempt, LoginError> {
        let resource = discovered.resource.clone();
        let login = Login::new(discovered, settings, client.clone(), new_entropy()?)
            .challenge(parameters.challenge.as_ref())
            .requested_before(parameters.requested_before.clone());
        let started = self.run(login).await?;
        self.store_client(&started.attempt.client, client.as_ref()).await?;
        self.remember_client(&started.attempt.client).await?;
        let stored = StoredAttempt::new(started.url, resource, started.attempt, parameters, &self.settings);
        self.documents.save_attempt(&stored).await?;
        Ok(stored)
    }

    /// Returns the registration of an earlier login.
    pub(super) async fn stored_client(
        &self,
        discovered: &Discovered,
        redirect_uri: &str,
        parameters: &LoginParameters,
    ) -> Result<Option<ClientInformation>, LoginError> {
        if parameters.anew {
            return Ok(None);
        }
        Ok(self.documents.load_client(&discovered.metadata.issuer, Some(redirect_uri)).await?)
    }

    async fn show(
        self: &Arc<Self>,
        window: Box<dyn LoginWindow>,
        stored: StoredAttempt,
    ) -> Result<LoginStatus, LoginError> {
        let callback = window.show(stored.url.clone()).await.map_err(|error| prompt_failed(&*error))?;
        self.finish(stored, &callback).await
    }

    /// Returns the login that waits for the user if this one can go on with it: it is at the same authorization server, for the
    /// same settings and scopes.
    async fn usable_attempt(
        &self,
        discovered: &Discovered,
        parameters: &LoginParameters,
    ) -> Result<Option<StoredAttempt>, LoginError> {
        let stored = self.stored_attempt().await?;
        Ok(stored.filter(|stored| stored.is_usable_for(discovered, parameters, &self.settings)))
    }

    /// Returns the login that waits for the user. Deletes one that is too old.
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
        callback: &str,
    ) -> Result<LoginStatus, LoginError> {
        let (inner, callback) = (Arc::clone(self), callback.to_owned());
        self.to_the_end(OneUseRequest::Code, async move { inner.exchange(stored, &callback).await }).await
    }

    async fn exchange(&self, stored: StoredAttempt, callback: &str) -> Result<LoginStatus, LoginError> {
        let StoredAttempt { attempt, resource, .. } = stored;
        self.check_stored_client(&attempt.client, &attempt.endpoint.issuer).await?;
        let key = self.client_key.as_ref().map(|(description, _)| description);
        let request = attempt.finish(callback, key, new_entropy()?);
        // A response that somebody else has made up must not end the login.
        if attempt.is_response(callback) && !self.claim(&attempt.state).await? {
            let has_other_login = self.adopt_stored().await?;
            let status = self.documents.load().await?.map(|grant| LoginStatus::new(&grant, &self.account));
            return status.filter(|_| has_other_login).ok_or(LoginError::NotPending);
        }
        let response = self.run(request?.dpop(self.dpop())).await?;
        let client = Some(attempt.client.clone());
        self.store_token(client, |previous| attempt.stored_token(resource, response, previous)).await
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
        let known = self.shared.lock().access.token().cloned();
        let mut grant = Grant { token: new(known.as_ref()), client };
        let saved = self.documents.save_login(&mut grant).await;
        let status = LoginStatus::new(&grant, &self.account);
        self.shared.change(|state| {
            state.client = grant.client;
            state.access.replace(grant.token)
        })?;
        saved?;
        Ok(status)
    }

    /// Returns the settings, with the scopes that the caller chose.
    pub(super) fn settings_for(&self, chosen: Option<&Scopes>) -> OAuthSettings {
        let settings = self.settings.clone();
        match chosen {
            Some(scopes) => settings.scopes(scopes.clone()),
            None => settings,
        }
    }

    /// Keeps a new registration for the next login.
    pub(super) async fn store_client(
        &self,
        client: &ClientInformation,
        stored: Option<&ClientInformation>,
    ) -> Result<(), LoginError> {
        if client.source == ClientSource::Registered && stored != Some(client) {
            self.documents.save_client(client).await?;
        }
        Ok(())
    }
}

fn prompt_failed(error: &dyn Error) -> LoginError {
    LoginError::Prompt(error.to_string())
}

/// The right to log a user in. At its end, those who wait learn the result.
pub(super) struct RunningLogin(Arc<Inner>);

impl RunningLogin {
    /// Begins a login, or returns what resolves when that of another task has ended.
    pub(super) fn begin(inner: &Arc<Inner>) -> Result<Self, Ended> {
        let mut state = inner.shared.lock();
        if state.is_logging_in {
            return Err(state.wait_for_renewal());
        }
        state.is_logging_in = true;
        state.last_login = None;
        Ok(RunningLogin(Arc::clone(inner)))
    }

    async fn run(self, prompt: &dyn LoginPrompt, parameters: LoginParameters) -> Result<LoginStatus, LoginError> {
        if parameters.challenge.is_some() {
            self.0.shared.lock().challenge.clone_from(&parameters.challenge);
        }
        let result = self.0.login_now(prompt, &parameters).await;
        self.0.shared.lock().last_login = Some(result.clone());
        result
    }
}

impl Drop for RunningLogin {
    fn drop(&mut self) {
        self.0.shared.change(|state| state.is_logging_in = false);
    }
}
