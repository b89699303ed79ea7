//! A client reports what the specification says, whatever the layout of the server's messages.
//!
//! The server's messages are drawn as values, and the reference in `expect` reads these values. The engine reads their
//! text, in a drawn layout and cut into drawn pieces.

mod engine;
mod expect;
mod layout;
mod server;

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
        assert_eq!(sorted(reports), sorted(std::mem::take(&mut client.reports)), "reported for {text}");
        assert_eq!(sorted(sent), sorted(std::mem::take(&mut client.sent)), "sent for {text}");
    }
    assert_eq!(driver.polled_tasks(), client.tasks.len(), "tasks that the client polls");
}

/// The inputs of an `input_required` result have no order.
fn sorted<T: std::fmt::Debug>(mut list: Vec<T>) -> Vec<String> {
    let mut list: Vec<_> = list.drain(..).map(|one| format!("{one:?}")).collect();
    list.sort();
    list
}
