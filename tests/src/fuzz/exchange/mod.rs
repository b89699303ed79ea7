//! A client reports what the specification says, whatever the layout of the server's messages.
//!
//! The server's messages are drawn as values, and the reference in `expect` reads these values. The engine reads their
//! text, in a drawn layout and cut into drawn pieces.

mod engine;
mod expect;
mod layout;
mod server;

use std::fmt::Debug;

use self::engine::Driver;
use self::layout::Layout;
use super::bytes::Bytes;
use super::trace::Trace;

/// Maximum number of messages of one exchange.
const MAX_MESSAGES: usize = 12;

/// Plays an exchange.
pub fn run(data: &[u8]) {
    trace(data, &Trace::default());
}

/// The same, and says what is sent and reported.
pub fn trace(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let (mut driver, mut client) = Driver::open(&mut input);
    for _ in 0..MAX_MESSAGES {
        if input.is_empty() {
            break;
        }
        let message = server::draw(&mut input, &client);
        let mut text = Layout::draw(&mut input).write(&message);
        trace.line(format_args!("server {text}"));
        client.receive(&message);
        let cut = 1 + usize::from(input.byte());
        text.push('\n');
        for piece in text.as_bytes().chunks(if cut > 200 { text.len() } else { cut }) {
            driver.receive(piece);
        }
        let (reports, sent) = (driver.take_reports(), driver.take_sent(&mut client.requests));
        trace.line(format_args!("client {reports:?} {sent:?}"));
        assert_same(&reports, std::mem::take(&mut client.reports), &format!("reported for {text}"));
        assert_same(&sent, std::mem::take(&mut client.sent), &format!("sent for {text}"));
    }
    assert_eq!(driver.polled_tasks(), client.tasks.len(), "tasks that the client polls");
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
