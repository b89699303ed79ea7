//! Servers that ask so often that the answers could use up connections, descriptors and memory.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mcpwire_tests::web::{Reply, Request, Web, said, tools};
use mcpwire_tests::{Adapter, Call, OverHttp, WATCHDOG, on_every_adapter};
use serde_json::json;

/// The most connections of one client in these tests: the server's stream, four messages, two calls, and those that are being
/// replaced.
const MOST_CONNECTIONS: usize = 16;

/// What a server received of the answers to its pings.
#[derive(Clone, Default)]
struct Answers {
    ids: Arc<Mutex<BTreeSet<u64>>>,
    were_repeated: Arc<AtomicBool>,
}

impl Answers {
    fn len(&self) -> usize {
        self.ids.lock().unwrap().len()
    }

    fn add(&self, request: &Request) {
        assert_eq!(request.body["result"], json!({}), "{}", request.body);
        let id = request.body["id"].as_u64().expect("the id of a ping");
        let is_new = self.ids.lock().unwrap().insert(id);
        self.were_repeated.fetch_or(!is_new, Ordering::SeqCst);
    }
}

/// A legacy server that sends so many pings on its own stream at once, and handles each answer so.
fn pinging(pings: u64, on_answer: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> Web {
    Web::start(move |request, reply| match request.method() {
        "server/discover" => reply.full(400, "", "no session"),
        "initialize" => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "pinging", "version": "1"}});
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: s1\r\n";
            reply.full(200, headers, request.answer(result).to_string());
        }
        "notifications/initialized" | "DELETE" => reply.full(202, "", ""),
        "GET" => {
            reply.stream();
            for first in (0..pings).step_by(100) {
                let event = |id| format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
                reply.chunk((first..(first + 100).min(pings)).map(event).collect::<String>());
            }
            reply.until_closed();
        }
        "tools/list" => reply.json(200, &request.answer(tools())),
        "tools/call" => reply.json(200, &request.answer(said("fine"))),
        "POST" => on_answer(request, reply),
        other => panic!("{other}"),
    })
}

fn open<A: Adapter>(web: &Web) -> A {
    let mut client = A::over_http(&web.def(), OverHttp::default()).expect("it can be reached");
    client.initialize().expect("it answers");
    client
}

fn call<A: Adapter>(client: &mut A) {
    let call = Call::new("echo").timeout(WATCHDOG);
    assert_eq!(client.call(call).expect("calls go on").text().into_string(), "fine");
}

fn answers_to_many_pings_share_a_few_connections<A: Adapter>() {
    let answers = Answers::default();
    let received = answers.clone();
    let web = pinging(3_000, move |request, reply| {
        received.add(request);
        reply.full(202, "", "");
    });
    let other = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
    let (mut client, mut to_other) = (open::<A>(&web), open::<A>(&other));
    while answers.len() < 3_000 {
        call(&mut client);
        call(&mut to_other);
    }
    assert!(!answers.were_repeated.load(Ordering::SeqCst), "each ping has one answer");
    assert!(web.most_open() <= MOST_CONNECTIONS, "{}", web.most_open());
}

fn a_server_that_takes_no_answers_costs_a_few_connections<A: Adapter>() {
    let web = pinging(20_000, |_, reply| reply.until_closed());
    let other = Web::modern(|request, reply| reply.json(200, &request.answer(said("fine"))));
    let (mut client, mut to_other) = (open::<A>(&web), open::<A>(&other));
    while web.count("POST") < 4 {
        call(&mut client);
    }
    for _ in 0..20 {
        call(&mut client);
        call(&mut to_other);
    }
    assert_eq!(web.count("POST"), 4, "the other answers wait");
    assert!(web.most_open() <= MOST_CONNECTIONS, "{}", web.most_open());
}

on_every_adapter!(
    answers_to_many_pings_share_a_few_connections,
    a_server_that_takes_no_answers_costs_a_few_connections,
);
