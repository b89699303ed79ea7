//! Keeps a client busy for as long as it is told to, and watches whether it grows.
//!
//! ```text
//! cargo run --release -p mcpwire-benches --bin soak -- [SECONDS]
//! ```
//!
//! A client on tokio calls `fast_server` at full speed for 300 s, or for as long as is said: small and large answers, calls
//! that are dropped or time out, floods of notifications with a consumer that is too slow, connections that come and go.
//! Every 5 s it prints what has been done, and what this process holds in memory. It exits with 1 if that is more in the
//! last quarter of the time than in the second, by more than 5 % and 1 MiB, and with 2 if it is called in another way.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};

use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_tokio::{ErrorKind, McpClient, McpServerDef, Notifications};
use serde::Serialize;
use tokio::runtime::Builder;

const KIB: usize = 1024;

/// How many calls are under way at any time, beside those that have a purpose of their own.
const TALKERS: usize = 16;

/// The sizes of most answers, in turn.
const SIZES: [usize; 8] = [10, 64, 300, KIB, 100, 4 * KIB, 64, 100 * KIB];

/// What may be more at the end than it was before: in parts of a hundred, and in bytes.
const MARGIN: (u64, u64) = (5, 1024 * 1024);

fn main() -> ExitCode {
    let seconds = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => Some(300),
        [seconds] => seconds.parse().ok().filter(|seconds| *seconds > 0),
        _ => None,
    };
    let Some(seconds) = seconds else {
        eprintln!("usage: soak [SECONDS]");
        return ExitCode::from(2);
    };
    let runtime = Builder::new_multi_thread().enable_all().build().expect("there is a runtime");
    let samples = runtime.block_on(soak(Duration::from_secs(seconds)));
    verdict(&samples)
}

/// What has been done so far.
#[derive(Debug, Default)]
struct Done {
    over: AtomicBool,
    calls: AtomicU64,
    bytes: AtomicU64,
    cancelled: AtomicU64,
    timed_out: AtomicU64,
    notified: AtomicU64,
    missed: AtomicU64,
    connections: AtomicU64,
}

impl Done {
    fn add(&self, what: impl Fn(&Self) -> &AtomicU64, n: usize) {
        what(self).fetch_add(n as u64, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Does it all, and gives the memory that was held, sample by sample.
async fn soak(time: Duration) -> Vec<u64> {
    let def = McpServerDef::new(fast_server().to_string_lossy());
    let client = McpClient::connect_and_initialize(&def).await.expect("the server starts");
    let done = Arc::new(Done::default());
    let mut callers = Vec::new();
    for n in 0..TALKERS {
        callers.push(tokio::spawn(talk(client.clone(), Arc::clone(&done), n)));
    }
    callers.push(tokio::spawn(take_large_answers(client.clone(), Arc::clone(&done))));
    callers.push(tokio::spawn(give_up(client.clone(), Arc::clone(&done))));
    callers.push(tokio::spawn(time_out(client.clone(), Arc::clone(&done))));
    callers.push(tokio::spawn(flood(client.clone(), Arc::clone(&done))));
    callers.push(tokio::spawn(come_and_go(def, Arc::clone(&done))));
    let listeners = [Duration::ZERO, Duration::from_millis(20)]
        .map(|pause| tokio::spawn(listen(client.notifications(), Arc::clone(&done), pause)));

    let samples = watch(time, &done).await;

    done.over.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.expect("no call went wrong");
    }
    assert_eq!(client.in_flight(), 0, "every call has ended");
    client.shutdown().await.expect("it ends");
    for listener in listeners {
        listener.await.expect("it hears of the end");
    }
    samples
}

/// Calls, one after the other.
async fn talk(client: McpClient, done: Arc<Done>, first: usize) {
    for size in SIZES.into_iter().cycle().skip(first % SIZES.len()) {
        if done.is_over() {
            break;
        }
        echo(&client, &done, size).await;
    }
}

async fn take_large_answers(client: McpClient, done: Arc<Done>) {
    while !done.is_over() {
        echo(&client, &done, 4 * KIB * KIB).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Drops calls as soon as they are sent: their answers come too late.
async fn give_up(client: McpClient, done: Arc<Done>) {
    while !done.is_over() {
        for _ in 0..10 {
            let params = CallToolParams { name: "echo", arguments: &Bytes { bytes: 500 } };
            client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent").cancel("enough");
            done.add(|done| &done.cancelled, 1);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits for calls for less than they take.
async fn time_out(client: McpClient, done: Arc<Done>) {
    while !done.is_over() {
        let call = client.call_tool("echo", Bytes { bytes: KIB * KIB }).timeout(Duration::from_micros(200));
        match call.await {
            Ok(_) => done.add(|done| &done.calls, 1),
            Err(error) if error.kind() == ErrorKind::Timeout => done.add(|done| &done.timed_out, 1),
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn flood(client: McpClient, done: Arc<Done>) {
    while !done.is_over() {
        client.call_tool("flood", Count { count: 2_000 }).await.expect("it is answered");
        done.add(|done| &done.calls, 1);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Takes notifications until the connection ends, with a pause after each hundred.
async fn listen(mut notifications: Notifications, done: Arc<Done>, pause: Duration) {
    let (mut taken, mut missed) = (0, 0);
    while notifications.next().await.is_some() {
        taken += 1;
        if taken % 100 == 0 {
            done.add(|done| &done.notified, 100);
            done.missed.fetch_add(notifications.dropped() - missed, Ordering::Relaxed);
            missed = notifications.dropped();
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
    }
}

/// Connections of a few calls, every other one of which is dropped rather than shut down.
async fn come_and_go(def: McpServerDef, done: Arc<Done>) {
    while !done.is_over() {
        for shut_down in [true, false] {
            let client = McpClient::connect_and_initialize(&def).await.expect("the server starts");
            for size in SIZES {
                echo(&client, &done, size).await;
            }
            if shut_down {
                client.shutdown().await.expect("it ends");
            }
            done.add(|done| &done.connections, 1);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn echo(client: &McpClient, done: &Done, bytes: usize) {
    let result = client.call_tool("echo", Bytes { bytes }).await.expect("it is answered");
    assert_eq!(result.text().as_str().len(), bytes);
    done.add(|done| &done.calls, 1);
    done.add(|done| &done.bytes, bytes);
}

/// Prints a line now and then, and remembers how much memory was held.
async fn watch(time: Duration, done: &Done) -> Vec<u64> {
    let pause = Duration::from_secs(5).min(time / 20);
    let (begun, mut samples) = (Instant::now(), Vec::new());
    println!("seconds      calls      MiB  cancelled  timed out  notifications     missed  connections  RSS KiB");
    while begun.elapsed() < time {
        tokio::time::sleep(pause).await;
        let read = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let resident = resident();
        samples.push(resident);
        println!(
            "{:7.1} {:10} {:8} {:10} {:10} {:14} {:10} {:12} {:8}",
            begun.elapsed().as_secs_f64(),
            read(&done.calls),
            read(&done.bytes) >> 20,
            read(&done.cancelled),
            read(&done.timed_out),
            read(&done.notified),
            read(&done.missed),
            read(&done.connections),
            resident >> 10,
        );
    }
    samples
}

/// Compares the last quarter with the second: the first is that of warming up.
fn verdict(samples: &[u64]) -> ExitCode {
    let quarter = |n: usize| {
        let mut part = samples[samples.len() * n / 4..samples.len() * (n + 1) / 4].to_vec();
        part.sort_unstable();
        // The one in the middle: a large answer that is just being read says nothing.
        part.get(part.len() / 2).copied().unwrap_or_default()
    };
    let (before, after) = (quarter(1), quarter(3));
    let most = before + before * MARGIN.0 / 100 + MARGIN.1;
    println!("RSS, the median: {} KiB in the second quarter, {} KiB in the last", before >> 10, after >> 10);
    if after > most {
        println!("it grows: at most {} KiB were expected", most >> 10);
        return ExitCode::FAILURE;
    }
    println!("it is flat");
    ExitCode::SUCCESS
}

/// The bytes that this process holds in memory.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is there");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("it is a number");
    kib << 10
}

/// Where cargo puts it: beside this program.
fn fast_server() -> PathBuf {
    env::current_exe().expect("this program has a path").with_file_name("fast_server")
}

#[derive(Serialize)]
struct Bytes {
    bytes: usize,
}

#[derive(Serialize)]
struct Count {
    count: usize,
}
