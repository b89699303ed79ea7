//! What the crate refuses, replaces, locks and cleans up, also after a process was killed.

#![cfg(feature = "replace")]

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
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

const DIRECTORY: &str = "MCPWIRE_FILES_DIRECTORY";
const LENGTH: usize = 100_000;
const TIMEOUT: Duration = Duration::from_secs(60);

fn content(number: u64) -> Vec<u8> {
    format!("{number:08}").repeat(LENGTH / 8).into_bytes()
}

/// The process that is killed: replaces the file again and again, and prints the number of each content that is written.
#[test]
fn writer() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let path = Path::new(&directory).join("file");
    let _held = SystemFs.lock(&path.with_extension("lock"), TIMEOUT).unwrap();
    for number in 1.. {
        replace(&SystemFs, &path, &content(number), None).unwrap();
        let _ = writeln!(io::stderr(), "{number}");
    }
}

#[test]
fn a_killed_process_leaves_the_old_content_or_the_new_one_and_no_lock() {
    let kills = env::var("MCPWIRE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(15);
    for round in 0..kills {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "writer", "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut written = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        // Killed at another moment each time: after some writes, and somewhere within the next one.
        assert!(written.by_ref().nth(round % 7).is_some(), "the writer does not write");
        (0..round * 997).for_each(|_| std::hint::spin_loop());
        child.kill().unwrap();
        child.wait().unwrap();
        let last: u64 = written.last().map_or(round as u64 % 7 + 1, |number| number.parse().unwrap());
        let found = read_private(&path, 1 << 20).unwrap().unwrap();
        assert!(found == content(last) || found == content(last + 1), "round {round}: neither {last} nor the next one");
        let _lock = SystemFs.lock(&path.with_extension("lock"), TIMEOUT).unwrap();
        remove_leftovers(&path);
        replace(&SystemFs, &path, b"next", None).unwrap();
        assert_eq!(read_private(&path, 1 << 20), Ok(Some(b"next".to_vec())));
    }
}
