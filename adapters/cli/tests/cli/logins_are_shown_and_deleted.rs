//! `mcpwire whoami` and `mcpwire logout`.
#![cfg(target_os = "linux")]

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use serde_json::json;

use crate::support::configured::add_demo;
use crate::support::guarded::Guarded;

#[test]
fn all_logins_are_shown_and_no_token() {
    let guarded = Guarded::start().configured();
    let nobody = guarded.run(&["whoami"]);
    assert_eq!((nobody.code(), nobody.stdout.as_str()), (0, ""), "{nobody:?}");
    assert!(nobody.stderr.contains("not logged in anywhere"), "{nobody:?}");
    assert_eq!(guarded.run(&["whoami", "--json"]).json(), json!([]));
    assert!(!guarded.place().join("secrets/logins").exists(), "looking writes nothing");

    add_demo(guarded.place(), "demo");
    guarded.log_in(&["notes"]);
    guarded.log_in(&["--url", &guarded.server.url(), "--account", "work"]);
    let all = guarded.run(&["whoami"]);
    assert_eq!(all.code(), 0, "{all:?}");
    assert!(all.stdout.starts_with("notes\n") && all.stdout.contains("work"), "{all:?}");
    guarded.assert_no_secret(&all);
    let all = guarded.run(&["whoami", "--json"]);
    guarded.assert_no_secret(&all);
    let logins = all.json();
    let accounts: Vec<_> =
        logins.as_array().unwrap().iter().map(|login| (&login["server"], &login["account"])).collect();
    assert_eq!(accounts, [(&json!("notes"), &json!(null)), (&json!(null), &json!("work"))]);

    let one = guarded.run(&["whoami", "notes", "--json"]).json();
    let issuer = json!(guarded.authorization.issuer());
    assert_eq!((&one["issuer"], &one["url"]), (&issuer, &json!(guarded.server.url())));
    assert_eq!((&one["can_refresh"], &one["token_type"]), (&json!(true), &json!("Bearer")));
    assert_eq!(one["client_source"], "registered");
    assert!(one["expires_at"].as_str().unwrap().ends_with('Z'), "{one}");
    assert!(one["kept_in"].as_str().unwrap().contains("secrets/logins"), "{one}");
}

#[test]
fn a_logout_deletes_one_login() {
    let guarded = Guarded::start();
    let url = guarded.server.url();
    guarded.log_in(&["--url", &url]);
    guarded.log_in(&["--url", &url, "--account", "work"]);
    let finished = guarded.run(&["logout", "--url", &url]);
    assert_eq!((finished.code(), finished.stdout), (0, format!("logged out of {url}\n")));
    assert_eq!(guarded.run(&["ping", "--url", &url]).code(), 6);
    assert_eq!(guarded.run(&["ping", "--url", &url, "--account", "work"]).code(), 0);
    assert!(guarded.authorization.requests_to(Endpoint::Revocation).is_empty());
    // Again, there is nothing to do.
    let again = guarded.run(&["logout", "--url", &url]);
    assert_eq!((again.code(), again.stdout), (0, format!("there was no login to {url}\n")));
    let left = guarded.run(&["whoami", "--json"]).json();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
}

#[test]
fn tokens_are_revoked_if_that_is_asked_for() {
    let guarded = Guarded::start().configured();
    guarded.log_in(&["notes"]);
    let finished = guarded.run(&["logout", "notes", "--revoke", "--json"]);
    assert_eq!(finished.json(), json!({ "had_login": true, "revocation": "revoked" }), "{finished:?}");
    assert!(!guarded.authorization.requests_to(Endpoint::Revocation).is_empty());
}

#[test]
fn a_login_is_deleted_even_if_its_tokens_cannot_be_revoked() {
    let guarded = Guarded::start().configured();
    guarded.log_in(&["notes"]);
    guarded.authorization.on_request(|request| request.url.contains("revo").then(|| HttpAnswer::status(500)));
    let finished = guarded.run(&["logout", "notes", "--revoke"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "logged out of notes\n"), "{finished:?}");
    assert!(finished.stderr.contains("not revoked"), "{finished:?}");
    assert_eq!(guarded.run(&["whoami", "notes"]).code(), 6);
}

#[test]
fn only_servers_over_http_have_logins() {
    let guarded = Guarded::start();
    add_demo(guarded.place(), "demo");
    for command in ["login", "logout", "whoami"] {
        let finished = guarded.run(&[command, "demo"]);
        assert_eq!(finished.code(), 2, "{finished:?}");
        assert!(finished.stderr.contains("only servers over HTTP have logins"), "{finished:?}");
        let unknown = guarded.run(&[command, "dmo"]);
        assert_eq!(unknown.code(), 2, "{unknown:?}");
        assert!(unknown.stderr.contains("Did you mean `demo`?"), "{unknown:?}");
        let url = guarded.run(&[command, "https://mcp.example.com/mcp"]);
        assert!(url.stderr.contains("--url"), "{url:?}");
        assert_eq!(guarded.run(&[command, "--url", "mcp.example.com"]).code(), 2);
    }
}

#[test]
fn a_login_that_others_can_read_is_refused_by_name() {
    use std::os::unix::fs::PermissionsExt as _;

    let guarded = Guarded::start();
    let url = guarded.server.url();
    guarded.log_in(&["--url", &url]);
    let logins = guarded.place().join("secrets/logins");
    std::fs::set_permissions(&logins, std::fs::Permissions::from_mode(0o755)).unwrap();
    for command in ["login", "logout", "whoami"] {
        let finished = guarded.run(&[command, "--url", &url]);
        assert_eq!(finished.code(), 3, "{command}: {finished:?}");
        assert!(finished.stderr.contains("secrets/logins") && finished.stderr.contains("private"), "{finished:?}");
    }
}
