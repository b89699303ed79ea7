//! Renewals: refreshes a token as a transaction on the store. `machine_grants` gets another token without a refresh token.

use std::sync::Arc;

use mcpwire_oauth::{
    ClientSource, Error, ErrorKind, Refresh, RefreshAction, RefreshInput, RefreshSource, RenewalId, TokenEndpoint,
};

use super::inner::{Inner, NO_TOKEN, new_entropy};
use super::state::{Running, Task};
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::{InFlightRequest, OneUseRequest};
use crate::store::StoreFailed;

/// Number of renewals that fail without an answer before the authorization server is looked for again.
const FAILURES_BEFORE_DISCOVERY: u32 = 3;

/// Runs a renewal, if there is one to start, as a task of its own: it goes on when the request that needed it is given up, and when
/// the runtime of the connections ends.
pub(super) fn spawn(inner: &Arc<Inner>, renewal: Option<RenewalId>) {
    let Some(renewal) = renewal else { return };
    let running = Running { shared: inner.shared.clone(), task: Task::Renewal(renewal) };
    let inner = Arc::clone(inner);
    inner.clone().process_runtime.spawn(Box::pin(async move {
        let _running = running;
        let result = match &inner.grant {
            Some(grant) => inner.get_by_grant(grant).await,
            None => inner.refresh().await,
        };
        let result = result.map_err(|error| match error {
            LoginError::Flow(error) => error,
            LoginError::LoginRequired(required) => Error::login_required(required.reason),
            other => Error::temporary(other.to_string()),
        });
        let now = inner.now();
        inner.shared.change(|state| state.renewed(renewal, result, now));
    }));
}

impl Inner {
    /// Takes the stored token if another process has written a newer one. Returns whether there is one.
    pub(super) async fn adopt_stored(&self) -> Result<bool, LoginError> {
        let Some(stored) = self.documents.load().await? else { return Ok(false) };
        Ok(self.shared.change(|state| {
            let is_newer = state.access.token().is_none_or(|known| {
                // A login in the second in which the known token was deleted has the same generation.
                stored.token.generation > known.generation
                    || (stored.token.generation == known.generation && stored.token.access_token != known.access_token)
            });
            is_newer && state.replace(stored).is_ok()
        }))
    }

    /// Renews the token with its refresh token.
    async fn refresh(&self) -> Result<Grant, LoginError> {
        let grant = self.newest_grant().await?;
        if grant.token.refresh_at().is_none_or(|at| at > self.now())
            && self.token().map(|known| known.generation) != Some(grant.token.generation)
        {
            return Ok(grant);
        }
        let error = match self.refresh_at(&grant, None).await {
            Err(LoginError::Flow(error)) if self.may_have_moved(&error) => error,
            result => return result,
        };
        let known = &grant.token.endpoint;
        let Ok(discovered) = self.discover(Some(&grant.token)).await else { return Err(error.into()) };
        let issuer = &discovered.metadata.issuer;
        if *issuer != known.issuer {
            let reason =
                format!("the server uses the authorization server {issuer} now, and the token is of {}", known.issuer);
            return Err(self.login_required(None, &reason).into());
        }
        let endpoint = discovered.token_endpoint();
        if endpoint.url == known.url { Err(error.into()) } else { self.refresh_at(&grant, Some(endpoint)).await }
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
        let failures = {
            let mut state = self.shared.lock();
            state.failed_renewals += 1;
            state.failed_renewals
        };
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
                RefreshAction::Lock => self.documents.lock().await.map(|taken| {
                    lock = Some(taken);
                    RefreshInput::Done
                }),
                RefreshAction::Load => {
                    let stored = self.documents.load().await;
                    stored.map(|grant| RefreshInput::Loaded(grant.map(|grant| Box::new(grant.token))))
                }
                // The request uses up the refresh token, so the response must not be lost on a full disk, nor at the end of the
                // program.
                RefreshAction::Fetch(request) => match self.begin_refresh(&mut in_flight).await {
                    Ok(()) => Ok(RefreshInput::Network(self.runner.fetch_input(request).await)),
                    Err(error) => Ok(RefreshInput::Failed(error.to_string())),
                },
                RefreshAction::Sign { key, bytes } => Ok(RefreshInput::Network(keys.sign(key, &bytes)?)),
                RefreshAction::Store(token) => {
                    let saved = self.documents.save(&Grant { token: *token, client: client.clone() }).await;
                    saved.map(|()| RefreshInput::Done)
                }
                RefreshAction::Delete { generation } => self.delete(generation).await.map(|()| RefreshInput::Done),
                RefreshAction::DeleteRegistration => match &client {
                    Some(client) => {
                        let removed = self.documents.remove_client(&issuer, &client.client_id).await;
                        removed.map(|()| RefreshInput::Done)
                    }
                    None => Ok(RefreshInput::Done),
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
                    self.shared.lock().failed_renewals = 0;
                    return Ok(Grant { token: refreshed.token, client: client.clone() });
                }
                _ => return Err(Error::temporary("this version does not know the next step of the refresh").into()),
            };
            let input = input.unwrap_or_else(|error| RefreshInput::Failed(error.0));
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
    async fn delete(&self, generation: u64) -> Result<(), StoreFailed> {
        match self.documents.load().await? {
            Some(grant) if grant.token.generation == generation => self.documents.remove().await,
            _ => Ok(()),
        }
    }
}
