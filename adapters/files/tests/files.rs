//! What the crate refuses, replaces, locks and cleans up.

#![cfg(feature = "replace")]

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use mcpwire_files::{
    FileError, Fs as _, SystemFs, check_private_directory, check_replace, read_private, remove_leftovers, replace,
};

#[test]
fn errors_name_the_file_and_say_what_to_do() {
    let text = |kind: io::ErrorKind| FileError::new("written", Path::new("/x/file"), &kind.into()).to_string();
    assert_eq!(
        text(io::ErrorKind::StorageFull),
        "/x/file cannot be written: no storage space. Free space on the disk and try again"
    );
    assert!(text(io::ErrorKind::PermissionDenied).ends_with(". Give this user permission to access it"));
    assert!(text(io::ErrorKind::WouldBlock).ends_with(". Another program has locked it; try again"));
    assert_eq!(text(io::ErrorKind::Interrupted), "/x/file cannot be written: operation interrupted");
}

#[test]
fn a_lock_waits_until_its_timeout_and_is_released_by_dropping_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lock");
    let held = SystemFs.lock(&path, Duration::ZERO).unwrap();
    let error = SystemFs.lock(&path, Duration::from_millis(10)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    drop(held);
    SystemFs.lock(&path, Duration::from_secs(60)).unwrap();
}

#[test]
fn files_larger_than_the_limit_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    replace(&SystemFs, &path, &[0; 5000], None).unwrap();
    assert_eq!(read_private(&path, 5000).unwrap().unwrap().len(), 5000);
    let error = read_private(&path, 4999).unwrap_err().to_string();
    assert!(
        error.contains("the file is larger than") && error.ends_with(". Remove what does not belong there"),
        "{error}"
    );
    assert_eq!(read_private(&directory.path().join("missing"), 1), Ok(None));
    assert_eq!(check_private_directory(&directory.path().join("missing")), Ok(false));
}

#[test]
fn a_check_before_a_replacement_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    check_replace(&SystemFs, &path, 10_000).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    let error = check_replace(&SystemFs, &directory.path().join("missing/file"), 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn temporary_files_of_the_file_that_nobody_writes_are_removed_and_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    for name in [".file.1.tmp", ".other.1.tmp", "file"] {
        File::create(path(name)).unwrap();
    }
    let mut writer = SystemFs.create(&path(".file.2.tmp"), 0o600).unwrap();
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    remove_leftovers(&path("file"));
    assert_eq!(names(), [".file.2.tmp", ".other.1.tmp", "file"]);
    writer.write(b"x").unwrap();
    drop(writer);
    remove_leftovers(&path("file"));
    assert_eq!(names(), [".other.1.tmp", "file"]);
}

#[test]
fn writers_of_one_file_do_not_disturb_each_other_while_leftovers_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    remove_leftovers(&path);
                    replace(&SystemFs, &path, b"whole", None).expect("nobody removes the file of a writer");
                }
            });
        }
    });
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
