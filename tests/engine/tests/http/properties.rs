//! The promises of the fuzz targets of HTTP on random inputs, and on random inputs that look like streams of events.

use mcpwire_engine_tests::fuzz::{http, sse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

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
        sse::run(&[&first[..], &stream].concat());
    }

    #[test]
    fn parts_of_responses_in_any_order(steps in prop_oneof![nearly_a_session(), vec(any::<u8>(), 0..600)]) {
        http::run(&steps);
    }
}
