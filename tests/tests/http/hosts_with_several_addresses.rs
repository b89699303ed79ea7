//! Servers whose name has several addresses, of which some lead nowhere (Happy Eyeballs, RFC 8305).

use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_driver::http::{ConnectFuture, HttpOptions, Net, ResolveFuture};
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::Timestamp;
use mcpwire_driver::{
    BlockingTask, Clock, ConnectOptions, ErrorKind, McpClient, McpServerDef, Runtime, Streams, TaskFuture, Timer,
};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_smol::Smol;
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{
    Adapter, Blocking, Call, Failure, OnDrop, OverHttp, on_every_async_adapter, on_one_runtime, watched,
};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A runtime on which each name has these addresses.
struct Names {
    net: Arc<dyn Net>,
    addresses: Vec<SocketAddr>,
    /// Whether timers elapse. Without them, only a failed attempt starts the next one, and each attempt to connect to a dead
    /// address takes a day.
    has_timers: bool,
    /// Number of attempts to connect to dead addresses.
    tried: Arc<AtomicUsize>,
    /// Whether an attempt to connect to a dead address was dropped.
    left: Arc<AtomicBool>,
}

/// Returns an address of a test network (RFC 5737), to which [`Names`] never finishes to connect.
fn dead(n: u8) -> SocketAddr {
    (Ipv4Addr::new(192, 0, 2, n), 80).into()
}

/// Returns the address of a server.
fn live(web: &Web) -> SocketAddr {
    web.url().replace("http://", "").replace("/mcp", "").parse().expect("the URL has an address")
}

/// Returns an address of this machine that refuses connections.
fn refusing(web: &Web) -> SocketAddr {
    (Ipv4Addr::new(127, 0, 0, 2), live(web).port()).into()
}

impl Names {
    fn new(net: Arc<dyn Net>, addresses: Vec<SocketAddr>) -> Self {
        Names { net, addresses, has_timers: true, tried: Arc::default(), left: Arc::default() }
    }

    fn options(self, options: ClientOptions) -> HttpOptions {
        HttpOptions::default().client(Client::new(Arc::new(self), options).expect("there is a client"))
    }
}

impl Runtime for Names {
    fn spawn(&self, task: TaskFuture) {
        self.net.spawn(task);
    }

    fn spawn_blocking(&self, task: BlockingTask) {
        self.net.spawn_blocking(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        if self.has_timers { self.net.timer() } else { Box::new(NoTimer) }
    }

    fn clock(&self) -> Clock {
        if self.has_timers {
            return self.net.clock();
        }
        let tried = Arc::clone(&self.tried);
        Clock::from_fn(move || Timestamp::from_origin(DAY * u32::try_from(tried.load(Ordering::SeqCst)).unwrap_or(0)))
    }

    fn has_own_threads(&self) -> bool {
        self.net.has_own_threads()
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        self.net.pipes(pipes, exit)
    }
}

impl Net for Names {
    fn resolve(&self, _: String, _: u16) -> ResolveFuture {
        let addresses = self.addresses.clone();
        Box::pin(async { Ok(addresses) })
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        if address.ip().is_loopback() {
            return self.net.connect_tcp(address);
        }
        self.tried.fetch_add(1, Ordering::SeqCst);
        let leaving = OnDrop(Arc::clone(&self.left));
        Box::pin(async move {
            let _leaving = leaving;
            pending().await
        })
    }
}

/// A timer that never elapses.
struct NoTimer;

impl Timer for NoTimer {
    fn reset(&mut self, _: Duration) {}

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

/// Creates the HTTP options of a client from its runtime.
type Options<'o> = &'o dyn Fn(Arc<dyn Net>) -> HttpOptions;

/// A way to call a tool of a server whose name is `localhost`. Clients ignore the proxies of the environment for this name.
trait Caller {
    fn call(options: Options<'_>) -> Result<String, Failure>;
}

impl<H: Host> Caller for H {
    fn call(options: Options<'_>) -> Result<String, Failure> {
        H::start().block_on(async {
            let options = ConnectOptions::default().http(options(H::net()));
            let client = McpClient::<H::Runtime>::connect_with(&McpServerDef::http("http://localhost/mcp"), options)?;
            client.initialize().await?;
            Ok(client.call_tool("echo", ()).await?.text().into_string())
        })
    }
}

struct OnThisThread;

impl Caller for OnThisThread {
    fn call(options: Options<'_>) -> Result<String, Failure> {
        let options = OverHttp { http: options(Arc::new(Smol)), ..OverHttp::default() };
        let mut client = Blocking::over_http(&McpServerDef::http("http://localhost/mcp"), options)?;
        client.initialize()?;
        Ok(client.call(Call::new("echo"))?.text().into_string())
    }
}

fn server() -> Web {
    Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))))
}

fn a_dead_address_is_left_for_a_live_one<C: Caller>() {
    let web = server();
    let (tried, left) = (Arc::default(), Arc::default());
    let called = C::call(&|net| {
        let mut names = Names::new(net, vec![dead(1), live(&web)]);
        (names.tried, names.left) = (Arc::clone(&tried), Arc::clone(&left));
        names.options(ClientOptions::default())
    });
    assert_eq!(called.expect("the second address answers"), "fine");
    assert_eq!((tried.load(Ordering::SeqCst), left.load(Ordering::SeqCst)), (1, true));
}

fn a_refusal_leads_to_the_next_address_without_a_wait<C: Caller>() {
    let web = server();
    let called = C::call(&|net| {
        let mut names = Names::new(net, vec![refusing(&web), live(&web)]);
        names.has_timers = false;
        names.options(ClientOptions::default())
    });
    assert_eq!(called.expect("the second address answers"), "fine");
}

fn addresses_that_fail_are_all_named<C: Caller>() {
    let web = server();
    let failure = C::call(&|net| {
        let mut names = Names::new(net, vec![refusing(&web), dead(1)]);
        names.has_timers = false;
        names.options(ClientOptions::default())
    });
    let refusal = format!("{}: Connection refused", refusing(&web));
    let expected = ["did not answer within 10s", &*refusal, "192.0.2.1:80: no answer"];
    failure.expect_err("no address answers").assert(ErrorKind::Connect, &expected);
}

/// A proxy's name may have several addresses, too. The server does not mind that it is asked as a proxy.
fn all_addresses_of_a_proxy_are_tried<C: Caller>() {
    let web = server();
    let called = C::call(&|net| {
        let names = Names::new(net, vec![dead(1), live(&web)]);
        names.options(ClientOptions::default().proxy("http://proxy.test"))
    });
    assert_eq!(called.expect("the second address answers"), "fine");
    assert!(web.requests().iter().all(|request| request.path == "http://localhost/mcp"));
}

on_every_async_adapter!(a_dead_address_is_left_for_a_live_one);

on_one_runtime!(
    a_refusal_leads_to_the_next_address_without_a_wait,
    addresses_that_fail_are_all_named,
    all_addresses_of_a_proxy_are_tried,
);

#[test]
fn a_blocking_client_leaves_a_dead_address_for_a_live_one() {
    watched(a_dead_address_is_left_for_a_live_one::<OnThisThread>);
}
