//! Tests of the types that implement `HttpClient` and `TokenProvider`, and of the `Authorization` header.

use std::error::Error;
use std::fmt;
use std::future::ready;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use mcpwire_core::http::{Command, Engine, Exchange, Failure, FailureKind, Settings};
use mcpwire_core::{Config, Timestamp};

use super::{
    DefinitionSetting, HookedClient, HttpClient, HttpOptions, HttpResponse, ResponseFuture, StaticToken, TokenFuture,
    TokenProvider,
};
use crate::HttpSetupError;

/// Returns the first request of an engine.
fn exchange() -> Exchange {
    let mut settings = Settings::new("https://example.com/mcp").unwrap();
    settings.header("Authorization", "Basic x").unwrap();
    let mut engine = Engine::new(Config::new("test", "1"), settings);
    engine.calls().initialize(Timestamp::ORIGIN).unwrap();
    match engine.poll_exchange(Timestamp::ORIGIN) {
        Some(Command::Start(exchange)) => exchange,
        other => panic!("{other:?}"),
    }
}

pub(super) fn poll_ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future is pending"),
    }
}

fn response(status: u16) -> HttpResponse {
    let body: &[u8] = b"";
    HttpResponse { status, headers: Vec::new(), body: Box::pin(body) }
}

/// Sends a request with this provider. Returns the `Authorization` headers that the HTTP client receives.
fn authorization(tokens: impl TokenProvider) -> Result<Vec<String>, Failure> {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sent);
    let client = move |exchange: Exchange| {
        let headers = exchange.headers.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        seen.lock().unwrap().extend(headers.map(|(_, value)| value));
        ready(Ok(response(200)))
    };
    let options = HttpOptions::default().client(client).token(tokens);
    let client = options.into_client(|| Err(HttpSetupError::Missing)).unwrap();
    poll_ready(client.send(exchange()))?;
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    Ok(sent)
}

#[test]
fn arcs_boxes_and_closures_provide_tokens() {
    let bearer = vec!["Bearer t0ken".to_owned()];
    let fixed = || StaticToken("t0ken".into());
    assert_eq!(authorization(fixed()).unwrap(), bearer);
    assert_eq!(authorization(Arc::new(fixed())).unwrap(), bearer);
    let shared: Arc<dyn TokenProvider> = Arc::new(fixed());
    assert_eq!(authorization(Arc::clone(&shared)).unwrap(), bearer);
    let boxed: Box<dyn TokenProvider> = Box::new(shared);
    assert_eq!(authorization(boxed).unwrap(), bearer);
    let closure = || async { io::Result::Ok(Some("t0ken".to_owned())) };
    assert_eq!(authorization(closure).unwrap(), bearer);
    assert_eq!(authorization(Box::new(closure)).unwrap(), bearer);
    assert_eq!(authorization(Arc::new(closure)).unwrap(), bearer);
    assert_eq!(authorization(async || Ok::<_, String>(Some("t0ken".into()))).unwrap(), bearer);
}

#[test]
fn without_a_token_the_header_of_the_definition_is_sent() {
    assert_eq!(authorization(|| ready(Ok::<_, String>(None))).unwrap(), ["Basic x"]);
}

#[derive(Debug)]
struct LoginFailed(io::Error);

impl fmt::Display for LoginFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("login failed")
    }
}

impl Error for LoginFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn the_failure_of_a_provider_contains_its_error_and_the_sources() {
    let failure = authorization(|| ready(Err("nobody is logged in"))).unwrap_err();
    assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::Unauthorized, "nobody is logged in"));
    let failure = authorization(|| async { Err(LoginFailed(io::Error::other("no network"))) }).unwrap_err();
    assert_eq!(failure.detail, "login failed: no network");
}

#[test]
fn errors_and_debug_output_omit_the_token() {
    for token in ["s3cret\r\nX: y", "s3cret s3cret", "s3crét"] {
        let failure = authorization(StaticToken(token.into())).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unauthorized);
        assert!(!failure.to_string().contains("s3cr"), "{failure}");
    }
    assert_eq!(authorization(StaticToken(String::new())).unwrap_err().kind, FailureKind::Unauthorized);
    let options = HttpOptions::default().token(StaticToken("s3cret".into()));
    let shown = format!("{options:?} {:?}", StaticToken("s3cret".into()));
    assert!(!shown.contains("s3cret"), "{shown}");
    let seen = Arc::new(Mutex::new(String::new()));
    let shown = Arc::clone(&seen);
    let client = options.client(move |exchange: Exchange| {
        *shown.lock().unwrap() = format!("{exchange:?}");
        ready(Ok(response(200)))
    });
    poll_ready(client.into_client(|| Err(HttpSetupError::Missing)).unwrap().send(exchange())).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.contains("Authorization") && !seen.contains("s3cret"), "{seen}");
}

#[test]
fn the_provider_is_called_before_each_request() {
    struct Counting(Mutex<u32>);
    impl TokenProvider for Counting {
        fn token(&self) -> TokenFuture<'_> {
            Box::pin(async {
                let mut count = self.0.lock().unwrap();
                *count += 1;
                Ok(Some(count.to_string()))
            })
        }
    }
    let tokens = Arc::new(Counting(Mutex::new(0)));
    assert_eq!(authorization(Arc::clone(&tokens)).unwrap(), ["Bearer 1"]);
    assert_eq!(authorization(tokens).unwrap(), ["Bearer 2"]);
}

#[test]
fn a_provider_that_panics_fails_the_request() {
    struct Panics;
    impl TokenProvider for Panics {
        fn token(&self) -> TokenFuture<'_> {
            panic!("no keyring")
        }
    }
    let failure = authorization(Panics).unwrap_err();
    assert_eq!(failure.detail, "the token provider panicked: no keyring");
}

#[test]
fn arcs_boxes_and_closures_are_http_clients() {
    struct Narrow;
    impl HttpClient for Narrow {
        fn send(&self, _: Exchange) -> ResponseFuture {
            Box::pin(ready(Ok(response(204))))
        }

        fn capacity(&self) -> usize {
            1
        }

        fn applies(&self, setting: DefinitionSetting<'_>) -> bool {
            matches!(setting, DefinitionSetting::Proxy("http://proxy"))
        }
    }
    fn send(client: &impl HttpClient) -> (u16, usize) {
        (poll_ready(client.send(exchange())).unwrap().status, client.capacity())
    }
    assert_eq!(send(&Narrow), (204, 1));
    assert_eq!(send(&Arc::new(Narrow)), (204, 1));
    let shared: Arc<dyn HttpClient> = Arc::new(Narrow);
    assert_eq!(send(&Arc::clone(&shared)), (204, 1));
    let boxed: Box<dyn HttpClient> = Box::new(Arc::clone(&shared));
    assert_eq!(send(&boxed), (204, 1));
    let hooked = HookedClient {
        server: Arc::from("a"),
        on_request: None,
        last_sent: None,
        hooks: None,
        client: Arc::new(Narrow),
    };
    let authorizing = HttpOptions::default().client(Narrow).token(StaticToken("t0ken".into()));
    let authorizing = authorizing.into_client(|| Err(HttpSetupError::Missing)).unwrap();
    let wrappers: [&dyn HttpClient; 5] = [&Arc::new(Narrow), &Arc::clone(&shared), &boxed, &hooked, &authorizing];
    for wrapper in wrappers {
        assert_eq!(wrapper.capacity(), 1);
        assert!(wrapper.applies(DefinitionSetting::Proxy("http://proxy")));
        assert!(!wrapper.applies(DefinitionSetting::Proxy("http://other")));
    }
    let closure = |exchange: Exchange| async move { Ok(response(if exchange.is_request { 200 } else { 202 })) };
    assert!(!closure.applies(DefinitionSetting::Proxy("http://proxy")));
    assert_eq!(send(&closure), (200, 64));
    assert_eq!(send(&Box::new(closure)), (200, 64));
    assert_eq!(send(&Arc::new(closure)), (200, 64));
}
