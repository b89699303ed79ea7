//! Servers that send without end: nobody else waits for that, it ends, and it costs little memory.

mod http2;
mod kinds;
mod server;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::smol::future::zip;
use mcpwire_driver::core::Config;
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::{ConnectOptions, McpClient};
use mcpwire_http::{Client, ClientOptions, Net};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{allocated, on_every_async_adapter};

use server::{Flood, Flooding};

const MIB: u64 = 1 << 20;

/// How many calls to another server are answered during each flood.
const CALLS: usize = 20;

/// Longer than any call takes on a busy machine, if it is answered at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most that a flooded connection takes: the limit, and what the system keeps for a socket on both sides.
const MOST_SENT: u64 = 16 * MIB;

/// The most memory that two clients take, one of them flooded.
const MOST_MEMORY: u64 = 32 * MIB;

fn healthy() -> Web {
    Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))))
}

fn trusting<N: Net>(server: &Flooding) -> HttpOptions {
    let options = ClientOptions::default().trust(server.certificate.clone());
    HttpOptions::default().client(Client::<N>::new(options).expect("there is a client"))
}

/// Options whose deadlines are none of the test's.
fn config() -> Config {
    let mut config = Config::new("test", "1");
    config.probe_timeout = PATIENCE;
    config
}

/// Floods one client while the others calls go on.
fn beside_others<H: Host>(flood: &Flood)
where
    H::Runtime: Net,
{
    let (web, flooding) = (healthy(), Flooding::start(flood));
    let is_done = AtomicBool::new(false);
    let work = async {
        let client = McpClient::<H::Runtime>::connect_and_initialize(&web.def()).await.expect("it opens");
        let calls = async {
            for _ in 0..CALLS {
                let result = client.call_tool("echo", ()).timeout(PATIENCE).await;
                assert_eq!(result.expect(flood.name).text().into_string(), "fine");
            }
            is_done.store(true, Ordering::SeqCst);
        };
        let floods = async {
            loop {
                let mut options = ConnectOptions::new(config());
                options.http = trusting::<H::Runtime>(&flooding);
                let flooded = McpClient::<H::Runtime>::connect_with(&flooding.def(), options).expect("it is made");
                let error = flooded.initialize().await.expect_err(flood.name).to_string();
                assert!(error.contains(flood.error), "{}: {error}", flood.name);
                if is_done.load(Ordering::SeqCst) {
                    return;
                }
            }
        };
        zip(calls, floods).await;
    };
    let ((), memory) = allocated(|| H::start().block_on(work));
    println!("{}: {} KiB sent, {} KiB of memory", flood.name, flooding.most_sent() / 1024, memory.peak / 1024);
    assert!(flooding.most_sent() < MOST_SENT, "{}: {} bytes", flood.name, flooding.most_sent());
    assert!((memory.peak as u64) < MOST_MEMORY, "{}: {} bytes of memory", flood.name, memory.peak);
}

fn floods_of_http1_end_and_hold_up_nobody<H: Host>()
where
    H::Runtime: Net,
{
    kinds::HTTP1.iter().for_each(beside_others::<H>);
}

fn floods_of_http2_end_and_hold_up_nobody<H: Host>()
where
    H::Runtime: Net,
{
    kinds::HTTP2.iter().for_each(beside_others::<H>);
}

on_every_async_adapter!(floods_of_http1_end_and_hold_up_nobody, floods_of_http2_end_and_hold_up_nobody);
