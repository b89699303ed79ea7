//! Crashes and errors while the configuration file is written.

use std::fs;
use std::io;
use std::path::Path;

use mcpwire_files::faults::{Fault, FaultyFs};
use tempfile::TempDir;

use super::Store;
use crate::ErrorCode;
use crate::config::McpConfig;

/// Creates a configuration file with two servers. Returns its store, a changed configuration of the first server, and the
/// content of the file.
fn prepared(directory: &Path) -> (Store, McpConfig, Vec<u8>) {
    let store = Store::new(directory.join("mcp").join("servers.json"));
    let mut first = McpConfig::npm("first", "one");
    store.create(&first).unwrap();
    store.create(&McpConfig::binary("second", "two")).unwrap();
    first.args = vec!["a longer file than before".repeat(10)];
    let old = fs::read(store.path()).unwrap();
    (store, first, old)
}

/// Returns the content of the configuration file after an update with `config` that no fault has disturbed.
fn new(config: &McpConfig, old: &[u8]) -> Vec<u8> {
    let directory = TempDir::new().unwrap();
    let store = Store::new(directory.path().join("servers.json"));
    fs::write(store.path(), old).unwrap();
    store.update(config).unwrap();
    fs::read(store.path()).unwrap()
}

#[test]
fn a_crash_at_any_step_leaves_the_old_file_or_the_new_one() {
    let (mut olds, mut news, mut step) = (0, 0, 0);
    loop {
        let directory = TempDir::new().unwrap();
        let (store, config, old) = prepared(directory.path());
        let fs = FaultyFs::new(step, Fault::Crash);
        let result = Store::with_fs(store.path(), fs.clone()).update(&config);
        fs.lose_power();
        let found = fs::read(store.path()).unwrap();
        if found == old {
            olds += 1;
        } else {
            assert_eq!(found, new(&config, &old), "step {step}");
            news += 1;
        }
        // The next program can read and change the file, and the backup is readable.
        store.load().unwrap();
        Store::new(store.backup_path()).load().unwrap();
        store.update(&config).unwrap();
        if fs.steps() <= step {
            result.unwrap();
            break;
        }
        step += 1;
    }
    assert!(step >= 8, "directory, lock, backup, create, write, sync, rename, sync: {step}");
    assert!(olds >= 6 && news >= 2, "{olds} {news}");
}

#[test]
fn an_error_is_returned_and_the_file_stays_the_same() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied] {
        let mut step = 0;
        loop {
            let directory = TempDir::new().unwrap();
            let (store, config, old) = prepared(directory.path());
            let fs = FaultyFs::new(step, Fault::Fails(kind));
            let faulty = Store::with_fs(store.path(), fs.clone());
            let before = faulty.load().unwrap();
            match faulty.update(&config) {
                // Two steps may fail: the hard link of the backup, and the sync of the directory.
                Ok(loaded) => assert_eq!(loaded.revision, store.load().unwrap().revision),
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "step {step}: {error}");
                    assert_eq!(fs::read(store.path()).unwrap(), old, "step {step}");
                    assert_eq!(before.revision, store.load().unwrap().revision);
                }
            }
            assert_no_rubbish(directory.path());
            if fs.steps() <= step {
                break;
            }
            step += 1;
        }
        assert!(step >= 8, "{step}");
    }
}

fn assert_no_rubbish(directory: &Path) {
    let names: Vec<_> = fs::read_dir(directory.join("mcp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name.to_string_lossy().starts_with("servers.")), "{names:?}");
}

#[test]
fn waiting_for_the_lock_of_another_program_times_out() {
    let directory = TempDir::new().unwrap();
    let (store, config, old) = prepared(directory.path());
    let lock = fs::File::open(store.path().with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let store = Store::new(store.path()).lock_timeout(std::time::Duration::ZERO);
    let error = store.update(&config).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    assert_eq!(fs::read(store.path()).unwrap(), old);
    store.load().expect("readers need no lock");
    drop(lock);
    // The thread that gave up may still get the lock for a moment.
    Store::new(store.path()).update(&config).unwrap();
}

fn many(count: usize) -> Vec<McpConfig> {
    (0..count).map(|number| McpConfig::npm(format!("server {number}"), "a")).collect()
}

#[test]
fn many_servers_are_added_with_the_steps_of_one() {
    let steps = |configs: &[McpConfig]| {
        let directory = TempDir::new().unwrap();
        let (store, ..) = prepared(directory.path());
        let fs = FaultyFs::new(usize::MAX, Fault::Crash);
        let results = Store::with_fs(store.path(), fs.clone()).create_all(configs).unwrap();
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(store.load().unwrap().configs.len(), 2 + configs.len());
        assert_eq!(Store::new(store.backup_path()).load().unwrap().configs.len(), 2, "one change, one backup");
        fs.steps()
    };
    assert_eq!(steps(&many(300)), steps(&many(1)));
}

#[test]
fn a_crash_while_many_servers_are_added_leaves_none_or_all() {
    for step in 0.. {
        let directory = TempDir::new().unwrap();
        let (store, _, old) = prepared(directory.path());
        let fs = FaultyFs::new(step, Fault::Crash);
        let result = Store::with_fs(store.path(), fs.clone()).create_all(&many(20));
        fs.lose_power();
        let count = store.load().unwrap().configs.len();
        assert!(count == 22 || fs::read(store.path()).unwrap() == old, "step {step}: {count}");
        if fs.steps() <= step {
            assert_eq!(result.unwrap().len(), 20);
            break;
        }
    }
}

#[test]
fn a_server_that_cannot_be_added_does_not_keep_others_out() {
    let directory = TempDir::new().unwrap();
    let (store, first, _) = prepared(directory.path());
    let mut same_id = McpConfig::npm("same id", "a");
    same_id.id = first.id;
    let configs = [
        McpConfig::npm("third", "a"),
        McpConfig::npm(" SECOND", "a"),
        McpConfig::npm("", "a"),
        same_id,
        McpConfig::npm("Third", "b"),
        McpConfig::npm("fourth", "a"),
    ];
    let results = store.create_all(&configs).unwrap();
    let fields: Vec<_> =
        results.iter().map(|result| result.as_ref().err().map(mcpwire_supervisor::HubError::field)).collect();
    assert_eq!(fields, [None, Some("name"), Some("name"), Some("id"), Some("name"), None]);
    let names: Vec<_> = store.load().unwrap().configs.into_iter().map(|config| config.name).collect();
    assert_eq!(names, ["first", "second", "third", "fourth"]);
    let text = fs::read(store.path()).unwrap();
    assert!(store.create_all(&configs[1..5]).unwrap().iter().all(Result::is_err));
    assert_eq!(fs::read(store.path()).unwrap(), text, "nothing to add, nothing written");
}
