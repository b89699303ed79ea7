//! Servers and handlers with planted bugs, which the simulations find and shrink.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_driver::memory::{PipeReader, PipeWriter, duplex};
use mcpwire_driver::protocol::{
    CreateMessageResult, ElicitAction, ElicitResult, Json, RpcError, SamplingContent, Tool,
};
use mcpwire_driver::{ConnectOptions, CurrentRuntime};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::*;
use crate::VirtualTime;

/// A server without bugs: returns the response to a line.
fn answer(line: &str) -> Option<String> {
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        let error = json!({ "code": -32700, "message": "not JSON" });
        return Some(json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string());
    };
    let id = message.get("id")?;
    let response = match message["method"].as_str() {
        Some("initialize") => json!({ "result": {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "test", "version": "1" },
        } }),
        Some("ping") => json!({ "result": {} }),
        Some("tools/call") => json!({ "result": { "content": [{ "type": "text", "text": "done" }] } }),
        _ => json!({ "error": { "code": -32601, "message": "no such method" } }),
    };
    let mut whole = json!({ "jsonrpc": "2.0", "id": id });
    whole.as_object_mut()?.extend(response.as_object()?.clone());
    Some(whole.to_string())
}

fn tools() -> [Tool; 1] {
    [Tool::new("double", json!({ "type": "object", "properties": { "n": { "type": "integer" } } }))]
}

async fn read(reader: &mut PipeReader) -> Option<String> {
    let mut buffer = vec![0; 64 * 1024];
    let n = poll_fn(|cx| Pin::new(&mut *reader).poll_read(cx, &mut buffer)).await.ok().filter(|n| *n > 0)?;
    Some(String::from_utf8_lossy(&buffer[..n]).into_owned())
}

async fn write(writer: &mut PipeWriter, line: &str) {
    let line = format!("{line}\n");
    // The pipe has room for the answers of a script.
    let written = poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, line.as_bytes())).await;
    assert!(written.is_err() || written.is_ok_and(|n| n == line.len()));
}

/// A server that answers only the first request of each read. Messages that arrive in parts, it puts together.
async fn one_response_a_read(mut reader: PipeReader, mut writer: PipeWriter) {
    let mut text = String::new();
    while let Some(read) = read(&mut reader).await {
        text.push_str(&read);
        let Some(end) = text.rfind('\n') else { continue };
        let lines: String = text.drain(..=end).collect();
        if let Some(response) = lines.lines().find_map(answer) {
            write(&mut writer, &response).await;
        }
    }
}

#[test]
fn two_requests_in_one_write_are_found() {
    for seed in 0..8 {
        let failure = Simulation::new()
            .seed(seed)
            .find_server_fault(client_script(tools()), one_response_a_read, |_| Ok::<(), String>(()))
            .expect_err("the second request of a write has no response");
        let (script, text) = (&failure.script, failure.to_string());
        assert!(script.steps.len() <= 5, "{text}");
        let last = text.lines().last().unwrap_or_default();
        assert!(last.contains(". in the same write: requests "), "{text}");
        assert!(failure.reason.contains("has 0 responses"), "{text}");
        // What does not matter for the failure is as simple as possible.
        assert!(script.waits_for_responses && script.chunk_sizes.is_empty(), "{text}");
    }
}

/// How the messages of a client arrive: counts over the reads of many scripts.
#[derive(Debug, Default)]
struct Arrivals {
    several: AtomicUsize,
    /// Reads of more than 64 bytes that hold the end of a message and a part of the next one.
    ends_within: AtomicUsize,
    single_bytes: AtomicUsize,
    /// Requests that arrived before the response to the one before was sent.
    in_flight: AtomicUsize,
}

impl Arrivals {
    fn count(&self, read: &str) {
        let lines = read.matches('\n').count();
        self.several.fetch_add(usize::from(lines > 1), Ordering::Relaxed);
        self.ends_within
            .fetch_add(usize::from(lines > 0 && read.len() > 64 && !read.ends_with('\n')), Ordering::Relaxed);
        self.single_bytes.fetch_add(usize::from(read.len() == 1), Ordering::Relaxed);
    }
}

/// A server without bugs that answers a request one read later, as one that does work in tasks may do.
async fn serve_late(mut reader: PipeReader, mut writer: PipeWriter, arrivals: Arc<Arrivals>) {
    let (mut text, mut late) = (String::new(), Vec::<String>::new());
    let time = VirtualTime::current();
    loop {
        let mut timer = time.timer();
        timer.reset(Duration::from_millis(1));
        let mut reading = Box::pin(read(&mut reader));
        let read = poll_fn(|cx| match reading.as_mut().poll(cx) {
            Poll::Ready(read) => Poll::Ready(Some(read)),
            Poll::Pending if late.is_empty() => Poll::Pending,
            Poll::Pending => timer.poll(cx).map(|()| None),
        })
        .await;
        drop(reading);
        match read {
            None => {
                for response in late.drain(..) {
                    write(&mut writer, &response).await;
                }
            }
            Some(None) => return,
            Some(Some(read)) => {
                arrivals.count(&read);
                text.push_str(&read);
                while let Some(end) = text.find('\n') {
                    let line: String = text.drain(..=end).collect();
                    let is_concurrent = !late.is_empty();
                    if let Some(response) = answer(line.trim_end()) {
                        arrivals.in_flight.fetch_add(usize::from(is_concurrent), Ordering::Relaxed);
                        late.push(response);
                    }
                }
            }
        }
    }
}

#[test]
fn messages_arrive_in_all_ways() {
    let arrivals = Arc::new(Arrivals::default());
    let serve = |reader, writer| serve_late(reader, writer, Arc::clone(&arrivals));
    Simulation::new().check_server(client_script(tools()), serve, |_| Ok::<(), String>(()));
    let Arrivals { several, ends_within, single_bytes, in_flight } = &*arrivals;
    for count in [several, ends_within, single_bytes, in_flight] {
        assert!(count.load(Ordering::Relaxed) > 10, "{arrivals:?}");
    }
}

/// The id of a request is in the failure, and long parameters are not.
#[test]
fn a_failure_shows_the_id() {
    // A server that takes ids that are no numbers for 0, which it takes for none.
    let only_numbers = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        if message["id"].as_i64().unwrap_or_default() == 0 { None } else { answer(line) }
    };
    let failure = Simulation::new()
        .find_server_fault(
            client_script(tools()),
            move |reader, writer| serve_lines(reader, writer, only_numbers),
            |_| Ok::<(), String>(()),
        )
        .expect_err("no request is answered");
    assert!(failure.script.steps.is_empty(), "{failure}");
    assert!(failure.reason.starts_with("the request initialize {"), "{failure}");
    assert!(failure.reason.ends_with(r#"with the id "request-0" has 0 responses"#), "{failure}");
    let text = failure.to_string();
    let (_, script) = text.split_once("\nwith ").expect("the script is printed");
    assert!(script.contains(r#"0. requests initialize {"capabilities":{}"#), "{failure}");
    assert!(script.contains(r#"with the id "request-0""#), "{failure}");
}

#[test]
fn a_failure_shows_the_wrong_id_and_shortens_parameters() {
    // A server that answers with the id as a number.
    let wrong_id = |line: &str| Some(answer(line)?.replace(r#""id":"request-1""#, r#""id":1"#));
    let long = json!({ "x": "long ".repeat(1000) });
    let scripts = client_script([]).prop_map(move |mut script| {
        script.steps = vec![ClientStep::Request { method: "ping".into(), params: long.clone().into() }];
        script
    });
    let failure = Simulation::new()
        .find_server_fault(
            scripts,
            move |reader, writer| serve_lines(reader, writer, wrong_id),
            |_| Ok::<(), String>(()),
        )
        .expect_err("the request is not answered");
    assert!(
        failure.reason.contains(r#"has 0 responses; the server sent {"id":1,"jsonrpc":"2.0","result":{}}"#),
        "{failure}"
    );
    assert!(failure.to_string().len() < 1500, "{failure}");
    assert_eq!(failure.to_string().matches("… (5008 bytes)").count(), 2, "{failure}");
}

/// A handler that uses one place for all requests mixes up those that run at the same time.
#[test]
fn handlers_that_mix_up_requests_are_found() {
    let is_answered = |_: &Ask, answer: &Result<Json, RpcError>| match answer {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    let busy = Arc::new(AtomicUsize::new(0));
    let options = move || {
        let busy = Arc::clone(&busy);
        busy.store(0, Ordering::Relaxed);
        let options = ConnectOptions::default()
            .roots([])
            .on_elicitation(|_, _| async { Ok(ElicitResult::decline()) })
            .on_url_elicitation(|_, _| async { Ok(ElicitAction::Decline) });
        options.on_sampling(move |_, _| {
            let busy = Arc::clone(&busy);
            async move {
                if busy.fetch_add(1, Ordering::Relaxed) > 0 {
                    return Err(RpcError::new(-32603, "the model is busy"));
                }
                let mut timer = VirtualTime::current().timer();
                timer.reset(Duration::from_secs(1));
                poll_fn(|cx| timer.poll(cx)).await;
                busy.fetch_sub(1, Ordering::Relaxed);
                Ok(CreateMessageResult::new("model", SamplingContent::text("hi")))
            }
        })
    };
    let failure = Simulation::new().client_options(options).find_handler_fault(asks(), is_answered).unwrap_err();
    assert!(failure.script.at_once && failure.script.asks.len() == 2, "{failure}");
    assert!(failure.to_string().contains("that asks all in one write"), "{failure}");
}

/// Messages of a server arrive several at once, in parts, and cut in the middle of a message after the first.
#[test]
fn messages_of_servers_arrive_in_all_ways() {
    let arrivals = Arrivals::default();
    let mut runner = TestRunner::deterministic();
    for _ in 0..200 {
        let script = script(["a"]).new_tree(&mut runner).expect("it generates scripts").current();
        let (time, (ours, theirs)) = (VirtualTime::new(), duplex(script.pipe));
        time.spawn(script.server().serve_on(&*time.runtime(), theirs.reader, theirs.writer));
        time.run(async {
            let (mut reader, mut writer) = (ours.reader, ours.writer);
            let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}"#;
            let calls = format!("{call}\n{call}\n");
            let mut left = calls.as_bytes();
            let mut end = pin!(time.sleep(Duration::from_secs(3600)));
            poll_fn(|cx| {
                while let (false, Poll::Ready(written)) = (left.is_empty(), Pin::new(&mut writer).poll_write(cx, left))
                {
                    left = &left[written.unwrap_or(left.len())..];
                }
                let mut buffer = [0; 4096];
                while let Poll::Ready(Ok(n @ 1..)) = Pin::new(&mut reader).poll_read(cx, &mut buffer) {
                    arrivals.count(&String::from_utf8_lossy(&buffer[..n]));
                }
                end.as_mut().poll(cx)
            })
            .await;
        });
    }
    let Arrivals { several, ends_within, single_bytes, .. } = &arrivals;
    for count in [several, ends_within, single_bytes] {
        assert!(count.load(Ordering::Relaxed) > 10, "{arrivals:?}");
    }
}
