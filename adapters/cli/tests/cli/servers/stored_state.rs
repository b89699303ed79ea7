//! The program uses what an earlier version has stored, and refuses what a later version has stored.
//!
//! `tests/stored_state/home` was written by the version before each stored file had a version; `make.py` beside it makes it again.
#![cfg(target_os = "linux")]

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcpwire_testkit::authorization::{Client, Endpoint};
use serde_json::{Value, json};

use crate::support::login::Guarded;
use crate::support::{Finished, MCPWIRE, Running};

const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stored_state/home");

/// The URL of the server in the stored files. The names of the files depend on it.
const SERVER: &str = "http://127.0.0.1:18472/mcp";
const PORTS: [u16; 2] = [18471, 18472];
const SECRET: &str = "fake-secret-of-the-client";

/// Held by the test that serves at [`PORTS`].
static SERVING: Mutex<()> = Mutex::new(());

/// The stored files, in a directory of one test, and the servers that know the logins in them.
struct Home {
    guarded: Guarded,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Home {
    type Target = Guarded;

    fn deref(&self) -> &Guarded {
        &self.guarded
    }
}

impl Home {
    fn open() -> Self {
        let turn = SERVING.lock().unwrap_or_else(PoisonError::into_inner);
        let guarded = Guarded::start_at(PORTS);
        assert_eq!(guarded.server.url(), SERVER);
        copy_private(Path::new(HOME), guarded.path());
        let home = Self { guarded, _turn: turn };
        home.tell_the_authorization_server();
        home
    }

    /// Adds the clients and logins of the stored files to the authorization server.
    fn tell_the_authorization_server(&self) {
        for path in self.files("secrets/logins/client-") {
            for client in read(&path)["clients"].as_array().expect("a list") {
                let text = |name: &str| client[name].as_str().expect("a text");
                self.authorization.client(Client::new(text("client_id")).redirect_uri(text("redirect_uri")));
            }
        }
        let registered = Client::new("registered").secret(SECRET).redirect_uri("http://127.0.0.1:18473/callback");
        self.authorization.client(registered);
        for path in self.files("secrets/logins/token-") {
            let token = &read(&path)["token"];
            if let Some(refresh_token) = token["refresh_token"].as_str() {
                let text = |name: &str| token[name].as_str().expect("a text");
                let key = token["dpop_key"].as_str();
                self.authorization.remember_login(refresh_token, text("client_id"), text("resource"), key);
            }
        }
    }

    /// Returns the files whose path begins with `prefix`, without locks.
    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let (directory, start) = prefix.rsplit_once('/').expect("a file in a directory");
        let entries =
            fs::read_dir(self.path().join(directory)).expect("it can be read").map(|entry| entry.expect("an entry"));
        let is_wanted = |name: &str| name.starts_with(start);
        let wanted = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_wanted));
        wanted.map(|entry| entry.path()).filter(|path| path.extension() != Some("lock".as_ref())).collect()
    }

    /// Runs `mcpwire`, which servers of the configuration start, too.
    fn run_with_servers(&self, line: &str) -> Finished {
        let program = Path::new(MCPWIRE).parent().expect("a directory").display();
        let mut command = self.command(line);
        Running::start(command.env("PATH", format!("{program}:/usr/bin:/bin")), "fake-secret\n").finish()
    }

    /// Fails unless each command ends with an error that names one of these files and its version, and changes none of them.
    #[track_caller]
    fn assert_refused(&self, files: &[PathBuf], commands: &[&str]) {
        let contents = || files.iter().map(|path| fs::read(path).expect("it can be read")).collect::<Vec<_>>();
        let before = contents();
        for command in commands {
            // A login that is not refused would wait for its user.
            let limit = if command.starts_with("login") { " --timeout 30s" } else { "" };
            let finished = self.run_with_servers(&format!("{command}{limit}")).fails();
            let finished = finished.says(&["version 2", "a later version"]);
            let is_named = files.iter().any(|path| finished.stderr.contains(path.to_str().expect("a plain path")));
            assert!(is_named && contents() == before, "the error names a file, and none has changed: {finished:?}");
        }
    }

    fn grants(&self) -> Vec<String> {
        let requests = self.authorization.requests_to(Endpoint::Token);
        requests.iter().filter_map(|request| request.parameter("grant_type")).collect()
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("it can be read")).expect("JSON")
}

/// Adds the members of `later` to the JSON object in a file, or replaces another JSON value.
fn make_later(path: &Path, later: &str) {
    let mut later: Value = serde_json::from_str(later).expect("JSON");
    if let (Value::Object(mut members), Value::Object(changed)) = (read(path), &mut later) {
        members.append(changed);
        *changed = members;
    }
    fs::write(path, later.to_string()).expect("it is written");
}

/// Copies a directory. Git does not keep that files are private.
fn copy_private(from: &Path, to: &Path) {
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("it is private");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            fs::create_dir(&to).expect("a directory");
            copy_private(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("a copy");
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("it is private");
        }
    }
}

#[test]
fn each_login_of_an_earlier_version_is_used_refreshed_and_deleted() {
    let home = Home::open();
    let whoami = home.run("whoami --json").json();
    assert!(whoami.to_string().contains("listed"), "{whoami}");
    let by_url = format!("--url {SERVER} --account listed");
    for server in ["browser", "device", "registered", "bound", "machine", &by_url] {
        let before = home.grants().len();
        // The command line of a call names no account.
        if server != by_url {
            home.run(&format!("call echo --server {server}")).gives(0, "hi\n");
            let grant = if server == "machine" { "client_credentials" } else { "refresh_token" };
            assert_eq!(home.grants()[before..], [grant], "{server}");
        }
        home.run(&format!("logout {server}")).exits(0).hides(&["there was no login"]);
        home.run(&format!("whoami {server}")).exits(6);
    }
    assert!(home.authorization.requests_to(Endpoint::Authorization).is_empty(), "nobody had to log in");
    assert!(home.authorization.requests_to(Endpoint::Registration).is_empty());
    assert_eq!(
        home.files("secrets/logins/issuer-").len(),
        1,
        "the issuer of the registered client outlives its logins"
    );
}

#[test]
fn a_waiting_login_of_an_earlier_version_does_not_prevent_another() {
    let home = Home::open();
    home.log_in("waiting");
    assert!(home.files("secrets/logins/login-").is_empty());
}

#[test]
fn approvals_tools_and_processes_of_an_earlier_version_are_known() {
    let home = Home::open();
    let children = || read(&home.path().join("state/ledger.json"))["children"].clone();
    assert_ne!(children(), json!([]));
    for tool in ["demo__echo", "approved__echo"] {
        home.run_with_servers(&format!("call {tool} message=hi")).gives(0, "hi\n");
    }
    assert_eq!(children(), json!([]), "the processes have ended");
}

/// Stored files, the members by which a later version differs, and the commands that must refuse such a file.
const LATER: [(&str, &str, &[&str]); 8] = [
    (
        "mcp/servers.json",
        r#"{"version":2}"#,
        &["server list", "server add another --url http://a/mcp", "server remove browser", "call browser__echo"],
    ),
    (
        "secrets/mcp_",
        r#"{"v":2}"#,
        &[
            "secret set registered another",
            "secret list registered",
            "secret remove registered client_secret",
            "call echo --server registered",
        ],
    ),
    ("state/ledger.json", r#"{"version":2}"#, &["call demo__echo"]),
    ("cache/catalog/", r#"{"version":2}"#, &["call demo__echo", "call approved__echo"]),
    (
        "secrets/logins/token-",
        // A later version may have other members, too.
        r#"{"token":{"version":2,"tokens":[]}}"#,
        &["call echo --server browser", "login browser", "login device --device", "logout browser", "whoami browser"],
    ),
    ("secrets/logins/login-", r#"{"version":2,"logins":[]}"#, &["login waiting", "logout waiting"]),
    (
        "secrets/logins/client-",
        r#"{"version":2,"registrations":[]}"#,
        &["login waiting", "login device --device", "login waiting --restart"],
    ),
    ("secrets/logins/servers", r#"{"version":2,"servers":[]}"#, &["whoami"]),
];

#[test]
fn files_of_a_later_version_are_refused_by_name_and_stay_as_they_are() {
    let home = Home::open();
    for (file, later, commands) in LATER {
        let files = home.files(file);
        assert!(!files.is_empty(), "{file}");
        let before: Vec<_> = files.iter().map(|path| fs::read(path).expect("it can be read")).collect();
        for path in &files {
            make_later(path, later);
        }
        home.assert_refused(&files, commands);
        for (path, bytes) in files.iter().zip(before) {
            fs::write(path, bytes).expect("it is written");
        }
    }
}

#[test]
fn keys_and_issuers_of_a_later_version_are_refused_too() {
    let home = Home::open();
    let keys = home.files("secrets/logins/key-");
    // Earlier versions stored a key without JSON.
    fs::write(&keys[0], r#"{"version":2,"jwk":{}}"#).expect("it is written");
    home.assert_refused(&keys, &["call echo --server bound", "login bound"]);

    home.run("logout registered").exits(0);
    let issuers = home.files("secrets/logins/issuer-");
    make_later(&issuers[0], r#"{"version":2}"#);
    home.assert_refused(&issuers, &["login registered", "login registered --issuer http://127.0.0.1:18471"]);
}
