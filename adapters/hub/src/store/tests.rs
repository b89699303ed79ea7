//! The file stays whole, whatever happens while it is written.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::Store;
use crate::ErrorCode;
use crate::config::McpConfig;
use crate::disk::faults::{Fault, FaultyFs};

/// A file with two servers, and another configuration that is to replace the first.
fn prepared(directory: &Path) -> (Store, McpConfig, Vec<u8>) {
    let store = Store::new(directory.join("mcp").join("servers.json"));
    let mut first = McpConfig::npm("first", "one");
    store.create(&first).unwrap();
    store.create(&McpConfig::binary("second", "two")).unwrap();
    first.args = vec!["a longer file than before".repeat(10)];
    let old = fs::read(store.path()).unwrap();
    (store, first, old)
}

/// What the file is after the change, without anything that goes wrong.
fn new(config: &McpConfig, old: &[u8]) -> Vec<u8> {
    let directory = TempDir::new().unwrap();
    let store = Store::new(directory.path().join("servers.json"));
    fs::write(store.path(), old).unwrap();
    store.update(config).unwrap();
    fs::read(store.path()).unwrap()
}

#[test]
fn case_13_a_crash_at_any_step_leaves_the_old_file_or_the_new_one() {
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
        // The next program works with what it finds, and a good earlier version is there once there was one.
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
fn case_16_what_fails_is_told_and_leaves_the_file_as_it_was() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied] {
        let mut step = 0;
        loop {
            let directory = TempDir::new().unwrap();
            let (store, config, old) = prepared(directory.path());
            let fs = FaultyFs::new(step, Fault::Fails(kind));
            let faulty = Store::with_fs(store.path(), fs.clone());
            let before = faulty.load().unwrap();
            match faulty.update(&config) {
                // Two steps may fail without harm: giving the backup its second name, and making a name durable.
                Ok(loaded) => assert_eq!(loaded.revision, store.load().unwrap().revision),
                Err(error) => {
                    assert_eq!(error.code, ErrorCode::ServiceUnavailable, "step {step}: {error}");
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
fn another_program_that_holds_the_lock_is_waited_for_and_not_for_ever() {
    let directory = TempDir::new().unwrap();
    let (store, config, old) = prepared(directory.path());
    let lock = fs::File::open(store.path().with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let store = Store::new(store.path()).grace_periods(std::time::Duration::ZERO);
    let error = store.update(&config).unwrap_err();
    assert_eq!(error.code, ErrorCode::ServiceUnavailable);
    assert_eq!(fs::read(store.path()).unwrap(), old);
    store.load().expect("readers need no lock");
    drop(lock);
    // Whoever gave up may get it for a moment, to give it back.
    Store::new(store.path()).update(&config).unwrap();
}
