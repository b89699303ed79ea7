//! The server of these tests: this test program, started so that it runs only the test [`serve`].
//!
//! The test harness prints lines before the messages, as some real servers do.

use std::env;
use std::io::Write as _;
use std::process;
use std::time::Duration;

use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
use mcpwire_tokio::{Compat, Tokio};
use serde_json::json;

/// The variable with the behaviour of the server. Without it, the test does nothing and passes.
pub(crate) const MODE: &str = "HUB_TEST_SERVER";

#[test]
fn serve() {
    let Ok(mode) = env::var(MODE) else { return };
    // The harness has begun a line, to which the first message must not belong.
    println!();
    let (mode, argument) = mode.split_once('=').unwrap_or((&mode, ""));
    match mode {
        "exit" => {
            if let Ok(words) = env::var("LAST_WORDS") {
                eprintln!("{words}");
            }
            process::exit(argument.parse().unwrap_or(0))
        }
        // It neither answers nor ends when its input does.
        "silent" => loop {
            std::thread::park();
        },
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let server = server(mode);
        server.serve::<Tokio>(Compat(tokio::io::stdin()), Compat(tokio::io::stdout())).await;
    });
    if mode == "stubborn" {
        // Its input has ended; it does not.
        loop {
            std::thread::park();
        }
    }
    // What the harness would print now is of no interest to anybody.
    process::exit(0);
}

fn server(mode: &str) -> ScriptedServer {
    let versions: &[&str] = match mode {
        "modern" | "brief" => &["2026-07-28"],
        _ => &["2025-11-25"],
    };
    let server = ScriptedServer::new().versions(versions.iter().copied());
    let (other, lists, redefined, cancelled) = (server.clone(), server.clone(), server.clone(), server.clone());
    let server = server
        .tool("echo", |arguments| arguments.member::<String>("message").unwrap_or_default())
        .tool("fetch_data", |arguments| {
            let query = arguments.member::<String>("query").unwrap_or_default();
            format!("data about {query}")
        })
        .tool("env", |arguments| {
            let name = arguments.member::<String>("name").unwrap_or_default();
            env::var(name).unwrap_or_else(|_| "(not set)".to_owned())
        })
        .tool("fail", |arguments| ScriptedResponse::new().error(arguments.member::<String>("message").unwrap_or_default()))
        .tool("picture", |_| {
            ScriptedResponse::new().result(json!({
                "content": [{"type": "text", "text": "a dot"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}],
                "structuredContent": {"width": 1},
            }))
        })
        .tool("large", |arguments| "x".repeat(arguments.member::<u32>("size").unwrap_or(0) as usize))
        .tool("progress", |_| ScriptedResponse::new().progress(1, 2).progress(2, 2).text("done"))
        .tool("silence", |_| ScriptedResponse::new())
        .tool("cancelled", move |_| cancelled.cancellations().len().to_string())
        .tool("crash", |_| -> ScriptedResponse { process::exit(3) })
        .tool("say", |arguments| {
            // In two pieces: whoever reads may get them one after the other.
            let words = arguments.member::<String>("words").unwrap_or_default();
            let half = words.len() / 2;
            let mut stderr = std::io::stderr().lock();
            for piece in [&words.as_bytes()[..half], &words.as_bytes()[half..], b"\n"] {
                let _ = stderr.write_all(piece).and_then(|()| stderr.flush());
            }
            "said"
        })
        .tool("grandchild", |_| {
            let child = process::Command::new("sleep").arg("600").stdin(process::Stdio::null()).spawn();
            child.map_or_else(|error| error.to_string(), |child| child.id().to_string())
        })
        .tool("redefine", move |definition| {
            let _ = redefined.clone().tool_with(definition, |_| "another");
            ScriptedResponse::new().notify("notifications/tools/list_changed", ()).text("redefined")
        })
        .tool("shrink", move |arguments| {
            let name = arguments.member::<String>("name").unwrap_or_default();
            other.remove_tool(&name);
            let slow = ScriptedResponse::new().notify("notifications/tools/list_changed", ());
            slow.wait(Duration::from_millis(arguments.member::<u64>("wait").unwrap_or(0))).text("shrunk")
        })
        .tool("lists", move |_| {
            lists.requests().iter().filter(|request| request.method == "tools/list").count().to_string()
        });
    match mode {
        // Each list is another, and holds for no longer than it takes to read it. It does not say when it is another.
        "brief" => {
            let mut lists = 0;
            server.capabilities(json!({"tools": {}})).on("tools/list", move |_| {
                lists += 1;
                let tools = json!([{"name": format!("list_{lists}"), "inputSchema": {"type": "object"}}]);
                let answer = json!({"resultType": "complete", "tools": tools, "ttlMs": 1, "cacheScope": "private"});
                ScriptedResponse::new().result(answer)
            })
        }
        "slow-list" => server.on("tools/list", |_| ScriptedResponse::new()),
        _ => server,
    }
}
