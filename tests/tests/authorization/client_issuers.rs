//! The secret of a client that somebody has registered goes to its authorization server alone, whatever the MCP server names.

use mcpwire_authorization::oauth::Secret;
use mcpwire_authorization::{LoginError, LoginErrorKind, LoginRequest, MachineGrant, OAuthBuilder};
use mcpwire_testkit::authorization::{AuthorizationServer, Client, Endpoint};
use mcpwire_tests::authorization::{REDIRECT_URI, Web};

const MINE: &str = "https://auth.test";
const OTHER: &str = "https://other.test";
const SECRET: &str = "s3cret-of-the-client";

/// The authorization server of a client, and another one that would accept the same client.
struct World {
    web: Web,
    other: AuthorizationServer,
}

impl World {
    fn new() -> Self {
        let client = || Client::new("configured").secret(SECRET).redirect_uri(REDIRECT_URI);
        let mine = AuthorizationServer::new();
        mine.client(client());
        World { web: Web::with(&mine), other: AuthorizationServer::at(OTHER).client(client()) }
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
    let world = World::new();
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
    let world = World::new();
    world.turn();
    let error = world.log_in(world.configured(), LoginRequest::default().trust_issuer(MINE)).unwrap_err();
    assert_eq!(error.kind(), LoginErrorKind::Misconfigured);
    world.assert_kept();
}

/// Uses the client at its own authorization server.
fn use_once(world: &World) {
    world.log_in(trusting(world.configured()), LoginRequest::default()).expect("the user logs in");
}

/// Fails if a flow sends the secret to the other authorization server, which the MCP server names now.
fn assert_no_flow_sends_it(world: &World) {
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
    let world = World::new();
    use_once(&world);
    world.log_out(world.configured());
    assert_no_flow_sends_it(&world);
}

#[test]
fn a_registration_at_another_issuer_does_not_hide_an_earlier_use() {
    let world = World::new();
    use_once(&world);
    world.turn();
    // The client registers at the other authorization server, as a program without the configured client does.
    world.log_in(world.web.oauth(), LoginRequest::default()).expect("the client registers");
    assert_no_flow_sends_it(&world);
}

#[test]
fn a_device_login_and_a_program_without_a_user_bind_the_client_too() {
    let world = World::new();
    world.log_in_by_device(trusting(world.configured())).expect("the user logs in");
    world.log_out(world.configured());
    assert_no_flow_sends_it(&world);

    let world = World::new();
    world.web.call(trusting(world.machine())).expect("a token");
    world.log_out(world.machine());
    assert_no_flow_sends_it(&world);
}

#[test]
fn a_refresh_and_a_revocation_send_no_secret_to_an_issuer_that_the_settings_no_longer_name() {
    let world = World::new();
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
    let world = World::new();
    use_once(&world);
    world.turn();
    let moved = || world.configured().settings(|settings| settings.client_issuer(OTHER));
    assert_eq!(world.log_in(moved(), LoginRequest::default()).as_deref(), Ok(OTHER));
    // From now on the client belongs there.
    assert_eq!(world.log_in(world.configured(), LoginRequest::default()).as_deref(), Ok(OTHER));
}
