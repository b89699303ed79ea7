//! Tests of the requests that the client builds. The workspace's `tests` test complete connections.

use super::*;

#[test]
fn only_headers_of_the_protocol_are_shown() {
    let headers = [
        ("Authorization", "Bearer s3cret".to_owned()),
        ("X-Api-Key", "s3cret".to_owned()),
        ("Mcp-Session-Id", "s3cret".to_owned()),
        ("Mcp-Method", "tools/call".to_owned()),
    ];
    let request = build_request(Verb::Post, "https://example.com/mcp", &headers, Bytes::from_static(b"{}")).unwrap();
    let shown = format!("{request:?}");
    assert!(!shown.contains("s3cret") && shown.contains("tools/call"), "{shown}");
    assert_eq!(request.headers()["x-api-key"], "s3cret");
    let mut defaults = reqwest::header::HeaderMap::new();
    defaults.insert("x-api-key", HeaderValue::from_static("s3cret"));
    let client = ReqwestClient::from_builder(Client::builder().default_headers(defaults)).unwrap();
    assert!(!format!("{client:?}").contains("s3cret"));
}

#[test]
fn invalid_requests_are_not_sent() {
    let header = |name: &'static str, value: &str| [(name, value.to_owned())];
    for (url, headers) in
        [("mcp", header("A", "b")), ("http://x/", header("A b", "c")), ("http://x/", header("A", "s3cret\n"))]
    {
        let failure = build_request(Verb::Get, url, &headers, Bytes::new()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotMade);
        assert!(!failure.to_string().contains("s3cret"), "{failure}");
    }
}
