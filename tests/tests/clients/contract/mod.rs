//! The contract of all clients: what becomes of a server with one habit, good or bad, whose process the client has started. Each case is
//! a function over [`Adapter`], and [`on_every_adapter!`](mcpwire_tests::on_every_adapter) makes a test of it for the blocking client and
//! for the async client on tokio (on one thread and on many), smol and async-std.

mod calls;
mod ends;
mod noise;
mod opening;
mod processes;
mod requirements;
mod responses;

use mcpwire_tests::{Adapter, Server, server};

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
