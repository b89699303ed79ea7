//! Tests of the state machine without threads, in simulated time.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::modern;
use crate::pending::Route;
use crate::server::{Output, Server};

pub(super) struct Simulation {
    server: Server,
    route: Route,
    now: Duration,
}

impl Simulation {
    pub(super) fn new() -> Self {
        let mut server = Server::new(SystemTime::UNIX_EPOCH);
        let route = Route::general(server.connect());
        Self { server, route, now: Duration::ZERO }
    }

    pub(super) fn send(&mut self, id: u64, method: &str, params: &Value) -> Vec<Value> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.server.receive(self.route, &message, self.now);
        self.messages()
    }

    /// Cancels a request. Returns the messages that the server then sends.
    pub(super) fn cancel(&mut self, id: u64) -> Vec<Value> {
        let params = json!({ "requestId": id });
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.server.receive(self.route, &message, self.now);
        self.messages()
    }

    fn messages(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.server.poll_output())
            .filter_map(|output| match output {
                Output::Message(_, message) => Some(message),
                Output::Ended(_) | Output::Log(_) => None,
            })
            .collect()
    }

    /// Advances the time over all timeouts. Returns each message with its time.
    pub(super) fn pass(&mut self) -> Vec<(Duration, Value)> {
        let mut all = Vec::new();
        while let Some(at) = self.server.next_timeout() {
            self.now = at;
            self.server.handle_timeout(at);
            all.extend(self.messages().into_iter().map(|message| (at, message)));
        }
        all
    }
}

fn slow(seconds: f64, meta: &Value) -> Value {
    let mut params = modern(json!({ "name": "slow", "arguments": { "seconds": seconds } }));
    let members = meta.as_object().expect("an object").clone();
    params["_meta"].as_object_mut().expect("an object").extend(members);
    params
}

#[test]
fn an_hour_is_reported_each_second_up_to_its_end() {
    let mut simulation = Simulation::new();
    assert!(simulation.send(1, "tools/call", &slow(3600.0, &json!({ "progressToken": 7 }))).is_empty());
    let messages = simulation.pass();
    assert_eq!(messages.len(), 3601);
    for (index, (at, message)) in messages[..3600].iter().enumerate() {
        assert_eq!(*at, Duration::from_secs(index as u64 + 1));
        assert_eq!((&message["params"]["progressToken"], &message["params"]["total"]), (&json!(7), &json!(3600.0)));
    }
    let (at, answer) = &messages[3600];
    assert_eq!((*at, &answer["id"]), (Duration::from_secs(3600), &json!(1)));
}

#[test]
fn without_a_token_a_slow_call_sends_nothing_before_its_end() {
    let mut simulation = Simulation::new();
    simulation.send(1, "tools/call", &slow(5.0, &json!({})));
    simulation.send(2, "tools/call", &slow(3.0, &json!({})));
    let ends: Vec<_> =
        simulation.pass().into_iter().map(|(at, message)| (at.as_secs(), message["id"].clone())).collect();
    assert_eq!(ends, [(3, json!(2)), (5, json!(1))]);
}

#[test]
fn the_id_of_a_pending_request_is_not_taken_twice() {
    let mut simulation = Simulation::new();
    simulation.send(1, "tools/call", &slow(5.0, &json!({})));
    assert_eq!(simulation.send(1, "tools/call", &slow(1.0, &json!({})))[0]["error"]["code"], -32600);
    let answers = simulation.pass();
    assert_eq!((answers.len(), answers[0].0), (1, Duration::from_secs(5)));
}

#[test]
fn a_task_has_the_dates_of_its_life() {
    let mut simulation = Simulation::new();
    simulation.send(1, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
    let call = json!({ "name": "slow", "arguments": { "seconds": 60 }, "task": {} });
    let task = simulation.send(2, "tools/call", &call)[0]["result"]["task"].clone();
    let id = json!({ "taskId": task["taskId"] });
    assert_eq!((&task["createdAt"], &task["status"]), (&json!("1970-01-01T00:00:00Z"), &json!("working")));
    assert!(simulation.send(3, "tasks/result", &id).is_empty(), "it is answered at the end of the task");
    let answers = simulation.pass();
    assert_eq!((answers[0].0, &answers[0].1["id"]), (Duration::from_secs(60), &json!(3)));
    let task = simulation.send(4, "tasks/get", &id)[0]["result"].clone();
    assert_eq!((&task["lastUpdatedAt"], &task["status"]), (&json!("1970-01-01T00:01:00Z"), &json!("completed")));
    simulation.now = Duration::from_secs(3 * 3600);
    assert_eq!(simulation.send(5, "tasks/get", &id)[0]["error"]["code"], -32602, "it is forgotten");
}

#[test]
fn pending_requests_have_a_limit() {
    let mut simulation = Simulation::new();
    for id in 0..4096 {
        assert!(simulation.send(id, "tools/call", &slow(3600.0, &json!({}))).is_empty());
    }
    assert_eq!(simulation.send(4096, "tools/call", &slow(3600.0, &json!({})))[0]["error"]["code"], -32603);
    assert_eq!(simulation.send(4097, "tools/call", &modern(json!({ "name": "chart" })))[0]["id"], 4097);
}
