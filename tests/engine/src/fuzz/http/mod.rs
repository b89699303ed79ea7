//! Callers and HTTP servers in any order: what the engine promises after each step.

mod model;
mod server;

use core::time::Duration;

use mcpwire_core::http::FailureKind;

use self::model::Model;
use super::bytes::Bytes;
use super::trace::Trace;

/// Plays a sequence of requests, parts of responses, deadlines and ends.
pub fn run(data: &[u8]) {
    trace(data, &Trace::default());
}

/// The same, and says what happens.
pub fn trace(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let mut model = Model::open(input.byte(), trace);
    while !input.is_empty() {
        step(&mut model, &mut input);
        model.check();
    }
    model.finish();
}

fn step(model: &mut Model, input: &mut Bytes<'_>) {
    match input.byte() % 20 {
        0 => model.call(input.byte()),
        1 => model.raw(input),
        2 => model.cancel(usize::from(input.byte())),
        3 => model.notify(),
        4..=7 => {
            let which = input.byte();
            let (status, headers) = server::head(input);
            model.head(which, status, &headers);
        }
        8..=11 => {
            let which = input.byte();
            if let Some(exchange) = model.exchange(which) {
                let body = server::body(&exchange, input);
                model.body(which, &body);
            }
        }
        12 => {
            let which = input.byte();
            model.body(which, input.piece());
        }
        13 | 14 => model.end(input.byte()),
        15 => {
            let kinds = [FailureKind::Broken, FailureKind::Unreachable, FailureKind::Invalid];
            let (which, kind) = (input.byte(), input.pick(&kinds));
            model.fail(which, kind);
        }
        16 => {
            let unit = input.pick(&[0, 1, 100, 5_000]);
            model.pass(Duration::from_millis(unit * u64::from(input.byte())));
        }
        17 => model.pass_to_deadline(),
        18 => model.respond(input.byte()),
        _ => match input.byte() {
            0..8 => model.close(),
            8..64 => model.answer(),
            64..96 => model.shrink(),
            224..240 => model.subscribe(input.byte()),
            240..248 => model.take(input.byte()),
            248..252 => model.unsubscribe(input.byte()),
            _ => model.respond(0),
        },
    }
}
