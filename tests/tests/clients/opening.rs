//! Opening in one call, and from many sides at once.

use std::fs;
use std::future::IntoFuture;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::smol::future::zip;
use mcpwire_blocking as blocking;
use mcpwire_client::GracePeriods;
use mcpwire_driver::protocol::ServerInfo;
use mcpwire_driver::{ConnectOptions, Direction, Error, ErrorKind, McpClient, McpServerDef};
use mcpwire_tests::asynchronous::{Async, Host, all, begun, eventually};
use mcpwire_tests::{WATCHDOG, on_every_async_adapter, on_one_runtime, server, watched};

// `open` starts a server, opens the connection and lists the tools, with the options as methods. The same on all clients.

/// What a client has sent.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<String>>);

impl Sent {
    fn listener(&self) -> impl FnMut(Direction, &[u8]) + Send + 'static {
        let sent = self.clone();
        move |direction, message| {
            if direction == Direction::Sent {
                sent.0.lock().unwrap().push_str(&String::from_utf8_lossy(message));
            }
        }
    }

    fn assert_has(&self, text: &str) {
        let sent = self.0.lock().unwrap();
        assert!(sent.contains(text), "{sent}");
    }
}

const SHORT: Duration = Duration::from_millis(20);

fn one_call_opens_and_lists<H: Host>() {
    let (server, sent) = (server!("well-behaved"), Sent::default());
    H::start().block_on(async {
        let opening = H::open(&server.def).client_info("my-app", "1.2.3").timeout(WATCHDOG).trace(sent.listener());
        let client = opening.await.expect("it opens");
        assert!(client.is_initialized() && client.has_tool("echo"));
        sent.assert_has(r#""name":"my-app","version":"1.2.3""#);
        // Without options, and with a definition of its own.
        let client = H::open(server.def.clone()).await.expect("it opens");
        assert!(client.has_tool("echo"));
    });
}

#[test]
fn one_call_opens_the_blocking_client_and_lists() {
    watched(|| {
        let (server, sent) = (server!("well-behaved"), Sent::default());
        let opening = blocking::open(&server.def).client_info("my-app", "1.2.3").timeout(WATCHDOG);
        let client = opening.trace(sent.listener()).wait().expect("it opens");
        assert!(client.is_initialized() && client.has_tool("echo"));
        sent.assert_has(r#""name":"my-app","version":"1.2.3""#);
        assert!(blocking::open(server.def).wait().expect("it opens").has_tool("echo"));
    });
}

/// The timeouts that a connection uses are those of its definition, where it has some.
fn the_last_timeout_counts<H: Host>() {
    let server = server!("well-behaved");
    let def = server.def.clone().timeout(3 * WATCHDOG).connect_timeout(3 * WATCHDOG);
    let timeouts = |def: Option<&McpServerDef>| def.map(|def| (def.timeout, def.connect_timeout));
    let options = ConnectOptions::default().timeout(2 * WATCHDOG);
    H::start().block_on(async {
        let client = H::open(&def).timeout(WATCHDOG).connect_timeout(2 * WATCHDOG).await.expect("it opens");
        assert_eq!(client.server_name(), def.display_name());
        assert_eq!(timeouts(client.definition()), Some((Some(WATCHDOG), Some(2 * WATCHDOG))));
        // Options replace what was set before them.
        let client = H::open(&server.def).timeout(WATCHDOG).options(options.clone()).await.expect("it opens");
        assert_eq!(timeouts(client.definition()), Some((None, None)));
        let client = H::open(&server.def).options(options.clone()).timeout(WATCHDOG).await.expect("it opens");
        assert_eq!(timeouts(client.definition()), Some((Some(WATCHDOG), None)));
    });
    let opening = blocking::open(&def).timeout(WATCHDOG).connect_timeout(2 * WATCHDOG);
    let client = opening.wait().expect("it opens");
    assert_eq!(client.server_name(), def.display_name());
    assert_eq!(timeouts(client.definition()), Some((Some(WATCHDOG), Some(2 * WATCHDOG))));
    let client = blocking::open(&server.def).timeout(WATCHDOG).options(options).wait().expect("it opens");
    assert_eq!(timeouts(client.definition()), Some((None, None)));
}

/// A server that never answers takes as long as the definition allows, or as the last setting says.
fn a_server_that_does_not_answer_is_given_up_in_time<H: Host>() {
    let server = server!("silent");
    let def = server.def.clone().connect_timeout(WATCHDOG);
    let at_once = GracePeriods { after_close: Duration::ZERO, after_terminate: Duration::ZERO };
    let error = H::start().block_on(async { H::open(&def).connect_timeout(SHORT).grace_periods(at_once).await });
    assert_eq!(error.expect_err("it is silent").kind(), ErrorKind::Timeout);
    let error = blocking::open(&def).connect_timeout(SHORT).wait().expect_err("it is silent");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    let missing = McpServerDef::new("/no/such/program");
    let error = H::start().block_on(H::open(&missing).into_future()).expect_err("there is no server");
    assert_eq!(error.kind(), ErrorKind::Start, "{error}");
}

/// The future borrows nothing, and needs its runtime only when it is polled.
fn the_future_can_be_spawned<H: Host>() {
    fn spawnable<T: Send + 'static>(future: T) -> T {
        future
    }
    let server = server!("well-behaved");
    let opening = {
        let def = server.def.clone();
        spawnable(H::open(&def).into_future())
    };
    let client = H::start().block_on(async move { opening.await.map(|client| client.tools()) });
    assert!(client.expect("it opens").get("echo").is_some());
}

#[test]
fn every_option_of_a_connection_is_a_method_of_the_builder() {
    let source =
        |path| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters").join(path)).unwrap();
    let options = source("client/src/options.rs");
    // A setter takes the options themselves, and returns them. The macro `setters` generates some of them.
    let setters = options.split("\n    pub fn ").skip(1).filter_map(|method| {
        let (name, rest) = method.split_once(['(', '<'])?;
        let signature = rest.split_once(" {\n")?.0;
        (signature.contains("mut self") && !signature.contains("&mut self")).then_some(name)
    });
    // A definition has a name of its own, and what is for the adapters is no option.
    let generated = options.split("\n        fn ").skip(1).filter_map(|method| method.split('(').next());
    let setters: Vec<_> = setters.chain(generated).filter(|name| *name != "name").collect();
    assert!(setters.len() > 25, "{setters:?}");
    let builder = source("client/src/open.rs");
    for setter in setters {
        let has = [" ", "("].iter().any(|after| builder.contains(&format!("fn {setter}{after}")));
        assert!(has, "`open` has no method `{setter}`");
    }
}

// The opening of a connection is shared by all clones of a client too, and a server that has to be started once more for
// it takes along what belongs to the connection.

fn all_who_open_it_are_told_the_same<H: Host>() {
    for habit in ["well-behaved", "well-behaved --modern", "dies-on-probe", "slow-start 100"] {
        let server = server!(habit);
        let mut client = Async::<H>::start_with(&server, |options| options);
        client.run(async |client| {
            let clones = vec![client.clone(); 10];
            let opened = all(clones.iter().map(McpClient::initialize)).await;
            for outcome in opened {
                assert_open(&client, outcome);
            }
            let pid = client.call_tool("pid", ()).await.expect("it answers").text().to_string();
            assert_eq!(client.pid().map(|pid| pid.to_string()), Some(pid));
        });
        assert_eq!(server.processes().len(), 1, "{habit}");
    }
}

fn tasks_may_open_it_at_once<H: Host>() {
    for habit in ["well-behaved", "dies-on-probe"] {
        let server = server!(habit);
        let mut client = Async::<H>::start_with(&server, |options| options);
        client.run(async |client| {
            let (tell, told) = ::smol::channel::unbounded();
            for _ in 0..10 {
                let (client, tell) = (client.clone(), tell.clone());
                H::spawn(async move {
                    assert_open(&client, client.initialize().await);
                    tell.send(()).await.expect("the test listens");
                });
            }
            for _ in 0..10 {
                told.recv().await.expect("each tells");
            }
        });
        assert_eq!(server.processes().len(), 1, "{habit}");
    }
}

/// Whoever waited for it before, the opening goes on.
fn an_opening_that_was_given_up_can_be_taken_up_again<H: Host>() {
    for habit in ["well-behaved", "slow-start 100", "dies-on-probe"] {
        let server = server!(habit);
        let mut client = Async::<H>::start_with(&server, |options| options);
        client.run(async |client| {
            for _ in 0..3 {
                let mut opening = Box::pin(client.initialize());
                let _ = begun(&mut opening).await;
            }
            assert_open(&client, client.initialize().await);
            client.call_tool("echo", ()).await.expect("it answers");
        });
    }
}

/// The server died on the probe while nobody waited: whoever asks next has it started once more, whether the connection has
/// taken notice by then or has not.
fn an_opening_can_be_taken_up_again_after_the_death_of_the_server<H: Host>() {
    for habit in ["dies-on-probe", "error-then-dies-on-probe"] {
        let server = server!(habit);
        let mut client = Async::<H>::start_with(&server, |options| options);
        client.run(async |client| {
            let pid = client.pid();
            let mut opening = Box::pin(client.initialize());
            if begun(&mut opening).await.is_some() {
                return;
            }
            drop(opening);
            dead_or_followed::<H>(&client, pid).await;
            assert_open(&client, client.initialize().await);
            client.call_tool("echo", ()).await.expect("it answers");
        });
    }
}

fn whoever_watches_sees_both_processes<H: Host>() {
    let server = server!("dies-on-probe");
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sent);
    let mut client = Async::<H>::start_with(&server, |options| {
        options.trace(move |direction, line| {
            if direction == Direction::Sent {
                seen.lock().unwrap().push(String::from_utf8_lossy(line).into_owned());
            }
        })
    });
    client.run(async |client| {
        client.initialize().await.expect("the second process answers");
        let heard = async {
            server.heard.stderr.heard("let me think").await;
            client.shutdown().await.expect("it ends");
        };
        let (outcome, ()) = zip(client.call_tool("ponder", ()).send(), heard).await;
        outcome.expect_err("there is no answer");
    });

    let lines = server.heard.stderr.all();
    let place = |word: &str| lines.iter().position(|line| line.contains(word));
    assert!(place("expected initialize") < place("let me think"), "{lines:?}");
    let sent = sent.lock().unwrap();
    let methods = ["server/discover", "initialize", "notifications/initialized", "tools/call"];
    assert_eq!(sent.len(), methods.len(), "{sent:?}");
    for (line, method) in sent.iter().zip(methods) {
        assert!(line.contains(&format!("\"{method}\"")), "{line}");
    }
}

fn whoever_listens_goes_on_listening<H: Host>() {
    let server = server!("dies-on-probe");
    let mut client = Async::<H>::start_with(&server, |options| options);
    client.run(async |client| {
        let mut listener = client.notifications();
        client.initialize().await.expect("the second process answers");
        let mut next = Box::pin(listener.next());
        assert!(begun(&mut next).await.is_none(), "the connection has not ended");
        client.shutdown().await.expect("it ends");
        assert!(next.await.is_none());
    });
}

/// The server died on the probe, and before it could be started once more, somebody wanted it to end.
fn nothing_is_started_once_more_after_a_shutdown<H: Host>() {
    let server = server!("dies-on-probe");
    let mut client = Async::<H>::start_with(&server, |options| options);
    client.run(async |client| {
        let pid = client.pid();
        let mut opening = pin!(client.initialize());
        if begun(&mut opening).await.is_some() {
            return;
        }
        dead_or_followed::<H>(&client, pid).await;
        if client.pid() != pid {
            // The shutdown comes too late.
            return;
        }
        client.shutdown().await.expect("it ends");
        let error = opening.await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Connect | ErrorKind::Closed), "{error}");
        assert_eq!(client.pid(), pid, "there was no other process");
        assert!(server.processes().is_empty());
    });
}

/// Whoever asks for it when it is open is told that it is.
fn assert_open<R>(client: &McpClient<R>, outcome: Result<&ServerInfo, Error>) {
    assert!(client.is_initialized(), "{outcome:?}");
    match outcome {
        Ok(server) => assert_eq!(Some(server), client.server_info()),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Usage, "{error}"),
    }
}

/// Waits until the server with this id has died on the probe. The connection may notice before or after that, which nothing
/// tells from outside, and the tests hold either way. On a machine that is busy with other things, it may all have happened already, and the next one
/// started.
async fn dead_or_followed<H: Host>(client: &McpClient<H::Runtime>, pid: Option<u32>) {
    eventually::<H>(|| !client.is_running() || client.pid() != pid).await;
}

on_every_async_adapter!(
    one_call_opens_and_lists,
    the_future_can_be_spawned,
    tasks_may_open_it_at_once,
    an_opening_can_be_taken_up_again_after_the_death_of_the_server,
    nothing_is_started_once_more_after_a_shutdown,
);

on_one_runtime!(
    the_last_timeout_counts,
    a_server_that_does_not_answer_is_given_up_in_time,
    all_who_open_it_are_told_the_same,
    an_opening_that_was_given_up_can_be_taken_up_again,
    whoever_watches_sees_both_processes,
    whoever_listens_goes_on_listening,
);
