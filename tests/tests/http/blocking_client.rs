//! What the blocking client does over HTTP that the others cannot: what is under way when it is dropped, and the thread that makes
//! its requests.

use std::time::Duration;

use mcpwire_blocking::protocol::{CallTool, CallToolParams, Json, RequestOptions};
use mcpwire_blocking::{McpClient, McpServerDef};
use mcpwire_tests::asynchronous::Lines;
use mcpwire_tests::watched;
use mcpwire_tests::web::{Web, said};

fn open(web: &Web) -> McpClient {
    McpClient::connect_and_initialize(&web.def()).expect("it opens")
}

#[test]
fn what_is_dropped_closes_its_streams() {
    watched(|| {
        let left = Lines::default();
        let told = left.clone();
        let web = Web::modern(move |_, reply| {
            reply.stream();
            reply.until_closed();
            told.push("left");
        });
        let mut client = open(&web);
        let arguments = Json::parse("{}").unwrap();
        let call = CallToolParams { name: "echo", arguments: &arguments };
        let _ticket = client.begin::<CallTool>(&call, &RequestOptions::new()).unwrap();
        while web.count("tools/call") == 0 {
            client.listen(Duration::from_millis(1)).unwrap();
        }
        drop(client);
        left.wait_for("left");
    });
}

#[test]
fn a_session_that_is_dropped_is_ended_on_the_server() {
    watched(|| {
        let web = Web::legacy(move |request, reply| reply.json(200, &request.answer(said("old"))));
        drop(open(&web));
        while web.count("DELETE") == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn a_notification_goes_out_while_nobody_waits() {
    watched(|| {
        let come = Lines::default();
        let told = come.clone();
        let web = Web::modern(move |request, reply| {
            told.push(request.method());
            reply.full(202, "", "");
        });
        let mut client = open(&web);
        client.notify_raw("notifications/custom", None).unwrap();
        come.wait_for("notifications/custom");
    });
}

/// One thread makes the requests of all clients, and one is the runtime's for its sockets and timers.
#[cfg(target_os = "linux")]
#[test]
fn clients_leave_no_threads_behind() {
    fn threads() -> usize {
        let names = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = names.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        // `mcpwire-process` belongs to the clients on tokio of other tests, and stays as long as the process.
        let names = names.filter(|name| name.trim_end() != "mcpwire-process");
        names.filter(|name| name.starts_with("mcpwire") || name.starts_with("async-io")).count()
    }
    watched(|| {
        let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("hi"))));
        let clients: Vec<McpClient> = (0..10).map(|_| open(&web)).collect();
        assert!(threads() <= 2, "{}", threads());
        drop(clients);
        assert!(threads() <= 2, "{}", threads());
    });
}

#[test]
fn who_cannot_be_reached_is_told_at_once() {
    watched(|| {
        let gone = Web::start(|_, _| {}).url();
        let error = McpClient::connect_and_initialize(&McpServerDef::http(gone)).unwrap_err().to_string();
        assert!(error.contains("cannot be reached"), "{error}");
    });
}
