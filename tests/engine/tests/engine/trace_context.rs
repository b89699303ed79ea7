//! Where a request belongs in a trace, as it stands in its `_meta`.

use mcpwire_core::{Config, Json, RequestOptions, TraceContext};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde_json::json;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

#[test]
fn only_what_the_w3c_defines_is_taken() {
    for good in [
        PARENT,
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00",
        "cc-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-what-the-future-brings",
    ] {
        assert!(TraceContext::new(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "00",
        "ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-00f067aa0ba902b7-01",
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7",
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more",
        "00-0af7651916cd43dd8448eb211c80319-00f067aa0ba902b7-01",
        "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01\n",
        "01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-\u{e4}",
    ] {
        assert!(TraceContext::new(bad).is_err(), "{bad}");
    }
    let context = || TraceContext::new(PARENT).expect("it is good");
    for good in ["", "rojo=00f067aa0ba902b7", "rojo=1,congo=t61rcWkgMzE", "fw529a3039@dt=FfAAA, ,a=b c", "0a_-*/@=~"] {
        assert!(context().state(good).is_ok(), "{good}");
    }
    let many = |n: usize| (0..n).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
    for bad in ["a", "A=1", "=1", "a=", "a=b=c", "a=\u{7}", "_a=1", &many(33), &format!("a={}", "x".repeat(257))] {
        assert!(context().state(bad).is_err(), "{bad}");
    }
    for good in ["", "userId=alice", "userId=alice,serverNode=DF%2028 , isProduction=false;p=1; flag", "a="] {
        assert!(context().baggage(good).is_ok(), "{good}");
    }
    for bad in ["alice", "a b=c", "=1", "a=\"quoted\"", "a=1;;", "a=\u{e4}", &format!("a={}", "x".repeat(9000))] {
        assert!(context().baggage(bad).is_err(), "{bad}");
    }
    let error = context().baggage("\u{7}").expect_err("it is none");
    assert!(error.member == "baggage" && error.to_string().contains("W3C"));
}

#[test]
fn it_stands_in_the_metadata_of_the_request() {
    let context = TraceContext::new(PARENT).and_then(|context| context.state("a=1")).expect("it is good");
    let context = context.baggage("userId=alice").expect("it is good");
    let expected = json!({"traceparent": PARENT, "tracestate": "a=1", "baggage": "userId=alice"});
    let meta = Json::parse(r#"{"com.example/a":1,"traceparent":"old"}"#).expect("it is JSON");
    for mut pair in [Pair::open(Config::default(), legacy(|_, _| {})), Pair::open(Config::default(), modern(|_, _| {}))]
    {
        for (options, more) in [
            (RequestOptions::new().trace_context(&context), 0),
            (RequestOptions::new().meta(meta.clone()).trace_context(&context), 1),
        ] {
            let _ticket = pair.call("t", &options).expect("it is sent");
            pair.drive();
            let sent = pair.sent.pop().expect("it was sent");
            let mut traced = sent.meta().clone();
            let members = traced.as_object_mut().expect("an object");
            members.retain(|name, _| !name.starts_with("io.modelcontextprotocol/"));
            assert_eq!(members.remove("com.example/a").map_or(0, |_| 1), more);
            assert_eq!(traced, expected);
            assert_eq!(sent.text.matches("traceparent").count(), 1, "each name stands there once: {}", sent.text);
        }
    }
}
