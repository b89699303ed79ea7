//! The promises of the fuzz targets on kept and on random inputs.

use std::fs;
use std::path::Path;

use mcpwire_core::Json;
use mcpwire_engine_tests::fuzz::{TARGETS, run};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

// The fuzz targets' kept inputs, played once more: what was a crash once stays none.

fn replay(name: &str) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut played = 0;
    for kind in ["seeds", "corpus"] {
        let Ok(inputs) = fs::read_dir(fuzz.join(kind).join(name)) else { continue };
        for input in inputs {
            let path = input.expect("it can be listed").path();
            println!("{}", path.display());
            run(name, &fs::read(&path).expect("it can be read"));
            played += 1;
        }
    }
    assert!(played >= 10, "only {played} inputs of {name}");
}

macro_rules! kept_inputs {
    ($($target:ident),+) => {
        $(
            #[test]
            fn $target() {
                replay(stringify!($target));
            }
        )+

        /// The targets whose inputs are replayed.
        const REPLAYED: &[&str] = &[$(stringify!($target)),+];
    };
}

kept_inputs!(chunks, content, envelope, exchange, http, oauth, operations, sse, supervisor, tools);

#[test]
fn every_target_has_its_file_and_is_replayed() {
    for (name, _) in TARGETS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fuzz/fuzz_targets/{name}.rs"));
        assert!(file.is_file(), "{}", file.display());
        assert!(REPLAYED.contains(&name), "{name}");
    }
}

// The promises of the fuzz targets on random inputs, and on random inputs that look like messages.

/// Text made of what messages are made of: much of it is nearly JSON.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    // Separated by `¦`.
    const PARTS: [&str; 5] = [
        r#"{¦}¦[¦]¦:¦,¦"¦\¦ ¦0¦1¦2¦-1.5e3¦null¦true¦"id":2¦"result":¦"error":¦"jsonrpc":"2.0"¦"method":"ping""#,
        r#""params":¦"content":[¦{"type":"text","text":"x"}¦"type":¦"text"¦"isError":true¦"tools":[¦"name":"#,
        r#""inputSchema":{}¦"supportedVersions":["2026-07-28"]¦"_meta":{}¦\ud800¦\u00e4¦ä"#,
        r#"{"jsonrpc":"2.0","id":2,"result":¦{"result":¦,"jsonrpc":"2.0","id":2}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
    ];
    let parts = PARTS.iter().flat_map(|line| line.split('¦')).chain(["\n", "\u{feff}"]);
    vec(select(parts.collect::<Vec<_>>()), 0..60).prop_map(|parts| parts.concat().into_bytes())
}

/// Operations on an open modern connection, most of which have to do with the rounds of requests.
fn rounds() -> impl Strategy<Value = Vec<u8>> {
    let step = prop_oneof![
        3 => (0..8u8, any::<u8>(), 0..4u8).prop_map(|(bits, timeout, name)| vec![0, bits, timeout, name, 0]),
        1 => (0..8u8, any::<u8>()).prop_map(|(bits, timeout)| vec![1, bits, timeout, 1, 0]),
        8 => (0..6u8, 8..17u8, 0..6u8).prop_map(|(which, result, shape)| vec![5, which, 7, result, shape]),
        4 => (0..2u8).prop_map(|which| vec![5, which, 7, 11, 0]),
        4 => (240..252u8, 0..4u8, 0..6u8).prop_map(|(what, which, answer)| vec![what, which, answer]),
        1 => (0..4u8).prop_map(|which| vec![252, which]),
        1 => (0..6u8).prop_map(|which| vec![4, which]),
        1 => (0..5u8, any::<u8>()).prop_map(|(unit, time)| vec![15, unit, time]),
        1 => Just(vec![16]),
        2 => any::<u8>().prop_map(|n| vec![17, n]),
        2 => Just(vec![19, 255]),
        1 => (0..8u8).prop_map(|n| vec![10, n, 0]),
    ];
    vec(step, 0..60).prop_map(|steps| [vec![1], steps.concat()].concat())
}

/// Conversations on an open connection of either era: tasks, subscriptions, answers that are kept, and buffers that are
/// given back in between. The server answers well in most cases.
fn conversations() -> impl Strategy<Value = Vec<u8>> {
    let how = || prop_oneof![2 => Just(0u8), 2 => 0..16u8, 1 => any::<u8>()];
    let callers = prop_oneof![
        4 => (0..8u8, any::<u8>(), 0..5u8).prop_map(|(bits, timeout, mode)| vec![180, 32 | bits, timeout, mode]),
        1 => any::<u8>().prop_map(|which| vec![182, 32, 0, which]),
        1 => any::<u8>().prop_map(|what| vec![183, 32, 0, what]),
        1 => (0..4u8, 0..3u8).prop_map(|(options, cursor)| vec![184, options, cursor]),
        1 => (0..4u8, 0..4u8).prop_map(|(options, uri)| vec![185, options, uri]),
        2 => (0..4u8, 0..5u8).prop_map(|(latest, reason)| vec![187, latest, reason]),
        2 => (any::<u8>(), 0..64u8).prop_map(|(what, how)| vec![188, what, how]),
        1 => (0..3u8).prop_map(|which| vec![189, which]),
        2 => (0..3u8).prop_map(|which| vec![190, which]),
        2 => (240..=255u8, 0..4u8, 0..5u8).prop_map(|(what, which, answer)| match what {
            252.. => vec![what, which],
            _ => vec![what, which, answer],
        }),
        // A call that becomes a task is dropped, and the server does not say a word about it.
        1 => Just(vec![180, 32, 0, 0, 192, 0, 0, 187, 0, 0, 208]),
    ];
    let server = prop_oneof![
        8 => (0..3u8, how()).prop_map(|(which, how)| vec![192, which, how]),
        1 => (0..4u8, any::<u8>()).prop_map(|(which, how)| vec![198, which, how]),
        2 => (0..4u8, any::<u8>()).prop_map(|(which, how)| vec![199, which, how]),
        1 => any::<u8>().prop_map(|how| vec![200, how]),
        1 => any::<u8>().prop_map(|which| vec![201, which]),
    ];
    let between = prop_oneof![
        2 => Just(vec![208]),
        1 => Just(vec![202]),
        2 => Just(vec![16]),
        1 => (0..8u8).prop_map(|times| vec![207, times]),
        1 => any::<u8>().prop_map(|time| vec![206, time]),
        1 => (0..5u8, any::<u8>()).prop_map(|(unit, time)| vec![15, unit, time]),
    ];
    let setup = (0..2u8, 0..16u8).prop_map(|(era, bits)| era | bits << 3);
    let step = prop_oneof![4 => callers, 4 => server, 3 => between];
    (setup, vec(step, 0..60)).prop_map(|(setup, steps)| [vec![setup], steps.concat()].concat())
}

/// Subscriptions that come and go in any order, up to eight at once, on servers of either era that say anything about them.
fn subscriptions() -> impl Strategy<Value = Vec<u8>> {
    let step = prop_oneof![
        3 => (any::<u8>(), any::<u8>()).prop_map(|(what, how)| vec![188, what, how]),
        1 => (0..8u8).prop_map(|which| vec![189, which]),
        2 => (0..8u8).prop_map(|which| vec![190, which]),
        3 => (0..8u8, 0..64u8).prop_map(|(which, how)| vec![192, which, how]),
        4 => (any::<u8>(), any::<u8>()).prop_map(|(which, how)| vec![199, which, how]),
        3 => (0..4u8, any::<u8>()).prop_map(|(unit, time)| vec![15, unit, time]),
        1 => Just(vec![16]),
        2 => Just(vec![205]),
    ];
    let setup = (0..2u8, 0..16u8).prop_map(|(era, bits)| era | bits << 3 | 128);
    (setup, vec(step, 40..80)).prop_map(|(setup, steps)| [vec![setup], steps.concat()].concat())
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..400)
}

/// Pages of tools, some of which are none, and some of which are broken.
fn nearly_pages() -> impl Strategy<Value = Vec<u8>> {
    const ENTRIES: [&str; 12] = [
        r#"{"name":"echo","inputSchema":{}}"#,
        r#"{"name":"a","inputSchema":{"properties":{"name":{"const":"echo"}}}}"#,
        r#"{"inputSchema":{},"name":"\u0065cho"}"#,
        r#"{"name":"b","name":"echo","inputSchema":{}}"#,
        r#"{"name":"echo","name":"b","inputSchema":{}}"#,
        r#"{"name":"c","inputSchema":{},"execution":{"taskSupport":"optional"}}"#,
        r#"{"name":"echo"}"#,
        r#"{"name":7,"inputSchema":{}}"#,
        r#"{"title":"echo","inputSchema":{}}"#,
        "null",
        "{\"name\":",
        "]",
    ];
    let page = vec(select(&ENTRIES[..]), 0..5).prop_map(|entries| entries.join(","));
    (0..4u8, vec(page, 0..4)).prop_map(|(variant, pages)| [vec![variant], pages.join("\n").into_bytes()].concat())
}

/// Any JSON value, not too deep.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_filter("JSON has no others", |n| n.is_finite()).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Into::into),
            vec((any::<String>(), inner), 0..8).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn with_first_bytes(first: &[u8], rest: &[u8]) -> Vec<u8> {
    [first, rest].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_make_no_difference(setup: [u8; 2], stream in prop_oneof![any_bytes(), nearly_json()]) {
        run("chunks", &with_first_bytes(&setup, &stream));
    }

    #[test]
    fn any_message_ends_what_it_answers(variant: u8, message in prop_oneof![any_bytes(), nearly_json()]) {
        run("envelope", &with_first_bytes(&[variant], &message));
    }

    #[test]
    fn any_text_is_read_as_others_read_it(text in prop_oneof![any_bytes(), nearly_json()]) {
        run("content", &text);
    }

    #[test]
    fn a_tool_is_found_where_it_is_in_the_list(pages in nearly_pages()) {
        run("tools", &pages);
    }

    #[test]
    fn any_rounds_of_requests_keep_the_promises(steps in rounds()) {
        run("operations", &steps);
    }

    #[test]
    fn any_conversation_keeps_the_promises(steps in conversations()) {
        run("operations", &steps);
    }

    #[test]
    fn any_sequence_of_operations_keeps_the_promises(steps in any_bytes()) {
        run("operations", &steps);
    }

    #[test]
    fn any_value_is_read_as_it_was_written(value in json()) {
        let text = value.to_string();
        run("content", text.as_bytes());
        let json = Json::parse(text).expect("it is JSON");
        prop_assert_eq!(json.decode::<serde_json::Value>().ok(), Some(value));
    }

    #[test]
    fn any_text_survives_being_a_json_string(text: String) {
        let json = Json::from_value(&text).expect("it can be written");
        prop_assert_eq!(json.decode::<String>().ok(), Some(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_subscriptions_keep_the_promises(steps in subscriptions()) {
        run("operations", &steps);
    }
}

/// 8,000 exchanges of random bytes, the same in each run: all revisions, one to three requests, up to 20 messages each.
#[test]
fn a_client_reports_the_same_for_every_layout() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..8_000 {
        let bytes: Vec<u8> = (0..240)
            .map(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random.to_be_bytes()[0]
            })
            .collect();
        run("exchange", &bytes);
    }
}

// The promises of the fuzz targets of HTTP on random inputs, and on random inputs that look like streams of events.

/// Text made of what streams of events are made of.
fn nearly_events() -> impl Strategy<Value = Vec<u8>> {
    const PARTS: [&[u8]; 24] = [
        b"data:",
        b"data: ",
        b"data",
        b"id:",
        b"id: 7",
        b"event: x",
        b"event:",
        b"retry: 100",
        b"retry: 1x",
        b": comment",
        b":",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\r",
        b"\xef\xbb\xbf",
        b"\xef\xbb",
        b"\0",
        b" ",
        b"{}",
        b"some text that is longer",
        "ä".as_bytes(),
        b"\xff",
    ];
    vec(select(&PARTS[..]), 0..60).prop_map(|parts| parts.concat())
}

/// Decisions that lead far: the server answers well much of the time.
fn nearly_a_session() -> impl Strategy<Value = Vec<u8>> {
    let step = prop_oneof![
        3 => any::<u8>().prop_map(|which| vec![18, which]),
        2 => any::<u8>().prop_map(|bits| vec![0, bits]),
        1 => (4..8u8, any::<[u8; 4]>()).prop_map(|(step, rest)| [&[step][..], &rest].concat()),
        2 => (8..12u8, any::<[u8; 5]>()).prop_map(|(step, rest)| [&[step][..], &rest].concat()),
        1 => (any::<u8>(), any::<[u8; 3]>()).prop_map(|(step, rest)| [&[step][..], &rest].concat()),
    ];
    (any::<u8>(), vec(step, 0..80)).prop_map(|(setup, steps)| [vec![setup], steps.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_do_not_depend_on_how_they_are_cut(
        first in any::<[u8; 2]>(),
        stream in prop_oneof![nearly_events(), vec(any::<u8>(), 0..400)],
    ) {
        run("sse", &[&first[..], &stream].concat());
    }

    #[test]
    fn parts_of_responses_in_any_order(steps in prop_oneof![nearly_a_session(), vec(any::<u8>(), 0..600)]) {
        run("http", &steps);
    }
}
