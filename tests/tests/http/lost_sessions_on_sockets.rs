//! An idle client whose server has restarted, over sockets: the server opens a new session after a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::{Config, Negotiate, SubscriptionEvent, SubscriptionFilter, Timestamp};
use mcpwire_driver::{Clock, ConnectOptions, CurrentRuntime, McpClient, Runtime, Streams, TaskFuture, Timer};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::web::{Request, Web};
use mcpwire_tests::{Lines, on_one_runtime};
use serde_json::json;

/// How much faster the time of [`Fast`] passes.
const SPEED: u32 = 100;

/// A runtime whose time passes faster, so that a minute between two attempts takes less than a second.
struct Fast(Arc<dyn Runtime>);

impl Runtime for Fast {
    fn spawn(&self, task: TaskFuture) {
        self.0.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(FastTimer(self.0.timer()))
    }

    fn clock(&self) -> Clock {
        let clock = self.0.clock();
        Clock::from_fn(move || Timestamp::from_origin(clock.now().since_origin() * SPEED))
    }

    fn has_own_threads(&self) -> bool {
        self.0.has_own_threads()
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> std::io::Result<Streams> {
        self.0.pipes(pipes, exit)
    }
}

struct FastTimer(Box<dyn Timer>);

impl Timer for FastTimer {
    fn reset(&mut self, after: Duration) {
        self.0.reset(after / SPEED);
    }

    fn poll(&mut self, cx: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        self.0.poll(cx)
    }
}

/// A server that ends its first session when `restart` is heard, and then refuses to open another one, once. It reports a change
/// when the client has subscribed again. `stream` hears when the event stream of the first session is open.
fn restarting_server(restart: Lines, stream: Lines) -> Web {
    let initialized = AtomicUsize::new(0);
    Web::start(move |request, reply| {
        let session = request.header("mcp-session-id");
        match (request.method(), session) {
            ("initialize", _) => match initialized.fetch_add(1, Ordering::SeqCst) {
                1 => reply.full(503, "", "starting"),
                opened => {
                    let info = json!({"name": "restarting", "version": "1"});
                    let capabilities = json!({"resources": {"subscribe": true}});
                    let result =
                        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info});
                    let headers = format!("Content-Type: application/json\r\nMcp-Session-Id: s{opened}\r\n");
                    reply.full(200, &headers, request.answer(result).to_string());
                }
            },
            ("GET", Some("s0")) if restart.all().is_empty() => {
                reply.stream();
                stream.push("open");
                restart.wait_for("restart");
                reply.cut();
            }
            (_, Some("s0")) if !restart.all().is_empty() => reply.full(404, "", "no such session"),
            ("GET", _) => {
                reply.stream();
                restart.wait_for("watched");
                let params = json!({"uri": "file:///a"});
                reply.event(&json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}));
                reply.until_closed();
            }
            ("DELETE", _) => reply.full(204, "", ""),
            ("resources/subscribe", session) => {
                if session == Some("s2") {
                    restart.push("watched");
                }
                reply.json(200, &request.answer(json!({})));
            }
            _ => reply.full(202, "", ""),
        }
    })
}

fn a_subscription_outlives_a_restart_whose_first_renewal_fails<H: Host>() {
    let (restart, stream) = (Lines::default(), Lines::default());
    let web = restarting_server(restart.clone(), stream.clone());
    H::start().block_on(async {
        let mut config = Config::new("mcpwire-tests", "1.0");
        config.negotiate = Negotiate::Legacy;
        let never = Duration::from_secs(24 * 3600);
        (config.request_timeout, config.connect_timeout, config.probe_timeout) = (never, never, never);
        let http = Client::new(H::net(), ClientOptions::default()).expect("there is a client");
        let options = ConnectOptions::new(config).http(HttpOptions::default().client(http));
        let runtime = Arc::new(Fast(H::Runtime::current()));
        let client = McpClient::<()>::connect_on(runtime, &web.def(), options).expect("it is made");
        client.initialize().await.expect("it opens");
        let wanted = SubscriptionFilter::new().resource("file:///a");
        let mut subscription = client.subscribe(&wanted).await.expect("the server watches");
        // A server that refuses a stream that was never open may offer none.
        stream.heard("open").await;
        restart.push("restart");
        // Nothing but the subscription needs the session.
        loop {
            match subscription.next().await.expect("it goes on") {
                SubscriptionEvent::ResourceUpdated { uri } => break assert_eq!(uri, "file:///a"),
                event => assert!(matches!(event, SubscriptionEvent::Acknowledged(_)), "{event:?}"),
            }
        }
        client.shutdown().await.expect("it ends");
    });
    let is_subscribe = |request: &Request| request.method() == "resources/subscribe";
    let watched: Vec<_> = web.requests().into_iter().filter(is_subscribe).collect();
    let sessions: Vec<_> = watched.iter().map(|request| request.header("mcp-session-id")).collect();
    assert_eq!((web.count("initialize"), sessions), (3, vec![Some("s0"), Some("s2")]));
}

on_one_runtime!(a_subscription_outlives_a_restart_whose_first_renewal_fails,);
