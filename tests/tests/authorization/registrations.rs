//! Clients: registered once, with what the authorization server takes, and for it alone.

use mcpwire_authorization::oauth::{
    AuthMethod, ClientKey, OAuthSettings, PublicKey, Secret, SigningAlgorithm, client_metadata_document,
};
use mcpwire_authorization::{LoginRequest, MachineGrant, SigningKey};
use mcpwire_driver::ErrorKind;
use mcpwire_testkit::authorization::{AuthorizationServer, Client, Deviation, Endpoint};
use mcpwire_tests::authorization::{REDIRECT_URI, Web, echo};
use serde_json::{Value, json};

use crate::{grants, secs};

const DOCUMENT_URL: &str = "https://client.test/oauth/client.json";

fn log_in(web: &Web) {
    web.call(web.oauth()).expect("the user logs in");
}

fn log_out(web: &Web) {
    let oauth = web.build(web.oauth());
    web.time.run(async { oauth.logout(false).await }).expect("the token is deleted");
}

fn registrations(web: &Web) -> Vec<Value> {
    let requests = web.authorization.requests_to(Endpoint::Registration);
    requests.iter().map(|request| serde_json::from_str(&request.body).expect("metadata is JSON")).collect()
}

#[test]
fn o9_the_second_login_uses_the_registration_of_the_first() {
    let web = Web::new();
    for _ in 0..3 {
        log_in(&web);
        log_out(&web);
    }
    assert_eq!((web.logins().len(), registrations(&web).len()), (3, 1));
}

#[test]
fn o10_the_secret_of_a_registration_is_kept_until_it_expires() {
    let web = Web::new();
    web.authorization.token_lifetime(secs(100)).deviate(Deviation::RegisterWithSecret);
    web.authorization.deviate(Deviation::SecretLifetime(secs(5000)));
    log_in(&web);
    web.time.advance(secs(200));
    web.call(web.oauth_without_user()).expect("the secret is stored");
    let requests = web.token_requests();
    assert_eq!(grants(&requests), ["authorization_code", "refresh_token"]);
    assert!(
        requests.iter().all(|request| request.header("Authorization").is_some_and(|value| value.starts_with("Basic ")))
    );
    log_out(&web);
    log_in(&web);
    assert_eq!(registrations(&web).len(), 1);
    log_out(&web);
    web.time.advance(secs(6000));
    log_in(&web);
    assert_eq!(registrations(&web).len(), 2, "the secret had expired");
}

#[test]
fn o11_a_client_that_the_server_has_forgotten_registers_anew_once() {
    let web = Web::new();
    web.authorization.token_lifetime(secs(100));
    web.run(web.oauth(), async |client| {
        web.authorization.forget_clients();
        echo(&client).await.expect("the user logs in as a new client");
        echo(&client).await.expect("the new client works");
    });
    assert_eq!((registrations(&web).len(), web.logins().len()), (2, 2));
    assert_eq!(grants(&web.token_requests()), ["authorization_code", "refresh_token", "authorization_code"]);
}

#[test]
fn o12_another_redirect_uri_is_another_registration() {
    let web = Web::new();
    let other = "http://127.0.0.1:41000/callback";
    log_in(&web);
    log_out(&web);
    let builder = web.oauth_without_user().prompt(web.user().redirect_uri(other));
    web.call(builder).expect("the user logs in at the other port");
    let uris: Vec<_> = registrations(&web).iter().map(|metadata| metadata["redirect_uris"][0].clone()).collect();
    assert_eq!(uris, [json!(REDIRECT_URI), json!(other)]);
}

#[test]
fn o13_host_port_and_path_of_the_redirect_uri_are_used_as_they_are() {
    let web = Web::new();
    let uri = "http://localhost:3118/slack/oauth/done";
    let builder = web.oauth_without_user().prompt(web.user().redirect_uri(uri));
    web.call(builder).expect("the user logs in");
    assert_eq!(registrations(&web)[0]["redirect_uris"], json!([uri]));
    assert_eq!(web.logins()[0].parameter("redirect_uri").as_deref(), Some(uri));
    assert_eq!(web.token_requests()[0].parameter("redirect_uri").as_deref(), Some(uri));
}

#[test]
fn o14_a_client_of_logins_in_a_browser_registers_again_for_devices() {
    let web = Web::new();
    log_in(&web);
    let oauth = web.build(web.oauth_without_user());
    let login = oauth.login_by_device(LoginRequest::default(), |code| {
        assert!(web.authorization.answer_device(&code.user_code, true));
    });
    web.time.run(login).expect("the new client may use device codes");
    assert_eq!(registrations(&web).len(), 2);
}

#[test]
fn o20_metadata_documents_are_small() {
    let settings = OAuthSettings::new("mcpwire", REDIRECT_URI)
        .client_metadata_url(DOCUMENT_URL)
        .client_uri("https://client.test/");
    let document =
        client_metadata_document(&settings, &[REDIRECT_URI, "http://[::1]/callback"]).expect("the URL is right");
    assert!(document.len() < 1024, "{document}");
    let web = Web::new();
    web.authorization.deviate(Deviation::AnyLoopbackPort);
    web.authorization.client_document(DOCUMENT_URL, serde_json::from_str(&document).expect("it is JSON"));
    let builder = web.oauth_without_user().settings(|settings| settings.client_metadata_url(DOCUMENT_URL));
    // Any port will do, where the authorization server follows RFC 8252.
    let builder = builder.prompt(web.user().redirect_uri("http://127.0.0.1:50123/callback"));
    web.call(builder).expect("the client is known by its document");
    assert_eq!(registrations(&web).len(), 0);
}

pub(crate) fn public_key(key: &SigningKey) -> Value {
    use base64::Engine;
    let Some(PublicKey::P256 { x, y }) = key.public_key() else { panic!("{key:?}") };
    let encode = |bytes: &[u8]| base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(bytes);
    json!({"kty": "EC", "crv": "P-256", "x": encode(&x), "y": encode(&y)})
}

#[test]
fn r3_r4_a_client_with_a_document_and_a_key_signs_its_token_requests() {
    let web = Web::new();
    web.authorization.token_lifetime(secs(100));
    let (key, _) = SigningKey::generate().expect("the system has random numbers");
    let document = json!({
        "client_id": DOCUMENT_URL, "client_name": "test", "redirect_uris": [REDIRECT_URI],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "private_key_jwt", "jwks": {"keys": [public_key(&key)]},
    });
    web.authorization.client_document(DOCUMENT_URL, document);
    let builder = web.oauth().settings(|settings| settings.client_metadata_url(DOCUMENT_URL));
    web.run(builder.client_key(ClientKey::new(SigningAlgorithm::Es256), key), async |client| {
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("the refresh is signed, too");
    });
    assert_eq!(grants(&web.token_requests()), ["authorization_code", "refresh_token"]);
    assert!(web.token_requests().iter().all(|request| request.parameter("client_assertion").is_some()));
}

#[test]
fn r9_a_refused_redirect_uri_is_an_error_that_says_so() {
    let web = Web::new();
    web.authorization.deviate(Deviation::RefuseRedirectUris);
    let error = web.refused(web.oauth()).to_string();
    assert!(error.contains(REDIRECT_URI) && error.contains("invalid_redirect_uri"), "{error}");
    assert_eq!(web.logins().len(), 0);
}

#[test]
fn r9_a_registration_that_asks_for_too_much_is_repeated_with_less() {
    let web = Web::new();
    web.authorization.deviate(Deviation::RefuseOtherGrants).deviate(Deviation::NoRefreshTokens);
    web.authorization.deviate(Deviation::MetadataMember("grant_types_supported".into(), json!(["authorization_code"])));
    log_in(&web);
    let asked: Vec<_> = registrations(&web).iter().map(|metadata| metadata["grant_types"].clone()).collect();
    assert_eq!((asked.len(), &asked[1]), (2, &json!(["authorization_code"])));
}

#[test]
fn r10_r11_a_configured_client_is_not_used_at_another_authorization_server() {
    let (mine, other) = (AuthorizationServer::new(), AuthorizationServer::at("https://other.test"));
    let client = Client::new("configured").secret("s3cret-of-the-client").redirect_uri(REDIRECT_URI);
    mine.client(client.clone());
    let web = Web::with(&mine);
    let builder = || {
        web.oauth().settings(|settings| {
            settings.client_id("configured").client_secret(Secret::new("s3cret-of-the-client")).trust_first_issuer(true)
        })
    };
    web.call(builder()).expect("the client is known");
    web.server.move_to(&other);
    let error = web.refused(builder()).to_string();
    assert!(error.contains("https://auth.test") && error.contains("https://other.test"), "{error}");
    let sent: Vec<_> = other.requests().iter().map(|request| format!("{request:?}")).collect();
    assert!(!sent.concat().contains("s3cret"), "the other server gets no credentials");
}

#[test]
fn r12_a_client_with_a_document_is_the_same_at_every_authorization_server() {
    let (first, second) = (AuthorizationServer::new(), AuthorizationServer::at("https://other.test"));
    let document = json!({"client_id": DOCUMENT_URL, "client_name": "test", "redirect_uris": [REDIRECT_URI]});
    first.client_document(DOCUMENT_URL, document.clone());
    second.client_document(DOCUMENT_URL, document);
    let web = Web::with(&first);
    let builder = web.oauth().settings(|settings| settings.client_metadata_url(DOCUMENT_URL));
    web.run(builder, async |client| {
        web.server.move_to(&second);
        echo(&client).await.expect("the user logs in at the other server");
    });
    for server in [first, second] {
        assert_eq!(server.requests_to(Endpoint::Registration).len(), 0);
        let login = server.requests_to(Endpoint::Authorization).remove(0);
        assert_eq!(login.parameter("client_id").as_deref(), Some(DOCUMENT_URL));
    }
}

#[test]
fn a_public_client_is_accepted_although_only_confidential_methods_are_advertised() {
    let web = Web::new();
    web.authorization.deviate(Deviation::AdvertiseConfidentialMethodsOnly);
    web.authorization.client(Client::new("public").redirect_uri(REDIRECT_URI));
    let builder = web.oauth().settings(|settings| settings.client_id("public"));
    web.call(builder).expect("it authenticates by no method");
    let error = web.refused(web.oauth_without_user().account("nobody"));
    assert_eq!(error.kind(), ErrorKind::LoginRequired);
}

#[test]
fn a_server_that_lists_only_methods_with_a_secret_registers_a_public_client() {
    let web = Web::new();
    // The Python SDK.
    web.authorization.deviate(Deviation::WantClientIdInBody);
    web.authorization.auth_methods(["client_secret_post", "client_secret_basic"]);
    let oauth = web.build(web.oauth());
    web.time.run(oauth.login()).expect("the user logs in");
    let methods: Vec<_> = registrations(&web).iter().map(|sent| sent["token_endpoint_auth_method"].clone()).collect();
    assert_eq!(methods, ["none"]);
    web.time.run(oauth.logout(true)).expect("the logout needs no secret");
}

#[test]
fn a_server_that_refuses_public_clients_registers_one_with_a_secret() {
    for (methods, has_header) in
        [(["client_secret_post", "client_secret_basic"], false), (["client_secret_basic", "client_secret_post"], true)]
    {
        let web = Web::new();
        web.authorization.deviate(Deviation::RefusePublicClients).deviate(Deviation::WantClientIdInBody);
        web.authorization.auth_methods(methods).token_lifetime(secs(100));
        web.run(web.oauth(), async |client| {
            web.time.sleep(secs(200)).await;
            echo(&client).await.expect("the refresh authenticates, too");
        });
        let registered = registrations(&web);
        let registered: Vec<_> = registered.iter().map(|sent| sent["token_endpoint_auth_method"].clone()).collect();
        assert_eq!(registered, ["none", methods[0]]);
        let requests = web.token_requests();
        assert_eq!(grants(&requests), ["authorization_code", "refresh_token"]);
        assert!(requests.iter().all(|request| request.header("Authorization").is_some() == has_header));
    }
}

#[test]
fn a_client_that_somebody_has_registered_authenticates_by_the_method_of_the_settings() {
    for has_user in [true, false] {
        let web = Web::new();
        // The server lists Basic first.
        let client = Client::new("configured").secret("s3cret").redirect_uri(REDIRECT_URI);
        web.authorization.client(client.auth_method("client_secret_post"));
        let builder = || {
            let secret = Secret::new("s3cret");
            let builder = if has_user {
                web.oauth().settings(|settings| settings.client_id("configured").client_secret(secret))
            } else {
                let grant = MachineGrant::client_credentials("configured", Some(secret));
                web.oauth_without_user().machine_grant(grant)
            };
            builder.settings(|settings| settings.client_issuer("https://auth.test"))
        };
        let error = web.refused(builder()).to_string();
        assert!(error.contains("`auth_method`"), "{error}");
        if has_user {
            assert!(error.contains("authenticated by client_secret_basic") && !error.contains("anew"), "{error}");
        }
        let builder = builder().settings(|settings| settings.auth_method(AuthMethod::ClientSecretPost));
        web.call(builder).expect("the method is right");
    }
}

#[test]
fn a_secret_with_spaces_reaches_servers_that_only_decode_percent_signs() {
    for deviates in [false, true] {
        let web = Web::new();
        let secret = "a secret+with%20signs";
        web.authorization.client(Client::new("my client").secret(secret).redirect_uri(REDIRECT_URI));
        if deviates {
            web.authorization.deviate(Deviation::PercentDecodeBasic);
        }
        let builder = web.oauth().settings(|settings| {
            settings.client_id("my client").client_secret(Secret::new(secret)).client_issuer("https://auth.test")
        });
        web.call(builder).expect("the secret is read");
        assert!(web.token_requests()[0].header("Authorization").is_some());
    }
}
