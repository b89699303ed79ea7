//! A call passes few functions of the adapters before its bytes are written.

use std::backtrace::Backtrace;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;

use ::smol::io::AsyncWrite;
use mcpwire_blocking::Direction;
use mcpwire_driver::ConnectOptions;
use mcpwire_driver::memory::PipeWriter;
use mcpwire_driver::protocol::Config;
use mcpwire_testkit::{ScriptedServer, duplex};
use mcpwire_tests::{server, watched};
use mcpwire_tokio::McpClient;
use serde_json::json;

/// What a call in a debug build may pass. The functions of tokio, which write to a pipe, are not among them.
const MAX_TOKIO: usize = 13;
const MAX_BLOCKING: usize = 9;

const ADAPTERS: [&str; 5] =
    ["mcpwire_driver::", "mcpwire_client::", "mcpwire_process::", "mcpwire_tokio::", "mcpwire_blocking::"];

/// The functions of the adapters in which a call was written. The innermost comes first.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<Vec<String>>>>);

impl Writes {
    fn record(&self, bytes: &[u8]) {
        if !bytes.windows(12).any(|part| part == br#""tools/call""#) {
            return;
        }
        let backtrace = Backtrace::force_capture().to_string();
        let functions = backtrace.lines().filter_map(|line| line.trim_start().split_once(": ")).map(|(_, name)| name);
        let is_ours = |name: &&str| ADAPTERS.iter().any(|adapter| name.trim_start_matches('<').starts_with(adapter));
        self.0.lock().unwrap().push(functions.filter(is_ours).map(str::to_owned).collect());
    }

    fn first(&self) -> Vec<String> {
        self.0.lock().unwrap().first().expect("a call was written").clone()
    }
}

struct Recorder(PipeWriter, Writes);

impl AsyncWrite for Recorder {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.1.record(buf);
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}

#[test]
fn tokio() {
    watched(|| {
        let (ours, theirs) = duplex(1 << 16);
        let server = ScriptedServer::new().tool("echo", |_| "hello");
        thread::spawn(move || ::smol::block_on(server.serve::<mcpwire_smol::Smol>(theirs.reader, theirs.writer)));
        let writes = Writes::default();
        let recorder = Recorder(ours.writer, writes.clone());
        let runtime = ::tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        runtime.block_on(async {
            let client = McpClient::over_on(
                mcpwire_tokio::Tokio::current(),
                ours.reader,
                recorder,
                ConnectOptions::new(Config::new("tests", "1")),
            );
            client.initialize().await.expect("it answers");
            client.list_tools().await.expect("it has tools");
            client.call_tool("echo", json!({})).await.expect("it answers");
        });
        let functions = writes.first();
        assert!(functions.iter().any(|name| name.contains("call::CallFuture")), "the caller writes: {functions:#?}");
        assert!(functions.len() <= MAX_TOKIO, "{}: {functions:#?}", functions.len());
    });
}

#[test]
fn blocking() {
    watched(|| {
        let server = server!("well-behaved");
        let writes = Writes::default();
        let trace = writes.clone();
        let options = ConnectOptions::new(server.config.clone()).trace(move |direction, message| {
            if direction == Direction::Sent {
                trace.record(message);
            }
        });
        let mut client = mcpwire_blocking::McpClient::connect_and_initialize_with(&server.def, options).unwrap();
        client.call_tool("echo", json!({})).send().unwrap();
        let mut functions = writes.first();
        // The trace callback is called where the bytes were written.
        let tracing = functions.iter().position(|name| name.contains("observe")).expect("it is traced");
        functions.drain(..=tracing);
        assert!(functions.len() <= MAX_BLOCKING, "{}: {functions:#?}", functions.len());
        client.shutdown().unwrap();
    });
}
