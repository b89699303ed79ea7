//! What the blocking client has beside that which all adapters have in common.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_blocking::protocol::{CloseReason, Config, Era, Json, ProtocolVersion};
use mcpwire_blocking::{ConnectOptions, ErrorKind, McpClient, with_client};
use mcpwire_tests::asynchronous::Lines;
use mcpwire_tests::{Server, process_exists, server, watched};

#[test]
fn the_client_tells_what_it_knows() {
    watched(|| {
        let server = server!("well-behaved");
        let mut client = McpClient::connect(&server.def).expect("it starts");
        assert!(!client.is_initialized() && client.is_running());
        assert!(client.server_info().is_none() && client.tools().is_empty());

        client.initialize().expect("it answers");
        assert!(client.is_initialized());
        assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
        assert_eq!(client.protocol_version(), Some(ProtocolVersion::V2025_11_25));
        assert!(client.capabilities().is_some_and(|capabilities| capabilities.tools.is_some()));
        assert_eq!(client.definition(), Some(&server.def));
        assert!(!client.has_tool("echo"), "the list has not been asked for");

        client.list_tools().expect("it has tools");
        assert!(client.has_tool("echo") && !client.has_tool("missing_tool"));
        let tool = client.get_tool("fetch_data").expect("it is listed");
        assert_eq!(tool.title.as_deref(), Some("Fetch"));
        client.shutdown().expect("it ends");
    });
}

#[test]
fn connecting_can_include_the_handshake_and_the_tools() {
    watched(|| {
        let server = server!("well-behaved --modern");
        let mut client = McpClient::connect_and_initialize(&server.def).expect("it answers");
        assert!(client.has_tool("echo"));
        let result = client.call_tool("echo", BTreeMap::from([("message", "hello")])).send().expect("it answers");
        assert_eq!(result.text().as_str(), "hello");
        let result = client.call_tool("pid", ()).send().expect("no arguments are needed");
        assert_eq!(Some(result.text().to_string()), client.pid().map(|pid| pid.to_string()));
    });
}

#[test]
fn arguments_that_are_no_object_are_refused_before_they_are_sent() {
    watched(|| {
        let server = server!("well-behaved");
        let mut client = McpClient::connect_and_initialize(&server.def).expect("it answers");
        let error = client.call_tool("echo", [1, 2]).send().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains("object"), "{error}");
        client.call_tool("echo", ()).send().expect("the connection is as it was");
    });
}

#[test]
fn a_result_can_be_had_as_the_server_sent_it() {
    watched(|| {
        let server = server!("well-behaved");
        let mut client = McpClient::connect_and_initialize(&server.def).expect("it answers");
        let raw = client.call_tool("fail", ()).raw().expect("it answers");
        assert_eq!(raw.get(), r#"{"content":[{"type":"text","text":"the tool failed"}],"isError":true}"#);
        let params = Json::parse(r#"{"name":"echo","arguments":{"message":"raw"}}"#).expect("it is JSON");
        let raw = client.request_raw("tools/call", Some(&params)).expect("it answers");
        assert_eq!(raw.get(), r#"{"content":[{"type":"text","text":"raw"}]}"#);
        client.notify_raw("notifications/roots/list_changed", None).expect("it is sent");
        assert_eq!(client.request_raw("ping", None).expect("it answers").get(), "{}");
    });
}

#[test]
fn nothing_is_left_of_a_scope() {
    watched(|| {
        let server = server!("well-behaved");
        let pid = with_client(&server.def, |client| {
            assert!(client.has_tool("echo"));
            client.pid().expect("it is a process")
        });
        assert!(!process_exists(pid.expect("it ends")));
    });
}

#[test]
fn nothing_is_left_of_a_scope_that_panics() {
    watched(|| {
        let server = server!("ignores-term");
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            with_client(&server.def, |_| resume_unwind(Box::new("on purpose"))).map(|(): ()| ())
        }));
        assert!(outcome.is_err());
        server.assert_gone();
    });
}

#[test]
fn the_handshake_can_be_cancelled_from_another_thread() {
    watched(|| {
        let server = server!("silent");
        let (mut client, lines) = listened_to(&server);
        let canceller = client.canceller().expect("there is one");
        let other = thread::spawn(move || {
            lines.wait_for("no word about");
            canceller.cancel();
        });
        let error = client.initialize().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
        assert!(error.is_connecting());
        other.join().expect("to cancel is no effort");
    });
}

#[test]
fn a_canceller_outlives_the_restart_of_the_server() {
    watched(|| {
        let server = server!("dies-on-probe");
        let (mut client, lines) = listened_to(&server);
        let canceller = client.canceller().expect("there is one");
        client.initialize().expect("the second process answers");
        let other = thread::spawn(move || {
            lines.wait_for("let me think");
            canceller.cancel();
        });
        let error = client.call_tool("ponder", ()).send().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
        other.join().expect("to cancel is no effort");
    });
}

#[test]
fn secrets_are_not_shown() {
    watched(|| {
        let server = server!("dies-in-call 7").defined(|def| def.env("API_KEY", "hunter2"));
        let mut client =
            McpClient::connect_with(&server.def, ConnectOptions::new(Config::new("tests", "1"))).expect("it starts");
        client.initialize().expect("it answers");
        let error = client.call_tool("echo", ()).send().unwrap_err();
        for shown in [format!("{:?}", server.def), format!("{client:?}"), format!("{error:?}"), error.to_string()] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        assert!(format!("{:?}", server.def).contains("API_KEY"));
    });
}

/// The program has not waited for so long that the call's time is over.
#[test]
fn an_answer_that_has_arrived_in_time_is_not_lost() {
    const TIMEOUT: Duration = Duration::from_secs(1);
    watched(|| {
        let server = server!("dies-after-call 9");
        let mut client = McpClient::connect(&server.def).expect("it starts");
        client.initialize().expect("it answers");
        let begun = Instant::now();
        let call = client.call_tool("echo", [("message", "farewell")]).timeout(TIMEOUT).begin().expect("it is sent");
        while !server.processes().is_empty() || begun.elapsed() <= TIMEOUT {
            thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(call.wait(&mut client).expect("it has answered").text().as_str(), "farewell");
    });
}

#[test]
fn the_longest_timeout_is_no_error() {
    watched(|| {
        let server = server!("well-behaved");
        let (mut client, lines) = listened_to(&server);
        client.initialize().expect("it answers");
        let canceller = client.canceller().expect("there is one");
        let other = thread::spawn(move || {
            lines.wait_for("let me think");
            canceller.cancel();
        });
        let error = client.call_tool("ponder", ()).timeout(Duration::MAX).send().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
        other.join().expect("to cancel is no effort");
    });
}

#[test]
fn a_stream_that_ends_during_the_opening_was_ended_by_the_server() {
    watched(|| {
        let ((reader, output), (input, writer)) = (io::pipe().expect("it opens"), io::pipe().expect("it opens"));
        let server = thread::spawn(move || {
            BufReader::new(input).read_line(&mut String::new()).expect("the client asks");
            drop(output);
        });
        let mut client = McpClient::over(reader, writer, ConnectOptions::default()).expect("it starts");
        let error = client.initialize().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
        let end = client.connection_end().expect("it has ended");
        assert!(matches!(end.reason, CloseReason::ByServer), "{end:?}");
        server.join().expect("it has ended");
    });
}

/// A client that is not opened yet, and what its server says on standard error.
fn listened_to(server: &Server) -> (McpClient, Lines) {
    let lines = server.heard.stderr.clone();
    let follower = lines.clone();
    let options = ConnectOptions::new(server.config.clone()).stderr(move |line| follower.push(line));
    (McpClient::connect_with(&server.def, options).expect("it starts"), lines)
}
