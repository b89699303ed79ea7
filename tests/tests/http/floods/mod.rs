//! Servers that send without end: nobody else waits for that, it ends, and it costs little memory.

mod http2;
mod kinds;
mod server;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ::smol::future::zip;
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::protocol::Config;
use mcpwire_driver::{ConnectOptions, McpClient};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_tests::asynchronous::{Host, Smol};
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Blocking, Call, OverHttp, WATCHDOG, allocated, on_every_async_adapter, watched};

use server::{Flood, Flooding};

const MIB: usize = 1 << 20;

/// How many calls to another server are answered during each flood.
const CALLS: usize = 10;

/// The most that a flooded connection takes: the limit, and what the system keeps for a socket on both sides.
const MOST_SENT: u64 = 16 * MIB as u64;

/// The most memory that two clients take, one of them flooded.
const MOST_MEMORY: usize = 32 * MIB;

/// Options whose deadlines are those of the flood.
fn config(flood: &Flood) -> Config {
    let mut config = Config::new("test", "1");
    (config.probe_timeout, config.request_timeout, config.connect_timeout) =
        (flood.deadline, flood.deadline, flood.deadline);
    config
}

/// Floods a client until another has made its calls, and at least once.
struct Case<'c> {
    flood: &'c Flood,
    web: Web,
    flooding: Flooding,
    is_done: AtomicBool,
}

impl<'c> Case<'c> {
    /// Starts the servers, lets somebody run the clients, and looks at what it cost.
    fn run(flood: &'c Flood, clients: impl FnOnce(&Self)) {
        let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
        let case = Case { flood, web, flooding: Flooding::start(flood), is_done: AtomicBool::new(false) };
        let ((), memory) = allocated(|| clients(&case));
        let (name, sent) = (flood.name, case.flooding.most_sent());
        // A response has no limit.
        assert!(sent < MOST_SENT || flood.error.is_empty(), "{name}: {sent} bytes");
        assert!(memory.peak < MOST_MEMORY, "{name}: {} bytes of memory", memory.peak);
    }

    /// The options of the client that is flooded.
    fn http<H: Host>(&self) -> HttpOptions {
        let options = ClientOptions::default().trust(self.flooding.certificate.clone());
        HttpOptions::default().client(Client::new(H::net(), options).expect("there is a client"))
    }

    /// A flood has ended. Whether it was the last.
    fn ended(&self, error: &str) -> bool {
        assert!(error.contains(self.flood.error), "{}: {error}", self.flood.name);
        self.is_done.load(Ordering::SeqCst)
    }

    fn is_done(&self) {
        self.is_done.store(true, Ordering::SeqCst);
    }
}

fn beside_others<H: Host>(flood: &Flood) {
    Case::run(flood, |case| {
        H::start().block_on(zip(calls::<H>(case), floods::<H>(case)));
    });
}

async fn calls<H: Host>(case: &Case<'_>) {
    let client = McpClient::<H::Runtime>::connect_and_initialize(&case.web.def()).await.expect("it opens");
    for _ in 0..CALLS {
        let result = client.call_tool("echo", ()).timeout(WATCHDOG).await;
        assert_eq!(result.expect(case.flood.name).text().into_string(), "fine");
    }
    case.is_done();
}

async fn floods<H: Host>(case: &Case<'_>) {
    loop {
        let options = ConnectOptions::new(config(case.flood)).http(case.http::<H>());
        let client = McpClient::<H::Runtime>::connect_with(&case.flooding.def(), options).expect("it is made");
        if case.ended(&client.initialize().await.expect_err(case.flood.name).to_string()) {
            return;
        }
    }
}

/// The same with blocking clients, which share a thread in the background.
fn beside_other_threads(flood: &Flood) {
    Case::run(flood, |case| {
        thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    let options = OverHttp { config: config(flood), http: case.http::<Smol>(), ..OverHttp::default() };
                    let mut client = Blocking::over_http(&case.flooding.def(), options).expect("it is made");
                    if case.ended(&client.initialize().expect_err(flood.name).to_string()) {
                        return;
                    }
                }
            });
            let mut client = Blocking::over_http(&case.web.def(), OverHttp::default()).expect("it is made");
            client.initialize().expect("it opens");
            for _ in 0..CALLS {
                let result = client.call(Call::new("echo").timeout(WATCHDOG));
                assert_eq!(result.expect(flood.name).text().into_string(), "fine");
            }
            case.is_done();
        });
    });
}

fn floods_of_http1_end_and_hold_up_nobody<H: Host>() {
    kinds::HTTP1.iter().for_each(beside_others::<H>);
}

fn floods_of_http2_responses_end_and_hold_up_nobody<H: Host>() {
    kinds::HTTP2_RESPONSES.iter().for_each(beside_others::<H>);
}

fn floods_of_http2_frames_end_and_hold_up_nobody<H: Host>() {
    kinds::HTTP2_FRAMES.iter().for_each(beside_others::<H>);
}

fn endless_responses_hold_up_nobody<H: Host>() {
    kinds::BODIES.iter().for_each(beside_others::<H>);
}

on_every_async_adapter!(
    floods_of_http1_end_and_hold_up_nobody,
    floods_of_http2_responses_end_and_hold_up_nobody,
    floods_of_http2_frames_end_and_hold_up_nobody,
    endless_responses_hold_up_nobody,
);

mod blocking {
    use super::*;

    #[test]
    fn floods_of_http1_end_and_hold_up_nobody() {
        watched(|| kinds::HTTP1.iter().for_each(beside_other_threads));
    }

    #[test]
    fn floods_of_http2_responses_end_and_hold_up_nobody() {
        watched(|| kinds::HTTP2_RESPONSES.iter().for_each(beside_other_threads));
    }

    #[test]
    fn floods_of_http2_frames_end_and_hold_up_nobody() {
        watched(|| kinds::HTTP2_FRAMES.iter().for_each(beside_other_threads));
    }

    #[test]
    fn endless_responses_hold_up_nobody() {
        watched(|| kinds::BODIES.iter().for_each(beside_other_threads));
    }
}
