//! Hostile authorization servers and MCP servers. Each attack ends in a named error within its deadline, in simulated time, and
//! no secret goes where it does not belong.

mod connections;
mod documents;
mod leaks;
mod responses;

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcpwire_authorization::oauth::{Request, Step, UnixTime};
use mcpwire_authorization::{LoginError, LoginErrorKind, LoginRequest, LoginStatus, OAuth, OAuthBuilder};
use mcpwire_driver::http::{HttpClient, ResponseFuture};
use mcpwire_driver::protocol::http::{Exchange, Failure, FailureKind};
use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint, ResourceDeviation, SimulatedNetwork};
use mcpwire_testkit::{HttpAnswer, HttpRequest};
use mcpwire_tests::authorization::Web;

/// An attack on a login, and how the login must end.
struct Attack {
    name: &'static str,
    prepare: Box<dyn Fn(&mut World)>,
    kind: LoginErrorKind,
    step: Step,
    /// A part of the error's text.
    text: &'static str,
    /// The latest end of the login.
    deadline: Duration,
}

/// Creates an attack that ends at once.
fn attack(
    name: &'static str,
    kind: LoginErrorKind,
    step: Step,
    text: &'static str,
    prepare: impl Fn(&mut World) + 'static,
) -> Attack {
    Attack { name, prepare: Box::new(prepare), kind, step, text, deadline: Duration::ZERO }
}

impl Attack {
    fn within(mut self, seconds: u64) -> Self {
        self.deadline = Duration::from_secs(seconds);
        self
    }
}

/// The time after which the library gives up a request, in seconds.
const REQUEST_TIMEOUT: u64 = 30;

/// A document that is one byte too long.
fn too_long() -> HttpAnswer {
    HttpAnswer::status(200).body(vec![b' '; Request::MAX_RESPONSE + 1])
}

/// Logs in at each of the hostile servers, and then lets `check` look at the world.
fn withstand(attacks: &[Attack], check: impl Fn(&Attack, &World)) {
    for attack in attacks {
        let (name, mut world) = (attack.name, World::new());
        (attack.prepare)(&mut world);
        let error = match world.login() {
            Ok(status) => panic!("{name}: the login succeeds: {status:?}"),
            Err(error) => error,
        };
        assert_eq!((error.kind(), step(&error)), (attack.kind, Some(attack.step)), "{name}: {error}");
        assert!(error.to_string().contains(attack.text), "{name}: {error}");
        assert!(world.web.time.elapsed() <= attack.deadline, "{name}: it takes {:?}", world.web.time.elapsed());
        world.check(name, &error);
        check(attack, &world);
    }
}

fn step(error: &LoginError) -> Option<Step> {
    match error {
        LoginError::Flow(error) => Some(error.step()),
        _ => None,
    }
}

/// Returns the texts of an error and its sources, for people and for logs.
fn texts(error: &(dyn Error + 'static)) -> String {
    let mut all = format!("{error} {error:?} {error:#?}");
    let mut source = error.source();
    while let Some(error) = source {
        write!(all, " {error} {error:?}").expect("a string can be written");
        source = error.source();
    }
    all
}

/// A user who agrees to everything, an MCP server, its authorization server, and a record of all requests for OAuth.
struct World {
    web: Web,
    /// The requests of the library, without those of the user's browser.
    asked: Arc<Mutex<Vec<Exchange>>>,
    /// Other authorization servers that can be reached.
    others: Vec<AuthorizationServer>,
    change: fn(OAuthBuilder) -> OAuthBuilder,
    by_device: bool,
}

impl World {
    fn new() -> Self {
        let (others, change) = (Vec::new(), |builder| builder);
        World { web: Web::new(), asked: Arc::default(), others, change, by_device: false }
    }

    fn authorization(&self) -> &AuthorizationServer {
        &self.web.authorization
    }

    /// Answers each request to an endpoint in this way. `Endpoint::Metadata` stands for all places of the metadata.
    fn answer(&self, endpoint: Endpoint, mut answer: impl FnMut(&HttpRequest) -> HttpAnswer + Send + 'static) {
        let url = self.authorization().endpoint(endpoint);
        self.authorization().on_request(move |request| {
            let is_metadata = request.url.contains("/.well-known/");
            let is_asked = match endpoint {
                Endpoint::Metadata => is_metadata,
                _ => !is_metadata && request.url.split('?').next() == Some(&url),
            };
            is_asked.then(|| answer(request))
        });
    }

    /// Changes a member of the metadata of the MCP server.
    fn resource_member(&self, name: &str, value: impl Into<serde_json::Value>) {
        self.web.server.deviate(ResourceDeviation::MetadataMember(name.into(), value.into()));
    }

    fn network(&self) -> SimulatedNetwork {
        let network = self.web.server.client_on(self.web.time.runtime());
        self.others.iter().fold(network, SimulatedNetwork::authorization_server)
    }

    fn build(&self, builder: OAuthBuilder) -> OAuth {
        let (network, asked) = (self.network(), Arc::clone(&self.asked));
        // Refuses addresses that are not public, as the real clients do, and records the other requests.
        let client = move |exchange: Exchange| -> ResponseFuture {
            let is_private = ["10.", "127.", "169.254.", "192.168.", "[", "localhost"]
                .iter()
                .any(|start| exchange.uri.split("://").nth(1).is_some_and(|rest| rest.starts_with(start)));
            if exchange.public_addresses_only && is_private {
                let text = "it is an address of this machine or of a private network";
                return Box::pin(async move { Err(Failure::new(FailureKind::NotMade, text)) });
            }
            asked.lock().unwrap_or_else(PoisonError::into_inner).push(exchange.clone());
            network.send(exchange)
        };
        (self.change)(builder).build(self.web.time.runtime(), Arc::new(client))
    }

    fn oauth(&self) -> OAuth {
        let user = mcpwire_tests::authorization::AgreeingUser::new(Arc::new(self.network()));
        self.build(self.web.oauth_without_user().prompt(user))
    }

    fn login(&self) -> Result<LoginStatus, LoginError> {
        let oauth = self.oauth();
        self.web.time.run(async {
            if self.by_device {
                oauth.login_by_device(LoginRequest::default(), |_| {}).await
            } else {
                oauth.login().await
            }
        })
    }

    fn asked(&self) -> Vec<Exchange> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the time since the beginning of 1970.
    fn now(&self) -> UnixTime {
        UnixTime::from_secs(self.web.time.runtime().unix_time().as_secs())
    }

    /// Fails if a request went where it must not, or an error shows what it must not.
    fn check(&self, name: &str, error: &(dyn Error + 'static)) {
        let secrets = self.authorization().secrets();
        let shown = texts(error);
        for secret in &secrets {
            assert!(!shown.contains(secret.as_str()), "{name}: the error shows {secret}: {shown}");
        }
        let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!error.to_string().contains(is_control), "{name}: control characters in {error:?}");
        assert!(error.to_string().len() < 2000, "{name}: {} bytes", error.to_string().len());
        for exchange in self.asked() {
            check_request(name, &exchange, &secrets);
        }
    }
}

/// Fails unless a request for OAuth has no cookies, follows no redirects, goes over https to a public address, and contains no
/// secret of the authorization server in its URL, nor elsewhere if it does not go to that server.
fn check_request(name: &str, exchange: &Exchange, secrets: &[String]) {
    let url = &exchange.uri;
    let host = url.strip_prefix("https://").unwrap_or_else(|| panic!("{name}: asks {url}"));
    let host = host.split(['/', '?']).next().unwrap_or_default();
    assert!(!exchange.follow_redirects, "{name}: follows redirects of {url}");
    assert!(exchange.public_addresses_only || host == "mcp.test", "{name}: any address of {url}");
    assert!(exchange.headers.iter().all(|(name, _)| !name.eq_ignore_ascii_case("cookie")), "{name}: cookies to {url}");
    let body = String::from_utf8_lossy(&exchange.body);
    for secret in secrets {
        let is_in_header = exchange.headers.iter().any(|(_, value)| value.contains(secret.as_str()));
        let is_sent = body.contains(secret.as_str()) || is_in_header;
        assert!(!url.contains(secret.as_str()), "{name}: {secret} is in {url}");
        assert!(host == "auth.test" || !is_sent, "{name}: {secret} goes to {url}");
    }
}

#[test]
fn at_least_forty_hostile_servers_are_withstood() {
    let groups = [documents::attacks(), responses::mix_ups(), responses::tokens(), responses::devices()];
    let attacks: Vec<_> = groups.iter().flatten().map(|attack| attack.name).collect();
    let names: HashSet<_> = attacks.iter().collect();
    assert_eq!(names.len(), attacks.len(), "a name is there twice");
    assert!(names.len() >= 100, "only {}", names.len());
}
