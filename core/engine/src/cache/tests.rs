use alloc::format;
use alloc::string::String;

use super::key::MAX_PARAMS;
use super::*;
use crate::rpc::Received;
use mcpwire_text::json::{Json, JsonText};

fn at(millis: u64) -> Timestamp {
    Timestamp::from_origin(Duration::from_millis(millis))
}

fn limits() -> CacheLimits {
    CacheLimits::new(64 * 1024, 16, Duration::from_secs(3600))
}

fn key(method: &str, params: &str) -> CacheKey {
    CacheKey::new(method, params, None).expect("it may be kept")
}

fn response(id: u64) -> Response {
    let message = format!(r#"{{"id":{id}}}"#);
    Received::new(message.as_bytes()).response().expect("it is a response")
}

fn answer(hints: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[],{hints}"resultType":"complete"}}}}"#)
}

fn keeps(hints: &str) -> bool {
    Cache::new(limits()).put(key("tools/list", "{}"), answer(hints).as_bytes(), response(7), at(0))
}

#[test]
fn a_time_to_live_is_a_number_above_none() {
    for (ttl, kept) in [
        ("1", true),
        ("300000", true),
        ("3e5", true),
        ("1000.0", true),
        ("1152921504606846976", true),
        ("1e300", true),
        ("99999999999999999999999", true),
        ("0", false),
        ("-0", false),
        ("0.5", false),
        ("-1", false),
        ("-1e300", false),
        ("null", false),
        ("\"5000\"", false),
        ("true", false),
        ("[5000]", false),
    ] {
        assert_eq!(keeps(&format!(r#""ttlMs":{ttl},"#)), kept, "{ttl}");
    }
    assert!(!keeps(""));
}

#[test]
#[cfg(feature = "http")]
fn another_authorization_gets_only_what_is_public() {
    for (scope, shared) in [
        (r#""cacheScope":"public","#, true),
        (r#""cacheScope":"private","#, false),
        ("", false),
        (r#""cacheScope":1,"#, false),
    ] {
        let mut cache = Cache::new(limits());
        let list = key("tools/list", "{}");
        cache.put(list.clone(), answer(&format!(r#""ttlMs":1000,{scope}"#)).as_bytes(), response(7), at(0));
        assert!(cache.fresh(&list, at(1)).is_some());
        cache.discard_private();
        assert_eq!(cache.fresh(&list, at(1)).is_some(), shared, "{scope}");
        assert_eq!(cache.stale(&list).is_some(), shared, "{scope}");
        assert_eq!((cache.entries.len() == 1, cache.bytes() > 0), (shared, shared), "{scope}");
    }
}

#[test]
#[cfg(feature = "http")]
fn what_was_public_and_is_private_now_is_private() {
    let mut cache = Cache::new(limits());
    let list = key("tools/list", "{}");
    cache.put(list.clone(), answer(r#""ttlMs":9,"cacheScope":"public","#).as_bytes(), response(1), at(0));
    cache.put(list.clone(), answer(r#""ttlMs":9,"#).as_bytes(), response(2), at(0));
    assert_eq!(cache.entries.len(), 1);
    cache.discard_private();
    assert_eq!(cache.stale(&list), None);
}

#[test]
fn keys_are_the_method_and_what_the_answer_depends_on() {
    let same = [
        (key("resources/read", r#"{"uri":"a","x":1}"#), key("resources/read", r#"{ "x":1, "uri":"a" }"#)),
        (
            CacheKey::new("tools/list", "{}", Some(&Json::trusted(r#"{"traceparent":"00-1"}"#))).expect("kept"),
            key("tools/list", "{}"),
        ),
    ];
    for (a, b) in same {
        assert_eq!(a, b);
    }
    let meta = |text: &str| CacheKey::new("tools/list", "{}", Some(&Json::trusted(text))).expect("kept");
    let all = [
        key("tools/list", "{}"),
        key("prompts/list", "{}"),
        key("tools/list", r#"{"cursor":"1"}"#),
        key("tools/list", r#"{"cursor":"2"}"#),
        key("tools/list", r#"{"cursor":"","x":1}"#),
        meta(r#"{"acme/tenant":"1"}"#),
        meta(r#"{"acme/tenant":"2"}"#),
    ];
    for (at, a) in all.iter().enumerate() {
        assert!(all[at + 1..].iter().all(|b| a != b), "{a:?}");
    }
    for (method, params) in [
        ("tools/call", "{}"),
        ("prompts/get", "{}"),
        ("resources/read", r#"{"uri":"a","requestState":"s"}"#),
        ("resources/read", r#"{"uri":"a","inputResponses":{}}"#),
    ] {
        assert_eq!(CacheKey::new(method, params, None), None, "{method} {params}");
    }
    assert_eq!(CacheKey::new("tools/list", &format!(r#"{{"cursor":"{}"}}"#, "x".repeat(MAX_PARAMS)), None), None);
}

#[test]
fn what_is_no_complete_result_is_not_kept() {
    for message in [
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"","ttlMs":1000}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"ttlMs":1000,"resultType":"input_required"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"ttlMs":1000,"resultType":"complete"}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"ttlMs":1000,"x":nonsense}}"#,
        "",
    ] {
        let mut cache = Cache::new(limits());
        assert!(!cache.put(key("tools/list", "{}"), message.as_bytes(), response(7), at(0)), "{message}");
    }
}

#[test]
fn ten_thousand_addresses_are_bounded() {
    let mut cache = Cache::new(limits());
    for number in 0..10_000u32 {
        let key = key("resources/read", &format!(r#"{{"uri":"test://{number}"}}"#));
        cache.put(key, answer(r#""ttlMs":100000,"#).as_bytes(), response(7), at(0));
        assert!(cache.entries.len() <= 16 && cache.bytes() <= 64 * 1024);
    }
    // The last ones stay.
    assert!(cache.fresh(&key("resources/read", r#"{"uri":"test://9999"}"#), at(1)).is_some());
    cache.discard("resources/read");
    assert_eq!((cache.entries.len(), cache.bytes()), (0, 0));
}

#[test]
fn one_answer_does_not_drive_out_all_others() {
    let mut cache = Cache::new(limits());
    let list = key("tools/list", "{}");
    cache.put(list.clone(), answer(r#""ttlMs":100000,"#).as_bytes(), response(7), at(0));
    let huge = format!(r#"{{"id":7,"result":{{"ttlMs":100000,"text":"{}"}}}}"#, "x".repeat(60 << 20));
    assert!(!cache.put(key("resources/read", r#"{"uri":"a"}"#), huge.as_bytes(), response(7), at(0)));
    assert!(cache.fresh(&list, at(1)).is_some());
    assert!(cache.bytes() < 1024);
    // What it would have replaced is gone all the same: it is older.
    assert!(!cache.put(list.clone(), huge.as_bytes(), response(7), at(0)));
    assert!(cache.stale(&list).is_none());
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let mut cache = Cache::new(CacheLimits::new(64 * 1024, 2, Duration::from_secs(1)));
    let [a, b, c] = ["a", "b", "c"].map(|uri| key("resources/read", &format!(r#"{{"uri":"{uri}"}}"#)));
    let message = answer(r#""ttlMs":1000,"#);
    cache.put(a.clone(), message.as_bytes(), response(7), at(0));
    cache.put(b.clone(), message.as_bytes(), response(7), at(0));
    assert!(cache.fresh(&a, at(1)).is_some());
    cache.put(c, message.as_bytes(), response(7), at(0));
    assert!(cache.fresh(&a, at(1)).is_some());
    assert!(cache.stale(&b).is_none());
}

#[test]
fn an_update_touches_what_it_is_about() {
    for (read, updated, touched) in [
        ("file:///a", "file:///a", true),
        ("file:///a", "file:///a/b", true),
        ("file:///a/", "file:///a/b", true),
        ("file:///a/b", "file:///a", true),
        ("file:///a", "file:///ab", false),
        ("file:///a", "file:///b", false),
        ("file:///\\u0061", "file:///a", true),
    ] {
        let mut cache = Cache::new(limits());
        let read = key("resources/read", &format!(r#"{{"uri":"{read}"}}"#));
        cache.put(read.clone(), answer(r#""ttlMs":1000,"#).as_bytes(), response(7), at(0));
        cache.invalidate(&|key| key.reads(updated));
        assert_eq!(cache.fresh(&read, at(1)).is_none(), touched, "{read:?} {updated}");
        assert!(cache.stale(&read).is_some());
    }
}

#[test]
fn numbers_of_all_shapes_have_a_whole_part() {
    for (text, whole) in [
        ("0", 0),
        ("1500", 1_500),
        ("1500.9", 1_500),
        ("1.5e3", 1_500),
        ("15000E-1", 1_500),
        ("0.0015e+6", 1_500),
        ("0e99999999999999999999", 0),
        ("1e-99999999999999999999", 0),
        ("1e99999999999999999999", u64::MAX),
        ("1e300", u64::MAX),
        ("18446744073709551615", u64::MAX),
        ("18446744073709551616", u64::MAX),
        ("9007199254740992.0", 9_007_199_254_740_992),
        ("-1", 0),
        ("\"7\"", 0),
        ("null", 0),
    ] {
        assert_eq!(parse_ttl(text.as_bytes()), Duration::from_millis(whole), "{text}");
    }
}
