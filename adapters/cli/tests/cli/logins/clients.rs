//! Secrets of configured clients go to the authorization server that the user has named, and to no other server or process.
#![cfg(target_os = "linux")]

use std::net::TcpListener;

use mcpwire_testkit::authorization::{Client, Deviation, Endpoint};
use serde_json::{Value, json};

use crate::support::login::{Browser, Guarded, agree, agree_at, login_page, url_in};
use crate::support::{Finished, Running, run, wait_for};

const SECRET: &str = "swordfish-of-the-client";

/// Returns a server whose configuration `notes` names a client with a secret.
fn configured() -> Guarded {
    let guarded = Guarded::start().configured();
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let redirect_uri = format!("http://127.0.0.1:{port}/callback");
    guarded.authorization.client(Client::new("mine").secret(SECRET).redirect_uri(&redirect_uri));
    guarded.edit_servers(|whole| {
        let server = &mut whole["servers"][0];
        let reference = format!("mcp_{}#client_secret", server["id"].as_str().expect("an id"));
        let secret = json!({"secret_ref": reference});
        server["oauth"] = json!({"client_id": "mine", "client_secret": secret, "redirect_uri": redirect_uri});
    });
    guarded.run_with_input("secret set notes client_secret", &format!("{SECRET}\n")).exits(0);
    guarded
}

fn configured_issuer(guarded: &Guarded) -> Value {
    guarded.servers()["servers"][0]["oauth"]["issuer"].clone()
}

#[test]
fn without_a_terminal_a_secret_without_an_issuer_is_an_error_that_names_the_setting() {
    let guarded = configured();
    for way in ["", "--no-browser", "--device", "--json"] {
        let finished = guarded.run(&format!("login notes {way}")).exits(2);
        let finished = finished.says(&["oauth.issuer", "`mine`", &guarded.authorization.issuer()]);
        assert!(finished.stderr.contains("--issuer URL"), "{finished:?}");
    }
    guarded.assert_nothing_was_sent();
}

#[test]
fn the_issuer_of_the_command_line_is_written_to_the_configuration() {
    let guarded = configured();
    let issuer = guarded.authorization.issuer();
    let wrong = guarded.run("login notes --issuer https://other.example").exits(2);
    wrong.says(&["https://other.example", &issuer]);
    // A server of the command line needs a client with its issuer.
    let by_url = format!("login --url {} --issuer {issuer}", guarded.server.url());
    guarded.run(&by_url).exits(2).says(&["--client-id"]);
    assert_eq!(configured_issuer(&guarded), Value::Null);
    guarded.assert_nothing_was_sent();
    guarded.log_in(&format!("notes --issuer {issuer}"));
    assert_eq!(configured_issuer(&guarded), json!(issuer));
    guarded.run("call notes__echo").gives(0, "hi\n");
}

#[test]
fn a_terminal_is_asked_once_and_enter_means_no() {
    let guarded = configured();
    let issuer = guarded.authorization.issuer();
    let answer_with =
        |typed: &str| guarded.at_terminal("login notes", &[("BROWSER", "/bin/false")]).answer("[y/N]", typed);
    for typed in ["\n", "n\n", "\u{4}"] {
        answer_with(typed).finish().exits(2).says(&[&issuer, "mine", "oauth.issuer"]);
    }
    guarded.assert_nothing_was_sent();
    assert_eq!(configured_issuer(&guarded), Value::Null);

    let login = answer_with("y\n");
    agree(&login);
    let login = login.finish().exits(0);
    assert_eq!(login.stderr.matches("[y/N]").count(), 1, "{login:?}");
    assert_eq!(configured_issuer(&guarded), json!(issuer));
}

/// Environment variables with the secrets of the clients `mine` and `typed`.
const SECRETS: [(&str, &str); 2] =
    [("THE_SECRET", "swordfish-of-the-client-mine"), ("TYPED_SECRET", "swordfish-of-the-client-typed")];

/// Imports the server as `notes`, with the client `mine`.
fn imported(options: &str) -> Guarded {
    let guarded = Guarded::start();
    for (id, (_, secret)) in ["mine", "typed"].into_iter().zip(SECRETS) {
        guarded.authorization.client(Client::new(id).secret(secret).redirect_uri("http://127.0.0.1/callback"));
    }
    guarded.authorization.deviate(Deviation::AnyLoopbackPort);
    let oauth = json!({"clientId": "mine", "clientSecret": "${THE_SECRET}"});
    let file = guarded.write_import(&json!({"notes": {"type": "http", "url": guarded.server.url(), "oauth": oauth}}));
    run_with_secrets(&guarded, &format!("server import --from claude-code {file} {options}")).exits(0);
    guarded
}

/// Runs `mcpwire` with the secrets of both clients.
fn run_with_secrets(guarded: &Guarded, line: &str) -> Finished {
    run(guarded.command(line).envs(SECRETS))
}

/// Logs in to `notes` with these options and the secrets of both clients, as far as the login goes.
fn log_in_with_secrets(guarded: &Guarded, options: &str) -> Finished {
    let running = Running::start(guarded.command(&format!("login notes {options}")).envs(SECRETS), "");
    let page = wait_for("the URL of the login page, or the end", || {
        let text = running.stderr_so_far();
        url_in(&text).or_else(|| text.contains("error:").then_some(text))
    });
    if page.starts_with("http") {
        agree_at(&page);
    }
    running.finish()
}

#[test]
fn the_options_of_a_login_do_not_end_the_approval_of_an_imported_server() {
    let guarded = imported("--trust");
    let issuer = guarded.authorization.issuer();
    run_with_secrets(&guarded, "login notes").exits(2).says(&["--issuer URL"]);
    guarded.assert_nothing_was_sent();
    log_in_with_secrets(&guarded, &format!("--issuer {issuer}")).exits(0);
    assert_eq!(configured_issuer(&guarded), json!(issuer));
    // It is still approved.
    run_with_secrets(&guarded, "call notes__echo").gives(0, "hi\n");
}

#[test]
fn a_client_of_the_command_line_leaves_the_approval_and_the_secret_of_the_imported_one_alone() {
    let guarded = imported("--trust");
    let before = guarded.servers();
    let typed = format!("--client-id typed --issuer {}", guarded.authorization.issuer());
    // The client has a secret, and none was named.
    log_in_with_secrets(&guarded, &typed).fails();
    let with_secret = typed + " --client-secret-env TYPED_SECRET";
    log_in_with_secrets(&guarded, &with_secret).exits(0);
    log_in_with_secrets(&guarded, &(with_secret + " --client-auth-method client_secret_post")).exits(0);
    assert_eq!(guarded.servers(), before);
    run_with_secrets(&guarded, "call notes__echo").gives(0, "hi\n");
    for request in guarded.authorization.requests_to(Endpoint::Token) {
        assert!(!format!("{request:?}").contains(SECRETS[0].1), "{request:?}");
    }
}

#[test]
fn the_options_of_a_login_approve_nothing() {
    let guarded = imported("");
    let (issuer, before) = (format!("--issuer {}", guarded.authorization.issuer()), guarded.servers());
    let client = "--client-id typed --client-secret-env TYPED_SECRET";
    for options in [&*issuer, client, "--redirect-uri http://localhost:3118/callback"] {
        log_in_with_secrets(&guarded, options).fails().says(&["needs your approval"]);
    }
    guarded.assert_nothing_was_sent();
    assert_eq!(guarded.servers(), before);
}

/// Fails if the notes of a process contain a secret of the login.
#[track_caller]
fn assert_no_secret(guarded: &Guarded, notes: &str) {
    let tokens = guarded.authorization.requests_to(Endpoint::Token);
    let verifiers: Vec<_> = tokens.iter().filter_map(|request| request.parameter("code_verifier")).collect();
    let secrets = guarded.authorization.secrets();
    assert!(!verifiers.is_empty() && secrets.len() >= 3, "{verifiers:?} {secrets:?}");
    for secret in secrets.iter().chain(&verifiers) {
        assert!(!notes.contains(secret.as_str()), "{secret} in {notes}");
    }
}

/// Logs in at a terminal. Returns how the browser was started, and what the terminal has shown beside the URL of the page.
fn log_in_at_terminal(guarded: &Guarded, line: &str, variables: &[(&str, &str)]) -> (String, String) {
    let browser = Browser::new(guarded);
    let login = guarded.at_terminal(line, &[variables, &[("BROWSER", &browser.program)]].concat());
    let (notes, page) = (browser.notes(), login_page(&login));
    assert!(notes.contains(&page), "{notes}");
    agree_at(&page);
    (notes, login.finish().exits(0).stderr.replace(&page, ""))
}

#[test]
fn the_browser_gets_the_url_of_the_login_and_neither_a_secret_nor_a_variable_with_one() {
    let [header, query] = [("HEADER_PART", "kept-in-the-header"), ("QUERY_PART", "kept-in-the-query")];
    let variables = [("CLIENT_SECRET", SECRET), header, query, ("PLAIN_PART", "german")];
    for is_configured in [false, true] {
        let guarded = Guarded::start();
        let client = Client::new("client").secret(SECRET).redirect_uri("http://127.0.0.1/callback");
        guarded.authorization.client(client).deviate(Deviation::AnyLoopbackPort);
        let (url, issuer) = (guarded.server.url(), guarded.authorization.issuer());
        let target = if is_configured {
            let url = format!("{url}?api_key=${{QUERY_PART}}&lang=${{PLAIN_PART}}");
            let oauth = json!({"clientId": "client", "clientSecret": "${CLIENT_SECRET}"});
            let headers = json!({"X-Api-Key": "prefix-${HEADER_PART}-suffix", "X-Language": "${PLAIN_PART}"});
            let server = json!({"type": "http", "url": url, "oauth": oauth, "headers": headers});
            let file = guarded.write_import(&json!({"notes": server}));
            let import = format!("server import --from claude-code {file} --trust");
            run(guarded.command(&import).envs(variables)).exits(0);
            run(guarded.command("server show notes").envs(variables)).shows(&["german"]).hides(&["kept-in"]);
            "notes".to_owned()
        } else {
            format!("--url {url} --client-id client --client-secret-env CLIENT_SECRET")
        };
        let (notes, shown) = log_in_at_terminal(&guarded, &format!("login {target} --issuer {issuer}"), &variables);
        assert_no_secret(&guarded, &notes);
        assert_no_secret(&guarded, &shown);
        assert!(notes.contains("PLAIN_PART=german"), "{notes}");
        assert!(!notes.contains("CLIENT_SECRET") && !notes.contains(SECRET), "{notes}");
        // Only a configuration says that these variables contain secrets.
        for (name, _) in [header, query] {
            assert_eq!(notes.contains(name), !is_configured, "{notes}");
        }
    }
}
