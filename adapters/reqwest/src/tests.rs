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

#[tokio::test]
async fn private_addresses_are_refused_for_requests_that_must_go_to_public_ones() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = ReqwestClient::from_builder(Client::builder().no_proxy()).unwrap();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "169.254.169.254"] {
        let mut request = Exchange::new(Verb::Get, format!("http://{host}:{port}/"));
        request.public_addresses_only = true;
        let failure = client.send_shared(Arc::new(request)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotMade, "{failure}");
        assert!(failure.detail.contains("of this machine or of a private network"), "{failure}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nothing was connected");
}

#[test]
fn a_user_agent_of_the_program_is_found() {
    let has = |builder: ClientBuilder| ReqwestClient::from_builder(builder).unwrap().has_user_agent();
    assert!(!has(Client::builder()));
    assert!(has(Client::builder().user_agent("my-app/1.0")));
    let header = |name: &'static str, value| {
        let mut headers = reqwest::header::HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        Client::builder().default_headers(headers)
    };
    assert!(has(header("user-agent", "my-app/1.0")));
    assert!(!has(header("x-agent", r#"my "user-agent" is another header"#)));
}
