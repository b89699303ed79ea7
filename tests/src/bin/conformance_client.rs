//! The client that the official conformance suite drives: `tests/conformance/run`.
//!
//! ```text
//! conformance-client URL
//! ```
//!
//! It knows nothing of the protocol that the library does not do for it. It connects, lists what the server has, and uses
//! all of it: each tool with arguments that its schema allows, or with those that the scenario gives in
//! `MCP_CONFORMANCE_CONTEXT`; each resource; each prompt. Forms are accepted as they are, so that the library fills in
//! what they have for defaults.
//!
//! The exit status is 1 if the connection or a list fails, or a call for any other reason than that the server refuses it.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use mcpwire_authorization::oauth::{
    ClientAuthentication, ClientKey, Secret, SigningAlgorithm, SubjectToken, TokenEndpoint,
};
use mcpwire_authorization::{Enterprise, LoginPrompt, LoginWindow, MachineGrant, OAuth, OAuthBuilder, SigningKey};
use mcpwire_tokio::http::{HttpClient, HttpOptions, TokenError};
use mcpwire_tokio::protocol::http::{Exchange, Verb};
use mcpwire_tokio::protocol::{Config, ElicitAction, ElicitResult, Prompt, Tool};
use mcpwire_tokio::{ConnectOptions, ErrorKind, McpClient, McpServerDef, Tokio};
use serde_json::{Map, Value, json};

/// The suite hands the schema of another tool to this one, to see what is left of it.
const ECHOES_A_SCHEMA: &str = "json_schema_echo";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(url) = env::args().nth(1) else {
        eprintln!("usage: conformance-client URL");
        return ExitCode::from(2);
    };
    match run(&url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let options = ConnectOptions::new(Config::new("mcpwire-conformance", env!("CARGO_PKG_VERSION")))
        .follow_tasks()
        .on_elicitation(async |_form, _| Ok(ElicitResult::of(ElicitAction::Accept)));
    let context = context()?;
    let options = options.http(HttpOptions::default().authorizer(authorizer(url, &context)?));
    let client = McpClient::connect_with(&McpServerDef::http(url), options)?;
    let outcome = exercise(&client, &context).await;
    client.shutdown().await?;
    outcome
}

async fn exercise(client: &McpClient, context: &Value) -> Result<(), Box<dyn Error>> {
    client.initialize().await?;
    let has = client.capabilities().cloned().unwrap_or_default();
    if has.tools.is_some() {
        let tools: Vec<Tool> = client.list_tools().await?.iter().cloned().collect();
        for (name, arguments) in calls(&tools, context)? {
            tolerate(&format!("tools/call {name}"), client.call_tool(&name, &arguments).await)?;
        }
    }
    if has.resources.is_some() {
        for resource in client.list_resources().await?.items {
            tolerate(&format!("resources/read {}", resource.uri), client.read_resource(&resource.uri).await)?;
        }
    }
    if has.prompts.is_some() {
        for prompt in client.list_prompts().await?.items {
            let got = client.get_prompt(&prompt.name, prompt_arguments(&prompt)).await;
            tolerate(&format!("prompts/get {}", prompt.name), got)?;
        }
    }
    Ok(())
}

/// Says what came of a request. That the server does not want it is no fault of the client.
fn tolerate<T>(what: &str, outcome: Result<T, mcpwire_tokio::Error>) -> Result<(), mcpwire_tokio::Error> {
    match outcome {
        Ok(_) => eprintln!("{what}: answered"),
        Err(error) if matches!(error.kind(), ErrorKind::Server | ErrorKind::ToolNotFound) => {
            eprintln!("{what}: refused: {error}");
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// What the scenario tells the client.
fn context() -> Result<Value, serde_json::Error> {
    env::var("MCP_CONFORMANCE_CONTEXT").map_or(Ok(Value::Null), |context| serde_json::from_str(&context))
}

/// The calls that the scenario asks for, else one of each tool.
fn calls(tools: &[Tool], context: &Value) -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    if let Some(wanted) = context.get("toolCalls").and_then(Value::as_array) {
        let call = |wanted: &Value| Some((wanted.get("name")?.as_str()?.to_owned(), wanted.get("arguments")?.clone()));
        return wanted.iter().map(|wanted| call(wanted).ok_or_else(|| format!("no call: {wanted}").into())).collect();
    }
    let mut calls = Vec::new();
    for tool in tools {
        let arguments = if tool.name == ECHOES_A_SCHEMA {
            let other = tools.iter().find(|other| other.name != ECHOES_A_SCHEMA).ok_or("there is no other tool")?;
            json!({ "schema": serde_json::from_str::<Value>(other.input_schema.get())? })
        } else {
            sample(&serde_json::from_str(tool.input_schema.get())?)
        };
        calls.push((tool.name.clone(), arguments));
    }
    Ok(calls)
}

/// A value that a schema allows, as far as its types say it.
fn sample(schema: &Value) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema.get("const")).or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    let kind = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind)).and_then(Value::as_str);
    match kind {
        Some("string") => json!("text"),
        Some("number" | "integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(2)),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("null") => Value::Null,
        _ => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let all = properties.into_iter().flatten().map(|(name, schema)| (name.clone(), sample(schema)));
            Value::Object(all.collect::<Map<_, _>>())
        }
    }
}

fn prompt_arguments(prompt: &Prompt) -> BTreeMap<String, String> {
    prompt.arguments.iter().map(|argument| (argument.name.clone(), "text".to_owned())).collect()
}

// Authorization.

/// The identifier of the client in scenarios with metadata documents. The suite names it, and serves no document.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";
const REDIRECT_URI: &str = "http://127.0.0.1:33418/callback";

/// Creates the authorizer of a scenario.
fn authorizer(url: &str, context: &Value) -> Result<OAuth, Box<dyn Error>> {
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
