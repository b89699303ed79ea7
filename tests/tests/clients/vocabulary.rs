//! What programs say to a client, and what the client says of itself: beside that which all adapters have in common.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_blocking as blocking;
use mcpwire_driver::protocol::{
    CallTool, CallToolParams, CloseReason, Config, Era, Json, ProtocolVersion, RequestOptions,
};
use mcpwire_driver::{ConnectOptions, ErrorKind, McpClient};
use mcpwire_tests::asynchronous::{Host, eventually};
use mcpwire_tests::{Lines, Server, on_every_async_adapter, on_one_runtime, process_exists, server, watched};
use serde_json::json;

use crate::open_blocking;

// The async clients.

type Client<H> = McpClient<<H as Host>::Runtime>;

fn the_client_tells_what_it_knows<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = Client::<H>::connect(&server.def).expect("it starts");
        assert!(!client.is_initialized() && client.is_running());
        assert!(client.server_info().is_none() && client.tools().is_empty());

        let info = client.initialize().await.expect("it answers");
        assert_eq!(info.era, Era::Legacy);
        assert!(client.is_initialized());
        assert_eq!(client.protocol_version(), Some(ProtocolVersion::V2025_11_25));
        assert!(client.capabilities().is_some_and(|capabilities| capabilities.tools.is_some()));
        assert_eq!(client.definition(), Some(&server.def));
        assert!(!client.has_tool("echo"), "the list has not been asked for");

        let listed = client.list_tools().await.expect("it has tools");
        assert_eq!(listed.to_vec(), client.tools().to_vec());
        assert!(client.has_tool("echo") && !client.has_tool("missing_tool"));
        let tool = client.get_tool("fetch_data").expect("it is listed");
        assert_eq!(tool.title.as_deref(), Some("Fetch"));
        let error = client.call_tool("missing_tool", ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ToolNotFound, "{error}");
        assert_eq!(client.in_flight(), 0);
        client.shutdown().await.expect("it ends");
    });
}

fn a_call_has_many_words<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let options = ConnectOptions::default();
        let client = Client::<H>::connect_and_initialize_with(&server.def, options).await.expect("it answers");
        assert!(client.has_tool("echo") && client.rejected_tools().is_empty(), "the tools are listed, too");
        let hello = BTreeMap::from([("message", "hello")]);
        let second = Duration::from_secs(1);
        let (params, options) = (CallToolParams { name: "echo", arguments: &hello }, RequestOptions::new());
        for result in [
            client.call_tool("echo", &hello).await,
            client.call_tool("echo", &hello).timeout(second).total_timeout(second).on_progress(|_| {}).await,
            client.call_tool("echo", json!({"message": "hello"})).send().await,
            client.call_tool("echo", &hello).send().await,
            client.call_tool("echo", &hello).timeout(second).await,
            client.request::<CallTool>(&params, &options).await,
            client.begin::<CallTool>(&params, &options).expect("sent").await,
        ] {
            assert_eq!(result.expect("it answers").text().as_str(), "hello");
        }
        let result = client.call_tool("pid", ()).await.expect("no arguments are needed");
        assert_eq!(Some(result.text().to_string()), client.pid().map(|pid| pid.to_string()));
        let error = client.call_tool("ponder", ()).timeout(Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    });
}

fn nothing_is_left_of_a_scope<H: Host>() {
    let server = server!("well-behaved");
    let scope = H::with_client(&server.def, async |client| {
        client.call_tool("echo", ()).await.expect("it answers");
        client.pid().expect("it is a process")
    });
    assert!(!process_exists(H::start().block_on(scope).expect("it ends")));
}

fn nothing_is_left_of_a_scope_that_is_given_up<H: Host>() {
    let server = server!("ignores-term");
    H::start().block_on(async {
        let is_open = AtomicBool::new(false);
        let scope = H::with_client(&server.def, async |client| {
            is_open.store(true, Ordering::SeqCst);
            client.call_tool("ponder", ()).await.map(drop)
        });
        let given_up = async {
            eventually::<H>(|| is_open.load(Ordering::SeqCst)).await;
            Ok(Ok(()))
        };
        ::smol::future::or(scope, given_up).await.expect("it is given up").expect("it is given up");
    });
    server.assert_gone();
}

fn secrets_are_not_shown<H: Host>() {
    let server = server!("dies-in-call 7").defined(|def| def.env("API_KEY", "hunter2"));
    H::start().block_on(async {
        let client = Client::<H>::connect_and_initialize(&server.def).await.expect("it answers");
        let error = client.call_tool("echo", ()).await.unwrap_err();
        for shown in [format!("{client:?}"), format!("{error:?}"), error.to_string()] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    });
}

on_every_async_adapter!(nothing_is_left_of_a_scope, nothing_is_left_of_a_scope_that_is_given_up);

on_one_runtime!(the_client_tells_what_it_knows, a_call_has_many_words, secrets_are_not_shown);

// The blocking client.

mod of_blocking {
    use super::*;

    #[test]
    fn the_client_tells_what_it_knows() {
        watched(|| {
            let server = server!("well-behaved");
            let mut client = blocking::McpClient::connect(&server.def).expect("it starts");
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
    fn a_result_can_be_had_as_the_server_sent_it() {
        watched(|| {
            let (_server, mut client) = open_blocking("well-behaved");
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
            let pid = blocking::with_client(&server.def, |client| {
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
                blocking::with_client(&server.def, |_| resume_unwind(Box::new("on purpose"))).map(|(): ()| ())
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
            let options = ConnectOptions::new(Config::new("tests", "1"));
            let mut client =
                blocking::McpClient::connect_and_initialize_with(&server.def, options).expect("it answers");
            assert!(client.has_tool("echo") && client.rejected_tools().is_empty(), "the tools are listed, too");
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
        const TIMEOUT: Duration = Duration::from_millis(200);
        watched(|| {
            let server = server!("dies-after-call 9");
            let mut client = blocking::McpClient::connect(&server.def).expect("it starts");
            client.initialize().expect("it answers");
            let begun = Instant::now();
            let call =
                client.call_tool("echo", [("message", "farewell")]).timeout(TIMEOUT).begin().expect("it is sent");
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
            let mut client = blocking::McpClient::over(reader, writer, ConnectOptions::default()).expect("it starts");
            let error = client.initialize().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
            let end = client.connection_end().expect("it has ended");
            assert!(matches!(end.reason, CloseReason::ByServer), "{end:?}");
            server.join().expect("it has ended");
        });
    }

    /// A client that is not opened yet, and what its server says on standard error.
    fn listened_to(server: &Server) -> (blocking::McpClient, Lines) {
        let lines = server.heard.stderr.clone();
        let follower = lines.clone();
        let options = ConnectOptions::new(server.config.clone()).stderr(move |line| follower.push(line));
        (blocking::McpClient::connect_with(&server.def, options).expect("it starts"), lines)
    }
}
