//! Secrets stay where they belong: not in requests to other hosts, not in traces, not in `Debug`, not in errors.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_authorization::oauth::{ClientKey, Secret, SigningAlgorithm, StoredToken, UnixTime};
use mcpwire_authorization::{
    LoginRequest, MachineGrant, MemoryStore, OAuth, OAuthBuilder, SigningKey, TokenStore as _,
};
use mcpwire_driver::http::{HttpClient, HttpOptions};
use mcpwire_driver::protocol::http::Exchange;
use mcpwire_driver::{ConnectOptions, McpClient, McpServerDef};
use mcpwire_testkit::authorization::{Client, Deviation, Endpoint};
use mcpwire_testkit::{HttpAnswer, VirtualTime};
use mcpwire_tests::authorization::{REDIRECT_URI, Web, echo};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use super::{World, texts};

const CLIENT_SECRET: &str = "client-secret/5f2d+=";

/// Everything that logs, traces, `Debug` and errors show.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<String>>);

impl Shown {
    fn debug(&self, value: &dyn Debug) {
        self.text(&format!("{value:?} {value:#?}"));
    }

    fn text(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }

    fn check(&self, name: &str, secret: &str) {
        let shown = self.0.lock().unwrap();
        if let Some(at) = shown.find(secret) {
            let start = shown[..at].char_indices().rev().nth(200).map_or(0, |(start, _)| start);
            panic!("{name} is shown: ...{}", &shown[start..at + secret.len()]);
        }
    }
}

impl Visit for Shown {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.text(&format!("{field}={value:?} "));
    }
}

/// Shows all spans and events, of all crates.
impl<S: Subscriber> Layer<S> for Shown {
    fn on_new_span(&self, span: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        span.record(&mut self.clone());
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut self.clone());
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut self.clone());
    }
}

/// Returns all that a request contains.
fn content(exchange: &Exchange) -> String {
    let mut all = exchange.uri.clone();
    for (name, value) in &exchange.headers {
        write!(all, "\n{name}: {value}").unwrap();
    }
    all + "\n" + &String::from_utf8_lossy(&exchange.body)
}

/// Returns the values of a parameter in all forms and queries, as they were sent.
fn values(exchanges: &[Exchange], name: &str) -> Vec<String> {
    let start = format!("{name}=");
    let forms = exchanges.iter().map(|exchange| String::from_utf8_lossy(&exchange.body).into_owned());
    let pairs = forms.flat_map(|form| form.split('&').map(Into::into).collect::<Vec<String>>());
    pairs.filter_map(|pair| pair.strip_prefix(&start).map(Into::into)).collect()
}

/// The secrets that were sent to the authorization server, with their names, as they are and as forms encode them.
fn sent_secrets(world: &World) -> Vec<(String, String)> {
    let asked = world.asked();
    let mut secrets = Vec::new();
    for name in
        ["code", "code_verifier", "refresh_token", "client_secret", "device_code", "client_assertion", "assertion"]
    {
        secrets.extend(values(&asked, name).into_iter().map(|value| (name.to_owned(), value)));
    }
    for secret in world.authorization().secrets() {
        secrets.push(("a secret of the authorization server".to_owned(), secret));
    }
    for login in world.web.logins() {
        secrets.extend(login.parameter("state").map(|state| ("state".to_owned(), state)));
    }
    secrets
}

fn connect(world: &World, oauth: &OAuth, shown: &Shown, calls: &Arc<Mutex<Vec<Exchange>>>) -> McpClient<VirtualTime> {
    let (network, calls) = (world.network(), Arc::clone(calls));
    let http = move |exchange: Exchange| {
        calls.lock().unwrap().push(exchange.clone());
        network.send(exchange)
    };
    let http = HttpOptions::default().client(Arc::new(http)).authorizer(oauth.clone());
    let wire = shown.clone();
    let options = ConnectOptions::default().http(http);
    let options = options.trace(move |direction, bytes| {
        wire.text(&format!("{direction:?} {}", String::from_utf8_lossy(bytes)));
    });
    shown.debug(&options);
    McpClient::connect_on(world.web.time.runtime(), &McpServerDef::http(world.web.server.url()), options).unwrap()
}

/// Repeats in each error what the authorization server was sent.
fn repeat_what_is_sent(world: &World) {
    world.answer(Endpoint::Token, |request| {
        let authorization = request.header("Authorization").unwrap_or_default();
        let form = &request.body;
        let description =
            format!("bad request: {authorization} {form} {}", form.replace("%2F", "/").replace("%2B", "+"));
        HttpAnswer::json(400, json!({"error": "invalid_grant", "error_description": description}))
    });
}

#[test]
fn a_login_calls_refreshes_and_a_logout_show_no_secret_and_send_each_only_to_its_server() {
    let shown = Shown::default();
    let subscriber = tracing_subscriber::registry().with(shown.clone());
    let guard = tracing::subscriber::set_default(subscriber);

    let mut world = World::new();
    world.authorization().client(Client::new("client").secret(CLIENT_SECRET).redirect_uri(REDIRECT_URI));
    world.change = |builder| {
        builder
            .dpop(true)
            .settings(|settings| settings.client_id("client").client_secret(Secret::new(CLIENT_SECRET)))
            .settings(|settings| settings.client_issuer("https://auth.test"))
    };
    let (oauth, calls) = (world.oauth(), Arc::default());
    world.web.time.run(async {
        let client = connect(&world, &oauth, &shown, &calls);
        shown.debug(&client);
        client.initialize().await.unwrap();
        shown.debug(&echo(&client).await.unwrap());
        shown.debug(&oauth);
        shown.debug(&oauth.status().await.unwrap());
        world.web.time.sleep(Duration::from_secs(2 * 3600)).await;
        echo(&client).await.unwrap();
        let pending = oauth.begin_login(REDIRECT_URI, LoginRequest::default()).await.unwrap();
        shown.debug(&pending);
        shown.debug(&oauth.pending_login().await.unwrap());
        let wrong = format!("{REDIRECT_URI}?code=other&state=other");
        shown.text(&texts(&oauth.finish_login(&wrong).await.unwrap_err()));
        world.web.time.sleep(Duration::from_secs(2 * 3600)).await;
        repeat_what_is_sent(&world);
        shown.text(&texts(&echo(&client).await.unwrap_err()));
        world.authorization().on_request(|_| None);
        shown.debug(&oauth.login().await.unwrap());
        shown.debug(&oauth.logout(true).await.unwrap());
        client.shutdown().await.unwrap();
    });
    drop(guard);

    shown.debug(&world.web.store);
    shown.debug(&world.asked());
    let calls = calls.lock().unwrap().clone();
    shown.debug(&calls);
    let mut secrets = sent_secrets(&world);
    secrets.push(("the secret of the client".into(), CLIENT_SECRET.into()));
    secrets.push(("the secret of the client".into(), CLIENT_SECRET.replace('/', "%2F").replace('+', "%2B")));
    for name in ["code", "code_verifier", "refresh_token", "state"] {
        assert!(secrets.iter().any(|(other, _)| other == name), "no {name}");
    }
    for (name, secret) in &secrets {
        shown.check(name, secret);
    }
    // The MCP server gets access tokens and proofs, and nothing else.
    let is_access = |secret: &str| calls.iter().any(|call| content(call).contains(&format!("DPoP {secret}")));
    for call in &calls {
        let content = content(call);
        let allowed = |secret: &str| is_access(secret) && !call.uri.contains(secret);
        for (name, secret) in secrets.iter().filter(|(_, secret)| !allowed(secret)) {
            assert!(!content.contains(secret.as_str()), "{name} goes to the MCP server: {content}");
        }
        assert!(call.uri.starts_with("https://mcp.test/"), "{}", call.uri);
    }
    // The authorization server gets no access token but to revoke it, and other hosts get nothing.
    for exchange in world.asked() {
        super::check_request("all", &exchange, &world.authorization().secrets());
        assert!(!exchange.uri.contains(CLIENT_SECRET), "{}", exchange.uri);
    }
}

/// Sets how the client gets tokens.
type Setting = fn(OAuthBuilder) -> OAuthBuilder;

#[test]
fn errors_of_each_grant_hide_what_the_server_repeats() {
    let key = || SigningKey::generate().unwrap();
    let grants: [(&str, Setting); 3] = [
        ("client_secret_basic", |builder| {
            builder
                .machine_grant(MachineGrant::client_credentials("client", Some(Secret::new(CLIENT_SECRET))))
                .settings(|settings| settings.client_issuer("https://auth.test"))
        }),
        ("private_key_jwt", |builder| {
            let (key, _) = SigningKey::generate().unwrap();
            builder
                .machine_grant(MachineGrant::client_credentials("client", None))
                .client_key(ClientKey::new(SigningAlgorithm::Es256), key)
        }),
        ("workload", |builder| {
            // {"aud":"https://auth.test"}
            let jwt = "e30.eyJhdWQiOiJodHRwczovL2F1dGgudGVzdCJ9.c2lnbmF0dXJl";
            builder.machine_grant(MachineGrant::workload(move || Ok(Secret::new(jwt))))
        }),
    ];
    for (name, change) in grants {
        let shown = Shown::default();
        let mut world = World::new();
        world.change = change;
        repeat_what_is_sent(&world);
        let (oauth, calls) = (world.oauth(), Arc::default());
        let error = world.web.time.run(async {
            let client = connect(&world, &oauth, &shown, &calls);
            client.initialize().await.map(drop).unwrap_err()
        });
        shown.text(&texts(&error));
        assert!(shown.0.lock().unwrap().contains("(secret)"), "{name}: the text of the server is shown: {error}");
        let mut secrets = sent_secrets(&world);
        for exchange in world.asked() {
            let header = exchange.headers.iter().find(|(name, _)| name == "authorization");
            let basic = header.and_then(|(_, value)| value.strip_prefix("Basic "));
            secrets.extend(basic.map(|basic| ("the credentials".to_owned(), basic.to_owned())));
        }
        secrets.push(("the secret of the client".into(), CLIENT_SECRET.into()));
        assert!(secrets.len() >= 2, "{name}");
        for (secret_name, secret) in secrets {
            shown.check(&format!("{name}: {secret_name}"), &secret);
        }
    }
    let (key, document) = key();
    let shown = Shown::default();
    shown.debug(&key);
    shown.check("the key", &format!("{document:?}"));
}

#[test]
fn stored_documents_are_shown_without_their_secrets() {
    let store = MemoryStore::new();
    store.save("token-1", b"refresh-secret").unwrap();
    let shown = Shown::default();
    shown.debug(&store);
    let token = json!({"version": 1, "generation": 1, "endpoint": {"issuer": "https://a", "url": "https://a/t"},
        "resource": "https://m", "access_token": "access-secret", "refresh_token": "refresh-secret",
        "token_type": "Bearer", "obtained_at": UnixTime::from_secs(1), "id_token": "later-secret"});
    shown.debug(&StoredToken::from_bytes(token.to_string().as_bytes()).unwrap());
    for secret in ["access-secret", "refresh-secret", "later-secret"] {
        shown.check("a stored secret", secret);
    }
}

#[test]
fn t4_errors_and_debug_output_contain_no_secrets() {
    let web = Web::new();
    web.authorization.token_lifetime(Duration::from_secs(100)).deviate(Deviation::RegisterWithSecret);
    let oauth = web.build(web.oauth());
    let mut texts = Vec::new();
    web.time.run(async {
        let client = web.client(&oauth);
        client.initialize().await.expect("the user logs in");
        texts.push(format!("{oauth:?} {client:?} {:?} {:?}", oauth.status().await, web.store));
        web.time.sleep(Duration::from_secs(200)).await;
        // The server repeats what it got.
        let authorization = web.authorization.clone();
        web.authorization.on_request(move |request| {
            let is_refresh = request.url.ends_with("/token");
            // A code is worth nothing once it was used, and the client does not keep it.
            let tokens = authorization.secrets().into_iter().filter(|secret| !secret.starts_with("code-"));
            let told = format!("{} {:?} {:?}", request.body, request.headers, tokens.collect::<Vec<_>>());
            is_refresh.then(|| HttpAnswer::json(400, json!({"error": "invalid_request", "error_description": told})))
        });
        let error = echo(&client).await.expect_err("the refresh is refused");
        texts.push(format!("{error} {error:?}"));
        texts.push(format!("{:?}", oauth.logout(true).await));
    });
    let secrets = web.authorization.secrets();
    let sent = [Endpoint::Authorization].map(|endpoint| web.authorization.requests_to(endpoint)).concat();
    let state = sent[0].parameter("state").expect("a state");
    for text in &texts {
        let leaked: Vec<_> = secrets.iter().chain([&state]).filter(|secret| text.contains(*secret)).collect();
        assert!(leaked.is_empty(), "{leaked:?} in {text}");
    }
}
