//! Tests of the documents.

use std::future::Future;

use mcpwire_testkit::VirtualTime;
use serde_json::{Value, json};

use super::*;
use crate::store::MemoryStore;

const SERVER: &str = "https://mcp.example.com/mcp";
const ISSUER: &str = "https://auth.example.com";
const NOW: u64 = VirtualTime::UNIX_START.as_secs();

thread_local! {
    static TIME: VirtualTime = VirtualTime::new();
}

fn run<T>(future: impl Future<Output = T>) -> T {
    TIME.with(|time| time.run(future))
}

fn documents(store: &MemoryStore, server: &str, account: &str) -> Documents {
    Documents::new(Arc::new(store.clone()), TIME.with(VirtualTime::runtime), server, account)
}

fn client(issuer: &str, redirect_uri: &str, client_id: &str) -> ClientInformation {
    let client = json!({"source": "registered", "issuer": issuer, "redirect_uri": redirect_uri, "client_id": client_id,
        "registered_at": NOW});
    serde_json::from_value(client).unwrap()
}

fn token(issuer: &str, generation: u64) -> Value {
    json!({"version": 1, "generation": generation, "endpoint": {"issuer": issuer, "url": format!("{issuer}/token")},
        "resource": SERVER, "access_token": "access", "token_type": "Bearer", "obtained_at": NOW, "refresh_token": "refresh"})
}

fn grant(issuer: &str, generation: u64) -> Grant {
    let token = StoredToken::from_bytes(token(issuer, generation).to_string().as_bytes()).unwrap();
    Grant { token, client: Some(client(issuer, "http://127.0.0.1:1/", "c")) }
}

#[test]
fn o18_each_server_and_account_has_a_login_and_a_key_of_its_own() {
    let store = MemoryStore::new();
    let all =
        [documents(&store, SERVER, ""), documents(&store, SERVER, "work"), documents(&store, "https://other/", "")];
    let keys: Vec<_> = all.iter().map(|documents| run(documents.dpop_key()).unwrap().public_key()).collect();
    run(all[0].save(&grant(ISSUER, 1))).unwrap();
    assert_eq!((run(all[1].load()), run(all[2].load())), (Ok(None), Ok(None)));
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_eq!(run(all[0].dpop_key()).unwrap().public_key(), keys[0], "the key is kept");
}

#[test]
fn a10_r10_a_login_whose_client_is_of_another_issuer_is_refused() {
    let store = MemoryStore::new();
    let documents = documents(&store, SERVER, "");
    let mut mixed = grant(ISSUER, 1);
    run(documents.save(&mixed)).unwrap();
    assert_eq!(run(documents.load()), Ok(Some(mixed.clone())));
    mixed.client = Some(client("https://evil.example", "http://127.0.0.1:1/", "c"));
    run(documents.save(&mixed)).unwrap();
    assert!(run(documents.load()).unwrap_err().0.contains("damaged"));
}

#[test]
fn r10_a_registration_is_found_at_its_issuer_alone() {
    let store = MemoryStore::new();
    let documents = documents(&store, SERVER, "");
    let registered = client(ISSUER, "http://127.0.0.1:1/", "c");
    run(documents.save_client(&registered)).unwrap();
    assert_eq!(run(documents.load_client(ISSUER, None)), Ok(Some(registered.clone())));
    for other in ["https://auth.example.com/", "https://AUTH.example.com", "https://evil.example"] {
        assert_eq!(run(documents.load_client(other, None)), Ok(None), "{other}");
    }
    // A document that was copied to the name of another issuer.
    let copied = store.load(&client_name(ISSUER)).unwrap().unwrap();
    store.save(&client_name("https://evil.example"), &copied).unwrap();
    assert_eq!(run(documents.load_client("https://evil.example", None)), Ok(None));
}

#[test]
fn o9_o12_each_redirect_uri_of_an_issuer_keeps_its_registration() {
    let documents = documents(&MemoryStore::new(), SERVER, "");
    let uri = |port: usize| format!("http://127.0.0.1:{port}/");
    let load = |port: usize| run(documents.load_client(ISSUER, Some(&uri(port)))).unwrap().unwrap().client_id;
    let save = |port: usize, id: &str| run(documents.save_client(&client(ISSUER, &uri(port), id))).unwrap();
    save(1, "one");
    save(2, "two");
    assert_eq!((load(1), load(2)), ("one".into(), "two".into()));
    let last = run(documents.load_client(ISSUER, None)).unwrap().unwrap();
    assert_eq!((last.client_id.as_str(), load(3)), ("two", "two".into()), "the last one, whose port is tried again");
    save(1, "new");
    assert_eq!((load(1), load(2)), ("new".into(), "two".into()));
    run(documents.remove_client(ISSUER, "two")).unwrap();
    assert_eq!((load(1), load(2)), ("new".into(), "new".into()));
    run(documents.remove_client(ISSUER, "new")).unwrap();
    assert_eq!(run(documents.load_client(ISSUER, None)), Ok(None));
    (10..10 + MAX_REGISTRATIONS + 5).for_each(|port| save(port, &port.to_string()));
    assert_eq!((load(10 + MAX_REGISTRATIONS), load(15)), ((10 + MAX_REGISTRATIONS).to_string(), "15".into()));
    assert_ne!(load(14), "14", "the oldest ones are dropped");
}

#[test]
fn a_new_login_has_a_greater_generation_than_all_that_other_processes_know() {
    let store = MemoryStore::new();
    let documents = documents(&store, SERVER, "");
    let login = |generation| {
        let mut login = grant(ISSUER, generation);
        run(documents.save_login(&mut login)).unwrap();
        assert_eq!(run(documents.load()), Ok(Some(login.clone())));
        login.token.generation
    };
    let now = NOW * 1_000_000;
    assert_eq!(login(1), now, "also after a logout");
    // Another process has refreshed the token of this one five times.
    run(documents.save(&grant(ISSUER, now + 5))).unwrap();
    assert_eq!(login(now + 1), now + 6);
    assert_eq!(login(now + 10), now + 10);
    store.save(&documents.account.token_name(), b"damaged").unwrap();
    assert_eq!(login(1), now);
}

#[test]
fn a_damaged_login_is_an_error_that_names_it_and_stays() {
    let store = MemoryStore::new();
    let documents = documents(&store, SERVER, "");
    let mut later = token(ISSUER, 1);
    later["version"] = json!(2);
    let half = json!({"token": token(ISSUER, 1), "client": null}).to_string();
    for (document, text) in [
        (half[..half.len() / 2].to_owned(), "the stored token is damaged; log in again"),
        (String::new(), "damaged; log in again"),
        ("{}".into(), "damaged; log in again"),
        (json!({"token": {"access_token": "secret"}, "client": null}).to_string(), "damaged; log in again"),
        (json!({"token": later, "client": null}).to_string(), "use a later version of this program"),
    ] {
        store.save(&documents.account.token_name(), document.as_bytes()).unwrap();
        let error = run(documents.load()).unwrap_err().0;
        assert!(error.contains("log in again") && error.contains(text), "{error}");
        // A later version is no damage, and is named by its own words.
        let is_later = error.starts_with("the store has version 2, which this program does not know");
        assert_eq!(is_later, text == "use a later version of this program", "{error}");
        assert!(is_later || error.starts_with("the login in the store cannot be used: "), "{error}");
        assert!(!error.contains("secret") && !error.contains("refresh"), "{error}");
        assert_eq!(store.load(&documents.account.token_name()), Ok(Some(document.into_bytes())));
    }
    store.save(&format!("{KEY_PREFIX}{}", documents.account.hash), b"damaged").unwrap();
    let error = run(documents.dpop_key()).unwrap_err();
    assert!(error.0.contains("is damaged. Remove it and log in again"), "{error}");
}
