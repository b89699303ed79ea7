//! Lines over the limit on the size of a message.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};

const MIB: usize = 1 << 20;

fn a_line_that_is_too_long_fails_its_request<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("endless-line {} {era}", 5 * MIB)).configured(|config| config.max_message = MIB);
        let mut client = server.open::<A>();
        for _ in 0..3 {
            client.failure("ends").assert(ErrorKind::Protocol, &["bad-habits", "tools/call", "1048576"]);
            client.assert_alive();
        }
    }
}

/// The request is known as soon as the line is too long, and the line need not end for it to fail.
fn a_line_that_never_ends_fails_its_request<A: Adapter>() {
    let server = server!(&format!("endless-line {}", 5 * MIB)).configured(|config| config.max_message = MIB);
    let mut client = server.open::<A>();
    let failure = client.failure("never-ends");
    failure.assert(ErrorKind::Protocol, &["tools/call", "1048576"]);
}

/// Which request it answers is known only when the line ends.
fn a_line_that_is_too_long_may_have_its_id_at_the_end<A: Adapter>() {
    let server = server!(&format!("endless-line {}", 5 * MIB)).configured(|config| config.max_message = MIB);
    let mut client = server.open::<A>();
    client.failure("id-at-the-end").assert(ErrorKind::Protocol, &["tools/call", "1048576"]);
    client.assert_alive();
}

/// No answer can be told from it, so the deadline has to end the request.
fn a_line_that_is_too_long_and_has_no_id_is_noise<A: Adapter>() {
    let server = server!(&format!("endless-line {}", 5 * MIB)).configured(|config| config.max_message = MIB);
    let mut client = server.open::<A>();
    let failure = client.call(Call::new("no-id").timeout(Duration::from_millis(500))).unwrap_err();
    failure.assert(ErrorKind::Timeout, &["tools/call", "500 ms"]);
    client.assert_alive();
}

on_every_adapter!(
    a_line_that_is_too_long_fails_its_request,
    a_line_that_never_ends_fails_its_request,
    a_line_that_is_too_long_may_have_its_id_at_the_end,
    a_line_that_is_too_long_and_has_no_id_is_noise,
);
