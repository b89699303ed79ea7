//! The authorization of the conformance client: the client that the scenario's context describes, and a user who agrees to everything.

use std::env;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcpwire_authorization::oauth::{
    ClientAuthentication, ClientKey, Secret, SigningAlgorithm, SubjectToken, TokenEndpoint,
};
use mcpwire_authorization::{Enterprise, LoginPrompt, LoginWindow, MachineGrant, OAuth, OAuthBuilder, SigningKey};
use mcpwire_tokio::http::{HttpClient, TokenError};
use mcpwire_tokio::protocol::http::{Exchange, Verb};
use mcpwire_tokio::{McpServerDef, Tokio};
use serde_json::Value;

/// The identifier of the client in scenarios with metadata documents. The suite names it, and serves no document.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";
const REDIRECT_URI: &str = "http://127.0.0.1:33418/callback";

/// Creates the authorizer of a scenario.
pub(crate) fn authorizer(url: &str, context: &Value) -> Result<OAuth, Box<dyn Error>> {
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let runtime = Tokio::current();
    let client = runtime.http_client(&McpServerDef::http(url))?;
    // The scenarios name no issuer for their clients.
    let builder = OAuth::builder(url, "mcpwire-conformance")
        .dpop(scenario.starts_with("auth/dpop"))
        .settings(|settings| settings.trust_first_issuer(true));
    let builder = with_context(builder, &scenario, context)?;
    Ok(builder.build(runtime, client))
}

fn with_context(builder: OAuthBuilder, scenario: &str, context: &Value) -> Result<OAuthBuilder, Box<dyn Error>> {
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let (client_id, secret) = (text("client_id"), text("client_secret").map(Secret::new));
    if let Some(pem) = text("private_key_pem") {
        let algorithm = SigningAlgorithm::Es256;
        let key = SigningKey::from_pem(&pem, algorithm)?;
        let grant = MachineGrant::client_credentials(client_id.ok_or("no client_id")?, None);
        return Ok(builder.machine_grant(grant).client_key(ClientKey::new(algorithm), key));
    }
    if let Some(jwt) = text("valid_jwt") {
        return Ok(builder.machine_grant(MachineGrant::workload(move || Ok(Secret::new(jwt.clone())))));
    }
    if let Some(id_token) = text("idp_id_token") {
        let endpoint = text("idp_token_endpoint").ok_or("no idp_token_endpoint")?;
        let issuer = text("idp_issuer").unwrap_or_else(|| endpoint.clone());
        let identity_client = ClientAuthentication::public(text("idp_client_id").unwrap_or_default());
        let mut enterprise = Enterprise::new(
            TokenEndpoint::new(issuer, endpoint),
            identity_client,
            client_id.ok_or("no client_id")?,
            move || Ok(SubjectToken::IdToken(Secret::new(id_token.clone()))),
            |_| Err("an ID token is not replaced".into()),
        );
        enterprise.client_secret = secret;
        return Ok(builder.machine_grant(MachineGrant::enterprise(enterprise)));
    }
    if scenario.contains("client-credentials") {
        return Ok(builder.machine_grant(MachineGrant::client_credentials(client_id.ok_or("no client_id")?, secret)));
    }
    let client = Tokio::current().http_client(&McpServerDef::http("http://127.0.0.1/"))?;
    let builder = builder.prompt(AgreeingUser(client)).settings(|settings| {
        let settings = settings.client_metadata_url(CLIENT_METADATA);
        match (client_id, secret) {
            (Some(client_id), Some(secret)) => settings.client_id(client_id).client_secret(secret),
            (Some(client_id), None) => settings.client_id(client_id),
            _ => settings,
        }
    });
    Ok(builder)
}

/// A user who logs in at once. The suite's authorization servers answer the login with a redirect.
struct AgreeingUser(Arc<dyn HttpClient>);

impl LoginPrompt for AgreeingUser {
    fn prepare(&self, _: Option<&str>) -> Result<Box<dyn LoginWindow>, TokenError> {
        Ok(Box::new(AgreeingWindow(Arc::clone(&self.0))))
    }
}

struct AgreeingWindow(Arc<dyn HttpClient>);

impl LoginWindow for AgreeingWindow {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn show(self: Box<Self>, url: String) -> Pin<Box<dyn Future<Output = Result<String, TokenError>> + Send>> {
        Box::pin(async move {
            let response = self.0.send(Exchange::new(Verb::Get, url)).await?;
            let mut locations = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("location"));
            let (_, location) = locations.next().ok_or("the authorization server did not redirect")?;
            Ok(String::from_utf8_lossy(location).into_owned())
        })
    }
}
