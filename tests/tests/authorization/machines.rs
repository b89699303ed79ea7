//! Programs without a user.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ::smol::io::Cursor;
use mcpwire_authorization::oauth::{
    ClientAuthentication, ClientKey, Secret, SigningAlgorithm, SubjectToken, TokenEndpoint,
};
use mcpwire_authorization::{
    Enterprise, MachineGrant, MemoryStore, OAuthBuilder, SigningKey, StoreFailed, StoreLock, TokenStore,
};
use mcpwire_driver::ErrorKind;
use mcpwire_driver::http::{HttpClient, HttpResponse};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind};
use mcpwire_testkit::authorization::{Client, ResourceDeviation, SimulatedNetwork};
use mcpwire_tests::authorization::{Web, echo};
use serde_json::json;

use crate::clients::public_key;
use crate::{grants, secs};

const IDP_URL: &str = "https://idp.test/token";

#[test]
fn cc1_cc2_a_client_gets_tokens_with_its_secret_or_its_key() {
    for has_key in [false, true] {
        let web = Web::new();
        web.authorization.token_lifetime(secs(100));
        let client = Client::new("machine");
        let builder = if has_key {
            let (key, _) = SigningKey::generate().expect("the system has random numbers");
            web.authorization.client(client.key(public_key(&key)));
            let grant = MachineGrant::client_credentials("machine", None);
            web.oauth_without_user().machine_grant(grant).client_key(ClientKey::new(SigningAlgorithm::Es256), key)
        } else {
            web.authorization.client(client.secret("s3cret"));
            let secret = Secret::new("s3cret");
            web.oauth_without_user()
                .machine_grant(MachineGrant::client_credentials("machine", Some(secret)))
                .settings(|settings| settings.client_issuer("https://auth.test"))
        };
        web.run(builder, async |client| {
            echo(&client).await.expect("there is a token");
            web.time.sleep(secs(200)).await;
            echo(&client).await.expect("there is another token");
            web.authorization.revoke_access_tokens();
            echo(&client).await.expect("the refused token is replaced");
        });
        assert_eq!((grants(&web.token_requests()), web.logins().len()), (vec!["client_credentials".to_owned(); 3], 0));
        let resources = web.token_requests().iter().filter(|request| request.parameter("resource").is_some()).count();
        assert_eq!(resources, 3);
    }
}

/// The user's token at the identity provider, as a program keeps it.
type Subject = Arc<Mutex<Secret>>;

/// Creates the identity of a program that keeps the user's token in `subject`, or fails to do so.
fn identity(subject: &Subject, can_store: bool) -> Enterprise {
    let (read, written) = (Arc::clone(subject), Arc::clone(subject));
    Enterprise::new(
        TokenEndpoint::new("https://idp.test", IDP_URL),
        ClientAuthentication::public("idp-client"),
        "machine",
        move || Ok(SubjectToken::RefreshToken(read.lock().unwrap().clone())),
        move |token| {
            if !can_store {
                return Err("the disk is full".into());
            }
            *written.lock().unwrap() = token;
            Ok(())
        },
    )
    .client_secret(Secret::new("s3cret"))
}

/// Begins an authorizer of a program with this identity.
fn enterprise(web: &Web, identity: Enterprise) -> OAuthBuilder {
    let builder = web.oauth_without_user().machine_grant(MachineGrant::enterprise(identity));
    builder.settings(|settings| settings.client_issuer("https://auth.test"))
}

/// The network with an identity provider that replaces its refresh token at each use, and that ends the user's login at a second
/// use of an old one. The authorization server takes each ID-JAG, because it takes each request as one for client credentials.
#[derive(Clone)]
struct Enterprises {
    network: Arc<SimulatedNetwork>,
    /// The number in the valid refresh token, or `None` after a second use of an old one.
    valid: Arc<Mutex<Option<u32>>>,
    /// Whether the authorization server does not answer.
    is_silent: Arc<AtomicBool>,
}

impl Enterprises {
    fn new(web: &Web) -> Self {
        web.authorization.client(Client::new("machine").secret("s3cret"));
        Enterprises { network: web.network(), valid: Arc::new(Mutex::new(Some(0))), is_silent: Arc::default() }
    }

    fn exchange(&self, body: &str) -> String {
        let mut valid = self.valid.lock().unwrap();
        let number = valid.filter(|number| body.contains(&format!("subject_token=rt-{number}&")));
        *valid = number.map(|number| number + 1);
        match *valid {
            None => r#"{"error":"invalid_grant"}"#.into(),
            Some(next) => json!({
                "access_token": "j.a.g", "token_type": "N_A", "expires_in": 300, "refresh_token": format!("rt-{next}"),
                "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            })
            .to_string(),
        }
    }
}

impl HttpClient for Enterprises {
    fn send(&self, mut exchange: Exchange) -> Pin<Box<dyn Future<Output = Result<HttpResponse, Failure>> + Send>> {
        let body = String::from_utf8_lossy(&exchange.body).into_owned();
        if exchange.uri == IDP_URL {
            let answer = self.exchange(&body);
            let status = if answer.contains("error") { 400 } else { 200 };
            let headers = vec![("Content-Type".to_owned(), b"application/json".to_vec())];
            let body = Cursor::new(answer.into_bytes());
            return Box::pin(async move { Ok(HttpResponse::new(status, headers, body)) });
        }
        if body.contains("assertion=j.a.g") {
            if self.is_silent.load(Ordering::Relaxed) {
                return Box::pin(async { Err(Failure::new(FailureKind::NotMade, "the network is down")) });
            }
            let rest = body.split('&').filter(|parameter| !parameter.starts_with("grant_type="));
            exchange.body =
                format!("grant_type=client_credentials&{}", rest.collect::<Vec<_>>().join("&")).into_bytes();
        }
        self.network.send(exchange)
    }
}

fn user_token(subject: &Subject) -> String {
    subject.lock().unwrap().expose().to_owned()
}

#[test]
fn em7_the_token_of_a_user_is_not_lost_when_the_identity_provider_replaces_it() {
    let web = Web::new();
    web.authorization.token_lifetime(secs(100));
    let network = Enterprises::new(&web);
    let subject = Arc::new(Mutex::new(Secret::new("rt-0")));
    let oauth = enterprise(&web, identity(&subject, true)).build(web.time.runtime(), Arc::new(network.clone()));
    web.time.run(async {
        let client = web.client(&oauth);
        client.initialize().await.expect("there is a token");
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("the new token of the user is used");
        assert_eq!(user_token(&subject), "rt-2");

        // Also if the next request fails: the token was stored before it.
        network.is_silent.store(true, Ordering::Relaxed);
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect_err("the authorization server does not answer");
        network.is_silent.store(false, Ordering::Relaxed);
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("the user is still logged in");
    });
}

/// A store that knows whether a login at an identity provider is locked.
#[derive(Clone, Default)]
struct WatchedStore {
    store: MemoryStore,
    is_locked: Arc<AtomicBool>,
}

struct WatchedLock {
    is_locked: Arc<AtomicBool>,
    _lock: StoreLock,
}

impl Drop for WatchedLock {
    fn drop(&mut self) {
        self.is_locked.store(false, Ordering::Relaxed);
    }
}

impl TokenStore for WatchedStore {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFailed> {
        self.store.load(name)
    }

    fn save(&self, name: &str, document: &[u8]) -> Result<(), StoreFailed> {
        self.store.save(name, document)
    }

    fn remove(&self, name: &str) -> Result<(), StoreFailed> {
        self.store.remove(name)
    }

    fn lock(&self, name: &str) -> Result<StoreLock, StoreFailed> {
        let lock = self.store.lock(name)?;
        if !name.starts_with("identity-") {
            return Ok(lock);
        }
        self.is_locked.store(true, Ordering::Relaxed);
        Ok(Box::new(WatchedLock { is_locked: Arc::clone(&self.is_locked), _lock: lock }))
    }
}

#[test]
fn em7_programs_with_one_store_use_the_token_of_a_user_one_after_the_other() {
    let web = Web::new();
    let network = Enterprises::new(&web);
    let store = WatchedStore::default();
    let subject = Arc::new(Mutex::new(Secret::new("rt-0")));
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    let (first, second) = ((store.clone(), Arc::clone(&seen)), (store.clone(), Arc::clone(&seen)));
    let note = |(store, seen): &(WatchedStore, Arc<Mutex<Vec<bool>>>)| {
        seen.lock().unwrap().push(store.is_locked.load(Ordering::Relaxed));
    };
    let read = Arc::clone(&subject);
    let mut identity = identity(&subject, true);
    identity.subject = Arc::new(move || {
        note(&first);
        Ok(SubjectToken::RefreshToken(read.lock().unwrap().clone()))
    });
    identity.replace_subject = Arc::new(move |_| {
        note(&second);
        Ok(())
    });
    let builder = enterprise(&web, identity).store(store.clone());
    let oauth = builder.build(web.time.runtime(), Arc::new(network.clone()));
    web.time.run(async { web.client(&oauth).initialize().await.map(drop) }).expect("there is a token");
    assert_eq!(*seen.lock().unwrap(), [true, true], "the lock is held from the read to the write");
    assert!(!store.is_locked.load(Ordering::Relaxed));
}

#[test]
fn em7_a_program_that_cannot_store_the_new_token_of_the_user_is_told() {
    let web = Web::new();
    let network = Enterprises::new(&web);
    let subject = Arc::new(Mutex::new(Secret::new("rt-0")));
    let oauth = enterprise(&web, identity(&subject, false)).build(web.time.runtime(), Arc::new(network.clone()));
    let error = web.time.run(async { web.client(&oauth).initialize().await.map(drop).unwrap_err() });
    let expected = "the program could not store the new token of the identity provider: the disk is full";
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(web.token_requests().len(), 0);
}

/// A server that names its scopes in its metadata alone, and a program with a secret.
fn web_with_scopes() -> (Web, impl Fn() -> OAuthBuilder) {
    let web = Web::new();
    web.server.scopes_supported(["read", "offline_access", "write"]);
    web.authorization.client(Client::new("machine").secret("s3cret"));
    let grant = MachineGrant::client_credentials("machine", Some(Secret::new("s3cret")));
    let of = web.clone();
    (web, move || {
        let builder = of.oauth_without_user().settings(|settings| settings.client_issuer("https://auth.test"));
        builder.machine_grant(grant.clone())
    })
}

#[test]
fn a_program_asks_for_the_scopes_of_the_server_if_the_challenge_names_none() {
    let (web, builder) = web_with_scopes();
    web.call(builder()).expect("there is a token");
    assert_eq!(web.token_requests()[0].parameter("scope").as_deref(), Some("read write"));
}

#[test]
fn a_program_whose_token_lacks_scopes_is_not_told_to_log_in() {
    let (web, builder) = web_with_scopes();
    web.server.require("tools/call echo", "admin");
    let error = web.call(builder()).expect_err("a scope is missing");
    let text = error.to_string();
    assert!(text.contains("`admin`") && text.contains("`scopes`") && !text.contains("log in"), "{text}");
    assert_ne!(error.kind(), ErrorKind::LoginRequired);
}

#[test]
fn a_program_whose_tokens_are_all_refused_is_not_told_to_log_in() {
    let (web, builder) = web_with_scopes();
    web.server.deviate(ResourceDeviation::RefuseAllTokens);
    let error = web.refused(builder());
    assert!(!error.to_string().contains("log in"), "{error}");
    assert_ne!(error.kind(), ErrorKind::LoginRequired);
}
