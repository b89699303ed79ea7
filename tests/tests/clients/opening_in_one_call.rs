//! `open` starts a server, opens the connection and lists the tools, with the options as methods. The same on all clients.

use std::fs;
use std::future::IntoFuture;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking as blocking;
use mcpwire_client::GracePeriods;
use mcpwire_driver::{ConnectOptions, Direction, ErrorKind, McpServerDef};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::{WATCHDOG, on_every_async_adapter, server, watched};

/// What a client has sent.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<String>>);

impl Sent {
    fn listener(&self) -> impl FnMut(Direction, &[u8]) + Send + 'static {
        let sent = self.clone();
        move |direction, message| {
            if direction == Direction::Sent {
                sent.0.lock().unwrap().push_str(&String::from_utf8_lossy(message));
            }
        }
    }

    fn assert_has(&self, text: &str) {
        let sent = self.0.lock().unwrap();
        assert!(sent.contains(text), "{sent}");
    }
}

const SHORT: Duration = Duration::from_millis(20);

fn one_call_opens_and_lists<H: Host>() {
    let (server, sent) = (server!("well-behaved"), Sent::default());
    H::start().block_on(async {
        let opening = H::open(&server.def).client_info("my-app", "1.2.3").timeout(WATCHDOG).trace(sent.listener());
        let client = opening.await.expect("it opens");
        assert!(client.is_initialized() && client.has_tool("echo"));
        sent.assert_has(r#""name":"my-app","version":"1.2.3""#);
        // Without options, and with a definition of its own.
        let client = H::open(server.def.clone()).await.expect("it opens");
        assert!(client.has_tool("echo"));
    });
}

#[test]
fn one_call_opens_the_blocking_client_and_lists() {
    watched(|| {
        let (server, sent) = (server!("well-behaved"), Sent::default());
        let opening = blocking::open(&server.def).client_info("my-app", "1.2.3").timeout(WATCHDOG);
        let client = opening.trace(sent.listener()).wait().expect("it opens");
        assert!(client.is_initialized() && client.has_tool("echo"));
        sent.assert_has(r#""name":"my-app","version":"1.2.3""#);
        assert!(blocking::open(server.def).wait().expect("it opens").has_tool("echo"));
    });
}

/// The timeouts that a connection uses are those of its definition, where it has some.
fn the_last_timeout_counts<H: Host>() {
    let server = server!("well-behaved");
    let def = server.def.clone().timeout(3 * WATCHDOG).connect_timeout(3 * WATCHDOG);
    let timeouts = |def: Option<&McpServerDef>| def.map(|def| (def.timeout, def.connect_timeout));
    let options = ConnectOptions::default().timeout(2 * WATCHDOG);
    H::start().block_on(async {
        let client = H::open(&def).timeout(WATCHDOG).connect_timeout(2 * WATCHDOG).await.expect("it opens");
        assert_eq!(client.server_name(), def.display_name());
        assert_eq!(timeouts(client.definition()), Some((Some(WATCHDOG), Some(2 * WATCHDOG))));
        // Options replace what was set before them.
        let client = H::open(&server.def).timeout(WATCHDOG).options(options.clone()).await.expect("it opens");
        assert_eq!(timeouts(client.definition()), Some((None, None)));
        let client = H::open(&server.def).options(options.clone()).timeout(WATCHDOG).await.expect("it opens");
        assert_eq!(timeouts(client.definition()), Some((Some(WATCHDOG), None)));
    });
    let opening = blocking::open(&def).timeout(WATCHDOG).connect_timeout(2 * WATCHDOG);
    let client = opening.wait().expect("it opens");
    assert_eq!(client.server_name(), def.display_name());
    assert_eq!(timeouts(client.definition()), Some((Some(WATCHDOG), Some(2 * WATCHDOG))));
    let client = blocking::open(&server.def).timeout(WATCHDOG).options(options).wait().expect("it opens");
    assert_eq!(timeouts(client.definition()), Some((None, None)));
}

/// A server that never answers takes as long as the definition allows, or as the last setting says.
fn a_server_that_does_not_answer_is_given_up_in_time<H: Host>() {
    let server = server!("silent");
    let def = server.def.clone().connect_timeout(WATCHDOG);
    let at_once = GracePeriods { after_close: Duration::ZERO, after_terminate: Duration::ZERO };
    let error = H::start().block_on(async { H::open(&def).connect_timeout(SHORT).grace_periods(at_once).await });
    assert_eq!(error.expect_err("it is silent").kind(), ErrorKind::Timeout);
    let error = blocking::open(&def).connect_timeout(SHORT).wait().expect_err("it is silent");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    let missing = McpServerDef::new("/no/such/program");
    let error = H::start().block_on(H::open(&missing).into_future()).expect_err("there is no server");
    assert_eq!(error.kind(), ErrorKind::Start, "{error}");
}

/// The future borrows nothing, and needs its runtime only when it is polled.
fn the_future_can_be_spawned<H: Host>() {
    fn spawnable<T: Send + 'static>(future: T) -> T {
        future
    }
    let server = server!("well-behaved");
    let opening = {
        let def = server.def.clone();
        spawnable(H::open(&def).into_future())
    };
    let client = H::start().block_on(async move { opening.await.map(|client| client.tools()) });
    assert!(client.expect("it opens").get("echo").is_some());
}

#[test]
fn every_option_of_a_connection_is_a_method_of_the_builder() {
    let source =
        |path| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters").join(path)).unwrap();
    let options = source("client/src/options.rs");
    // A setter takes the options themselves, and returns them. The macro `setters` generates some of them.
    let setters = options.split("\n    pub fn ").skip(1).filter_map(|method| {
        let (name, rest) = method.split_once(['(', '<'])?;
        let signature = rest.split_once(" {\n")?.0;
        (signature.contains("mut self") && !signature.contains("&mut self")).then_some(name)
    });
    // A definition has a name of its own, and what is for the adapters is no option.
    let generated = options.split("\n        fn ").skip(1).filter_map(|method| method.split('(').next());
    let setters: Vec<_> = setters.chain(generated).filter(|name| *name != "name").collect();
    assert!(setters.len() > 25, "{setters:?}");
    let builder = source("client/src/open.rs");
    for setter in setters {
        let has = [" ", "("].iter().any(|after| builder.contains(&format!("fn {setter}{after}")));
        assert!(has, "`open` has no method `{setter}`");
    }
}

on_every_async_adapter!(
    one_call_opens_and_lists,
    the_last_timeout_counts,
    a_server_that_does_not_answer_is_given_up_in_time,
    the_future_can_be_spawned,
);
