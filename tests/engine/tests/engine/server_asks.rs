//! A server asks the client: a legacy one is answered, a modern one may not ask.

use mcpwire_core::{Config, Event, RequestOptions};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};

fn refused(method: &str) -> Event {
    Event::ServerRequestRefused { method: method.into() }
}

#[test]
fn a_ping_is_answered_with_its_id_as_it_came() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    for id in ["1", "-7", "2.50", "\"a\\u00e4\\n\"", "\"\"", "123456789012345678901234567890"] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#));
        let answer = pair.sent.pop().expect("it is answered");
        assert_eq!(answer.text, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    assert!(pair.events.is_empty());
}

#[test]
fn what_the_client_cannot_do_is_refused() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    for method in ["sampling/createMessage", "roots/list", "elicitation/create", "", "x/y"] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":"s1","method":"{method}","params":{{"a":[1]}}}}"#));
        let answer = pair.sent.pop().expect("it is answered");
        assert_eq!((answer.message["id"].as_str(), &answer.message["error"]["code"]), (Some("s1"), &(-32601).into()));
        assert_eq!(pair.events.pop().map(|(_, event)| event), Some(refused(method)));
    }
    assert_eq!(pair.engine.session().stats().refused, 5);
}

#[test]
fn the_servers_ids_are_not_ours() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let id = pair.sent[0].id().expect("a request");
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    pair.say(format!(r#"{{"method":"roots/list","params":{{"id":{id}}},"id":{id},"jsonrpc":"2.0"}}"#));
    assert!(pair.engine.session().is_waiting(ticket.key()), "a question with the id of a request of ours is no answer");
    assert_eq!(pair.sent.len(), 3, "and is answered");
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
}

#[test]
fn an_id_that_is_none_is_not_answered() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    for id in ["null", "{}", "[1]", "true", "01", "1e999"] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#));
    }
    assert!(pair.sent.is_empty());
}

#[test]
fn a_modern_server_is_not_answered() {
    let mut pair = Pair::open(Config::default(), modern(|_, _| {}));
    pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#);
    pair.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(pair.sent.len(), 0);
    assert_eq!(pair.happened(), [&refused("sampling/createMessage"), &refused("ping")]);
}

#[test]
fn a_server_that_asks_while_it_is_opened_is_answered() {
    let mut pair = Pair::opening(Config::default(), |sent, peer| {
        if sent.method() == "server/discover" {
            peer.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
            peer.refuse(sent, -32601, "Method not found");
        }
    });
    pair.drive();
    assert!(pair.sent.iter().any(|sent| sent.message["result"].is_object()));
    assert_eq!(pair.methods(), ["server/discover", "", "initialize"], "in the order of what they answer");
}
