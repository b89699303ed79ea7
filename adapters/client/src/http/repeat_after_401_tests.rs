//! Tests of requests that an `Authorizer` adds credentials to.

use std::collections::VecDeque;
use std::future::ready;
use std::sync::Mutex;

use mcpwire_core::http::Verb;

use super::*;

use crate::HttpSetupError;
use crate::http::tests::poll_ready;
use crate::http::{AuthorizeFuture, HttpOptions, RefusalFuture};

/// An authorizer that counts up its tokens, and does as it is told after refusals.
#[derive(Default)]
struct Counting {
    given: Mutex<u64>,
    seen: Mutex<Vec<String>>,
    gives_up: bool,
    fails: bool,
    panics: bool,
}

impl Authorizer for Counting {
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
        assert_eq!((request.verb(), request.url()), ("POST", "https://example.com/mcp"));
        Box::pin(async move {
            let mut given = self.given.lock().unwrap();
            *given += 1;
            let mut credentials = Credentials::dpop(&format!("token-{given}"), "proof")?;
            credentials.id = *given;
            Ok(credentials)
        })
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        let challenges: Vec<_> = refusal.response.values("WWW-Authenticate").collect();
        let operation = refusal.request.operation();
        let line = format!("{operation} {} {} {}", refusal.response.status, refusal.sent.id, challenges.join("|"));
        self.seen.lock().unwrap().push(line);
        assert!(!self.panics, "no keyring");
        let next = if self.gives_up { AfterRefusal::GiveUp } else { AfterRefusal::Repeat };
        Box::pin(ready(if self.fails { Err("log in first".into()) } else { Ok(next) }))
    }

    fn responded(&self, _: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        self.seen.lock().unwrap().push(format!("{} {}", response.status, response.values("dpop-nonce").count()));
    }
}

fn call() -> Exchange {
    let mut exchange = Exchange::new(Verb::Post, "https://example.com/mcp");
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    exchange.headers = vec![("authorization".into(), "Basic x".into()), ("Accept".into(), "text/plain".into())];
    exchange.body = message.into();
    exchange
}

/// Sends a call to a server that answers with these statuses, one after the other. Returns the status that the caller gets, and
/// the headers that the server has received.
fn send_to(authorizer: &Arc<Counting>, statuses: &[u16]) -> (Result<u16, Failure>, Vec<String>) {
    let received = Arc::new(Mutex::new(Vec::new()));
    let (seen, mut answers) = (Arc::clone(&received), VecDeque::from(statuses.to_vec()));
    let answers = Mutex::new(move || answers.pop_front().unwrap());
    let client = move |exchange: Exchange| {
        assert!(!exchange.body.is_empty());
        let headers: Vec<_> = exchange.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        seen.lock().unwrap().push(headers.join(", "));
        let body: &[u8] = b"";
        let headers = vec![("www-authenticate".to_owned(), b"DPoP".to_vec()), ("DPoP-Nonce".to_owned(), b"n".to_vec())];
        ready(Ok(HttpResponse { status: (answers.lock().unwrap())(), headers, body: Box::pin(body) }))
    };
    let options = HttpOptions::default().client(client).authorizer(Arc::clone(authorizer));
    let client = options.into_client(|| Err(HttpSetupError::Missing)).unwrap();
    let status = poll_ready(client.send(call())).map(|response| response.status);
    let received = received.lock().unwrap().clone();
    (status, received)
}

#[test]
fn a_refused_request_is_repeated_with_new_credentials() {
    let authorizer = Arc::new(Counting::default());
    let (status, received) = send_to(&authorizer, &[401, 403, 200]);
    assert_eq!(status.unwrap(), 200);
    let expected = (1..=3).map(|n| format!("Accept: text/plain, Authorization: DPoP token-{n}, DPoP: proof"));
    assert_eq!(received, expected.collect::<Vec<_>>());
    let seen = authorizer.seen.lock().unwrap();
    let refusals = ["401 1", "tools/call echo 401 1 DPoP", "403 1", "tools/call echo 403 2 DPoP", "200 1"];
    assert_eq!(*seen, refusals);
}

#[test]
fn the_caller_gets_the_refusal_when_the_authorizer_gives_up() {
    let authorizer = Arc::new(Counting { gives_up: true, ..Counting::default() });
    assert_eq!(send_to(&authorizer, &[403]).0.unwrap(), 403);
}

#[test]
fn a_request_is_sent_six_times_at_most() {
    let (status, received) = send_to(&Arc::default(), &[401; 7]);
    assert_eq!((status.unwrap(), received.len()), (401, 6));
}

#[test]
fn other_statuses_are_no_refusals() {
    for status in [200, 400, 404, 429, 500] {
        let authorizer = Arc::new(Counting::default());
        assert_eq!(send_to(&authorizer, &[status]).0.unwrap(), status);
        assert_eq!(authorizer.seen.lock().unwrap().len(), 1);
    }
}

#[test]
fn errors_and_panics_of_the_authorizer_fail_the_request() {
    for (authorizer, text) in [
        (Counting { fails: true, ..Counting::default() }, "log in first"),
        (Counting { panics: true, ..Counting::default() }, "the token provider panicked: no keyring"),
    ] {
        let failure = send_to(&Arc::new(authorizer), &[401]).0.unwrap_err();
        assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::Unauthorized, text));
    }
}

#[test]
fn credentials_hide_their_values_and_refuse_line_breaks() {
    let credentials = Credentials::dpop("s3cret", "pr00f").unwrap();
    let shown = format!("{credentials:?}");
    assert!(shown.contains("DPoP") && !shown.contains("s3cret") && !shown.contains("pr00f"), "{shown}");
    for (token, proof) in [("", "x"), ("x", ""), ("a\r\nb", "x"), ("x", "a b"), ("ä", "x")] {
        assert!(Credentials::dpop(token, proof).is_err());
    }
}

/// A client that shares requests, and notes where the body and the headers of each are in memory.
#[derive(Default)]
struct SharingClient {
    sent: Mutex<Vec<(usize, usize)>>,
    statuses: Mutex<Vec<u16>>,
    /// Whether to keep the requests, as a client does that still sends the body.
    keeps: Option<Mutex<Vec<Arc<Exchange>>>>,
}

impl HttpClient for SharingClient {
    fn send(&self, _: Exchange) -> ResponseFuture {
        panic!("the request was copied");
    }

    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        let header = exchange.headers.iter().find(|(name, _)| name == "Accept").unwrap();
        self.sent.lock().unwrap().push((exchange.body.as_ptr() as usize, header.1.as_ptr() as usize));
        if let Some(kept) = &self.keeps {
            kept.lock().unwrap().push(exchange);
        }
        let (status, body): (_, &[u8]) = (self.statuses.lock().unwrap().remove(0), b"");
        Box::pin(ready(Ok(HttpResponse { status, headers: Vec::new(), body: Box::pin(body) })))
    }
}

#[test]
fn a_request_with_credentials_is_not_copied() {
    for statuses in [vec![200], vec![401, 200]] {
        let client = Arc::new(SharingClient { statuses: Mutex::new(statuses.clone()), ..SharingClient::default() });
        let exchange = call();
        let (body, header) = (exchange.body.as_ptr() as usize, exchange.headers[1].1.as_ptr() as usize);
        let options = HttpOptions::default().client(Arc::clone(&client)).authorizer(Arc::<Counting>::default());
        let authorized = options.into_client(|| Err(HttpSetupError::Missing)).unwrap();
        assert_eq!(poll_ready(authorized.send(exchange)).unwrap().status, 200);
        assert_eq!(*client.sent.lock().unwrap(), vec![(body, header); statuses.len()]);
    }
}

#[test]
fn a_request_that_is_still_being_sent_is_copied_for_its_repetition() {
    let statuses = Mutex::new(vec![401, 200]);
    let client = Arc::new(SharingClient { statuses, keeps: Some(Mutex::default()), ..SharingClient::default() });
    let options = HttpOptions::default().client(Arc::clone(&client)).authorizer(Arc::<Counting>::default());
    let authorized = options.into_client(|| Err(HttpSetupError::Missing)).unwrap();
    assert_eq!(poll_ready(authorized.send(call())).unwrap().status, 200);
    let kept = client.keeps.as_ref().unwrap().lock().unwrap();
    let token =
        |exchange: &Exchange| exchange.headers.iter().find(|(name, _)| name == "Authorization").unwrap().1.clone();
    let tokens: Vec<_> = kept.iter().map(|exchange| token(exchange)).collect();
    assert_eq!(tokens, ["DPoP token-1", "DPoP token-2"], "the first request is as it was sent");
    assert_eq!(kept[0].body, kept[1].body);
}

#[test]
fn errors_of_the_authorizer_keep_their_kind_and_type() {
    #[derive(Debug, thiserror::Error)]
    #[error("log in at the desk")]
    struct AtTheDesk;

    struct Failing(fn() -> TokenError);

    impl Authorizer for Failing {
        fn authorize<'a>(&'a self, _: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
            Box::pin(ready(Err((self.0)())))
        }
    }

    let cases: [(fn() -> TokenError, _); 3] = [
        (|| AuthorizerError::LoginRequired(AtTheDesk.into()).into(), FailureKind::LoginRequired),
        (|| AuthorizerError::Temporary(AtTheDesk.into()).into(), FailureKind::TokenUnavailable),
        (|| AtTheDesk.into(), FailureKind::Unauthorized),
    ];
    for (error, kind) in cases {
        let options = HttpOptions::default().client(SharingClient::default()).authorizer(Failing(error));
        let client = options.into_client(|| Err(HttpSetupError::Missing)).unwrap();
        let failure = poll_ready(client.send(call())).unwrap_err();
        assert_eq!((failure.kind, failure.detail.as_str()), (kind, "log in at the desk"));
        assert!(failure.cause.unwrap().get().is::<AtTheDesk>());
    }
}
