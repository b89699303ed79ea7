//! What only calls take is kept for the next one where calls follow each other, and given back where none comes.

use std::time::Duration;

use mcpwire_driver::core::{Config, Negotiate};
use mcpwire_driver::{ConnectOptions, McpServerDef};
use mcpwire_testkit::{ScriptedServer, Testkit};
use mcpwire_tests::{Counting, allocated, watched};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The parameters while they are written, those of the request, the answer's line, and what the caller gets.
const CALL: usize = 7;

#[test]
fn a_call_on_a_busy_connection_takes_what_its_caller_gets_and_little_else() {
    watched(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        for flags in [&[][..], &["--result-first"]] {
            let def = McpServerDef::new(env!("CARGO_BIN_EXE_fast_server")).args(flags.iter().copied());
            let mut options = ConnectOptions::new(Config::default());
            options.config.negotiate = Negotiate::Legacy;
            let client = runtime.block_on(async {
                let client = mcpwire_tokio::McpClient::connect_with(&def, options).expect("it starts");
                client.initialize().await.expect("it opens");
                client
            });
            let calls = |times: usize| {
                let all = async {
                    for _ in 0..times {
                        client
                            .call_tool("echo", [("bytes", 64)].into_iter().collect::<serde_json::Value>())
                            .await
                            .expect("it answers");
                    }
                };
                allocated(|| runtime.block_on(all)).1
            };
            calls(100);
            let counted = calls(100);
            assert!(counted.times <= 100 * CALL, "{flags:?}: {counted:?}");
            assert_eq!(counted.held, 0, "{flags:?}: {counted:?}");
            runtime.block_on(client.shutdown()).expect("it ends");
        }
    });
}

#[test]
fn it_is_given_back_when_the_timer_of_the_calls_has_gone_off() {
    watched(|| {
        let server = ScriptedServer::new().latency(Duration::from_millis(1)).tool("echo", |_| "hello");
        let kit = Testkit::new(server);
        let client = kit.connect();
        kit.time().run(client.initialize()).expect("it opens");
        let held_after = |times: usize| {
            let calls = async {
                for _ in 0..times {
                    client.call_tool("echo", json!({})).await.expect("it answers");
                }
            };
            let all = || {
                kit.time().run(calls);
                drop(kit.server().take_recorded());
            };
            allocated(all).1.held
        };
        held_after(5);
        assert_eq!(held_after(5), 0, "a connection that is seldom used keeps nothing");
        let kept = held_after(100);
        assert!((1..4096).contains(&kept), "{kept}");
        assert_eq!(held_after(100), 0, "what is kept is used again");
        let ((), counted) = allocated(|| kit.time().advance(Duration::from_secs(3600)));
        assert_eq!(counted.held, -kept);
        assert_eq!(held_after(5), 0, "it is seldom used again");
    });
}
