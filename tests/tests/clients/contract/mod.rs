//! The contract of all clients: what becomes of a server with one habit, good or bad, whose process the client has started. Each case is
//! a function over [`Adapter`]. [`on_every_adapter!`](mcpwire_tests::on_every_adapter) makes a test of it for the blocking client and
//! for the async client on tokio (on one thread and on many), smol and async-std,
//! [`on_both_clients!`](mcpwire_tests::on_both_clients) for the blocking client and tokio.

mod calls;
mod ends;
mod noise;
mod opening;
mod processes;
mod requirements;
mod responses;
#[cfg(unix)]
mod unix;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, Server, server};

/// A client that is ready, on a server with this habit.
fn open<A: Adapter>(habit: &str) -> (Server, A) {
    let server = server!(habit);
    let client = server.open();
    (server, client)
}

/// Runs a case on a legacy and on a modern server with this habit.
fn in_both_eras<A: Adapter>(habit: &str, case: impl Fn(&Server, A)) {
    for era in ["", " --modern"] {
        let (server, client) = open(&format!("{habit}{era}"));
        println!("{habit}{era}");
        case(&server, client);
    }
}

/// What comes of a call.
enum Outcome {
    Text(&'static str),
    Fails(ErrorKind, &'static [&'static str]),
}

/// Calls the tools of a server with this habit in both eras. After each of them, the connection goes on.
fn assert_outcomes<A: Adapter>(habit: &str, calls: &[(&str, Outcome)]) {
    in_both_eras::<A>(habit, |_, mut client| {
        for (tool, expected) in calls {
            println!("{tool}");
            match (client.call(Call::new(tool)), expected) {
                (Ok(result), Outcome::Text(text)) => assert_eq!(result.text().as_str(), *text, "{tool}"),
                (Err(failure), Outcome::Fails(kind, words)) => {
                    failure.assert(*kind, words);
                    failure.assert_says(&["tools/call"]);
                }
                (outcome, _) => panic!("{tool}: {outcome:?}"),
            }
            client.assert_alive();
        }
    });
}
