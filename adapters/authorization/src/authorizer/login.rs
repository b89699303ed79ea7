//! Logs users in with a browser.

use std::sync::Arc;

use mcpwire_driver::http::TokenError;
use mcpwire_oauth::{ClientInformation, ClientSource, Discovered, Login, Secret};

use super::login_request::{LoginRequest, LoginStatus, PendingLogin, StoredAttempt};
use super::oauth::{OAuth, spawn};
use super::state::{Ended, Task};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::OneUseRequest;
use crate::prompt::LoginPrompt;
use crate::signing_key::new_entropy;

impl OAuth {
    /// Logs the user in now with the prompt of the builder, whether or not there is a token.
    ///
    /// Dropping the future gives up the login. If the program ends during the login, a login in the next run continues it.
    ///
    /// # Errors
    /// If the builder has set no [`LoginPrompt`], or the login fails.
    pub async fn login(&self) -> Result<LoginStatus, LoginError> {
        let prompt = self
            .0
            .options
            .prompt
            .as_ref()
            .ok_or_else(|| self.login_required(None, "this program cannot ask a user"))?;
        self.login_with(&**prompt, LoginRequest::default()).await
    }

    /// Logs the user in now with this prompt instead of the prompt of the builder, for example because the user has asked to log
    /// in. `request` contains the scopes and the conditions of the login.
    ///
    /// # Errors
    /// If the login fails.
    pub async fn login_with(&self, prompt: &dyn LoginPrompt, request: LoginRequest) -> Result<LoginStatus, LoginError> {
        self.load_for_login().await?;
        match self.begin(Task::Login) {
            // Boxed to keep this future small: the inner future contains the state of the whole login.
            Ok(_running) => Box::pin(self.run_login(prompt, request)).await,
            Err(ended) => self.other_login(ended).await,
        }
    }

    /// Begins a login in a browser that the program opens itself, and stores the login. Open the URL of the result. Then pass the
    /// address to which the browser is sent to [`finish_login`](Self::finish_login), in this program or in another one with the
    /// same store.
    ///
    /// `redirect_uri` is the address to which the authorization server sends the browser: an `https` URL of the program, or an
    /// `http` URL of this machine.
    ///
    /// # Errors
    /// If the authorization server cannot be found, or does not register the client.
    pub async fn begin_login(&self, redirect_uri: &str, request: LoginRequest) -> Result<PendingLogin, LoginError> {
        let discovered = self.discover(None).await?;
        let waiting = self.usable_attempt(&discovered, &request).await?;
        Ok(match waiting.filter(|stored| stored.attempt.redirect_uri == redirect_uri) {
            Some(stored) => stored.into(),
            None => self.begin_attempt(discovered, redirect_uri, request).await?.into(),
        })
    }

    /// Returns the unfinished login that waits for the user, or `None` if no login waits. A login waits for 30 minutes. This
    /// reads the store only, and sends no request.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn pending_login(&self) -> Result<Option<PendingLogin>, LoginError> {
        Ok(self.stored_attempt().await?.map(PendingLogin::from))
    }

    /// Finishes the login that [`begin_login`](Self::begin_login) has begun. `callback` is the whole address to which the browser
    /// was sent, with its query.
    ///
    /// # Errors
    /// If no login waits, `callback` is not the response to the waiting login, or the login has failed. After a `callback` with a
    /// wrong `state`, the login still waits.
    pub async fn finish_login(&self, callback: &str) -> Result<LoginStatus, LoginError> {
        self.load_for_login().await?;
        let stored = self.stored_attempt().await?.ok_or(LoginError::NotPending)?;
        self.finish(stored, callback.to_owned()).await
    }

    /// Logs the user in, in a separate task. The login continues when the request that needed it is dropped, because the login
    /// page may already be open.
    pub(super) async fn login_in_task(
        &self,
        prompt: &Arc<dyn LoginPrompt>,
        request: LoginRequest,
    ) -> Result<LoginStatus, LoginError> {
        let running = match self.begin(Task::Login) {
            Ok(running) => running,
            Err(ended) => return self.other_login(ended).await,
        };
        let (oauth, prompt) = (self.clone(), Arc::clone(prompt));
        let login = async move {
            let _running = running;
            oauth.run_login(&*prompt, request).await
        };
        spawn(&*self.0.runtime, login).await.unwrap_or(Err(LoginError::OtherLoginFailed))
    }

    /// Waits for the login that another task runs, and returns its result. `ended` resolves when any task of this authorizer has
    /// ended.
    async fn other_login(&self, mut ended: Ended) -> Result<LoginStatus, LoginError> {
        loop {
            let _ = ended.await;
            let mut state = self.lock();
            if !state.running.contains(&Task::Login) {
                return state.last_login.clone().unwrap_or(Err(LoginError::OtherLoginFailed));
            }
            ended = state.waiters.wait();
        }
    }

    /// Logs the user in, and keeps the result for the tasks that wait for this login.
    async fn run_login(&self, prompt: &dyn LoginPrompt, request: LoginRequest) -> Result<LoginStatus, LoginError> {
        let result = self.login_now(prompt, request).await;
        self.lock().last_login = Some(result.clone());
        result
    }

    async fn login_now(&self, prompt: &dyn LoginPrompt, request: LoginRequest) -> Result<LoginStatus, LoginError> {
        let discovered = self.discover(self.token().as_ref()).await?;
        let mut resumed = None;
        if let Some(stored) = self.usable_attempt(&discovered, &request).await? {
            let window = prompt.prepare(Some(&stored.attempt.redirect_uri)).map_err(prompt_failed)?;
            resumed = (window.redirect_uri() == stored.attempt.redirect_uri).then_some((window, stored));
        }
        let (window, stored) = if let Some(resumed) = resumed {
            resumed
        } else {
            // Checks the client before a window opens, because the program may first have to ask the user whether to trust the
            // issuer.
            let _ = self.login_settings(&discovered, &request).await?;
            let last = self.0.documents.load_client(&discovered.metadata.issuer, None).await?;
            let last = last.as_ref().map(|client| &*client.redirect_uri);
            let window = prompt.prepare(last).map_err(prompt_failed)?;
            let stored = self.begin_attempt(discovered, window.redirect_uri(), request).await?;
            (window, stored)
        };
        let callback = window.show(stored.url.clone()).await.map_err(prompt_failed)?;
        self.finish(stored, callback).await
    }

    /// Begins a login, and stores the login before the user sees its URL, so that a restarted program can finish it.
    async fn begin_attempt(
        &self,
        discovered: Discovered,
        redirect_uri: &str,
        request: LoginRequest,
    ) -> Result<StoredAttempt, LoginError> {
        let settings = self.login_settings(&discovered, &request).await?.redirect_uri(redirect_uri);
        let stored = self.0.documents.load_client(&discovered.metadata.issuer, Some(redirect_uri)).await?;
        let client = stored.filter(|_| !request.anew);
        self.to_the_end(OneUseRequest::Registration, |oauth| async move {
            let resource = discovered.resource.clone();
            let login = Login::new(discovered, settings, client.clone(), new_entropy()?)
                .challenge(request.challenge.as_ref())
                .requested_before(request.requested_before);
            let started = oauth.run(login).await?;
            oauth.keep_client(&started.attempt.client, client.as_ref()).await?;
            let stored = StoredAttempt {
                url: started.url,
                resource,
                attempt: started.attempt,
                chosen_scopes: request.scopes,
                settings: oauth.0.options.settings.fingerprint(),
            };
            oauth.0.documents.save_attempt(&stored).await?;
            Ok(stored)
        })
        .await
    }

    /// Stores a newly registered client for the next login, or the issuer of a pre-registered client. This happens before
    /// credentials are sent to that issuer. `stored` is the client that the store contains.
    pub(super) async fn keep_client(
        &self,
        client: &ClientInformation,
        stored: Option<&ClientInformation>,
    ) -> Result<(), LoginError> {
        match client.source {
            ClientSource::Registered if stored != Some(client) => Ok(self.0.documents.save_client(client).await?),
            ClientSource::PreRegistered => self.remember_issuer(&client.client_id, &client.issuer).await,
            _ => Ok(()),
        }
    }

    /// Returns the login that waits for the user, or `None` if no login waits. Deletes a login that is older than 30 minutes.
    pub(super) async fn stored_attempt(&self) -> Result<Option<StoredAttempt>, LoginError> {
        let stored: Option<StoredAttempt> = self.0.documents.load_attempt().await?;
        if stored.as_ref().is_some_and(|stored| stored.is_too_old(self.now())) {
            self.0.documents.remove_attempt().await?;
            return Ok(None);
        }
        Ok(stored)
    }

    /// Returns the login that waits for the user if a login with this request can continue it, or else `None`.
    async fn usable_attempt(
        &self,
        discovered: &Discovered,
        request: &LoginRequest,
    ) -> Result<Option<StoredAttempt>, LoginError> {
        let stored = self.stored_attempt().await?;
        Ok(stored.filter(|stored| stored.is_usable_for(discovered, request, &self.0.options.settings)))
    }

    /// Exchanges the authorization code in `callback` for a token, and stores the token.
    pub(super) async fn finish(&self, stored: StoredAttempt, callback: String) -> Result<LoginStatus, LoginError> {
        self.to_the_end(OneUseRequest::Code, |oauth| async move {
            let StoredAttempt { attempt, resource, .. } = stored;
            oauth.check_stored_client(&attempt.client, &attempt.endpoint.issuer).await?;
            let request = attempt.finish(&callback, oauth.0.options.client_key(), new_entropy()?);
            // A forged response must not end the login. The login is deleted only if the response has its `state`.
            if attempt.is_response(&callback) && !oauth.claim(&attempt.state).await? {
                let has_other_login = oauth.adopt_stored().await?;
                let status = oauth.status().await?;
                return status.filter(|_| has_other_login).ok_or(LoginError::NotPending);
            }
            let response = oauth.run(request?.dpop(oauth.dpop())).await?;
            let token = attempt.stored_token(resource, response, oauth.token().as_ref());
            oauth.store_grant(Grant { token, client: Some(attempt.client) }).await
        })
        .await
    }

    /// Deletes the waiting login with this `state`. Returns whether its code may be sent.
    ///
    /// Returns `false` if no login is stored: another task or process has then deleted the login and sent the code. An
    /// authorization server revokes the token if it receives the code twice.
    async fn claim(&self, state: &Secret) -> Result<bool, LoginError> {
        let _lock = self.0.documents.lock().await?;
        let stored: Option<StoredAttempt> = self.0.documents.load_attempt().await?;
        // Another process may have replaced the stored login with its own since. That login is kept.
        if stored.as_ref().is_some_and(|stored| stored.attempt.state == *state) {
            self.0.documents.remove_attempt().await?;
        }
        Ok(stored.is_some())
    }

    /// Stores the token of a login. All requests of this authorizer then send this token.
    pub(super) async fn store_grant(&self, mut grant: Grant) -> Result<LoginStatus, LoginError> {
        let saved = self.0.documents.save_login(&mut grant).await;
        let status = LoginStatus::new(&grant, &self.0.options.account);
        self.change(|state| state.replace(grant))?;
        saved?;
        Ok(status)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn prompt_failed(error: TokenError) -> LoginError {
    LoginError::Prompt(error.to_string())
}
