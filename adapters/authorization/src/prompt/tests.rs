//! Tests of the two prompts: their redirect URIs, and the address that a login returns.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use super::*;

const URL: &str = "https://as.example/authorize?state=x";

type Login = Pin<Box<dyn Future<Output = Result<String, TokenError>> + Send>>;

fn poll(login: &mut Login) -> Poll<Result<String, TokenError>> {
    login.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn wait(mut login: Login) -> Result<String, TokenError> {
    loop {
        match poll(&mut login) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::yield_now(),
        }
    }
}

/// Returns host and port of a redirect URI with the usual path.
fn host(redirect_uri: &str) -> String {
    redirect_uri.trim_start_matches("http://").trim_end_matches("/callback").to_owned()
}

#[test]
fn z2_only_an_address_with_the_state_of_the_login_is_its_response() {
    let login = "https://as.example/authorize?response_type=code&state=abc-_1&x=y";
    assert!(is_response("http://127.0.0.1:1/callback?code=a&state=abc-_1", login));
    assert!(is_response("/callback?state=abc-_1&error=access_denied#top", login));
    for other in ["/callback?code=a", "/callback?code=a&state=abc", "/callback", "", "/callback?xstate=abc-_1"] {
        assert!(!is_response(other, login), "{other}");
    }
    assert!(is_response("/callback?code=a", "https://as.example/login"), "a page without a state");
}

#[test]
fn o12_the_port_of_the_settings_comes_before_the_stored_one() {
    let mut redirect = Redirect::default();
    assert_eq!(redirect.preferred_port(Some("http://127.0.0.1:7777/callback")), Some(7777));
    for other in [
        "https://127.0.0.1:80/callback",
        "http://localhost:7777/callback",
        "http://127.0.0.1:80/other",
        "http://127.0.0.1/callback",
        "",
    ] {
        assert_eq!(redirect.preferred_port(Some(other)), None, "{other}");
    }
    redirect.port = 1234;
    assert_eq!(redirect.preferred_port(Some("http://127.0.0.1:7777/callback")), Some(1234));
}

#[test]
fn o12_the_port_of_the_stored_registration_is_used_again_unless_another_program_has_it() {
    let browser = Browser::new(|_| {});
    let stored = browser.prepare(None).unwrap().redirect_uri().to_owned();
    let second = browser.prepare(Some(&stored)).unwrap();
    assert_eq!(second.redirect_uri(), stored);
    assert_ne!(browser.prepare(Some(&stored)).unwrap().redirect_uri(), stored);
}

#[test]
fn o13_host_port_and_path_can_be_set() {
    let browser = Browser::new(|_| {}).host("localhost").path("/oauth/done");
    let uri = browser.prepare(None).unwrap().redirect_uri().to_owned();
    assert!(uri.starts_with("http://localhost:") && uri.ends_with("/oauth/done"), "{uri}");
    let paste_back = PasteBack::new(|_| Ok(String::new())).host("localhost").port(7777).path("/done");
    assert_eq!(paste_back.prepare(Some(&uri)).unwrap().redirect_uri(), "http://localhost:7777/done");
    assert!(!format!("{browser:?} {paste_back:?}").is_empty());
}

#[test]
fn a_login_that_is_given_up_ends_its_thread_and_frees_its_port() {
    let window = Browser::new(|_| {}).prepare(None).unwrap();
    let address = host(window.redirect_uri());
    let mut login = window.show(URL.into());
    assert!(poll(&mut login).is_pending());
    assert!(TcpListener::bind(&address).is_err(), "the login listens");
    drop(login);
    // The thread notices it when it looks the next time.
    while TcpListener::bind(&address).is_err() {
        thread::yield_now();
    }
}

#[test]
fn the_address_that_the_browser_was_sent_to_is_returned() {
    let opened = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&opened);
    let window = Browser::new(move |url| *seen.lock().unwrap() = url.to_owned()).prepare(None).unwrap();
    let (host, redirect) = (host(window.redirect_uri()), format!("{}?code=a&state=x", window.redirect_uri()));
    let mut login = window.show(URL.into());
    assert!(poll(&mut login).is_pending());
    assert_eq!(*opened.lock().unwrap(), URL);
    let mut stream = TcpStream::connect(&host).unwrap();
    write!(stream, "GET /callback?code=a&state=x HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    assert_eq!(wait(login).unwrap(), redirect);
}

/// Lets a user paste these texts, and returns what the login gets and how often it asked.
fn paste(texts: &'static [&str]) -> (Result<String, TokenError>, usize) {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let prompt = PasteBack::new(move |url| {
        assert_eq!(url, URL);
        let mut count = count.lock().unwrap();
        *count += 1;
        texts.get(*count - 1).map(ToString::to_string).ok_or(io::ErrorKind::UnexpectedEof.into())
    });
    let result = wait(prompt.prepare(None).unwrap().show(URL.into()));
    let asked = *asked.lock().unwrap();
    (result, asked)
}

#[test]
fn o14_the_user_pastes_the_address_and_is_asked_again_for_another_text() {
    const RIGHT: &str = "http://127.0.0.1:9/callback?code=a&state=x";
    for (texts, result, count) in [
        (&[" http://127.0.0.1:9/callback?code=a&state=x\n"][..], RIGHT, 1),
        (&["yes", "http://127.0.0.1:9/callback?code=a&state=y", RIGHT], RIGHT, 3),
        (&["1", "2", "3", RIGHT], "3", 3),
    ] {
        let (pasted, asked) = paste(texts);
        assert_eq!((pasted.unwrap().as_str(), asked), (result, count), "{texts:?}");
    }
    assert!(paste(&[]).0.is_err(), "standard input is closed");
}

#[test]
fn nobody_listens_at_the_redirect_uri_of_a_paste_back() {
    let prompt = PasteBack::new(|_| Ok(String::new()));
    let uri = prompt.prepare(None).unwrap().redirect_uri().to_owned();
    assert!(TcpStream::connect(host(&uri)).is_err());
    assert_eq!(prompt.prepare(Some(&uri)).unwrap().redirect_uri(), uri, "that of the stored registration");
}
