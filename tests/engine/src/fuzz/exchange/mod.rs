//! A client reports what the specification says, whatever the layout of the server's messages.
//!
//! The server's messages are drawn as values, and the reference in `expect` reads these values. The engine reads their
//! text, in a drawn layout and cut into drawn pieces. The caller answers the server's requests at once, or later and in any
//! order. Time passes, and
//! the server answers the requests about tasks.

mod engine;
mod expect;
mod server;
mod tasks;
mod wire;

use std::fmt::Debug;

use serde_json::Value;

use self::engine::Driver;
use self::expect::{Client, number};
use self::wire::Layout;
use super::trace::{Bytes, Trace};

/// Maximum number of messages of one exchange.
const MAX_MESSAGES: usize = 20;

/// Plays an exchange.
pub fn run(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let (mut driver, mut client) = Driver::open(&mut input, trace);
    for _ in 0..MAX_MESSAGES {
        if input.is_empty() {
            break;
        }
        let step = input.byte();
        if step % 4 == 1
            && let Some(question) = driver.answer(usize::from(step >> 3))
        {
            client.answer(&question);
            compare(&mut driver, &mut client, trace, &format!("the answer to {question:?}"));
        }
        if step & 16 == 0 {
            driver.pass_time();
            client.pass_time();
            compare(&mut driver, &mut client, trace, "the interval between two polls");
        }
        let about_task = if step < 64 { None } else { server::about_task(&mut input, &client) };
        let message = about_task.unwrap_or_else(|| server::draw(&mut input, &client));
        let text = Layout::draw(&mut input).write(&message);
        let cut = match 1 + usize::from(input.byte()) {
            cut if cut > 200 => usize::MAX,
            cut => cut,
        };
        driver.answers_at_once = step & 4 == 0;
        if !driver.receive(&text, answered(&message), cut, &mut input) {
            break;
        }
        client.receive(&message);
        driver.take_answered().iter().for_each(|question| client.answer(question));
        compare(&mut driver, &mut client, trace, &text);
    }
    // In the end, each answer is sent, and each task polled.
    loop {
        if let Some(question) = driver.answer(usize::from(input.byte())) {
            client.answer(&question);
            compare(&mut driver, &mut client, trace, &format!("the answer to {question:?}"));
        } else if let Some(message) = client.accept_update() {
            let is_sent = driver.receive(&message.to_string(), answered(&message), usize::MAX, &mut Bytes::new(&[]));
            assert!(is_sent, "the request has a response");
            client.receive(&message);
            compare(&mut driver, &mut client, trace, &message.to_string());
        } else {
            break;
        }
    }
    assert_eq!(client.kept.len(), 0, "questions that the caller has not answered");
    driver.pass_time();
    client.pass_time();
    compare(&mut driver, &mut client, trace, "the interval between two polls");
}

/// Compares what the client reports and sends after `cause` with the reference.
fn compare(driver: &mut Driver, client: &mut Client, trace: &Trace, cause: &str) {
    let (reports, sent) = (driver.take_reports(), driver.take_sent(client));
    trace.line(format_args!("client {reports:?} {sent:?}"));
    driver.trace_state();
    assert_same(&reports, std::mem::take(&mut client.reports), &format!("reported for {cause}"));
    assert_same(&sent, std::mem::take(&mut client.sent), &format!("sent for {cause}"));
}

/// Returns the id of the request that a message responds to, if it is a response.
fn answered(message: &Value) -> Option<u64> {
    let has_result = message.get("result").or_else(|| message.get("error")).is_some();
    let is_response = has_result || message.get("method").is_none_or(|method| !method.is_string());
    message.get("id").filter(|_| is_response).and_then(number)
}

/// Compares without regard to order: the inputs of an `input_required` result have none, and neither have the members of an
/// object.
fn assert_same<T: PartialEq + Debug>(actual: &[T], mut expected: Vec<T>, what: &str) {
    let unexpected: Vec<_> = actual
        .iter()
        .filter(|one| match expected.iter().position(|other| other == *one) {
            Some(at) => {
                expected.swap_remove(at);
                false
            }
            None => true,
        })
        .collect();
    assert!(unexpected.is_empty() && expected.is_empty(), "{what}\n  wrong: {unexpected:?}\nmissing: {expected:?}");
}
