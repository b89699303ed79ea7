//! What a caller may do.

use core::time::Duration;

use mcpwire_core::internal::GetTaskResult;
use mcpwire_core::{
    CallTool, CallToolAsTask, CallToolParams, CancelTask, GetTask, Json, ListParams, ListTasks, ListTools,
    LoggingLevel, Ping, ReadResource, ReadResourceParams, RequestOptions, ResubscribePolicy, SubscribeOptions,
    SubscriptionFilter, TaskHandle, TaskMode, TaskParams, TaskProtocol, UpdateTask, UpdateTaskParams,
};

use super::model::Model;
use crate::fuzz::trace::Bytes;

/// Addresses of resources, some of which lie within others.
pub(super) const ADDRESSES: [&str; 4] = ["a:1", "a:1/2", "b", "\"\n"];

/// Answers what the server asks for, or refuses it.
pub(super) fn answer(model: &mut Model, what: u8, input: &mut Bytes<'_>) {
    let which = usize::from(input.byte());
    if what >= 252 {
        return model.refuse(which);
    }
    let answer = input.pick(&["{}", "{\"roots\":[]}", "{\"a\":\n{\"b\":\"\\u00e4\"}}", "[1]", "5"]);
    model.answer(which, &Json::parse(answer).expect("it is JSON"));
}

pub(super) fn call(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    let name = input.pick(&["echo", "", "a\"b\\\n\u{1f468}", "tool"]);
    let name = &format!("{name}#{}", model.next_mark());
    let arguments = input.pick(&["{}", "{\"a\":[1,2.5,null]}", "{\n \"text\": \"\\n\"\r\n}", " {\"b\":{}} "]);
    let arguments = Json::parse(arguments).expect("it is JSON");
    let params = CallToolParams { name, arguments: &arguments };
    model.send(format!("tools/call {name}"), &options, |engine, options, now| {
        engine.calls().request::<CallTool>(&params, options, now).map(Into::into)
    });
}

/// A call that may become a task, which is followed or handed out.
pub(super) fn call_in_task(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    let bits = input.byte();
    let options = if bits & 4 == 0 { options } else { options.task_ttl(Duration::from_millis(bits.into())) };
    let name = &format!("task#{}", model.next_mark());
    let arguments = Json::parse("{}").expect("it is JSON");
    let params = CallToolParams { name, arguments: &arguments };
    let what = format!("tools/call {name}, in a task");
    if bits & 3 == 3 {
        let options = options.task(TaskMode::Handle);
        model.send(what, &options, |engine, options, now| {
            engine.calls().request::<CallToolAsTask>(&params, options, now).map(Into::into)
        });
    } else {
        let options = options.task(TaskMode::Follow);
        model.send(what, &options, |engine, options, now| {
            engine.calls().request::<CallTool>(&params, options, now).map(Into::into)
        });
    }
}

/// Follows a task by its handle: one that there has been, or one that nobody knows.
pub(super) fn follow(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    let which = input.byte();
    let name = if which >= 128 { format!("f{which}\"") } else { model.task(which) };
    model.remember_task(&name);
    let form = if which & 64 == 0 { model.form() } else { TaskProtocol::Extension };
    model.follow(&TaskHandle::new(name, form), &options);
}

/// A request about a task, by hand.
pub(super) fn about_task(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    let what = input.byte();
    let name = model.task(what >> 4);
    let params = TaskParams { task_id: &name };
    let responses = Json::parse("{\"a\":{}}").expect("it is JSON");
    match what % 5 {
        0 => model.send(format!("tasks/get {name}"), &options, |engine, options, now| {
            engine.calls().request::<GetTask>(&params, options, now).map(Into::into)
        }),
        1 => model.send(format!("tasks/result {name}"), &options, |engine, options, now| {
            engine.calls().request::<GetTaskResult>(&params, options, now).map(Into::into)
        }),
        2 => model.send(format!("tasks/cancel {name}"), &options, |engine, options, now| {
            engine.calls().request::<CancelTask>(&params, options, now).map(Into::into)
        }),
        3 => model.send("tasks/list".into(), &options, |engine, options, now| {
            engine.calls().request::<ListTasks>(&ListParams::default(), options, now).map(Into::into)
        }),
        _ => model.send(format!("tasks/update {name}"), &options, |engine, options, now| {
            let params = UpdateTaskParams { task_id: &name, input_responses: &responses };
            engine.calls().request::<UpdateTask>(&params, options, now).map(Into::into)
        }),
    }
}

pub(super) fn list_with_cursor(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    list_from(model, Some("\"x\n"), &options);
}

/// Lists tools, where an earlier answer may do.
pub(super) fn list(model: &mut Model, input: &mut Bytes<'_>) {
    let options = kept_options(input);
    let cursor = input.pick(&[None, None, Some("c")]);
    list_from(model, cursor, &options);
}

fn list_from(model: &mut Model, cursor: Option<&str>, options: &RequestOptions) {
    let what = format!("tools/list {}", cursor.unwrap_or_default());
    model.send(what, options, |engine, options, now| {
        engine.calls().request::<ListTools>(&ListParams { cursor }, options, now).map(Into::into)
    });
}

/// Reads a resource, where an earlier answer may do.
pub(super) fn read(model: &mut Model, input: &mut Bytes<'_>) {
    let options = kept_options(input);
    let uri = input.pick(&ADDRESSES);
    // No answer depends on where a request belongs in a trace.
    let mark = format!(r##"{{"traceparent":"#{}"}}"##, model.next_mark());
    let options = options.meta(Json::parse(mark).expect("it is JSON"));
    model.send(format!("resources/read {uri}"), &options, |engine, options, now| {
        engine.calls().request::<ReadResource>(&ReadResourceParams { uri }, options, now).map(Into::into)
    });
}

pub(super) fn ping(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    model.send("ping".into(), &options, |engine, options, now| {
        engine.calls().request::<Ping>(&(), options, now).map(Into::into)
    });
}

pub(super) fn raw(model: &mut Model, input: &mut Bytes<'_>) {
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
    let mark = model.next_mark();
    let marked = format!(r##"{{"requestState":"mine","name":"#{mark}","_meta":{{"trace":1}}}}"##);
    let params = if method == "tools/call" { &marked } else { params };
    let params = (!params.is_empty()).then(|| Json::parse(params).expect("it is JSON"));
    model.send(format!("{method} by hand, {mark}"), &options, |engine, options, now| {
        engine.calls().request_raw(method, params.as_ref(), options, now).map(Into::into)
    });
}

pub(super) fn set_log_level(model: &mut Model, input: &mut Bytes<'_>) {
    let options = options(input);
    let levels = [LoggingLevel::Debug, LoggingLevel::Error, LoggingLevel::Other("loud".into())];
    model.set_log_level(&levels[usize::from(input.byte()) % 3], &options);
}

/// Cancels a request, the latest ones first, for any reason.
pub(super) fn cancel(model: &mut Model, input: &mut Bytes<'_>) {
    let latest = model.waits().saturating_sub(1 + usize::from(input.byte() % 16));
    let long = "long ".repeat(60);
    let reason = input.pick(&[None, Some(""), Some("user\u{7f}\r\n\"\\"), Some("\u{1f468}\u{200d}"), Some(&*long)]);
    model.cancel(latest, reason);
}

pub(super) fn subscribe(model: &mut Model, input: &mut Bytes<'_>) {
    let (what, how) = (input.byte(), input.byte());
    let mut wanted = SubscriptionFilter::new();
    wanted.tools_list_changed = what & 1 != 0;
    wanted.prompts_list_changed = what & 2 != 0;
    wanted.resources_list_changed = what & 4 != 0;
    for (at, uri) in ADDRESSES.into_iter().enumerate() {
        if what & 8 << at != 0 {
            wanted = wanted.resource(uri);
        }
    }
    if what & 128 != 0 {
        wanted = wanted.task(model.task(0)).task("none");
    }
    let mut options = SubscribeOptions::new();
    options.resubscribe =
        [ResubscribePolicy::AfterDrop, ResubscribePolicy::Always, ResubscribePolicy::Never][usize::from(how % 3)];
    options.seed = (how & 16 != 0).then_some(how.into());
    if how & 32 != 0 {
        options = options.timeout(Duration::from_millis(u64::from(how) * 4));
    }
    model.subscribe(&wanted, &options);
}

fn kept_options(input: &mut Bytes<'_>) -> RequestOptions {
    let options = RequestOptions::new();
    match input.byte() % 8 {
        0 => options.fresh(),
        1 => options.stale_if_error(),
        2 => options.meta(Json::parse("{\"who\":1}").expect("it is JSON")),
        _ => options,
    }
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
