//! Renewals: refreshes a token as a transaction on the store, or gets another one by a grant without a user.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcpwire_oauth::{
    ClientSource, Error, ErrorKind, Refresh, RefreshAction, RefreshInput, RefreshSource, RenewalId, StoredToken,
    TokenEndpoint,
};

use super::inner::{Inner, NO_TOKEN, new_entropy};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::{InFlightRequest, OneUseRequest};

/// Number of renewals that fail without an answer before the authorization server is looked for again.
const FAILURES_BEFORE_DISCOVERY: u32 = 3;

/// Runs the renewal as a task of its own: it goes on when the request that needed it is given up, and when the runtime of the
/// connections ends.
pub(super) fn spawn(inner: &Arc<Inner>, renewal: RenewalId) {
    let running = RunningRenewal { inner: Arc::clone(inner), renewal };
    inner.process_runtime.spawn(Box::pin(async move {
        let inner = &running.inner;
        let result = match &inner.grant {
            Some(_) => inner.get_by_grant().await,
            None => inner.refresh().await,
        };
        let now = inner.now();
        inner.shared.change(|state| match result {
            Ok(Grant { token, client }) => {
                let generation = token.generation;
                // The result is dropped if somebody has logged out or in meanwhile.
                if state.access.renewed(renewal, Ok(token), now)
                    // A token that cannot be sent is not used.
                    && state.access.token().is_some_and(|token| token.generation == generation)
                {
                    state.client = client;
                }
            }
            Err(error) => {
                let error = match error {
                    LoginError::Flow(error) => error,
                    LoginError::LoginRequired(required) => Error::login_required(required.reason),
                    other => Error::temporary(other.to_string()),
                };
                state.access.renewed(renewal, Err(error), now);
            }
        });
    }));
}

/// Lets another request start a renewal if the task is dropped.
struct RunningRenewal {
    inner: Arc<Inner>,
    renewal: RenewalId,
}

impl Drop for RunningRenewal {
    fn drop(&mut self) {
        self.inner.shared.change(|state| state.access.renewal_aborted(self.renewal));
    }
}

impl Inner {
    /// Takes the stored token if another process has written a newer one. Returns whether there is one.
    pub(super) async fn adopt_stored(&self) -> Result<bool, LoginError> {
        let Some(Grant { token, client }) = self.documents.load().await? else { return Ok(false) };
        Ok(self.shared.change(|state| {
            let is_newer = state.access.token().is_none_or(|known| {
                // A login in the second in which the known token was deleted has the same generation.
                token.generation > known.generation
                    || (token.generation == known.generation && token.access_token != known.access_token)
            });
            let is_adopted = is_newer && state.access.replace(token).is_ok();
            if is_adopted {
                state.client = client;
            }
            is_adopted
        }))
    }

    async fn get_by_grant(&self) -> Result<Grant, LoginError> {
        let Some(grant) = &self.grant else { return Err(self.login_required(None, NO_TOKEN).into()) };
        let previous = self.shared.lock().access.token().cloned();
        let issuer = previous.as_ref().map(|token| &*token.endpoint.issuer);
        let discovered = self.discover(issuer).await?;
        let scopes = grant.scopes(self.shared.lock().challenge.as_ref(), &discovered);
        let response = self.run_grant(grant, &discovered, scopes.clone()).await?;
        let endpoint = discovered.token_endpoint();
        let token =
            StoredToken::new(endpoint, discovered.resource, grant.client_id(), scopes, response, previous.as_ref());
        let grant = Grant { token, client: None };
        // The token can be had again, so it does not matter if it cannot be stored.
        let _ = self.documents.save(&grant).await;
        Ok(grant)
    }

    /// Renews the token with its refresh token.
    async fn refresh(&self) -> Result<Grant, LoginError> {
        let grant = self.newest_grant().await?;
        if grant.token.refresh_at().is_none_or(|at| at > self.now())
            && self.generation() != Some(grant.token.generation)
        {
            return Ok(grant);
        }
        let error = match self.refresh_at(&grant, None).await {
            Err(LoginError::Flow(error)) if self.may_have_moved(&error) => error,
            result => return result,
        };
        let known = &grant.token.endpoint;
        let Ok(discovered) = self.discover(Some(&known.issuer)).await else { return Err(error.into()) };
        let issuer = &discovered.metadata.issuer;
        if *issuer != known.issuer {
            let reason =
                format!("the server uses the authorization server {issuer} now, and the token is of {}", known.issuer);
            return Err(self.login_required(None, &reason).into());
        }
        let endpoint = discovered.token_endpoint();
        if endpoint.url == known.url { Err(error.into()) } else { self.refresh_at(&grant, Some(endpoint)).await }
    }

    fn generation(&self) -> Option<u64> {
        self.shared.lock().access.token().map(|token| token.generation)
    }

    /// Returns the known token with its client, or the stored one if another process has written a newer one.
    async fn newest_grant(&self) -> Result<Grant, LoginError> {
        let known = { self.shared.lock().grant() };
        let known = known.ok_or_else(|| self.login_required(None, NO_TOKEN))?;
        Ok(match self.documents.load().await {
            Ok(Some(stored)) if stored.token.generation > known.token.generation => stored,
            // The transaction reports a store that cannot be read.
            _ => known,
        })
    }

    /// Returns whether a failed refresh may mean that the authorization server has another address now.
    fn may_have_moved(&self, error: &Error) -> bool {
        let failures = self.failed_renewals.fetch_add(1, Ordering::Relaxed) + 1;
        match error.http_status() {
            Some(status) => matches!(status, 300..400 | 404 | 405 | 410),
            None => error.kind() == ErrorKind::Temporary && failures.is_multiple_of(FAILURES_BEFORE_DISCOVERY),
        }
    }

    /// Runs the refresh transaction. The lock is released at its end.
    async fn refresh_at(&self, grant: &Grant, moved_to: Option<TokenEndpoint>) -> Result<Grant, LoginError> {
        let Grant { token: known, client } = grant;
        let authentication = self.client_of(grant, moved_to.as_ref().unwrap_or(&known.endpoint)).await?;
        let is_dynamic = client.as_ref().is_some_and(|client| client.source == ClientSource::Registered);
        let issuer = known.endpoint.issuer.clone();
        let mut refresh =
            Refresh::new(known.clone(), authentication, new_entropy()?).client_is_dynamic(is_dynamic).dpop(self.dpop());
        if let Some(endpoint) = moved_to {
            refresh = refresh.moved_to(endpoint);
        }
        let keys = self.keys();
        let (mut lock, mut in_flight) = (None, None);
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
                // The request uses up the refresh token, so the response must not be lost on a full disk, nor at the end of the
                // program.
                RefreshAction::Fetch(request) => match self.begin_refresh(&mut in_flight).await {
                    Ok(()) => RefreshInput::Network(self.runner.fetch_input(request).await),
                    Err(error) => RefreshInput::Failed(error.to_string()),
                },
                RefreshAction::Sign { key, bytes } => RefreshInput::Network(keys.sign(key, &bytes)?),
                RefreshAction::Store(token) => {
                    done(self.documents.save(&Grant { token: *token, client: client.clone() }).await)
                }
                RefreshAction::Delete { generation } => done(self.delete(generation).await),
                RefreshAction::DeleteRegistration => match &client {
                    Some(client) => done(self.documents.remove_client(&issuer, &client.client_id).await),
                    None => RefreshInput::Done,
                },
                RefreshAction::Done(result) => {
                    drop((lock, in_flight));
                    let refreshed = result?;
                    if let RefreshSource::Adopted = refreshed.source
                        // The other process may have logged in with another client.
                        && let Ok(Some(grant)) = self.documents.load().await
                    {
                        return Ok(grant);
                    }
                    self.failed_renewals.store(0, Ordering::Relaxed);
                    return Ok(Grant { token: refreshed.token, client: client.clone() });
                }
                _ => return Err(Error::temporary("this version does not know the next step of the refresh").into()),
            };
            action = refresh.resume(input, self.now());
        }
    }

    /// Checks that the response to a refresh can be stored, and registers the request, also if it is repeated.
    async fn begin_refresh(&self, in_flight: &mut Option<InFlightRequest>) -> Result<(), LoginError> {
        self.documents.check_save().await?;
        if in_flight.is_none() {
            *in_flight = Some(self.begin_request(OneUseRequest::Refresh)?);
        }
        Ok(())
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
