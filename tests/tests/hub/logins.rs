//! Servers of a hub that want a login, in simulated time. Another process is another `Logins` with the same files.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpwire_authorization::LoginRequest;
use mcpwire_authorization::oauth::Scopes;
use mcpwire_driver::http::{HttpClient, HttpOptions};
use mcpwire_hub::config::{EnvVarConfig, McpConfig, OAuthConfig};
use mcpwire_hub::layout::Layout;
use mcpwire_hub::logins::{LoginSettings, Logins};
use mcpwire_hub::runtime::{Clock, Runtime, Smol, Streams, TaskFuture, Timer};
use mcpwire_hub::secrets::{Secret, SecretRef};
use mcpwire_hub::service::{HubEvent, StatusDetail};
use mcpwire_hub::{ConnectOptions, ErrorKind, Hub, HubError, HubOptions, McpServerDef, McpService, Uuid};
use mcpwire_supervisor::State;
use mcpwire_testkit::authorization::{AuthorizationServer, Client, Deviation, Endpoint, ResourceDeviation};
use mcpwire_testkit::{HttpAnswer, ScriptedServer};
use mcpwire_tests::authorization::{AgreeingUser, Web};
use serde_json::json;
use tempfile::TempDir;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// The runtime of simulated time, as a value.
struct Virtual(Arc<dyn Runtime>);

impl Runtime for Virtual {
    fn spawn(&self, task: TaskFuture) {
        self.0.spawn(task);
    }

    fn spawn_blocking(&self, task: mcpwire_hub::runtime::BlockingTask) {
        self.0.spawn_blocking(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        self.0.timer()
    }

    fn clock(&self) -> Clock {
        self.0.clock()
    }

    fn unix_time(&self) -> Duration {
        self.0.unix_time()
    }

    fn pipes(&self, pipes: mcpwire_process::Pipes, exit: Option<mcpwire_process::ExitHandle>) -> io::Result<Streams> {
        self.0.pipes(pipes, exit)
    }
}

/// A directory of a user, whose programs share configuration and logins.
struct Place {
    web: Web,
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        Place { web: Web::new(), directory: tempfile::tempdir().expect("a directory") }
    }

    fn layout(&self) -> Layout {
        Layout::below(self.directory.path())
    }

    async fn hub(&self) -> Hub {
        let network = self.web.network();
        let connect =
            move |_: &McpConfig| ConnectOptions::default().http(HttpOptions::default().client(Arc::clone(&network)));
        let options = HubOptions::on(Virtual(self.web.time.runtime()), self.layout()).connect(connect);
        Hub::open(options).await.expect("the hub opens")
    }

    /// Opens a hub with a server, and boots it.
    async fn booted(&self, config: &McpConfig) -> Hub {
        let hub = self.hub().await;
        hub.create(config.clone()).await.expect("it is created");
        self.boot(&hub).await;
        hub
    }

    /// Opens a hub with the protected server, and boots it. Returns the id of the server, too.
    async fn guarded(&self) -> (Hub, Uuid) {
        let config = self.config();
        (self.booted(&config).await, config.id)
    }

    /// Boots a hub, and waits until the connections of servers that have failed are closed.
    async fn boot(&self, hub: &Hub) {
        hub.boot().await.expect("it boots");
        self.sleep(Duration::from_millis(1)).await;
    }

    fn config(&self) -> McpConfig {
        McpConfig::http("guarded", self.web.server.url())
    }

    fn user(&self) -> AgreeingUser {
        self.web.user()
    }

    /// Returns the authorizer of another process, with the same files.
    fn elsewhere(&self) -> mcpwire_authorization::OAuth {
        let def = McpServerDef::http(self.web.server.url());
        let network: Arc<dyn HttpClient> = self.web.network();
        Logins::new(&self.layout(), "mcpwire")
            .oauth(&def, &LoginSettings::default(), &self.web.time.runtime(), Some(network))
            .expect("it has an HTTP client")
    }

    async fn log_in_elsewhere(&self) {
        self.log_in_elsewhere_for("").await;
    }

    async fn log_in_elsewhere_for(&self, scopes: &str) {
        let mut request = LoginRequest::default();
        if !scopes.is_empty() {
            request = request.scopes(Scopes::parse(scopes));
        }
        self.elsewhere().login_with(&self.user(), request).await.expect("the user logs in");
    }

    async fn log_out_elsewhere(&self) {
        self.elsewhere().logout(false).await.expect("the login is deleted");
    }

    fn requests(&self) -> usize {
        self.web.server.requests().len() + self.web.authorization.requests().len()
    }

    async fn sleep(&self, time: Duration) {
        self.web.time.sleep(time).await;
    }
}

fn run(test: impl AsyncFnOnce(&Place)) {
    let place = Place::new();
    let time = place.web.time.clone();
    time.run(test(&place));
}

fn detail(hub: &Hub, id: Uuid) -> StatusDetail {
    hub.status_detail(id).expect("it is configured")
}

async fn call(hub: &Hub, id: Uuid, tool: &str) -> Result<String, HubError> {
    hub.call_tool(id, tool, &json!({})).await
}

#[test]
fn a_server_that_wants_a_login_is_not_asked_again_until_the_login_is_stored() {
    run(async |place| {
        place.web.server.require("", "files:read");
        let (hub, id) = place.guarded().await;
        let waiting = detail(&hub, id);
        assert_eq!((waiting.state, waiting.retry_in_ms), (State::NeedsLogin, None));
        let error = waiting.last_error.expect("it says why");
        assert_eq!(error.kind(), ErrorKind::LoginRequired);
        assert!(error.message().contains("files:read"), "{error}");
        let required = waiting.login.expect("it says which login");
        assert_eq!((required.server_url, required.scopes), (place.web.server.url(), vec!["files:read".to_owned()]));

        let before = place.requests();
        place.sleep(10 * HOUR).await;
        assert_eq!(call(&hub, id, "echo").await.expect_err("no login").kind(), ErrorKind::LoginRequired);
        assert_eq!(place.requests(), before, "neither a restart nor a health check");

        place.log_in_elsewhere_for("files:read").await;
        place.sleep(2 * SECOND).await;
        let running = detail(&hub, id);
        assert_eq!((running.state, running.login), (State::Running, None));
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
    });
}

#[test]
fn a_call_finds_the_login_that_was_stored_a_moment_before() {
    run(async |place| {
        let (hub, id) = place.guarded().await;
        assert_eq!(detail(&hub, id).state, State::NeedsLogin);
        place.log_in_elsewhere().await;
        let now = place.web.time.elapsed();
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
        assert_eq!(place.web.time.elapsed(), now);
    });
}

#[test]
fn a_server_whose_login_is_deleted_by_another_process_needs_it_again() {
    run(async |place| {
        place.log_in_elsewhere().await;
        let (hub, id) = place.guarded().await;
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
        place.log_out_elsewhere().await;
        place.sleep(2 * SECOND).await;
        assert_eq!(detail(&hub, id).state, State::NeedsLogin);
        assert_eq!(call(&hub, id, "echo").await.expect_err("no login").kind(), ErrorKind::LoginRequired);

        place.log_in_elsewhere().await;
        place.sleep(2 * SECOND).await;
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
    });
}

#[test]
fn the_hub_logs_in_and_out() {
    run(async |place| {
        place.web.server.require("", "files:read");
        let (hub, id) = place.guarded().await;
        let mut events = hub.events();
        let login = hub.login(id, &place.user(), LoginRequest::default()).await.expect("the user logs in");
        assert_eq!(login.issuer, place.web.authorization.issuer());
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
        assert!(hub.logout(id, true).await.expect("the login is deleted").had_token);
        assert_eq!(call(&hub, id, "echo").await.expect_err("no login").kind(), ErrorKind::LoginRequired);
        assert_eq!(place.web.count(Endpoint::Revocation), 2);
        // The server needs a login again once its connection is closed.
        place.sleep(Duration::from_millis(1)).await;
        let mut states = Vec::new();
        while let Some(event) = events.try_next() {
            if let HubEvent::Status { state: state @ (State::Running | State::NeedsLogin), error, .. } = event {
                states.push((state, error.map(|error| error.kind())));
            }
        }
        assert_eq!(states, [(State::Running, None), (State::NeedsLogin, Some(ErrorKind::LoginRequired))]);
    });
}

#[test]
fn the_tools_of_a_running_server_are_those_of_its_login() {
    run(async |place| {
        let mut tokens: Vec<String> = Vec::new();
        place.web.server.over_http(|http| {
            http.on_request(move |request| {
                let is_list = request.method() == "tools/list";
                let token = is_list.then(|| request.header("Authorization").unwrap_or_default().to_owned())?;
                if !tokens.contains(&token) {
                    tokens.push(token);
                }
                let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
                let tools = [tool("echo"), tool(&format!("of_login_{}", tokens.len()))];
                let result =
                    json!({"resultType": "complete", "tools": tools, "ttlMs": 3_600_000, "cacheScope": "private"});
                let id = request.message.member::<u64>("id");
                Some(HttpAnswer::json(200, json!({"jsonrpc": "2.0", "id": id, "result": result})))
            })
        });
        place.log_in_elsewhere().await;
        let (hub, id) = place.guarded().await;
        let names = || hub.available_tools().iter().map(|tool| tool.tool.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(), ["echo", "of_login_1"]);
        hub.login(id, &place.user(), LoginRequest::default()).await.expect("another user logs in");
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
        place.sleep(2 * SECOND).await;
        assert_eq!(names(), ["echo", "of_login_2"]);
    });
}

#[test]
fn all_servers_of_a_url_share_one_refresh() {
    run(async |place| {
        place.log_in_elsewhere().await;
        let configs: Vec<McpConfig> =
            (0..3).map(|at| McpConfig::http(format!("guarded {at}"), place.web.server.url())).collect();
        let hub = place.hub().await;
        for config in &configs {
            hub.create(config.clone()).await.expect("it is created");
        }
        hub.boot().await.expect("it boots");
        place.web.authorization.revoke_access_tokens();
        let before = place.web.count(Endpoint::Token);
        let calls = configs.iter().cycle().take(30).map(|config| call(&hub, config.id, "echo"));
        for result in futures_util::future::join_all(calls).await {
            assert_eq!(result.as_deref(), Ok("hi"));
        }
        assert_eq!(place.web.count(Endpoint::Token), before + 1);
        assert_eq!(place.web.authorization.reused_refresh_tokens(), 0);
    });
}

#[test]
fn a_server_with_credentials_of_its_own_or_with_logins_turned_off_never_logs_in() {
    run(async |place| {
        place.log_in_elsewhere().await;
        let before = place.web.authorization.requests().len();
        let own = place.config().header(EnvVarConfig::value("authorization", "Basic eDp5"));
        let off = McpConfig::http("off", place.web.server.url()).oauth(OAuthConfig::disabled());
        let hub = place.hub().await;
        for config in [&own, &off] {
            hub.create(config.clone()).await.expect("it is created");
        }
        place.boot(&hub).await;
        for id in [own.id, off.id] {
            assert_eq!(detail(&hub, id).state, State::NeedsAuth);
            assert_eq!(hub.oauth(id).await.expect_err("no login").field(), "oauth");
        }
        place.sleep(HOUR).await;
        assert_eq!(place.web.authorization.requests().len(), before);
        let sent = place.web.server.requests();
        assert!(sent.iter().all(|request| !request.header("authorization").is_some_and(|it| it.starts_with("Bearer"))));
    });
}

#[test]
fn a_tool_that_wants_more_scopes_fails_alone() {
    run(async |place| {
        place.web.server.require("tools/call other", "admin");
        place.log_in_elsewhere().await;
        let (hub, id) = place.guarded().await;
        let error = call(&hub, id, "other").await.expect_err("it wants more");
        assert_eq!(error.kind(), ErrorKind::LoginRequired, "{error}");
        assert!(error.message().contains("admin"), "{error}");
        place.sleep(SECOND).await;
        assert_eq!(detail(&hub, id).state, State::Running);
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
    });
}

#[test]
fn a_login_that_the_server_refuses_later_is_needed_again_after_the_first_call() {
    run(async |place| {
        place.log_in_elsewhere().await;
        let (hub, id) = place.guarded().await;
        place.web.authorization.revoke_logins();
        assert_eq!(call(&hub, id, "echo").await.expect_err("revoked").kind(), ErrorKind::LoginRequired);
        place.sleep(SECOND).await;
        assert_eq!(detail(&hub, id).state, State::NeedsLogin);
    });
}

#[test]
fn a_refresh_that_fails_for_a_while_does_not_end_the_login() {
    run(async |place| {
        place.log_in_elsewhere().await;
        let (hub, id) = place.guarded().await;
        place.web.authorization.revoke_access_tokens();
        let is_down = Arc::new(AtomicBool::new(true));
        let token_endpoint = place.web.authorization.endpoint(Endpoint::Token);
        let answers = Arc::clone(&is_down);
        place.web.authorization.on_request(move |request| {
            let fails = request.url == token_endpoint && answers.load(Ordering::Relaxed);
            fails.then(|| HttpAnswer::status(503))
        });
        let error = call(&hub, id, "echo").await.expect_err("there is no token now");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        place.sleep(60 * SECOND).await;
        assert_ne!(detail(&hub, id).state, State::NeedsLogin);
        is_down.store(false, Ordering::Relaxed);
        place.sleep(HOUR).await;
        assert_eq!(call(&hub, id, "echo").await.as_deref(), Ok("hi"));
    });
}

#[test]
fn a_server_that_refuses_each_new_token_is_not_started_in_a_loop() {
    run(async |place| {
        place.log_in_elsewhere().await;
        place.web.server.deviate(ResourceDeviation::RefuseAllTokens);
        let (hub, id) = place.guarded().await;
        place.sleep(HOUR).await;
        assert_eq!(detail(&hub, id).state, State::NeedsLogin);
        let before = place.requests();
        place.sleep(HOUR).await;
        assert!(place.requests() - before < 200, "{} requests in an hour", place.requests() - before);
    });
}

#[test]
fn an_error_names_the_setting_that_cures_it_by_its_path() {
    run(async |place| {
        place.web.authorization.deviate(Deviation::OmitCodeChallengeMethods);
        let mut config = place.config();
        let hub = place.booted(&config).await;
        let log_in = async || hub.login(config.id, &place.user(), LoginRequest::default()).await;
        let error = log_in().await.expect_err("the server does not mention PKCE");
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidConfiguration, "oauth.assume_pkce"));
        assert!(error.message().contains("`oauth.assume_pkce`"), "{error}");
        config = hub.get(config.id).expect("it is configured");
        config.oauth.assume_pkce = true;
        hub.update(config.clone()).await.expect("it is changed");
        hub.login(config.id, &place.user(), LoginRequest::default()).await.expect("the user logs in");
        assert_eq!(call(&hub, config.id, "echo").await.as_deref(), Ok("hi"));
    });
}

#[test]
fn a_program_logs_in_as_itself_with_its_secret() {
    run(async |place| {
        place.web.authorization.client(Client::new("robot").secret("swordfish"));
        let mut config = place.config();
        let secret = SecretRef::stored(config.id, "client_secret").expect("it is a name");
        config.oauth.client_id = Some("robot".into());
        config.oauth.client_secret = Some(EnvVarConfig::secret("client_secret", &secret));
        config.oauth.client_credentials = true;
        config.oauth.issuer = Some("https://auth.test".into());
        let hub = place.hub().await;
        hub.secrets().set(&secret, &Secret::new("swordfish")).expect("it is stored");
        hub.create(config.clone()).await.expect("it is created");
        hub.boot().await.expect("it boots");
        assert_eq!(call(&hub, config.id, "echo").await.as_deref(), Ok("hi"));
        assert_eq!(place.web.logins().len(), 0, "no user");
        let file = std::fs::read_to_string(place.layout().servers()).expect("the configuration");
        assert!(!file.contains("swordfish"), "{file}");
    });
}

#[test]
fn accounts_have_a_login_each() {
    run(async |place| {
        let [first, second] = ["first", "second"].map(|account| {
            let mut config = McpConfig::http(account, place.web.server.url());
            config.oauth.account = Some(account.into());
            config
        });
        let hub = place.hub().await;
        for config in [&first, &second] {
            hub.create(config.clone()).await.expect("it is created");
        }
        hub.boot().await.expect("it boots");
        hub.login(first.id, &place.user(), LoginRequest::default()).await.expect("the user logs in");
        place.sleep(2 * SECOND).await;
        assert_eq!(call(&hub, first.id, "echo").await.as_deref(), Ok("hi"));
        let other = detail(&hub, second.id);
        assert_eq!((other.state, other.login.expect("a login").account.as_str()), (State::NeedsLogin, "second"));
    });
}

/// Over real HTTP, with files that both hubs lock.
#[test]
fn the_hubs_of_two_processes_share_one_refresh() {
    let authorization = AuthorizationServer::new().latency(Duration::from_millis(50));
    let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
    let _serving = (authorization.serve(0).expect("a port"), server.serve(0).expect("a port"));
    let directory = tempfile::tempdir().expect("a directory");
    let layout = || Layout::below(directory.path());
    smol::block_on(async {
        let first = Hub::open(HubOptions::on(Smol, layout())).await.expect("the hub opens");
        let config = McpConfig::http("guarded", server.url());
        first.create(config.clone()).await.expect("it is created");
        let http = Smol.http_client(&McpServerDef::http(server.url())).expect("an HTTP client");
        let user = AgreeingUser::new(http);
        first.login(config.id, &user, LoginRequest::default()).await.expect("the user logs in");
        let second = Hub::open(HubOptions::on(Smol, layout())).await.expect("the hub opens");
        for hub in [&first, &second] {
            hub.boot().await.expect("it boots");
            assert_eq!(call(hub, config.id, "echo").await.as_deref(), Ok("hi"));
        }
        for round in 1..=5 {
            authorization.revoke_access_tokens();
            let calls = [&first, &second].into_iter().cycle().take(20).map(|hub| call(hub, config.id, "echo"));
            for result in futures_util::future::join_all(calls).await {
                assert_eq!(result.as_deref(), Ok("hi"));
            }
            assert_eq!(authorization.requests_to(Endpoint::Token).len(), 1 + round);
        }
        assert_eq!(authorization.reused_refresh_tokens(), 0);
        for hub in [&first, &second] {
            hub.shutdown_all().await.expect("it ends");
        }
    });
}
