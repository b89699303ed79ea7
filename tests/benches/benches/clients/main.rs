//! The blocking client and that of tokio, against the pipe itself and against a client that does nothing but read each
//! answer into its type, in one run and on the same server. What is told is time; `tests/instructions` counts instructions, which do not vary.
//!
//! ```text
//! cargo bench -p mcpwire-benches
//! cargo bench -p mcpwire-benches -- "1 MiB"
//! ```

mod limits;
mod tokio;

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mcpwire_blocking::protocol::{CallTool, CallToolParams, Config, ContentBlock, Negotiate, RequestOptions};
use mcpwire_blocking::{ConnectOptions, McpClient, McpServerDef};
use serde::Serialize;

use crate::limits::{Bare, Pipe};
use crate::tokio::OnTokio;

const MIB: usize = 1 << 20;

/// The texts of answers, and the key orders of their envelopes.
const ANSWERS: [(&str, &[&str]); 4] = [
    ("plain", &[]),
    ("escapes", &["--escapes"]),
    ("plain, result first", &["--result-first"]),
    ("escapes, result first", &["--escapes", "--result-first"]),
];

/// A way to talk to the server.
trait Client {
    fn open(flags: &[&str]) -> Self;
    /// Sends so many calls of `echo` at once, and takes in all answers. The length of the last one's text.
    fn echo(&mut self, calls: usize, bytes: usize) -> usize;
    /// How many tools the server lists.
    fn list(&mut self) -> usize;
}

/// The arguments of `echo`, as long as arguments usually are.
#[derive(Serialize)]
struct Echo {
    message: &'static str,
    bytes: usize,
}

impl Echo {
    fn new(bytes: usize) -> Self {
        Self { message: "a message of sixty-four bytes, that is as long as many arguments", bytes }
    }
}

fn server(flags: &[&str]) -> McpServerDef {
    McpServerDef::new(env!("CARGO_BIN_EXE_fast_server")).args(flags.iter().copied())
}

/// As the server is a legacy one, the era is not asked for.
fn config() -> Config {
    let mut config = Config::new("bench", "1");
    config.negotiate = Negotiate::Legacy;
    config
}

impl Client for McpClient {
    fn open(flags: &[&str]) -> Self {
        let mut client = Self::connect_with(&server(flags), ConnectOptions::new(config())).expect("the server starts");
        client.initialize().expect("the connection opens");
        client
    }

    fn echo(&mut self, calls: usize, bytes: usize) -> usize {
        let (options, arguments) = (RequestOptions::new(), Echo::new(bytes));
        let params = CallToolParams { name: "echo", arguments: &arguments };
        let tickets: Vec<_> =
            (0..calls).map(|_| self.begin::<CallTool>(&params, &options).expect("it is sent")).collect();
        let mut len = 0;
        for ticket in tickets {
            let result = ticket.wait(self).expect("it answers");
            len = result.content.first().and_then(ContentBlock::as_text).map_or(0, str::len);
        }
        len
    }

    fn list(&mut self) -> usize {
        self.list_tools().expect("it lists").len()
    }
}

fn calls(criterion: &mut Criterion) {
    for (name, calls) in [("one call at a time", 1), ("64 calls in flight", 64)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(calls as u64));
        on_every_client(&mut group, "64 bytes", &[], &Echoes { calls, bytes: 64 });
        group.finish();
    }
}

fn long_texts(criterion: &mut Criterion) {
    for (name, bytes) in [("1 MiB", MIB), ("16 MiB", 16 * MIB)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes as u64));
        // Each sample has as many results as the next one: a few.
        group.sampling_mode(SamplingMode::Flat);
        for (text, flags) in ANSWERS {
            on_every_client(&mut group, text, flags, &Echoes { calls: 1, bytes });
        }
        group.finish();
    }
}

fn lists(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a list");
    group.throughput(Throughput::Elements(1000));
    group.sampling_mode(SamplingMode::Flat);
    on_every_client(&mut group, "1000 tools", &["--tools", "1000"], &List { tools: 1000 });
    group.finish();
}

/// What is measured, once.
trait Work {
    fn once(&self, client: &mut impl Client);
}

struct Echoes {
    calls: usize,
    bytes: usize,
}

impl Work for Echoes {
    fn once(&self, client: &mut impl Client) {
        assert_eq!(black_box(client.echo(self.calls, self.bytes)), self.bytes);
    }
}

struct List {
    tools: usize,
}

impl Work for List {
    fn once(&self, client: &mut impl Client) {
        assert_eq!(black_box(client.list()), self.tools);
    }
}

fn on_every_client(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, flags: &[&str], work: &impl Work) {
    on_client::<Pipe>(group, &format!("{name}/pipe"), flags, work);
    on_client::<Bare>(group, &format!("{name}/bare"), flags, work);
    on_client::<McpClient>(group, &format!("{name}/blocking"), flags, work);
    on_client::<OnTokio>(group, &format!("{name}/tokio"), flags, work);
}

fn on_client<C: Client>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, flags: &[&str], work: &impl Work) {
    let mut client = C::open(flags);
    group.bench_function(name, |bencher| bencher.iter(|| work.once(&mut client)));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = calls, long_texts, lists
}
criterion_main!(benches);
