//! Servers that are spoken to by HTTP over a Unix socket.

use std::io::copy;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::{ErrorKind, McpServerDef};
use mcpwire_http::{Client, ClientOptions};
use mcpwire_smol::Smol;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, OverHttp, on_both_clients, on_every_adapter};
use serde_json::json;

/// A socket that passes everything on to a server; gone with its file.
struct Socket(PathBuf);

impl Socket {
    fn before(web: &Web) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("mcpwire-{}-{number}.sock", std::process::id()));
        let listener = UnixListener::bind(&path).expect("there is room for a socket");
        let to = web.url().replace("http://", "").replace("/mcp", "");
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&to).expect("the server listens");
                let (mut from_client, mut to_client) = (client.try_clone().expect("a handle"), client);
                let (mut from_server, mut to_server) = (server.try_clone().expect("a handle"), server);
                thread::spawn(move || {
                    let _ = copy(&mut from_client, &mut to_server);
                    let _ = to_server.shutdown(Shutdown::Write);
                });
                thread::spawn(move || {
                    let _ = copy(&mut from_server, &mut to_client);
                    let _ = to_client.shutdown(Shutdown::Both);
                });
            }
        });
        Socket(path)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn a_tool_is_called_through_a_socket<A: Adapter>() {
    let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("through"))));
    let socket = Socket::before(&web);
    let def = McpServerDef::http_unix(&socket.0, "http://server.test/mcp");
    let of_program = Client::new(Arc::new(Smol), ClientOptions::of(&def)).expect("it is built");
    for http in [HttpOptions::default(), HttpOptions::default().client(of_program)] {
        let mut client = A::open(&def, OverHttp { http, ..OverHttp::default() }.into());
        for _ in 0..3 {
            assert_eq!(client.call(Call::new("echo").with(json!({}))).unwrap().text().into_string(), "through");
        }
        client.shutdown().unwrap();
    }
    // What the server is told is what the address says.
    assert!(
        web.requests().iter().all(|request| request.header("host") == Some("server.test") && request.path == "/mcp")
    );
}

fn a_socket_that_nobody_listens_on_is_named<A: Adapter>() {
    let def = McpServerDef::http_unix(Path::new("/nonexistent/mcp.sock"), "http://localhost/mcp");
    let mut client = A::over_http(&def, OverHttp::default()).expect("it can be asked");
    let failure = client.initialize().expect_err("there is none");
    failure.assert(ErrorKind::Connect, &["cannot be reached", "/nonexistent/mcp.sock"]);
}

on_every_adapter!(a_tool_is_called_through_a_socket);

on_both_clients!(a_socket_that_nobody_listens_on_is_named);
