//! How a server is ended: its input is closed; after 3 s it is asked to terminate; after 2 s more it is killed.

use std::time::Duration;

use mcpwire_client::ShutdownStep;
use mcpwire_tests::{Adapter, Server, on_every_adapter, process_exists, server, timed};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn the_end_of_its_input_is_enough_for_a_polite_server<A: Adapter>() {
    assert_ends_at::<A>(server!("well-behaved").patient(), ShutdownStep::CloseInput, ms(0));
    assert_ends_at::<A>(server!("well-behaved --modern").patient(), ShutdownStep::CloseInput, ms(0));
}

fn a_server_that_ignores_the_end_of_its_input_is_terminated<A: Adapter>() {
    assert_ends_at::<A>(server!("ignores-eof"), ShutdownStep::Terminate, ms(2_900));
}

fn a_server_that_ignores_termination_is_killed<A: Adapter>() {
    assert_ends_at::<A>(server!("ignores-term"), ShutdownStep::Kill, ms(4_900));
}

fn dropping_the_client_ends_any_server_at_once<A: Adapter>() {
    for habit in ["well-behaved", "ignores-eof", "ignores-term --modern"] {
        let server = server!(habit).patient();
        let client = server.open::<A>();
        let pid = client.pid();
        assert!(process_exists(pid));
        drop(client);
        server.assert_gone();
    }
}

fn a_panic_ends_the_server<A: Adapter>() {
    let server = server!("ignores-term");
    let outcome = std::panic::catch_unwind(|| {
        let mut client = server.open::<A>();
        client.assert_alive();
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(outcome.is_err());
    server.assert_gone();
}

fn a_client_that_never_got_ready_ends_its_server<A: Adapter>() {
    let server = server!("ignores-term").patient();
    let client = A::start(&server).expect("it starts");
    assert!(process_exists(client.pid()));
    drop(client);
    server.assert_gone();
}

on_every_adapter!(
    the_end_of_its_input_is_enough_for_a_polite_server,
    a_server_that_ignores_the_end_of_its_input_is_terminated,
    a_server_that_ignores_termination_is_killed,
    dropping_the_client_ends_any_server_at_once,
    a_panic_ends_the_server,
    a_client_that_never_got_ready_ends_its_server,
);

#[expect(clippy::needless_pass_by_value, reason = "its processes are looked for at the end of this function")]
fn assert_ends_at<A: Adapter>(server: Server, step: ShutdownStep, least: Duration) {
    let mut client = server.open::<A>();
    client.assert_alive();
    let pid = client.pid();
    let (outcome, took) = timed(|| client.shutdown());
    assert_eq!(outcome.expect("it ends").last_step, step);
    assert!(!process_exists(pid), "it has ended when shutdown returns");
    assert!(took >= least, "it took {took:?}");
}
