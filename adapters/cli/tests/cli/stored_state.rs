//! The program uses what an earlier version has stored, and refuses what a later version has stored.
//!
//! `tests/stored_state/home` was written by the version before each stored file had a version; `make.py` beside it makes it again.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcpwire_testkit::ScriptedServer;
use mcpwire_testkit::authorization::{AuthorizationServer, Client, Endpoint, ProtectedServer, Serving};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::guarded::{answer, login_page, visit};
use crate::support::{Finished, Running, command, wait_for};

const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stored_state/home");

/// The URL of the server in the stored files. The names of the files depend on it.
const SERVER: &str = "http://127.0.0.1:18472/mcp";
const PORTS: [u16; 2] = [18471, 18472];
const SECRET: &str = "fake-secret-of-the-client";

/// Held by the test that serves at [`PORTS`].
static SERVING: Mutex<()> = Mutex::new(());

/// The stored files, in a directory of one test, and the servers that know the logins in them.
struct Home {
    directory: TempDir,
    authorization: AuthorizationServer,
    server: ProtectedServer,
    _serving: [Serving; 2],
    _turn: MutexGuard<'static, ()>,
}

impl Home {
    fn open() -> Self {
        let turn = SERVING.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().expect("a directory");
        copy_private(Path::new(HOME), directory.path());
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
        // Tests of another checkout may serve there now.
        let serving = [
            wait_for("a port", || authorization.serve(PORTS[0]).ok()),
            wait_for("a port", || server.serve(PORTS[1]).ok()),
        ];
        let home = Home { directory, authorization, server, _serving: serving, _turn: turn };
        assert_eq!(home.server.url(), SERVER);
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

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the files whose path begins with `prefix`, without locks.
    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let (directory, start) = prefix.rsplit_once('/').expect("a file in a directory");
        let entries = fs::read_dir(self.path(directory)).expect("it can be read").map(|entry| entry.expect("an entry"));
        let is_wanted = |name: &str| name.starts_with(start);
        let wanted = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_wanted));
        wanted.map(|entry| entry.path()).filter(|path| path.extension() != Some("lock".as_ref())).collect()
    }

    fn words<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--config-dir", self.directory.path().to_str().expect("a plain path")]].concat()
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        self.begin(arguments).finish()
    }

    fn begin(&self, arguments: &[&str]) -> Running {
        Running::start(&self.words(arguments), "")
    }

    /// Runs `mcpwire`, which servers of the configuration start, too.
    fn run_with_servers(&self, arguments: &[&str]) -> (i32, String, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_mcpwire")).parent().expect("a directory").to_str().expect("a path");
        let input = self.path("input");
        fs::write(&input, "fake-secret\n").expect("it is written");
        let input = fs::File::open(input).expect("it opens");
        let output =
            command(&self.words(arguments)).env("PATH", format!("{program}:/usr/bin:/bin")).stdin(input).output();
        let output = output.expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code().expect("a status"), text(output.stdout), text(output.stderr))
    }

    fn grants(&self) -> Vec<String> {
        let requests = self.authorization.requests_to(Endpoint::Token);
        requests.iter().filter_map(|request| request.parameter("grant_type")).collect()
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("it can be read")).expect("JSON")
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
    let by_url = ["--url", SERVER, "--account", "listed"];
    let whoami = home.run(&["whoami", "--json"]).json();
    assert!(whoami.to_string().contains("listed"), "{whoami}");
    for (server, grant) in [
        (&["browser"][..], "refresh_token"),
        (&["device"], "refresh_token"),
        (&["registered"], "refresh_token"),
        (&["bound"], "refresh_token"),
        (&["machine"], "client_credentials"),
        (&by_url, "refresh_token"),
    ] {
        let before = home.grants().len();
        let named = ["--server", server[0]];
        let place = if server.len() == 1 { &named[..] } else { &server[..2] };
        // The command line of a call names no account.
        if server.len() == 1 {
            let call = home.run(&[&["call", "echo"], place].concat());
            assert_eq!((call.code(), call.stdout.as_str()), (0, "hi\n"), "{server:?}: {call:?}");
            assert_eq!(home.grants()[before..], [grant], "{server:?}");
        }
        let logout = home.run(&[&["logout"], server].concat());
        assert_eq!(logout.code(), 0, "{logout:?}");
        assert!(!logout.stdout.contains("there was no login"), "{server:?}: {logout:?}");
        let whoami = home.run(&[&["whoami"], server].concat());
        assert_eq!(whoami.code(), 6, "{server:?}: {whoami:?}");
    }
    assert_eq!(home.authorization.requests_to(Endpoint::Authorization).len(), 0, "nobody had to log in");
    assert_eq!(home.authorization.requests_to(Endpoint::Registration).len(), 0);
    assert_eq!(
        home.files("secrets/logins/issuer-").len(),
        1,
        "the issuer of the registered client outlives its logins"
    );
}

#[test]
fn a_waiting_login_of_an_earlier_version_does_not_prevent_another() {
    let home = Home::open();
    let running = home.begin(&["login", "waiting"]);
    assert_eq!(visit(&answer(&login_page(&running))).status, 200);
    let finished = running.finish();
    assert_eq!(finished.code(), 0, "{finished:?}");
    assert!(home.files("secrets/logins/login-").is_empty());
}

#[test]
fn approvals_tools_and_processes_of_an_earlier_version_are_known() {
    let home = Home::open();
    assert!(!read(&home.path("state/ledger.json"))["children"].as_array().expect("a list").is_empty());
    for name in ["demo", "approved"] {
        let (status, out, error) = home.run_with_servers(&["call", &format!("{name}__echo"), r#"{"message":"hi"}"#]);
        assert_eq!((status, &*out), (0, "hi\n"), "{name}: {error}");
    }
    assert_eq!(read(&home.path("state/ledger.json"))["children"], json!([]), "the processes have ended");
}

/// A change of a stored file to a later version, and what the program is asked to do with it.
struct Later {
    file: &'static str,
    change: fn(&mut Value),
    commands: &'static [&'static [&'static str]],
}

const LATER: [Later; 8] = [
    Later {
        file: "mcp/servers.json",
        change: |value| value["version"] = json!(2),
        commands: &[
            &["server", "list"],
            &["server", "add", "another", "--url", SERVER],
            &["server", "remove", "browser"],
            &["call", "browser__echo"],
        ],
    },
    Later {
        file: "secrets/mcp_",
        change: |value| value["v"] = json!(2),
        commands: &[
            &["secret", "set", "registered", "another"],
            &["secret", "list", "registered"],
            &["secret", "remove", "registered", "client_secret"],
            &["call", "echo", "--server", "registered"],
        ],
    },
    Later {
        file: "state/ledger.json",
        change: |value| value["version"] = json!(2),
        commands: &[&["call", "demo__echo"]],
    },
    Later {
        file: "cache/catalog/",
        change: |value| value["version"] = json!(2),
        commands: &[&["call", "demo__echo"], &["call", "approved__echo"]],
    },
    Later {
        file: "secrets/logins/token-",
        // A later version may have other members, too.
        change: |value| value["token"] = json!({"version": 2, "tokens": []}),
        commands: &[
            &["call", "echo", "--server", "browser"],
            &["login", "browser"],
            &["login", "device", "--device"],
            &["logout", "browser"],
            &["whoami", "browser"],
        ],
    },
    Later {
        file: "secrets/logins/login-",
        change: |value| *value = json!({"version": 2, "logins": []}),
        commands: &[&["login", "waiting"], &["logout", "waiting"]],
    },
    Later {
        file: "secrets/logins/client-",
        change: |value| *value = json!({"version": 2, "registrations": []}),
        commands: &[&["login", "waiting"], &["login", "device", "--device"], &["login", "waiting", "--restart"]],
    },
    Later {
        file: "secrets/logins/servers",
        change: |value| *value = json!({"version": 2, "servers": []}),
        commands: &[&["whoami"]],
    },
];

#[test]
fn files_of_a_later_version_are_refused_by_name_and_stay_as_they_are() {
    let home = Home::open();
    for Later { file, change, commands } in LATER {
        let files = home.files(file);
        assert!(!files.is_empty(), "{file}");
        let before: Vec<_> = files.iter().map(|path| fs::read(path).expect("it can be read")).collect();
        for path in &files {
            let mut value = read(path);
            change(&mut value);
            fs::write(path, value.to_string()).expect("it is written");
        }
        assert_refused(&home, &files, commands);
        for (path, bytes) in files.iter().zip(before) {
            fs::write(path, bytes).expect("it is written");
        }
    }
}

#[test]
fn keys_and_issuers_of_a_later_version_are_refused_too() {
    let home = Home::open();
    let keys = home.files("secrets/logins/key-");
    fs::write(&keys[0], r#"{"version":2,"jwk":{}}"#).expect("it is written");
    assert_refused(&home, &keys, &[&["call", "echo", "--server", "bound"], &["login", "bound"]]);

    assert_eq!(home.run(&["logout", "registered"]).code(), 0);
    let issuers = home.files("secrets/logins/issuer-");
    let mut value = read(&issuers[0]);
    value["version"] = json!(2);
    fs::write(&issuers[0], value.to_string()).expect("it is written");
    assert_refused(
        &home,
        &issuers,
        &[&["login", "registered"], &["login", "registered", "--issuer", "http://127.0.0.1:18471"]],
    );
}

/// Fails unless each command ends with an error that names one of these files and its version, and changes none of them.
#[track_caller]
fn assert_refused(home: &Home, files: &[PathBuf], commands: &[&[&str]]) {
    let contents = || files.iter().map(|path| fs::read(path).expect("it can be read")).collect::<Vec<_>>();
    let before = contents();
    for arguments in commands {
        // A login that is not refused would wait for its user.
        let limit = if arguments[0] == "login" { &["--timeout", "30s"][..] } else { &[] };
        let (status, _, error) = home.run_with_servers(&[arguments, limit].concat());
        assert_ne!(status, 0, "{arguments:?}: {error}");
        let is_named = files.iter().any(|path| error.contains(path.to_str().expect("a plain path")));
        assert!(is_named && error.contains("version 2") && error.contains("a later version"), "{arguments:?}: {error}");
        assert!(contents() == before, "{arguments:?} has changed a file");
    }
}
