//! The login of a user.

use std::sync::Arc;

use mcpwire_oauth::{BearerChallenge, ClientInformation, ClientSource, Login, Scopes};

use super::{Inner, LoginError, new_entropy};
use crate::documents::Grant;

impl Inner {
    /// Logs the user in, and stores the token. If another task does, waits for its login.
    ///
    /// `scopes` are those that a new token must have.
    pub(super) async fn login(
        inner: &Arc<Inner>,
        challenge: Option<&BearerChallenge>,
        scopes: Option<Scopes>,
    ) -> Result<(), LoginError> {
        let waiting = {
            let mut state = inner.shared.lock();
            if state.is_logging_in {
                Some(state.wait_for_renewal())
            } else {
                state.is_logging_in = true;
                None
            }
        };
        if let Some(mut waiting) = waiting {
            let before = inner.generation();
            loop {
                let _ = waiting.await;
                let mut state = inner.shared.lock();
                if !state.is_logging_in {
                    break;
                }
                waiting = state.wait_for_renewal();
            }
            return if inner.generation() == before { Err(LoginError::OtherLoginFailed) } else { Ok(()) };
        }
        let _running = RunningLogin(inner);
        inner.login_now(challenge, scopes).await
    }

    fn generation(&self) -> Option<u64> {
        self.shared.lock().access.token().map(|token| token.generation)
    }

    async fn login_now(&self, challenge: Option<&BearerChallenge>, scopes: Option<Scopes>) -> Result<(), LoginError> {
        let prompt = self.prompt.as_ref().ok_or(LoginError::LoginRequired)?;
        if challenge.is_some() {
            self.shared.lock().challenge = challenge.cloned();
        }
        let previous = self.shared.lock().access.token().cloned();
        let discovered = self.discover(previous.as_ref().map(|token| &*token.endpoint.issuer)).await?;
        let stored = self.documents.load_client(&discovered.metadata.issuer, None).await?;
        let failed = |error: mcpwire_driver::http::TokenError| LoginError::Prompt(error.to_string());
        let window = prompt.prepare(stored.as_ref().map(|client| &*client.redirect_uri)).map_err(failed)?;
        let stored = self.documents.load_client(&discovered.metadata.issuer, Some(window.redirect_uri())).await?;
        let settings = self.settings.clone().redirect_uri(window.redirect_uri());
        let resource = discovered.resource.clone();
        let login = Login::new(discovered, settings, stored.clone(), new_entropy()?)
            .challenge(challenge)
            .requested_before(scopes);
        let started = self.run(login).await?;
        let attempt = started.attempt;
        self.store_client(&attempt.client, stored.as_ref()).await?;
        let callback = window.show(started.url).await.map_err(failed)?;
        let description = self.client_key.as_ref().map(|(description, _)| description);
        let request = attempt.finish(&callback, description, new_entropy()?)?.dpop(self.dpop());
        let response = self.run(request).await?;
        let token = attempt.stored_token(resource, response, previous.as_ref());
        let mut grant = Grant { token, client: Some(attempt.client) };
        let saved = self.documents.save_login(&mut grant).await;
        self.shared.change(|state| {
            state.client = grant.client;
            state.access.replace(grant.token)
        })?;
        Ok(saved?)
    }

    /// Keeps a new registration for the next login.
    async fn store_client(
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

/// Says at its end that nobody logs in any more.
struct RunningLogin<'i>(&'i Arc<Inner>);

impl Drop for RunningLogin<'_> {
    fn drop(&mut self) {
        self.0.shared.change(|state| state.is_logging_in = false);
    }
}
