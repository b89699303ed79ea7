//! Renewals: refreshes a token as a transaction on the store, or gets another one by a grant without a user.

use std::sync::Arc;

use mcpwire_oauth::{
    ClientAuthentication, ClientSource, Discovered, Discovery, Error, Flow, Refresh, RefreshAction, RefreshInput,
    RefreshSource, StoredToken,
};

use super::{Inner, LoginError, NO_TOKEN, new_entropy};
use crate::documents::Grant;
use crate::run::now;

/// Starts the renewal as a task of its own: it goes on when the request that needed it is given up.
pub(super) fn spawn(inner: &Arc<Inner>) {
    let renewal = RunningRenewal(Arc::clone(inner));
    inner.runtime.spawn(Box::pin(async move {
        let inner = &renewal.0;
        let result = match &inner.grant {
            Some(_) => inner.get_by_grant().await,
            None => inner.refresh().await,
        };
        let now = now(&*inner.runtime);
        inner.shared.change(|state| match result {
            Ok(token) => state.access.renewed(Ok(token), now),
            Err(LoginError::Flow(error)) => state.access.renewed(Err(error), now),
            Err(other) => state.access.renewed(Err(Error::temporary(other.to_string())), now),
        });
    }));
}

/// Lets another request start a renewal if the task is dropped.
struct RunningRenewal(Arc<Inner>);

impl Drop for RunningRenewal {
    fn drop(&mut self) {
        self.0.shared.change(|state| state.access.renewal_aborted());
    }
}

impl Inner {
    /// Takes the stored token if another process has written a newer one. Returns whether there is one.
    pub(super) async fn adopt_stored(&self) -> Result<bool, LoginError> {
        let Some(Grant { token, client }) = self.documents.load().await? else { return Ok(false) };
        Ok(self.shared.change(|state| {
            let is_newer = state.access.token().is_none_or(|known| token.generation > known.generation);
            let is_adopted = is_newer && state.access.replace(token).is_ok();
            if is_adopted {
                state.client = client;
            }
            is_adopted
        }))
    }

    /// Finds the authorization server. `prefer` is the issuer of the stored token.
    pub(super) async fn discover(&self, prefer: Option<&str>) -> Result<Discovered, LoginError> {
        let challenge = self.shared.lock().challenge.clone();
        let mut discovery = Discovery::new(&self.server_url, challenge.as_ref(), &self.settings);
        if let Some(issuer) = prefer {
            discovery = discovery.prefer_issuer(issuer);
        }
        Ok(self.run(discovery).await?)
    }

    pub(super) async fn run<F: Flow + Send>(&self, flow: F) -> Result<F::Output, Error> {
        self.runner.run(flow, &self.keys()).await
    }

    async fn get_by_grant(&self) -> Result<StoredToken, LoginError> {
        let Some(grant) = &self.grant else { return Err(self.login_required(None, NO_TOKEN).into()) };
        let discovered = self.discover(None).await?;
        let previous = self.shared.lock().access.token().cloned();
        let scopes = grant.scopes(self.shared.lock().challenge.as_ref());
        let response = self.run_grant(grant, &discovered, scopes.clone()).await?;
        let endpoint = discovered.token_endpoint();
        let token =
            StoredToken::new(endpoint, discovered.resource, grant.client_id(), scopes, response, previous.as_ref());
        // The token can be had again, so it does not matter if it cannot be stored.
        let _ = self.documents.save(&Grant { token: token.clone(), client: None }).await;
        Ok(token)
    }

    /// Runs the refresh transaction. The lock is released at its end.
    async fn refresh(&self) -> Result<StoredToken, LoginError> {
        let (known, client) = {
            let state = self.shared.lock();
            (state.access.token().cloned(), state.client.clone())
        };
        let known = known.ok_or_else(|| self.login_required(None, NO_TOKEN))?;
        let description = self.client_key.as_ref().map(|(description, _)| description);
        let authentication = match &client {
            Some(client) => client.authentication(&known.endpoint, description)?,
            None => ClientAuthentication::public(known.client_id.clone().unwrap_or_default()),
        };
        let is_dynamic = client.as_ref().is_some_and(|client| client.source == ClientSource::Registered);
        let issuer = known.endpoint.issuer.clone();
        let mut refresh =
            Refresh::new(known, authentication, new_entropy()?).client_is_dynamic(is_dynamic).dpop(self.dpop());
        let keys = self.keys();
        let mut lock = None;
        let mut action = refresh.start();
        loop {
            let input = match action {
                RefreshAction::Lock => match self.documents.lock().await {
                    Ok(taken) => {
                        lock = Some(taken);
                        RefreshInput::Done
                    }
                    Err(error) => RefreshInput::Failed(error.0),
                },
                RefreshAction::Load => match self.documents.load().await {
                    Ok(grant) => RefreshInput::Loaded(grant.map(|grant| Box::new(grant.token))),
                    Err(error) => RefreshInput::Failed(error.0),
                },
                RefreshAction::Fetch(request) => RefreshInput::Network(self.runner.fetch_input(request).await),
                RefreshAction::Sign { key, bytes } => RefreshInput::Network(keys.sign(key, &bytes)),
                RefreshAction::Store(token) => {
                    done(self.documents.save(&Grant { token: *token, client: client.clone() }).await)
                }
                RefreshAction::Delete { generation } => done(self.delete(generation).await),
                RefreshAction::DeleteRegistration => done(self.documents.remove_client(&issuer).await),
                RefreshAction::Done(result) => {
                    drop(lock);
                    let refreshed = result?;
                    if let RefreshSource::Adopted = refreshed.source
                        // The other process may have logged in with another client.
                        && let Ok(Some(grant)) = self.documents.load().await
                    {
                        self.shared.lock().client = grant.client;
                    }
                    return Ok(refreshed.token);
                }
                _ => return Err(Error::temporary("this version does not know the next step of the refresh").into()),
            };
            action = refresh.resume(input, now(&*self.runtime));
        }
    }

    /// Deletes the stored token if it has this generation.
    async fn delete(&self, generation: u64) -> Result<(), crate::store::StoreFailed> {
        match self.documents.load().await? {
            Some(grant) if grant.token.generation == generation => self.documents.remove().await,
            _ => Ok(()),
        }
    }
}

fn done(result: Result<(), crate::store::StoreFailed>) -> RefreshInput {
    match result {
        Ok(()) => RefreshInput::Done,
        Err(error) => RefreshInput::Failed(error.0),
    }
}
