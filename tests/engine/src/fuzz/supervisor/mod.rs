//! Servers that start, fail, crash and end in any order, and whoever wants something of them: what the supervisor promises
//! after each step, and that the last end leaves nothing.

mod model;

use std::time::Duration;

use mcpwire_supervisor::{Command, Event, Generation, Retry};

use self::model::Model;
use super::trace::Bytes;

/// Plays a sequence of commands, answers, failures, late events and time.
pub fn run(data: &[u8]) {
    let mut input = Bytes::new(data);
    let mut model = Model::open(input.byte());
    while !input.is_empty() {
        step(&mut model, &mut input);
        model.check();
    }
    model.finish();
}

fn step(model: &mut Model, input: &mut Bytes<'_>) {
    match input.byte() % 24 {
        0..=2 => command(model, input),
        3..=8 => model.answer(usize::from(input.byte())),
        9 => {
            let later = Retry::After(Duration::from_secs(40));
            let retry = input.pick(&[Retry::Backoff, Retry::Backoff, Retry::Never, Retry::Login, Retry::Input, later]);
            model.refuse(usize::from(input.byte()), retry);
        }
        10 => model.dies(input.byte(), Event::Closed(model::failure(Retry::Backoff))),
        11 => model.dies(input.byte(), Event::Removed),
        12 => foreign(model, input),
        13 | 14 => {
            let unit = input.pick(&[1, 100, 1_000, 60_000]);
            model.pass(Duration::from_millis(unit * u64::from(input.byte())), input.byte() & 1 == 0);
        }
        15 => model.pass_to_deadline(),
        16 => model.begin_call(input.byte()),
        17 => model.end_call(usize::from(input.byte())),
        18 => model.switch(input.byte(), input.byte()),
        19 => model.persisted(input.byte()),
        20 => model.update(input.byte(), input.byte()),
        21 => model.add(input.byte(), input.byte()),
        22 => model.remember(input.byte()),
        _ => match input.byte() {
            0..16 => model.shutdown(Duration::from_secs(u64::from(input.byte() % 20))),
            16..64 => model.boot(),
            _ => model.touch(),
        },
    }
}

fn command(model: &mut Model, input: &mut Bytes<'_>) {
    let server = input.byte();
    let what = input.byte();
    let command = match what % 16 {
        0..=3 => Command::Start,
        4 => Command::Boot,
        5 | 6 => Command::Stop,
        7 | 8 => Command::Restart,
        9 => Command::Enable,
        10 => Command::Disable,
        11 => Command::Delete,
        12 | 13 => Command::PrepareCall { by: model.in_time(Duration::from_millis(u64::from(input.byte()) * 100)) },
        14 => Command::Configure { policy: Model::policy(input.byte()).into(), replaced: input.byte() & 1 == 0 },
        _ if what > 240 => Command::Shutdown { by: model.in_time(Duration::from_secs(5)) },
        _ => Command::Start,
    };
    model.command(server, command);
}

/// Events out of turn. An end that is none, or a process that nobody launched, would be the embedder's fault.
fn foreign(model: &mut Model, input: &mut Bytes<'_>) {
    let server = input.byte();
    let generation = match input.byte() {
        0..200 => None,
        other => Some(Generation(u64::from(other - 200))),
    };
    let event = match input.byte() % 12 {
        0 => Event::Resolved,
        1 => Event::Negotiated { version: "2025-11-25".into() },
        2 => Event::Failed(model::failure(Retry::Backoff)),
        3 => Event::RefreshFailed,
        4 => Event::Closed(model::failure(Retry::Never)),
        5 | 6 => Event::ListChanged,
        7 => Event::Probed,
        8 => Event::ProbeFailed,
        9 => Event::MessageReceived,
        10 => Event::ConnectionSuspect,
        _ => Event::CallEnded,
    };
    model.event(server, generation, event);
}
