//! Callers and servers in any order: what the engine promises after each step.

mod caller;
mod model;
mod server;
mod wire;

use core::time::Duration;

use self::model::Model;
use super::trace::{Bytes, Trace};

/// Plays a sequence of requests, answers, noise, deadlines and ends.
pub fn run(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let mut model = Model::open(input.byte(), trace);
    while !input.is_empty() {
        step(&mut model, &mut input);
        model.check();
    }
    model.finish();
}

fn step(model: &mut Model, input: &mut Bytes<'_>) {
    let what = input.byte();
    match what {
        240.. => return caller::answer(model, what, input),
        180.. => return more(model, (what - 180) % 30, input),
        _ => {}
    }
    match what % 20 {
        0 => caller::call(model, input),
        1 => caller::raw(model, input),
        2 => caller::list_with_cursor(model, input),
        3 => caller::ping(model, input),
        4 => {
            let which = usize::from(input.byte());
            model.cancel(which, (which & 16 != 0).then_some("\"why\"\n"));
        }
        5..=7 => model.receive(&server::answer(model, input)),
        8 => model.receive(&server::opening(input)),
        9 => model.receive(&server::late_or_foreign(model, input)),
        10 => model.receive(&server::progress(model, input)),
        11 => model.receive(&server::unasked(input)),
        12 => model.receive(&server::batch(model, input)),
        13 => model.receive(input.piece()),
        14 => model.receive(&server::overlong(model, input)),
        15 => {
            let unit = input.pick(&[0, 1, 10, 1000, 60_000]);
            model.pass(Duration::from_millis(unit * u64::from(input.byte())));
        }
        16 => model.pass_to_deadline(),
        17 => model.transmit(usize::from(input.byte())),
        18 => model.notify(input.byte()),
        _ => match input.byte() {
            0..8 => model.end(),
            8..12 => model.close(),
            _ => model.transmit(usize::MAX),
        },
    }
}

/// Tasks, subscriptions, answers that are kept, and buffers that are given back.
fn more(model: &mut Model, what: u8, input: &mut Bytes<'_>) {
    match what {
        0 | 1 => caller::call_in_task(model, input),
        2 => caller::follow(model, input),
        3 => caller::about_task(model, input),
        4 => caller::list(model, input),
        5 => caller::read(model, input),
        6 => caller::set_log_level(model, input),
        7 => caller::cancel(model, input),
        8 => caller::subscribe(model, input),
        9 => model.unsubscribe(usize::from(input.byte())),
        10 | 11 => model.take(usize::from(input.byte())),
        12..=17 => {
            let said = server::respond(model, input);
            model.receive(&said);
        }
        18 => model.receive(&server::task_notice(model, input)),
        19 => {
            let said = server::change(model, input);
            model.receive(&said);
        }
        20 => {
            let said = server::ask(model, input);
            model.receive(&said);
        }
        21 => model.receive(&server::ask_no_more(input)),
        22..=24 => model.shrink(),
        25 => model.transmit(usize::MAX),
        26 => model.pass_untold(Duration::from_millis(10 * u64::from(input.byte()))),
        27 => {
            for _ in 0..input.byte() % 8 {
                model.pass_to_deadline();
            }
        }
        _ => {
            model.transmit(usize::MAX);
            model.shrink();
        }
    }
}
