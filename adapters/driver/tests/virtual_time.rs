//! The async client on servers that are scripted, in virtual time: what does not depend on a runtime, a process or a socket.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_channel::mpsc::{Receiver, Sender, channel};
use futures_util::{Sink, SinkExt, StreamExt};
use mcpwire_client::GracePeriods;
use mcpwire_driver::memory::{Duplex, duplex};
use mcpwire_driver::protocol::{
    CallTool, CallToolParams, CloseReason, CompleteParams, CompletionReference, Config, ConnectError, ListResources,
    RequestOptions,
};
use mcpwire_driver::{ConnectOptions, CurrentRuntime, ErrorKind, Exit, McpClient, McpServerDef, ServerLaunch};
use mcpwire_testkit::simulation::{Simulation, script};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit, VirtualTime};
use serde_json::json;
use smol::future::{poll_once, zip};
use smol::io::AsyncReadExt;

#[path = "../../client/tests/in_memory/mod.rs"]
mod servers;

use servers::{Action, Failing, act, assert_names_the_server, assert_says_why, assert_timeout, endless, named};

/// Runs a future beside the one that calls.
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    VirtualTime::current().spawn(Box::pin(task));
}

/// Waits until something holds that nothing tells of.
async fn eventually(holds: impl Fn() -> bool) {
    while !holds() {
        let mut timer = VirtualTime::current().timer();
        timer.reset(Duration::from_millis(1));
        std::future::poll_fn(|cx| timer.poll(cx)).await;
    }
}

// Calls and lists: their deadlines and options, and that each ends, whatever a server does.

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn pages_that_are_just_in_time_have_one_deadline() {
    let kit = Testkit::new(endless(secs(29)));
    kit.run(async |client| {
        let begun = kit.time().elapsed();
        assert_timeout(&client.list_resources().await, secs(3600));
        assert_eq!(kit.time().elapsed(), begun + secs(3600));
        let options = RequestOptions::new().total_timeout(secs(100));
        assert_timeout(&client.list_all_with::<ListResources>(&options).await, secs(100));
        assert_eq!(kit.time().elapsed(), begun + secs(3700));
        // The page that was on its way is given up, and the connection is as good as before.
        client.ping().await.expect("it answers");
    });
    assert_eq!(kit.server().cancellations().len(), 2);
    let asked = kit.server().requests().iter().filter(|request| request.method == "resources/list").count();
    assert_eq!(asked, 3600 / 29 + 1 + 100 / 29 + 1);
}

#[test]
fn pages_that_come_at_once_are_a_thousand() {
    let kit = Testkit::new(endless(Duration::ZERO));
    let listed = kit.run(async |client| client.list_resources().await).expect("what there was");
    assert_eq!((listed.items.len(), kit.server().requests().len()), (1_000, 1_001));
}

#[test]
fn the_server_gets_the_reason_of_a_cancelled_request() {
    let kit = Testkit::new(ScriptedServer::new().tool("never", |_| ScriptedResponse::new()));
    kit.run(async |client| {
        let params = CallToolParams { name: "never", arguments: &json!({}) };
        let pending = client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        pending.cancel("the user has changed their mind");
        client.list_tools().await.expect("it answers");
    });
    let cancelled = kit.server().cancellations();
    assert_eq!(cancelled[0].reason.as_deref(), Some("the user has changed their mind"));
}

#[test]
fn requests_of_resources_prompts_and_completions_have_options() {
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}});
    let silent = ["resources/read", "prompts/get", "completion/complete"];
    let server = ScriptedServer::new().capabilities(capabilities);
    let server = silent.into_iter().fold(server, |server, method| server.on(method, |_| ScriptedResponse::new()));
    let kit = Testkit::new(server);
    let options = RequestOptions::new().timeout(Duration::from_secs(1));
    let errors = kit.run(async |client| {
        let params = CompleteParams::new(CompletionReference::Prompt { name: "p" }, "name", "a");
        [
            client.read_resource_with("a:b", &options).await.expect_err("nobody answers"),
            client.get_prompt_with("p", (), &options).await.expect_err("nobody answers"),
            client.complete_with(&params, &options).await.expect_err("nobody answers"),
        ]
    });
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
    assert_eq!(kit.time().elapsed().as_secs(), 3);
}

/// The longest that a call may take.
const TOTAL: Duration = Duration::from_secs(300);

async fn three_calls(client: McpClient<VirtualTime>) -> Result<(), String> {
    for tool in ["a", "b", "a"] {
        match client.call_tool(tool, ()).await {
            Ok(_) => {}
            Err(error) => match error.kind() {
                ErrorKind::Timeout | ErrorKind::Server | ErrorKind::Protocol | ErrorKind::Closed | ErrorKind::Input => {
                }
                kind => return Err(format!("{kind}: {error}")),
            },
        }
    }
    Ok(())
}

#[test]
fn calls_end() {
    let options = || ConnectOptions::default().timeout(Duration::from_secs(60)).total_timeout(TOTAL);
    // Three calls, and the opening of the connection.
    let simulation = Simulation::new().cases(500).client_options(options).time_limit(4 * TOTAL);
    simulation.check_client(script(["a", "b"]), three_calls);
}

/// The property above can fail: calls without timeouts do not end.
#[test]
fn a_call_without_a_timeout_is_found() {
    let options = || ConnectOptions::default().timeout(Duration::MAX).total_timeout(Duration::MAX);
    let simulation = Simulation::new().client_options(options).time_limit(4 * TOTAL);
    let failure = simulation.find_client_fault(script(["a", "b"]), three_calls).expect_err("a server is silent");
    assert_eq!(failure.script.steps.len(), 1, "{failure}");
    assert!(failure.reason.contains("has not ended within"), "{failure}");
}

// Streams in memory: the name of a connection without a process, streams that fail, and servers that a launcher has started.

/// The caller of a request writes it if no other request is in flight. Otherwise the driver does.
#[test]
fn calls_fail_with_the_error_of_the_stream() {
    for (flush, is_alone) in [(true, true), (true, false), (false, true), (false, false)] {
        VirtualTime::new().run(async {
            let (ours, theirs) = duplex(1024);
            let server = ScriptedServer::new()
                .tool("hello", |_| "hello")
                .tool("wait", |_| ScriptedResponse::new().wait(Duration::from_secs(3600)));
            spawn(server.serve::<VirtualTime>(theirs.reader, theirs.writer));
            let writer = Failing::new(ours.writer);
            let (fails, error) = if flush {
                (Arc::clone(&writer.flush_fails), "the buffer was lost")
            } else {
                (Arc::clone(&writer.write_fails), "the cable was cut")
            };
            let client = McpClient::<VirtualTime>::over(ours.reader, writer, ConnectOptions::default());
            client.initialize().await.expect("it opens");
            assert_eq!(client.call_tool("hello", ()).await.expect("it answers").text().as_str(), "hello");
            let waiting = async { if is_alone { None } else { Some(client.call_tool("wait", ()).await) } };
            let last = async {
                let in_flight = usize::from(!is_alone);
                eventually(|| server.calls("wait").len() == in_flight).await;
                fails.store(true, Ordering::SeqCst);
                client.call_tool("hello", ()).await
            };
            let (waited, last) = zip(waiting, last).await;
            for outcome in waited.into_iter().chain([last]) {
                let failure = outcome.expect_err("the stream fails");
                assert_eq!(failure.kind(), ErrorKind::Closed, "{failure}");
                assert!(failure.to_string().contains(error), "{failure}");
            }
            assert!(!client.is_running());
            assert_eq!(server.calls("hello").len(), 1);
        });
    }
}

#[test]
fn a_server_in_memory_is_called_by_its_name() {
    VirtualTime::new().run(async {
        let (ours, theirs) = duplex(1024);
        let server = ScriptedServer::new().tool("hello", |_| "hello");
        let serving = server.serve::<VirtualTime>(theirs.reader, theirs.writer);
        spawn(serving);
        let client = McpClient::<VirtualTime>::over(ours.reader, ours.writer, named());
        client.initialize().await.expect("it opens");
        assert_eq!(client.call_tool("hello", ()).await.expect("it answers").text().as_str(), "hello");
        client.shutdown().await.expect("it ends");
        assert_names_the_server(&client.call_tool("hello", ()).await.expect_err("it has ended"));
    });
}

/// A waker that only counts its owners.
struct CountedWaker;

impl Wake for CountedWaker {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn nothing_is_kept_of_futures_that_waited_for_the_end() {
    VirtualTime::new().run(async {
        let (ours, theirs) = duplex(1024);
        spawn(ScriptedServer::new().serve::<VirtualTime>(theirs.reader, theirs.writer));
        let client = McpClient::<VirtualTime>::over(ours.reader, ours.writer, named());
        client.initialize().await.expect("it opens");
        let counted = Arc::new(CountedWaker);
        for _ in 0..100 {
            let waker = Waker::from(Arc::clone(&counted));
            let mut closed = Box::pin(client.closed());
            assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            assert!(Arc::strong_count(&counted) > 2, "it waits");
            drop(closed);
            drop(waker);
            assert_eq!(Arc::strong_count(&counted), 1, "it has gone");
        }
        client.shutdown().await.expect("it ends");
    });
}

/// The server ends its output on the probe, and would be restarted after its exit. Nobody waits for the opening.
#[test]
fn a_shutdown_prevents_a_restart() {
    let hour = Duration::from_secs(3_600);
    let (exit_now, exits) = smol::channel::bounded(1);
    let (ours, Duplex { reader: mut input, writer: output }) = duplex(1024);
    drop(output);
    let once = Mutex::new(Some((ours, exits)));
    let options = ConnectOptions::default()
        .grace_periods(GracePeriods { after_close: hour, after_terminate: hour })
        .launcher(move |_: &McpServerDef| {
            let (ours, exits) = once.lock().unwrap().take().expect("it is started once");
            let exit = async move { exits.recv().await.expect("the test ends the server") };
            Ok(ServerLaunch::streams(ours.reader, ours.writer, exit))
        });
    VirtualTime::new().run(async {
        let client =
            McpClient::<VirtualTime>::connect_with(&McpServerDef::new("in-memory"), options).expect("it starts");
        assert!(poll_once(pin!(client.initialize())).await.is_none());
        // The client closes the input when it has seen the end of the output.
        input.read_to_end(&mut Vec::new()).await.expect("it can be read");
        let shutdown = client.shutdown();
        exit_now.send(Exit::new(Some(0), None)).await.expect("the client waits for the exit");
        assert_eq!(client.closed().await.reason, CloseReason::ByServer);
        shutdown.await.expect("it ends");
    });
}

/// A value of the program whose drop uses the client.
struct UsesClient(Arc<OnceLock<McpClient<()>>>);

impl Drop for UsesClient {
    fn drop(&mut self) {
        assert_eq!(self.0.get().expect("it is connected").pid(), None);
    }
}

#[test]
fn the_values_of_an_unused_kill_function_may_use_the_client() {
    let place = Arc::<OnceLock<McpClient<()>>>::default();
    let of_launcher = Arc::clone(&place);
    let options = ConnectOptions::new(Config::default()).launcher(move |_: &McpServerDef| {
        let (ours, _) = duplex(1024);
        let value = UsesClient(Arc::clone(&of_launcher));
        let exit = async { Exit::new(Some(0), None) };
        Ok(ServerLaunch::streams(ours.reader, ours.writer, exit).on_kill(move || drop(value)))
    });
    VirtualTime::new().run(async {
        let client =
            McpClient::<VirtualTime>::connect_with(&McpServerDef::new("in-memory"), options).expect("it starts");
        place.set(client.without_runtime()).expect("it is empty");
        assert_eq!(client.shutdown().await.expect("it ends").exit, Some(Exit::new(Some(0), None)));
    });
}

// Connections over whole messages instead of lines: channels here.

type Answers = Receiver<Result<String, &'static str>>;

/// Serves until the client or the server ends the connection.
async fn serve(mut received: Receiver<String>, mut answers: Sender<Result<String, &'static str>>) {
    while let Some(message) = received.next().await {
        match act(&message) {
            Action::Nothing => {}
            Action::Send(messages) => {
                for message in messages {
                    if answers.send(Ok(message)).await.is_err() {
                        return;
                    }
                }
            }
            Action::Fail => drop(answers.send(Err("the tunnel broke")).await),
            Action::End => return,
        }
    }
}

fn served() -> (Answers, Sender<String>) {
    let (to_server, received) = channel(0);
    let (answers, from_server) = channel(0);
    spawn(serve(received, answers));
    (from_server, to_server)
}

async fn open(options: ConnectOptions) -> McpClient<VirtualTime> {
    let (from_server, to_server) = served();
    let client = McpClient::<VirtualTime>::over_messages(from_server, to_server, options);
    assert_eq!(client.initialize().await.expect("it opens").name(), "there");
    client
}

#[test]
fn messages_may_contain_line_breaks_and_be_large() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        for text in ["two\nlines", &"x".repeat(1 << 20)] {
            let result = client.call_tool("echo", json!({"message": text})).await.expect("it answers");
            assert_eq!(result.text().as_str(), text);
        }
        client.shutdown().await.expect("it ends");
        assert_eq!(client.connection_end().expect("it has ended").reason, CloseReason::ByClient);
    });
}

#[test]
fn many_calls_wait_for_a_sink_with_little_room() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        let calls = (0..50)
            .map(|n| client.call_tool("echo", json!({"message": n.to_string()})).begin().expect("it is on its way"));
        for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
            assert_eq!(call.await.expect("it answers").text().as_str(), n.to_string());
        }
        client.shutdown().await.expect("it ends");
    });
}

#[test]
fn calls_over_messages_fail_with_the_error_of_the_stream() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        assert_says_why(&client.call_tool("fail", ()).await.expect_err("it has ended"));
        let end = client.connection_end().expect("it has ended");
        assert_eq!(end.reason, CloseReason::Failed("the tunnel broke".into()));
        assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
    });
}

#[test]
fn the_end_of_the_stream_is_the_end_of_the_connection() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        let error = client.call_tool("end", ()).await.expect_err("it has ended");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(error.to_string().ends_with("the server closed the connection"), "{error}");
    });
}

#[test]
fn an_error_before_the_opening_is_what_it_says() {
    VirtualTime::new().run(async {
        let (mut answers, from_server) = channel::<Result<String, &'static str>>(1);
        answers.send(Err("the tunnel broke")).await.expect("there is room");
        let (to_server, _received) = channel::<String>(8);
        let client = McpClient::<VirtualTime>::over_messages(from_server, to_server, ConnectOptions::default());
        let error = client.initialize().await.expect_err("it cannot be opened");
        assert_eq!(error.connect_error(), Some(&ConnectError::Failed("the tunnel broke".into())), "{error}");
    });
}

#[test]
fn a_message_over_the_limit_fails_its_call_alone() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default().max_message_bytes(4096)).await;
        let error = client.call_tool("echo", json!({"message": "x".repeat(5000)})).await.expect_err("it is too large");
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        let result = client.call_tool("echo", json!({"message": "small"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "small");
    });
}

#[test]
fn a_message_that_cannot_be_read_is_one_and_spoils_nothing() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        let result = client.call_tool("print", json!({"message": "hi"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "hi");
        assert_eq!(client.invalid_messages().count(), 1);
    });
}

/// A sink that fails after some messages, and must not be used after that.
struct Fragile {
    left: usize,
    sink: Sender<String>,
}

impl Sink<String> for Fragile {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.sink.poll_ready_unpin(cx).map_err(io::Error::other)
    }

    fn start_send(mut self: Pin<&mut Self>, message: String) -> io::Result<()> {
        self.left = self.left.checked_sub(1).expect("a sink that has failed is not used again");
        if self.left == 0 {
            return Err(io::Error::other("the tunnel broke"));
        }
        self.sink.start_send_unpin(message).map_err(io::Error::other)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        assert!(self.left > 0, "a sink that has failed is not used again");
        self.sink.poll_flush_unpin(cx).map_err(io::Error::other)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        assert!(self.left > 0, "a sink that has failed is not used again");
        self.sink.poll_close_unpin(cx).map_err(io::Error::other)
    }
}

#[test]
fn an_error_of_the_sink_is_what_calls_say() {
    let time = VirtualTime::new();
    let (to_server, received) = channel(0);
    let (answers, from_server) = channel(0);
    time.spawn(serve(received, answers));
    time.run(async {
        // `server/discover`, `initialize`, `notifications/initialized`, and the call.
        let sink = Fragile { left: 4, sink: to_server };
        let client = McpClient::<VirtualTime>::over_messages(from_server, sink, ConnectOptions::default());
        client.initialize().await.expect("it opens");
        for _ in 0..2 {
            assert_says_why(&client.call_tool("echo", json!({"message": "hi"})).await.expect_err("it has ended"));
        }
        client.shutdown().await.expect("there is nothing to end");
    });
}

#[test]
fn a_sink_without_room_holds_messages_back() {
    let time = VirtualTime::new();
    let (to_server, mut received) = channel::<String>(0);
    // Nobody answers.
    let (_answers, from_server) = channel::<Result<String, Infallible>>(0);
    time.run(async {
        let client = McpClient::<VirtualTime>::over_messages(from_server, to_server, ConnectOptions::default());
        let opening = client.clone();
        let error = Arc::new(Mutex::new(None));
        let told = Arc::clone(&error);
        time.spawn(async move {
            *told.lock().expect("nobody panics") = opening.initialize().await.err();
        });
        // The deadline passes although the sink has no room left: the server reads nothing.
        time.sleep(Duration::from_secs(600)).await;
        let error = error.lock().expect("nobody panics").take().expect("nobody has answered");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(received.next().await.expect("one has been sent").contains("server/discover"));
        client.shutdown().await.expect("it ends");
    });
}
