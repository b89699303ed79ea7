//! What the server tells comes out in the order in which it was told, between the replies.

use mcpwire_core::{Config, Event, LoggingLevel, Notification, RequestOptions};
use mcpwire_engine_tests::sim::{Pair, legacy};

fn open() -> Pair {
    Pair::open(Config::default(), legacy(|_, _| {}))
}

#[test]
fn each_kind_is_told_as_what_it_is() {
    let mut pair = open();
    let ticket = pair.call("busy", &RequestOptions::new().progress()).expect("it is sent");
    pair.drive();
    assert_eq!(pair.sent[0].meta()["progressToken"], pair.sent[0].id().expect("a request"));
    let id = pair.sent[0].id().expect("a request");
    for line in [
        format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{id},"progress":1,"total":4,"message":"m"}}}}"#),
        r#"{"method":"notifications/message","params":{"level":"warning","logger":"db","data":{"a":1}},"jsonrpc":"2.0"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/acme/said","params":{"what":"hello"}}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/acme/said"}"#.into(),
    ] {
        pair.say(line);
    }
    let told: Vec<&Notification> = pair
        .happened()
        .into_iter()
        .map(|event| match event {
            Event::Notification(notification) => notification,
            other => panic!("{other:?}"),
        })
        .collect();
    let [
        Notification::Progress { key, progress },
        Notification::Log(log),
        Notification::ToolsChanged,
        Notification::PromptsChanged,
        Notification::ResourcesChanged,
        Notification::Other { method, params: Some(params) },
        Notification::Other { params: None, .. },
    ] = told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((*key, progress.fraction(), progress.message.as_deref()), (ticket.key(), Some(0.25), Some("m")));
    assert_eq!((&log.level, log.logger.as_deref(), log.data.get()), (&LoggingLevel::Warning, Some("db"), r#"{"a":1}"#));
    assert_eq!((method.as_str(), params.get()), ("notifications/acme/said", r#"{"what":"hello"}"#));
}

#[test]
fn a_thousand_stay_in_order_around_the_replies() {
    let mut pair = open();
    let tickets: Vec<_> = (0..100).map(|_| pair.call("busy", &RequestOptions::new()).expect("it is sent")).collect();
    pair.drive();
    let ids: Vec<u64> = pair.sent.iter().filter_map(mcpwire_engine_tests::sim::Sent::id).collect();
    let mut lines = Vec::new();
    for n in 0..1000 {
        lines.extend_from_slice(format!("{{\"method\":\"n\",\"params\":{{\"n\":{n}}}}}\n").as_bytes());
        if n % 10 == 0 {
            lines.extend_from_slice(format!("{{\"id\":{},\"result\":{{}}}}\n", ids[n / 10]).as_bytes());
        }
    }
    let (mut told, mut replied) = (0, 0);
    for piece in lines.chunks(777) {
        assert_eq!(pair.engine.receive(piece, pair.now), piece.len());
        while let Some(event) = pair.engine.poll_event() {
            match event {
                Event::Notification(Notification::Other { params, .. }) => {
                    assert_eq!(params.expect("it has some").get(), format!("{{\"n\":{told}}}"));
                    told += 1;
                }
                Event::Reply(reply) => {
                    assert_eq!((reply.key(), told), (tickets[replied].key(), replied * 10 + 1));
                    replied += 1;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((told, replied), (1000, 100));
}

#[test]
fn progress_of_nothing_is_counted() {
    let mut pair = open();
    for token in ["99", "\"x\"", "null", "{}", "1"] {
        pair.say(format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#));
    }
    pair.say(r#"{"method":"notifications/progress","params":{"progress":1}}"#);
    assert_eq!((pair.events.len(), pair.engine.session().stats().late), (0, 6));
}

#[test]
fn what_cannot_be_read_is_noise() {
    let mut pair = open();
    for line in [
        r#"{"method":"notifications/progress","params":[1]}"#,
        r#"{"method":"notifications/message","params":"hello"}"#,
        r#"{"method":"notifications/acme","params":{"#,
        "Server started",
        "{}",
        "\u{1b}[31mred\u{1b}[0m",
    ] {
        pair.say(line);
    }
    assert_eq!(pair.engine.session().stats().invalid, 6);
    for event in pair.happened() {
        let Event::InvalidMessage { excerpt } = event else { panic!("{event:?}") };
        assert!(!excerpt.contains(char::is_control));
    }
    assert_eq!(pair.events.len(), 6);
}
