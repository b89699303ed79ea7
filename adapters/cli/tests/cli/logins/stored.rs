//! `mcpwire whoami` and `mcpwire logout`, and tokens that are refreshed while a command ends or the disk is full.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::login::{Guarded, answer, login_page, visit};
use crate::support::{Finished, MCPWIRE, Running, each, run, wait_for};

#[test]
fn all_logins_are_shown_and_no_token() {
    let guarded = Guarded::start().configured();
    guarded.run("whoami").gives(0, "").says(&["not logged in anywhere"]);
    guarded.run("whoami --json").gives(0, "[]\n");
    assert!(!guarded.path().join("secrets/logins").exists(), "looking writes nothing");

    guarded.add_demo("demo");
    guarded.log_in("notes");
    guarded.log_in(&format!("--url {} --account work", guarded.server.url()));
    let all = guarded.assert_no_secret(guarded.run("whoami").exits(0)).shows(&["work"]);
    assert!(all.stdout.starts_with("notes\n"), "{all:?}");
    let all = guarded.assert_no_secret(guarded.run("whoami --json")).json();
    let accounts: Vec<_> = all.as_array().unwrap().iter().map(|login| (&login["server"], &login["account"])).collect();
    assert_eq!(accounts, [(&json!("notes"), &json!(null)), (&json!(null), &json!("work"))]);

    let one = guarded.run("whoami notes --json").json();
    let issuer = json!(guarded.authorization.issuer());
    assert_eq!((&one["issuer"], &one["url"]), (&issuer, &json!(guarded.server.url())));
    assert_eq!((&one["can_refresh"], &one["token_type"]), (&json!(true), &json!("Bearer")));
    assert_eq!(one["client_source"], "registered");
    assert!(one["expires_at"].as_str().unwrap().ends_with('Z'), "{one}");
    assert!(one["kept_in"].as_str().unwrap().contains("secrets/logins"), "{one}");
}

#[test]
fn a_logout_deletes_one_login_and_revokes_its_tokens_if_that_is_asked_for() {
    let guarded = Guarded::start();
    let url = guarded.server.url();
    let [login, work] = [format!("--url {url}"), format!("--url {url} --account work")];
    guarded.log_in(&login);
    guarded.log_in(&work);
    guarded.run(&format!("logout {login}")).gives(0, &format!("logged out of {url}\n"));
    guarded.run(&format!("ping {login}")).exits(6);
    guarded.run(&format!("ping {work}")).exits(0);
    assert!(guarded.authorization.requests_to(Endpoint::Revocation).is_empty());
    // Again, there is nothing to do.
    guarded.run(&format!("logout {login}")).gives(0, &format!("there was no login to {url}\n"));
    let revoked = guarded.run(&format!("logout {work} --revoke --json"));
    assert_eq!(revoked.json(), json!({ "had_login": true, "revocation": "revoked" }), "{revoked:?}");
    // The login is deleted even if its tokens cannot be revoked.
    guarded.log_in(&login);
    guarded.authorization.on_request(|request| request.url.contains("revo").then(|| HttpAnswer::status(500)));
    let refused = guarded.run(&format!("logout {login} --revoke"));
    refused.gives(0, &format!("logged out of {url}\n")).says(&["not revoked"]);
    guarded.run("whoami --json").gives(0, "[]\n");
}

#[test]
fn only_servers_over_http_have_logins() {
    let guarded = Guarded::start();
    guarded.add_demo("demo");
    for command in ["login", "logout", "whoami"] {
        guarded.run(&[command, "demo"]).exits(2).says(&["only servers over HTTP have logins"]);
        guarded.run(&[command, "dmo"]).exits(2).says(&["Did you mean `demo`?"]);
        guarded.run(&[command, "https://mcp.example.com/mcp"]).says(&["--url"]);
        guarded.run(&[command, "--url", "mcp.example.com"]).exits(2);
    }
}

#[test]
fn a_login_that_others_can_read_is_refused_by_name() {
    let guarded = Guarded::start();
    let by_url = format!("--url {}", guarded.server.url());
    guarded.log_in(&by_url);
    fs::set_permissions(guarded.path().join("secrets/logins"), Permissions::from_mode(0o755)).unwrap();
    for command in ["login", "logout", "whoami"] {
        guarded.run(&format!("{command} {by_url}")).exits(3).says(&["secrets/logins", "private"]);
    }
}

/// Time for which the authorization server holds its responses back.
const SLOW: Duration = Duration::from_secs(2);

/// Time until a response that no command waits for.
const NEVER: Duration = Duration::from_secs(600);

/// Returns a server with a stored login, whose access token expires in so many seconds, after a life of an hour.
fn logged_in(expires_in: i64) -> Guarded {
    let guarded = Guarded::start().configured();
    guarded.log_in("notes");
    let path = document(guarded.path()).expect("a stored login");
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap();
    document["token"]["expires_at"] = json!(now + expires_in);
    document["token"]["obtained_at"] = json!(now + expires_in - 3600);
    fs::write(&path, document.to_string()).unwrap();
    guarded
}

/// Returns the file of the only login.
fn document(directory: &Path) -> Option<PathBuf> {
    files(directory).into_iter().find(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("token-") && !name.contains('.')
    })
}

/// Returns the files in a directory and below.
fn files(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns a member of the stored token, such as `refresh_token`.
fn stored(guarded: &Guarded, member: &str) -> String {
    let path = document(guarded.path()).expect("a login");
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    document["token"][member].as_str().expect("a text").to_owned()
}

fn refreshes(authorization: &AuthorizationServer) -> usize {
    let requests = authorization.requests_to(Endpoint::Token);
    requests.iter().filter(|request| request.parameter("grant_type").as_deref() == Some("refresh_token")).count()
}

/// Starts a command, and waits until the authorization server has used up the refresh token.
fn begin_refresh(guarded: &Guarded, line: &str, latency: Duration) -> Running {
    guarded.authorization.latency(latency);
    let before = refreshes(&guarded.authorization);
    let running = guarded.begin(line);
    wait_for("the refresh", || (refreshes(&guarded.authorization) > before).then_some(()));
    running
}

/// Checks that the newest refresh token is stored, and that the next command can use it: the authorization server takes an old one
/// once, and revokes the login if it comes again.
#[track_caller]
fn assert_alive(guarded: &Guarded, ended: &Finished) {
    guarded.authorization.latency(Duration::ZERO);
    let stored = stored(guarded, "refresh_token");
    assert!(guarded.authorization.is_refresh_token_valid(&stored), "an old token is stored: {ended:?}");
    guarded.authorization.revoke_access_tokens();
    guarded.run(&format!("ping --url {}", guarded.server.url())).exits(0);
    assert_eq!(guarded.authorization.reused_refresh_tokens(), 0, "{ended:?}");
}

/// A command that needs the token: a call by the name of the server, or a command with its URL, or the hub.
#[derive(Clone, Copy, Debug)]
enum Uses {
    Name,
    Url,
    Hub,
}

impl Uses {
    fn line(self, url: &str) -> String {
        match self {
            Uses::Name => "call notes__echo".to_owned(),
            Uses::Url => format!("call echo --url {url}"),
            Uses::Hub => "hub run".to_owned(),
        }
    }
}

/// What ends a process during a refresh.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The result of its only request.
    Result,
    Signal(Signal),
    Timeout,
    /// A signal, after which the refresh gets no answer.
    NoAnswer,
    /// A second signal, while the process waits for the answer.
    SecondSignal,
}

#[test]
fn a_process_ends_after_its_refresh_is_stored_or_names_the_login_that_may_be_lost() {
    use End::{NoAnswer, SecondSignal, Timeout};
    use Uses::{Hub, Name, Url};

    let [interrupt, terminate, hang_up] = [Signal::INT, Signal::TERM, Signal::HUP].map(End::Signal);
    let signals = [(Name, interrupt), (Name, hang_up), (Url, terminate), (Hub, interrupt), (Hub, terminate)];
    let others = [(Name, End::Result), (Url, End::Result), (Name, Timeout), (Url, Timeout)];
    let lost = [(Name, NoAnswer), (Url, NoAnswer), (Name, SecondSignal), (Hub, SecondSignal)];
    each(signals.into_iter().chain(others).chain(lost), |(uses, end)| {
        // A token that is about to expire is refreshed beside the request, and an expired one before it.
        let guarded = logged_in(if matches!(end, End::Result) { 30 } else { -1 });
        let url = guarded.server.url();
        let line = uses.line(&url);
        let ended = match end {
            End::Result => {
                guarded.authorization.latency(SLOW);
                // The MCP server is slower than the refresh is sent.
                let authorization = guarded.authorization.clone();
                guarded.server.on_request(move |_| {
                    wait_for("the refresh", || (refreshes(&authorization) > 0).then_some(()));
                    None
                });
                let finished = guarded.run(&line).gives(0, "hi\n");
                assert_eq!(refreshes(&guarded.authorization), 1, "{finished:?}");
                finished
            }
            End::Signal(signal) => {
                let running = begin_refresh(&guarded, &line, SLOW);
                running.signal(signal);
                running.finish().exits(if matches!(uses, Hub) { 0 } else { 130 })
            }
            Timeout => {
                // The refresh begins before the timeout also on a busy machine, and ends after it. By name, the start of the server
                // is not part of the timeout.
                let finished = begin_refresh(&guarded, &(line + " --timeout 3"), 3 * SLOW).finish();
                assert!(matches!(uses, Name) || finished.code() == 5, "{finished:?}");
                finished
            }
            NoAnswer => {
                let target = if matches!(uses, Url) { format!("--url {url}") } else { "notes".to_owned() };
                let lost = "may be lost: a token refresh was sent, and no answer came within 10 s";
                let ended = begin_refresh(&guarded, &line, NEVER).interrupt().exits(130);
                ended.says(&[lost, &format!("`mcpwire login {target}`")]);
                return;
            }
            SecondSignal => {
                let running = begin_refresh(&guarded, &line, NEVER);
                running.signal(Signal::INT);
                running.wait_for_stderr("waiting for");
                let lost = "may be lost: a token refresh was sent, and a signal";
                running.interrupt().exits(130).says(&[lost]).hides(&["within 10 s"]);
                return;
            }
        };
        assert_alive(&guarded, &ended);
    });
}

#[test]
fn a_signal_ends_a_login_after_the_exchange_of_its_code() {
    let guarded = Guarded::start().configured();
    let running = guarded.begin("login notes");
    let address = answer(&login_page(&running));
    guarded.authorization.latency(SLOW);
    visit(&address);
    wait_for("the exchange", || (!guarded.authorization.requests_to(Endpoint::Token).is_empty()).then_some(()));
    assert_alive(&guarded, &running.interrupt());
}

/// Runs `mcpwire` as on a full disk: each write to a file fails.
fn run_without_space(guarded: &Guarded, line: &str) -> Finished {
    let program = guarded.command(line);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", MCPWIRE]).args(program.get_args());
    run(&mut shell)
}

#[test]
fn no_token_is_refreshed_on_a_full_disk_and_the_error_names_the_file_if_it_has_expired() {
    for uses in [Uses::Name, Uses::Url] {
        let guarded = logged_in(-1);
        let url = guarded.server.url();
        let finished = run_without_space(&guarded, &uses.line(&url)).fails().says(&["token-", "cannot be written"]);
        assert_eq!(refreshes(&guarded.authorization), 0, "the refresh token is not used up: {finished:?}");
        guarded.run(&uses.line(&url)).gives(0, "hi\n");
    }
    let guarded = logged_in(30);
    let finished = run_without_space(&guarded, &Uses::Url.line(&guarded.server.url())).exits(0);
    assert_eq!(refreshes(&guarded.authorization), 0, "{finished:?}");
}

#[test]
fn a_logout_leaves_no_token_on_the_disk_after_a_kill() {
    let guarded = logged_in(3600);
    let file = document(guarded.path()).unwrap();
    let tokens = ["access_token", "refresh_token"].map(|name| stored(&guarded, name));
    // A process that is killed before the rename leaves the new document under its temporary name.
    let name = file.file_name().unwrap().to_str().unwrap();
    fs::copy(&file, file.with_file_name(format!(".{name}.0123456789abcdef.tmp"))).unwrap();
    let with_token = || {
        let has_token = |path: &PathBuf| {
            let content = fs::read(path).unwrap();
            tokens.iter().any(|token| content.windows(token.len()).any(|part| part == token.as_bytes()))
        };
        files(guarded.path()).into_iter().filter(has_token).collect::<Vec<_>>()
    };
    assert_eq!(with_token().len(), 2);
    guarded.run(&format!("logout --url {}", guarded.server.url())).exits(0);
    assert_eq!(with_token(), [] as [PathBuf; 0]);
}
