//! Callers and servers in any order: what the engine promises after each step.

mod model;
mod server;
mod wire;

use core::time::Duration;

use mcpwire_core::{CallTool, CallToolParams, Json, ListParams, ListTools, Ping, RequestOptions};

use self::model::Model;
use super::bytes::Bytes;

/// Plays a sequence of requests, answers, noise, deadlines and ends.
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
    let what = input.byte();
    if what >= 240 {
        return answer(model, what, input);
    }
    match what % 20 {
        0 => call(model, input),
        1 => raw(model, input),
        2 => {
            let options = options(input);
            model.send(&options, |engine, options, now| {
                engine.calls().request::<ListTools>(&ListParams { cursor: Some("\"x\n") }, options, now).map(Into::into)
            });
        }
        3 => {
            let options = options(input);
            model.send(&options, |engine, options, now| {
                engine.calls().request::<Ping>(&(), options, now).map(Into::into)
            });
        }
        4 => model.cancel(usize::from(input.byte())),
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

/// Answers what the server asks for, or refuses it.
fn answer(model: &mut Model, what: u8, input: &mut Bytes<'_>) {
    let which = usize::from(input.byte());
    if what >= 252 {
        return model.refuse(which);
    }
    let answer = input.pick(&["{}", "{\"roots\":[]}", "{\"a\":\n{\"b\":\"\\u00e4\"}}", "[1]", "5"]);
    model.answer(which, &Json::parse(answer).expect("it is JSON"));
}

fn call(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    let name = input.pick(&["echo", "", "a\"b\\\n\u{1f468}", "tool"]);
    let name = &format!("{name}#{}", model.next_mark());
    let arguments = input.pick(&["{}", "{\"a\":[1,2.5,null]}", "{\n \"text\": \"\\n\"\r\n}", " {\"b\":{}} "]);
    let arguments = Json::parse(arguments).expect("it is JSON");
    let params = CallToolParams { name, arguments: &arguments };
    model.send(&options, |engine, options, now| {
        engine.calls().request::<CallTool>(&params, options, now).map(Into::into)
    });
}

fn raw(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    let method = input.pick(&["x/y", "tools/call", "", "\u{0}\"\n"]);
    let params = input.pick(&[
        "",
        "{}",
        "{\"a\":1}",
        "{\"_meta\":{\"trace\":1,\"progressToken\":\"mine\"},\"a\":1}",
        "{\"_meta\":5}",
        "[1]",
        "5",
        "{\n\"_meta\"\n:\n{\n}\n}",
        "{\"\\u005fmeta\":{\"io.modelcontextprotocol/protocolVersion\":\"x\"}}",
    ]);
    let marked = format!(r##"{{"requestState":"mine","name":"#{}","_meta":{{"trace":1}}}}"##, model.next_mark());
    let params = if method == "tools/call" { &marked } else { params };
    let params = (!params.is_empty()).then(|| Json::parse(params).expect("it is JSON"));
    model.send(&options, |engine, options, now| {
        engine.calls().request_raw(method, params.as_ref(), options, now).map(Into::into)
    });
}

fn options(input: &mut Bytes<'_>) -> RequestOptions {
    let (bits, timeout) = (input.byte(), input.byte());
    let millis = |n: u8| match n {
        255 => Duration::MAX,
        n => Duration::from_millis(u64::from(n) * 10),
    };
    let mut options = RequestOptions::new();
    if bits & 1 != 0 {
        options = options.progress();
    }
    if bits & 2 != 0 {
        options = options.timeout(millis(timeout));
    }
    if bits & 4 != 0 {
        options = options.total_timeout(millis(timeout.wrapping_mul(3)));
    }
    let meta = match bits >> 3 & 7 {
        0 => "{\"trace\":\"\\n\"}",
        1 => "{ }",
        2 => "{\"progressToken\":9,\"io.modelcontextprotocol/clientInfo\":1,\"b\":\n2}",
        3 => "null",
        _ => return options,
    };
    options.meta(Json::parse(meta).expect("it is JSON"))
}
