//! A hub needs no tokio: the same life of a server on smol, under no executor at all, and on a runtime that is written by hand.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcpwire_driver::{ConnectOptions, Exit, McpServerDef, ServerLaunch};
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::runtime::{Runtime, Smol};
use mcpwire_hub::service::{CallOptions, Events, HubEvent};
use mcpwire_hub::{ErrorCode, Hub, HubOptions, McpService, Uuid};
use mcpwire_supervisor::State;
use mcpwire_testkit::{ScriptedServer, duplex};
use mcpwire_tests::asynchronous::Threads;
use mcpwire_tests::watched;
use mcpwire_tests::web::Web;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;

/// Nothing here takes so long, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(300);

async fn soon<T>(future: impl Future<Output = T>) -> T {
    let late = async {
        smol::Timer::after(PATIENCE).await;
        panic!("it takes too long")
    };
    smol::future::or(future, late).await
}

async fn until(events: &mut Events, wanted: Uuid, in_state: State) {
    soon(async {
        loop {
            match events.next().await.expect("the hub is there") {
                HubEvent::Status { id, state, .. } if id == wanted && state == in_state => return,
                _ => {}
            }
        }
    })
    .await;
}

fn bad_habit(name: &str, words: &str) -> McpConfig {
    McpConfig::binary(name, env!("CARGO_BIN_EXE_bad-habits")).args(words.split_whitespace())
}

fn pid(hub: &Hub, id: Uuid) -> Pid {
    let pid = hub.status_detail(id).and_then(|detail| detail.pid).expect("it has a process");
    Pid::from_raw(pid.cast_signed()).expect("a pid")
}

async fn open(place: &tempfile::TempDir) -> Hub {
    open_on(Smol, place).await
}

async fn open_on(runtime: impl Runtime, place: &tempfile::TempDir) -> Hub {
    let options = HubOptions::on(runtime, Layout::below(place.path())).policy(|_, policy| {
        policy.first_backoff = Duration::from_millis(20);
    });
    soon(Hub::open(options)).await.expect("the hub opens")
}

#[test]
fn servers_are_started_called_restarted_and_ended() {
    let place = tempfile::tempdir().expect("a directory");
    smol::block_on(async {
        let hub = open(&place).await;
        let mut events = hub.events();
        let (good, dying) = (bad_habit("good", "well-behaved --modern"), bad_habit("dying", "dies-in-call KILL"));
        let (good_id, dying_id) = (good.id, dying.id);
        hub.create(good).await.expect("it is created");
        hub.create(dying).await.expect("it is created");
        let booted = soon(hub.boot()).await.expect("it boots");
        assert_eq!((booted.ready, booted.failed), (2, 0), "{:?}", hub.details());
        let echoed = soon(hub.call_tool(good_id, "good__echo", &json!({"message": "hi"}))).await;
        assert_eq!(echoed.as_deref(), Ok("hi"));

        // One that is killed, and one that ends in the middle of a call: both come back, and the call fails at once.
        let first = pid(&hub, good_id);
        kill_process(first, Signal::KILL).expect("it runs");
        until(&mut events, good_id, State::Backoff).await;
        until(&mut events, good_id, State::Running).await;
        assert_ne!(pid(&hub, good_id), first);
        let lost = soon(hub.call_tool(dying_id, "echo", &json!({}))).await.expect_err("it dies");
        assert_eq!(lost.code(), ErrorCode::ServiceUnavailable, "{lost}");
        until(&mut events, dying_id, State::Running).await;
        let detail = hub.status_detail(dying_id).expect("it is configured");
        assert!(detail.restarts >= 1 && detail.stderr_tail.iter().any(|line| line.contains("echo was called")));

        let pids = [pid(&hub, good_id), pid(&hub, dying_id)];
        soon(hub.shutdown_all()).await.expect("it ends");
        assert!(hub.details().iter().all(|detail| detail.state == State::Stopped), "{:?}", hub.details());
        assert!(pids.iter().all(|pid| test_kill_process(*pid).is_err()), "they are gone");
    });
}

/// A server over HTTP that limits the rate of requests: calls fail, and say for how long.
#[test]
fn a_server_says_when_to_call_again() {
    let web = Web::modern(|_, reply| reply.full(429, "Retry-After: 17\r\n", "slow down"));
    let place = tempfile::tempdir().expect("a directory");
    smol::block_on(async {
        let hub = open(&place).await;
        let config = McpConfig::http("limited", web.def().url.expect("it has one"));
        let id = config.id;
        hub.create(config).await.expect("it is created");
        soon(hub.start(id)).await.expect("it starts");
        let refused = soon(hub.call_tool(id, "echo", &json!({}))).await.expect_err("it is refused");
        assert_eq!(refused.code(), ErrorCode::ServiceUnavailable, "{refused}");
        assert!(refused.message().contains("429") && refused.message().contains("try again after 17 s"), "{refused}");
        soon(hub.shutdown_all()).await.expect("it ends");
    });
}

#[test]
fn a_call_is_cancelled_and_what_is_configured_is_there_again() {
    let place = tempfile::tempdir().expect("a directory");
    let config = bad_habit("slow", "slow 600000");
    let id = config.id;
    smol::block_on(async {
        let hub = open(&place).await;
        hub.create(config).await.expect("it is created");
        soon(hub.start(id)).await.expect("it starts");
        let is_sent = || hub.status_detail(id).is_some_and(|detail| detail.calls_in_flight == 1);
        let options = CallOptions::new().cancel_when(async {
            while !is_sent() {
                smol::future::yield_now().await;
            }
        });
        let called = soon(hub.call_tool_full(id, "echo", &json!({}), options)).await;
        assert!(called.expect_err("it is cancelled").message().contains("cancelled"));
        assert_eq!(hub.status_detail(id).expect("it is configured").calls_in_flight, 0);
        let last = pid(&hub, id);
        // Nobody asks it to end: the last clone is dropped.
        drop(hub);
        soon(async {
            while test_kill_process(last).is_ok() {
                smol::Timer::after(Duration::from_millis(2)).await;
            }
        })
        .await;
        let again = open(&place).await;
        assert_eq!(again.list().iter().map(|config| config.id).collect::<Vec<_>>(), [id]);
    });
}

#[test]
fn a_runtime_that_is_written_by_hand_is_enough() {
    let place = tempfile::tempdir().expect("a directory");
    smol::block_on(async {
        let hub = open_on(Threads, &place).await;
        let good = bad_habit("good", "well-behaved --modern");
        let id = good.id;
        hub.create(good).await.expect("it is created");
        let booted = soon(hub.boot()).await.expect("it boots");
        assert_eq!((booted.ready, booted.failed), (1, 0), "{:?}", hub.details());
        let echoed = soon(hub.call_tool(id, "good__echo", &json!({"message": "hi"}))).await;
        assert_eq!(echoed.as_deref(), Ok("hi"));
        let last = pid(&hub, id);
        soon(hub.shutdown_all()).await.expect("it ends");
        assert!(test_kill_process(last).is_err(), "it is gone");
    });
}

// A launcher starts the servers: one in another command, one in this process.

/// Starts a server in a shell, or in this process.
fn launch(def: &McpServerDef) -> ServerLaunch {
    if !def.args.contains(&"in-memory".to_owned()) {
        let shell = McpServerDef::new("/bin/sh").args(["-c", r#"exec "$0" "$@""#]);
        return ServerLaunch::command(shell.arg(&def.command).args(&def.args));
    }
    let server = ScriptedServer::new().tool("echo", |_| "from this process");
    let (ours, theirs) = duplex(1024);
    let (ended, end) = smol::channel::bounded(1);
    thread::spawn(move || {
        smol::block_on(server.serve::<Smol>(theirs.reader, theirs.writer));
        ended.send_blocking(Exit::new(Some(0), None))
    });
    let exit = async move { end.recv().await.unwrap_or(Exit::new(None, None)) };
    ServerLaunch::streams(ours.reader, ours.writer, exit)
}

#[test]
fn a_launcher_starts_the_servers_of_a_hub() {
    watched(|| {
        let launches = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&launches);
        let place = tempfile::tempdir().expect("a directory");
        let options = HubOptions::on(Smol, Layout::below(place.path())).connect(move |_| {
            let count = Arc::clone(&count);
            ConnectOptions::default().launcher(move |def: &McpServerDef| {
                count.fetch_add(1, Ordering::SeqCst);
                Ok(launch(def))
            })
        });
        smol::block_on(async {
            let hub = Hub::open(options).await.expect("the hub opens");
            let servers = [bad_habit("shell", "well-behaved"), bad_habit("memory", "in-memory")];
            for server in servers.clone() {
                hub.create(server).await.expect("it is created");
            }
            let booted = hub.boot().await.expect("it boots");
            assert_eq!((booted.ready, booted.failed), (2, 0), "{:?}", hub.details());
            for (server, expected) in servers.iter().zip(["hi", "from this process"]) {
                let echoed = hub.call_tool(server.id, "echo", &json!({"message": "hi"})).await;
                assert_eq!(echoed.as_deref(), Ok(expected));
            }
            hub.shutdown_all().await.expect("it ends");
            assert!(hub.details().iter().all(|detail| detail.state == State::Stopped), "{:?}", hub.details());
        });
        assert_eq!(launches.load(Ordering::SeqCst), 2);
    });
}
