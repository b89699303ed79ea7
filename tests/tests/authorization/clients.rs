//! Clients: registered once, with what the authorization server takes, and for it alone. The secret of a client that somebody has
//! registered goes to its authorization server alone, whatever the MCP server names.

use mcpwire_authorization::oauth::{AuthMethod, ClientKey, PublicKey, Secret, SigningAlgorithm};
use mcpwire_authorization::{LoginError, LoginErrorKind, LoginRequest, MachineGrant, OAuthBuilder, SigningKey};
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

/// Servers that are not quite right, how often the client registers, and the requests for tokens of a login and two refreshes.
#[test]
fn servers_that_deviate_are_coped_with() {
    let one_grant = Deviation::MetadataMember("grant_types_supported".into(), json!(["authorization_code"]));
    for (deviations, registrations, expected) in [
        (vec![Deviation::NoIss], 1, "code, token 1, token 2"),
        (vec![Deviation::UnpromisedIss], 1, "code, token 1, token 2"),
        (vec![Deviation::KeepRefreshTokens], 1, "code, token 1, token 1"),
        // The client knows that the resource is refused when it refreshes the token for the second time.
        (
            vec![Deviation::RefuseScopeOnRefresh, Deviation::RefuseResourceOnRefresh],
            1,
            "code, token 1, token 1 without resource, token 2 without resource",
        ),
        // The client registers again, and asks for less.
        (vec![Deviation::RefuseOtherGrants, Deviation::NoRefreshTokens, one_grant], 2, "code, code, code"),
        // The client that somebody has registered has no secret.
        (vec![Deviation::AdvertiseConfidentialMethodsOnly], 0, "code, token 1, token 2"),
    ] {
        let web = Web::new();
        web.server.scopes_supported(["a", "b"]);
        web.authorization.client(Client::new("public").redirect_uri(REDIRECT_URI)).token_lifetime(secs(100));
        let shown = format!("{deviations:?}");
        for deviation in deviations {
            web.authorization.deviate(deviation);
        }
        let builder = web.oauth().settings(|settings| match registrations {
            0 => settings.client_id("public"),
            _ => settings,
        });
        web.run(builder, async |client| {
            for _ in 0..2 {
                web.time.sleep(secs(200)).await;
                echo(&client).await.unwrap_or_else(|error| panic!("{shown}: {error}"));
            }
        });
        let mut tokens = Vec::new();
        let sent = web.token_requests().into_iter().map(|request| {
            assert!(request.parameter("scope").is_none(), "{shown}");
            let resource = if request.parameter("resource").is_some() { "" } else { " without resource" };
            let Some(token) = request.parameter("refresh_token") else { return format!("code{resource}") };
            if !tokens.contains(&token) {
                tokens.push(token);
            }
            format!("token {}{resource}", tokens.len())
        });
        assert_eq!(sent.collect::<Vec<_>>().join(", "), expected, "{shown}");
        assert_eq!(self::registrations(&web).len(), registrations, "{shown}");
        assert_eq!(web.authorization.reused_refresh_tokens(), 0, "{shown}");
    }
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

const MINE: &str = "https://auth.test";
const OTHER: &str = "https://other.test";
const SECRET: &str = "s3cret-of-the-client";

/// The authorization server of a client, and another one that would accept the same client.
struct TwoServers {
    web: Web,
    other: AuthorizationServer,
}

impl TwoServers {
    fn new() -> Self {
        let client = || Client::new("configured").secret(SECRET).redirect_uri(REDIRECT_URI);
        let mine = AuthorizationServer::new();
        mine.client(client());
        TwoServers { web: Web::with(&mine), other: AuthorizationServer::at(OTHER).client(client()) }
    }

    /// Returns an authorizer with the configured client, in a new process.
    fn configured(&self) -> OAuthBuilder {
        self.web.oauth().settings(|settings| settings.client_id("configured").client_secret(Secret::new(SECRET)))
    }

    fn machine(&self) -> OAuthBuilder {
        let grant = MachineGrant::client_credentials("configured", Some(Secret::new(SECRET)));
        self.web.oauth_without_user().machine_grant(grant)
    }

    fn log_in(&self, builder: OAuthBuilder, request: LoginRequest) -> Result<String, LoginError> {
        let oauth = self.web.build(builder);
        self.web.time.run(oauth.login_with(&self.web.user(), request)).map(|status| status.issuer)
    }

    fn log_in_by_device(&self, builder: OAuthBuilder) -> Result<String, LoginError> {
        let oauth = self.web.build(builder);
        let login = oauth.login_by_device(LoginRequest::default(), |code| {
            for server in [&self.web.authorization, &self.other] {
                server.answer_device(&code.user_code, true);
            }
        });
        self.web.time.run(login).map(|status| status.issuer)
    }

    fn log_out(&self, builder: OAuthBuilder) {
        let oauth = self.web.build(builder);
        self.web.time.run(oauth.logout(true)).expect("it is deleted");
    }

    /// Lets the MCP server name the other authorization server from now on.
    fn turn(&self) {
        self.web.server.move_to(&self.other);
    }

    /// Fails if the other authorization server has got the secret.
    fn assert_kept(&self) {
        let basic = "Y29uZmlndXJlZDpzM2NyZXQtb2YtdGhlLWNsaWVudA";
        for request in self.other.requests() {
            let text = format!("{request:?}{}", request.body);
            assert!(!text.contains(SECRET) && !text.contains(basic), "{text}");
        }
    }
}

fn trusting(builder: OAuthBuilder) -> OAuthBuilder {
    builder.settings(|settings| settings.trust_first_issuer(true))
}

#[test]
fn a_secret_without_an_issuer_is_sent_nowhere_before_the_program_has_named_one() {
    let world = TwoServers::new();
    let errors = [
        world.log_in(world.configured(), LoginRequest::default()).unwrap_err(),
        world.log_in_by_device(world.configured()).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), LoginErrorKind::ClientIssuerRequired);
        let LoginError::ClientIssuerRequired(required) = &error else { panic!("{error:?}") };
        assert_eq!((&*required.client_id, &*required.issuer), ("configured", MINE));
        assert!(error.to_string().contains("`client_issuer`"), "{error}");
    }
    let error = world.web.refused(world.machine()).to_string();
    assert!(error.contains("`client_issuer`") && error.contains(MINE), "{error}");
    assert_eq!((world.web.token_requests().len(), world.web.logins().len()), (0, 0));

    let agreed = LoginRequest::default().trust_issuer(MINE);
    assert_eq!(world.log_in(world.configured(), agreed).as_deref(), Ok(MINE));
    assert_eq!(world.log_in(world.configured(), LoginRequest::default()).as_deref(), Ok(MINE), "it is remembered");
}

#[test]
fn agreement_to_one_issuer_is_none_to_another() {
    let world = TwoServers::new();
    world.turn();
    let error = world.log_in(world.configured(), LoginRequest::default().trust_issuer(MINE)).unwrap_err();
    assert_eq!(error.kind(), LoginErrorKind::Misconfigured);
    world.assert_kept();
}

/// Uses the client at its own authorization server.
fn use_once(world: &TwoServers) {
    world.log_in(trusting(world.configured()), LoginRequest::default()).expect("the user logs in");
}

/// Fails if a flow sends the secret to the other authorization server, which the MCP server names now.
fn assert_no_flow_sends_it(world: &TwoServers) {
    world.turn();
    for account in ["", "another"] {
        let of = |builder: OAuthBuilder| builder.account(account);
        let browser = world.log_in(of(trusting(world.configured())), LoginRequest::default()).unwrap_err();
        let anew = world.log_in(of(trusting(world.configured())), LoginRequest::default().anew(true)).unwrap_err();
        let agreed = LoginRequest::default().trust_issuer(OTHER);
        let agreed = world.log_in(of(world.configured()), agreed).unwrap_err();
        let device = world.log_in_by_device(of(trusting(world.configured()))).unwrap_err();
        for error in [browser, anew, agreed, device] {
            assert_eq!(error.kind(), LoginErrorKind::Misconfigured, "{error}");
            assert!(error.to_string().contains(MINE) && error.to_string().contains(OTHER), "{error}");
        }
        // An account without a stored token.
        let machine = trusting(world.machine()).account(format!("machine{account}"));
        let error = world.web.refused(machine).to_string();
        assert!(error.contains(MINE) && error.contains(OTHER), "{error}");
    }
    world.assert_kept();
}

#[test]
fn the_issuer_of_an_earlier_use_outlives_the_logout() {
    let world = TwoServers::new();
    use_once(&world);
    world.log_out(world.configured());
    assert_no_flow_sends_it(&world);
}

#[test]
fn a_registration_at_another_issuer_does_not_hide_an_earlier_use() {
    let world = TwoServers::new();
    use_once(&world);
    world.turn();
    // The client registers at the other authorization server, as a program without the configured client does.
    world.log_in(world.web.oauth(), LoginRequest::default()).expect("the client registers");
    assert_no_flow_sends_it(&world);
}

#[test]
fn a_device_login_and_a_program_without_a_user_bind_the_client_too() {
    let world = TwoServers::new();
    world.log_in_by_device(trusting(world.configured())).expect("the user logs in");
    world.log_out(world.configured());
    assert_no_flow_sends_it(&world);

    let world = TwoServers::new();
    world.web.call(trusting(world.machine())).expect("a token");
    world.log_out(world.machine());
    assert_no_flow_sends_it(&world);
}

#[test]
fn a_refresh_and_a_revocation_send_no_secret_to_an_issuer_that_the_settings_no_longer_name() {
    let world = TwoServers::new();
    use_once(&world);
    world.web.run(trusting(world.machine()).account("machine"), async |_| ());
    let before = world.web.token_requests().len();
    let moved = |builder: OAuthBuilder| builder.settings(|settings| settings.client_issuer(OTHER));
    world.web.authorization.revoke_access_tokens();
    world.web.refused(moved(world.web.oauth_without_user().settings(|settings| settings.client_id("configured"))));
    for builder in [world.configured(), world.machine().account("machine")] {
        let oauth = world.web.build(moved(builder));
        world.web.time.run(oauth.logout(true)).expect("it is deleted");
    }
    assert_eq!(world.web.token_requests().len(), before);
    let revocations = world.web.authorization.requests_to(Endpoint::Revocation);
    assert_eq!(revocations.len(), 0);
}

#[test]
fn the_settings_say_more_than_an_earlier_use() {
    let world = TwoServers::new();
    use_once(&world);
    world.turn();
    let moved = || world.configured().settings(|settings| settings.client_issuer(OTHER));
    assert_eq!(world.log_in(moved(), LoginRequest::default()).as_deref(), Ok(OTHER));
    // From now on the client belongs there.
    assert_eq!(world.log_in(world.configured(), LoginRequest::default()).as_deref(), Ok(OTHER));
}
