//! Renews the token: with its refresh token, under the lock of the stored login, or without a user, with a [`MachineGrant`].

use std::sync::Arc;

use mcpwire_oauth::{
    ClientAuthentication, ClientSource, Discovered, Error, ErrorKind, IdJag, IdJagRequest, Refresh, RefreshAction,
    RefreshInput, RefreshSource, RenewalId, Scopes, StoredToken, TokenEndpoint, TokenRequest, WorkloadGrant,
};

use super::machine_grant::{Enterprise, Kind, MachineGrant};
use super::oauth::{NO_TOKEN, OAuth, Running};
use super::state::Task;
use crate::documents::Grant;
use crate::error::LoginError;
use crate::in_flight::{InFlightRequest, OneUseRequest};
use crate::signing_key::new_entropy;
use crate::store::StoreFailed;

/// The discovery runs again after this many failed renewals in a row, if the last one got no HTTP response. The authorization
/// server may have moved.
const FAILURES_BEFORE_DISCOVERY: u32 = 3;

impl OAuth {
    /// Runs this renewal in a separate task. Does nothing if `renewal` is `None`.
    ///
    /// The task continues when the request that needed the renewal is dropped, and when the runtime of the connections ends.
    pub(super) fn start_renewal(&self, renewal: Option<RenewalId>) {
        let Some(renewal) = renewal else { return };
        let running = Running { oauth: self.clone(), task: Task::Renewal(renewal) };
        self.0.process_runtime.spawn(Box::pin(async move {
            let oauth = &running.oauth;
            let result = match &oauth.0.options.grant {
                Some(grant) => oauth.get_by_grant(grant).await,
                None => oauth.refresh().await,
            };
            let (result, now) = (result.map_err(LoginError::into_flow_error), oauth.now());
            oauth.change(|state| state.renewed(renewal, result, now));
        }));
    }

    /// Replaces the token in use by the stored token if another process has stored a newer one. Returns whether the token was
    /// replaced.
    pub(super) async fn adopt_stored(&self) -> Result<bool, LoginError> {
        let Some(stored) = self.0.documents.load().await? else { return Ok(false) };
        Ok(self.change(|state| {
            let is_newer = state.access.token().is_none_or(|known| {
                // After a logout, the login of another process may have the same generation as the deleted token.
                stored.token.generation > known.generation
                    || (stored.token.generation == known.generation && stored.token.access_token != known.access_token)
            });
            is_newer && state.replace(stored).is_ok()
        }))
    }

    /// Renews the token with its refresh token, or returns a newer token that another process has stored.
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

    /// Returns the token in use with its client, or the stored token if another process has stored a newer one.
    async fn newest_grant(&self) -> Result<Grant, LoginError> {
        let known = { self.lock().grant() };
        let known = known.ok_or_else(|| self.login_required(None, NO_TOKEN))?;
        Ok(match self.0.documents.load().await {
            Ok(Some(stored)) if stored.token.generation > known.token.generation => stored,
            // An error of the store is ignored here. `refresh_at` reads the store again, and reports the error.
            _ => known,
        })
    }

    /// Counts a failed refresh. Returns whether the failure may mean that the authorization server has another address now.
    fn may_have_moved(&self, error: &Error) -> bool {
        let failures = {
            let mut state = self.lock();
            state.failed_renewals += 1;
            state.failed_renewals
        };
        match error.http_status() {
            Some(status) => matches!(status, 300..400 | 404 | 405 | 410),
            None => error.kind() == ErrorKind::Temporary && failures.is_multiple_of(FAILURES_BEFORE_DISCOVERY),
        }
    }

    /// Refreshes the token while it holds the lock of the stored login. `moved_to` is the new token endpoint, or `None` to use
    /// the endpoint that is stored with the token.
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
                RefreshAction::Lock => self.0.documents.lock().await.map(|taken| {
                    lock = Some(taken);
                    RefreshInput::Done
                }),
                RefreshAction::Load => {
                    let stored = self.0.documents.load().await;
                    stored.map(|grant| RefreshInput::Loaded(grant.map(|grant| Box::new(grant.token))))
                }
                // The request uses up the refresh token. A full disk or the end of the program must not lose the response.
                RefreshAction::Fetch(request) => match self.begin_refresh(&mut in_flight).await {
                    Ok(()) => Ok(RefreshInput::Network(self.0.runner.fetch_input(request).await)),
                    Err(error) => Ok(RefreshInput::Failed(error.to_string())),
                },
                RefreshAction::Sign { key, bytes } => Ok(RefreshInput::Network(keys.sign(key, &bytes)?)),
                RefreshAction::Store(token) => {
                    let saved = self.0.documents.save(&Grant { token: *token, client: client.clone() }).await;
                    saved.map(|()| RefreshInput::Done)
                }
                RefreshAction::Delete { generation } => self.delete(generation).await.map(|()| RefreshInput::Done),
                RefreshAction::DeleteRegistration => {
                    let client_id = client.as_ref().map_or("", |client| &client.client_id);
                    self.0.documents.remove_client(&issuer, client_id).await.map(|()| RefreshInput::Done)
                }
                RefreshAction::Done(result) => {
                    drop((lock, in_flight));
                    let refreshed = result?;
                    if let RefreshSource::Adopted = refreshed.source
                        // The other process may have logged in with another client, so the client is loaded, too.
                        && let Ok(Some(grant)) = self.0.documents.load().await
                    {
                        return Ok(grant);
                    }
                    self.lock().failed_renewals = 0;
                    return Ok(Grant { token: refreshed.token, client: client.clone() });
                }
                _ => return Err(Error::temporary("this version does not know the next step of the refresh").into()),
            };
            let input = input.unwrap_or_else(|error| RefreshInput::Failed(error.0));
            action = refresh.resume(input, self.now());
        }
    }

    /// Checks that the response to a refresh can be stored, and registers the request in `in_flight`. If a refresh repeats its
    /// request, the first registration remains.
    async fn begin_refresh(&self, in_flight: &mut Option<InFlightRequest>) -> Result<(), LoginError> {
        self.0.documents.check_save().await?;
        if in_flight.is_none() {
            *in_flight = Some(self.begin_request(OneUseRequest::Refresh)?);
        }
        Ok(())
    }

    /// Deletes the stored token if it has this generation. Another process may have stored a newer token since.
    async fn delete(&self, generation: u64) -> Result<(), StoreFailed> {
        match self.0.documents.load().await? {
            Some(grant) if grant.token.generation == generation => self.0.documents.remove().await,
            _ => Ok(()),
        }
    }
}

impl OAuth {
    /// Gets a token with `grant`, without asking a user, and stores the token.
    pub(super) async fn get_by_grant(&self, grant: &MachineGrant) -> Result<Grant, LoginError> {
        let previous = self.token();
        let discovered = self.discover(previous.as_ref()).await?;
        let challenge = self.lock().challenge.clone();
        let challenged = challenge.as_ref().and_then(|challenge| challenge.scopes.as_ref());
        let scopes = discovered.scopes_without_user(grant.scopes.as_ref(), challenged);
        let (endpoint, asked, entropy) = (discovered.token_endpoint(), scopes.clone(), new_entropy()?);
        let resource = discovered.resource_parameter(&self.0.options.settings);
        let response = match &grant.kind {
            Kind::ClientCredentials { .. } => {
                let client = self.machine_client(grant, &endpoint).await?;
                let request = TokenRequest::client_credentials(endpoint, client, resource, asked, entropy)?;
                self.run(request.dpop(self.dpop())).await?
            }
            Kind::Workload { jwt, audience } => {
                let jwt = jwt().map_err(|error| LoginError::Subject(error.to_string()))?;
                let mut flow = WorkloadGrant::new(endpoint, jwt, resource, entropy).scopes(asked);
                if let Some(audience) = audience {
                    flow = flow.audience(audience);
                }
                self.run(flow.dpop(self.dpop())).await?
            }
            Kind::Enterprise(enterprise) => {
                let client = self.machine_client(grant, &endpoint).await?;
                let id_jag = self.id_jag(enterprise, &discovered, asked).await?;
                self.run(id_jag.token_request(endpoint, client, entropy).dpop(self.dpop())).await?
            }
        };
        let (endpoint, client_id) = (discovered.token_endpoint(), grant.client().map(|(client_id, _)| client_id));
        let token = StoredToken::new(endpoint, discovered.resource, client_id, scopes, response, previous.as_ref());
        let grant = Grant { token, client: None };
        // An error is ignored: the program can request another token at any time, so this one need not be stored.
        let _ = self.0.documents.save(&grant).await;
        Ok(grant)
    }

    /// Gets an ID-JAG (identity assertion authorization grant) for the user from the identity provider.
    async fn id_jag(
        &self,
        enterprise: &Enterprise,
        discovered: &Discovered,
        scopes: Scopes,
    ) -> Result<IdJag, LoginError> {
        let provider = enterprise.identity_provider.clone();
        // Two processes must not use the same token: the identity provider may replace it, and a second use of the old token may
        // end the user's login.
        let _lock = self
            .0
            .documents
            .lock_identity(&provider.url, enterprise.identity_client.client_id().unwrap_or_default())
            .await?;
        let subject = Arc::clone(&enterprise.subject);
        let subject = self
            .0
            .documents
            .run(move |_| Ok(subject()))
            .await?
            .map_err(|error| LoginError::Subject(error.to_string()))?;
        let request = IdJagRequest::new(
            provider,
            enterprise.identity_client.clone(),
            subject,
            discovered.metadata.issuer.clone(),
            discovered.resource.clone(),
            new_entropy()?,
        );
        // `to_the_end` is not needed: the caller is the task of a renewal, which continues when the request that needed the token
        // is dropped.
        let _in_flight = self.begin_request(OneUseRequest::IdentityToken)?;
        let mut id_jag = self.run(request.scopes(scopes)).await?;
        if let Some(token) = id_jag.replaced_subject.take() {
            let replace = Arc::clone(&enterprise.replace_subject);
            let replaced = self.0.documents.run(move |_| Ok(replace(token))).await?;
            replaced.map_err(|error| LoginError::SubjectNotStored(error.to_string()))?;
        }
        Ok(id_jag)
    }

    /// Returns how the client of `grant` authenticates at the token endpoint `endpoint`.
    ///
    /// # Errors
    /// If the credentials of the client must not be sent to this authorization server.
    pub(super) async fn machine_client(
        &self,
        grant: &MachineGrant,
        endpoint: &TokenEndpoint,
    ) -> Result<ClientAuthentication, LoginError> {
        let Some((client_id, secret)) = grant.client() else { return Ok(ClientAuthentication::anonymous()) };
        self.check_client(client_id, secret.is_some(), &endpoint.issuer, None).await?;
        self.remember_issuer(client_id, &endpoint.issuer).await?;
        let (method, supported) = (self.0.options.settings.auth_method_of_client(), endpoint.auth_methods.as_deref());
        Ok(ClientAuthentication::choose(client_id, secret, self.0.options.client_key(), method, supported)?)
    }
}
