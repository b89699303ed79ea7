//! Pipes, devices, directories and sockets in the place of files: each is an error that says so, and none is waited for.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

use mcpwire_config::config::McpConfig;
use mcpwire_config::import::read_file;
use mcpwire_config::secrets::{FileSecrets, SecretRef, SecretStore as _};
use mcpwire_config::store::Store;
use mcpwire_config::{HubError, Uuid};
use tempfile::TempDir;

/// Creates one special file of each kind, and links to some of them. Returns them with a part of the expected error.
fn special_files(directory: &Path) -> Vec<(PathBuf, &'static str)> {
    let at = |name: &str| directory.join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    drop(UnixListener::bind(at("socket")).unwrap());
    fs::create_dir(at("directory")).unwrap();
    for (name, target) in [("link", "pipe"), ("device", "/dev/zero"), ("loop", "loop")] {
        symlink(target, at(name)).unwrap();
    }
    [
        ("pipe", "a named pipe"),
        ("link", "a named pipe"),
        ("socket", "a socket"),
        ("directory", "a directory"),
        ("device", "a device"),
        ("loop", "oo many"),
    ]
    .map(|(name, expected)| (at(name), expected))
    .into()
}

/// Runs a function, and panics if it waits for something.
fn without_waiting<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(function()));
    receiver.recv_timeout(Duration::from_secs(300)).expect("it does not wait")
}

#[track_caller]
fn assert_says<T>(result: Result<T, HubError>, path: &Path, expected: &str) {
    let Err(error) = result else { panic!("{} was used", path.display()) };
    assert!(error.message().contains(expected), "{}: {error}", path.display());
    assert!(error.message().contains(path.file_name().unwrap().to_str().unwrap()), "{error}");
}

#[test]
fn the_configuration_file_must_be_regular() {
    let directory = TempDir::new().unwrap();
    for (path, expected) in special_files(directory.path()) {
        without_waiting(move || {
            let store = Store::new(&path);
            assert_says(store.load(), &path, expected);
            assert_says(store.create(&McpConfig::binary("a", "a")), &path, expected);
            assert!(fs::symlink_metadata(&path).is_ok(), "it is left alone");
        });
    }
}

#[test]
fn the_lock_must_be_regular() {
    for kind in ["pipe", "link", "socket", "directory", "device"] {
        let directory = TempDir::new().unwrap();
        special_files(directory.path());
        fs::rename(directory.path().join(kind), directory.path().join("servers.lock")).unwrap();
        without_waiting(move || {
            let store = Store::new(directory.path().join("servers.json"));
            let error = store.create(&McpConfig::binary("a", "a")).unwrap_err();
            assert!(
                error.message().contains("servers.lock") && error.message().contains("not a regular file"),
                "{error}"
            );
        });
    }
}

#[test]
fn a_backup_that_is_not_regular_is_not_restored() {
    let directory = TempDir::new().unwrap();
    special_files(directory.path());
    let store = Store::new(directory.path().join("servers.json"));
    fs::write(store.path(), "garbage").unwrap();
    fs::rename(directory.path().join("pipe"), store.backup_path()).unwrap();
    without_waiting(move || {
        store.load().unwrap_err();
        assert_says(store.restore(), &store.backup_path(), "a named pipe");
    });
}

#[test]
fn files_to_import_must_be_regular_and_of_a_sensible_size() {
    let directory = TempDir::new().unwrap();
    for (path, expected) in special_files(directory.path()) {
        let error = without_waiting(move || read_file(&path)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let path = directory.path().join("large");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = without_waiting(move || read_file(&path)).unwrap_err();
    assert_eq!(error.to_string(), "the file is larger than 16 MiB");
}

#[test]
fn secrets_must_be_in_regular_files() {
    let directory = TempDir::new().unwrap();
    let secrets = directory.path().join("secrets");
    fs::create_dir(&secrets).unwrap();
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o700)).unwrap();
    for (special, _) in special_files(directory.path()) {
        let (secrets, id) = (FileSecrets::new(&secrets), Uuid::new_v4());
        without_waiting(move || {
            let secret = SecretRef::stored(id, "A").unwrap();
            fs::rename(special, secrets.path(id)).unwrap();
            for error in [
                secrets.get(&secret).unwrap_err(),
                secrets.set(&secret, &"hunter22".into()).unwrap_err(),
                secrets.remove_all(id).unwrap_err(),
            ] {
                assert!(error.message().contains("so the secrets there are not used"), "{error}");
            }
        });
    }
}

#[test]
fn a_configuration_that_others_can_change_is_not_used() {
    let directory = TempDir::new().unwrap();
    let folder = directory.path().join("mcp");
    let store = Store::new(folder.join("servers.json"));
    let add = |name: &str| store.create(&McpConfig::binary(name, "a"));
    let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    add("a").unwrap();

    set_mode(store.path(), 0o666);
    assert_says(store.load(), store.path(), "can be changed by every user (mode 0666). Run `chmod o-w /");
    set_mode(store.path(), 0o664);
    // Only the superuser can give a file to a group of others.
    if std::os::unix::fs::chown(store.path(), None, Some(1)).is_ok() {
        assert_says(store.load(), store.path(), "other users of its group (mode 0664). Run `chmod g-w /");
    }
    set_mode(store.path(), 0o600);

    set_mode(&folder, 0o777);
    assert_says(store.load(), store.path(), &format!("{} can be changed by every user (mode 0777)", folder.display()));
    fs::remove_file(store.path()).unwrap();
    assert!(add("b").unwrap_err().message().contains("chmod o-w"));
    set_mode(&folder, 0o1777);
    add("b").expect("nobody can replace files in a directory with the sticky bit");

    // Only the superuser can give a file away.
    if std::os::unix::fs::chown(store.path(), Some(1), None).is_ok() {
        assert_says(store.load(), store.path(), "belongs to another user");
    }
}

#[test]
fn temporary_files_of_killed_programs_are_removed_by_the_next_change() {
    let directory = TempDir::new().unwrap();
    let store = Store::new(directory.path().join("servers.json"));
    let secrets = FileSecrets::new(directory.path().join("secrets"));
    let (id, other) = (Uuid::new_v4(), Uuid::new_v4());
    secrets.set(&SecretRef::stored(other, "A").unwrap(), &"x".into()).unwrap();
    let name = |of: &str| format!(".{of}.{}.tmp", Uuid::new_v4().simple());
    let create = |path: PathBuf, is_old: bool| {
        let file = fs::File::create(&path).unwrap();
        if is_old {
            file.set_modified(SystemTime::now() - Duration::from_secs(2 * 60 * 60)).unwrap();
        }
        path
    };
    // A writer that lives locks its file.
    let written = directory.path().join(name("servers.json"));
    let writer = fs::File::create(&written).unwrap();
    writer.lock().unwrap();
    let left = [
        create(directory.path().join(name("servers.json")), false),
        create(directory.path().join(name("servers.json")), true),
        create(directory.path().join(name("servers.json.bak")), true),
        create(directory.path().join("secrets").join(name(&format!("mcp_{other}.key"))), true),
    ];
    let kept = [
        written,
        create(directory.path().join(".servers.json.swp"), true),
        create(directory.path().join(name("other.json")), true),
    ];
    store.create(&McpConfig::binary("a", "a")).unwrap();
    FileSecrets::new(directory.path().join("secrets")).set(&SecretRef::stored(id, "A").unwrap(), &"x".into()).unwrap();
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
    assert!(kept.iter().all(|path| path.exists()), "{kept:?}");
}
