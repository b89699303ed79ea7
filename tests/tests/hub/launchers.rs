//! A launcher starts the servers of a hub: one in another command, one in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mcpwire_driver::{ConnectOptions, Exit, McpServerDef, ServerLaunch};
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::layout::Layout;
use mcpwire_hub::runtime::Smol;
use mcpwire_hub::{Hub, HubOptions, McpService};
use mcpwire_supervisor::State;
use mcpwire_testkit::{ScriptedServer, duplex};
use mcpwire_tests::watched;
use serde_json::json;

/// Starts a server in a shell, or in this process.
fn launch(def: &McpServerDef) -> ServerLaunch {
    if !def.args.contains(&"in-memory".to_owned()) {
        let shell = McpServerDef::new("/bin/sh").args(["-c", r#"exec "$0" "$@""#]);
        return ServerLaunch::command(shell.arg(&def.command).args(&def.args));
    }
    let server = ScriptedServer::new().tool("echo", |_| "from this process");
    let (ours, theirs) = duplex(1024);
    let (ended, end) = smol::channel::bounded(1);
    thread::spawn(move || {
        smol::block_on(server.serve::<Smol>(theirs.reader, theirs.writer));
        ended.send_blocking(Exit::new(Some(0), None))
    });
    let exit = async move { end.recv().await.unwrap_or(Exit::new(None, None)) };
    ServerLaunch::streams(ours.reader, ours.writer, exit)
}

async fn life_of_two_servers(hub: Hub) {
    let server = |name| McpConfig::binary(name, env!("CARGO_BIN_EXE_bad-habits"));
    let (shell, memory) = (server("shell").args(["well-behaved"]), server("memory").args(["in-memory"]));
    let (shell_id, memory_id) = (shell.id, memory.id);
    hub.create(shell).await.expect("it is created");
    hub.create(memory).await.expect("it is created");
    let booted = hub.boot().await.expect("it boots");
    assert_eq!((booted.ready, booted.failed), (2, 0), "{:?}", hub.details());
    let echoed = hub.call_tool(shell_id, "echo", &json!({"message": "hi"})).await;
    assert_eq!(echoed.as_deref(), Ok("hi"));
    let echoed = hub.call_tool(memory_id, "echo", &json!({})).await;
    assert_eq!(echoed.as_deref(), Ok("from this process"));
    hub.shutdown_all().await.expect("it ends");
    assert!(hub.details().iter().all(|detail| detail.state == State::Stopped), "{:?}", hub.details());
}

#[test]
fn a_launcher_starts_the_servers_of_a_hub() {
    watched(|| {
        let launches = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&launches);
        let place = tempfile::tempdir().expect("a directory");
        let options = HubOptions::on(Smol, Layout::below(place.path())).connect(move |_| {
            let count = Arc::clone(&count);
            ConnectOptions::default().launcher(move |def: &McpServerDef| {
                count.fetch_add(1, Ordering::SeqCst);
                Ok(launch(def))
            })
        });
        smol::block_on(async { life_of_two_servers(Hub::open(options).await.expect("the hub opens")).await });
        assert_eq!(launches.load(Ordering::SeqCst), 2);
    });
}
