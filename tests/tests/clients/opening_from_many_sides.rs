//! The opening of a connection is shared by all clones of a client too, and a server that has to be started once more for
//! it takes along what belongs to the connection.

use std::pin::pin;
use std::sync::{Arc, Mutex};

use ::smol::future::zip;
use mcpwire_driver::protocol::ServerInfo;
use mcpwire_driver::{Direction, Error, ErrorKind, McpClient};
use mcpwire_tests::asynchronous::{Async, Host, all, begun, eventually};
use mcpwire_tests::{on_every_async_adapter, server};

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

on_every_async_adapter!(
    all_who_open_it_are_told_the_same,
    tasks_may_open_it_at_once,
    an_opening_that_was_given_up_can_be_taken_up_again,
    an_opening_can_be_taken_up_again_after_the_death_of_the_server,
    whoever_watches_sees_both_processes,
    whoever_listens_goes_on_listening,
    nothing_is_started_once_more_after_a_shutdown,
);

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
