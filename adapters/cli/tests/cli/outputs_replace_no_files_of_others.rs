//! Files that `--trace`, `--save` and the logs of servers name: those of other users, and what is behind links, stay as they are.
#![cfg(target_os = "linux")]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::configured::at;
use crate::support::{Finished, mcpwire, scripted};

/// Another user than the one of the tests.
const OTHER: u32 = 65534;

/// A directory in which every user can create files, such as `/tmp`.
fn sticky() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let sticky = directory.path().join("tmp");
    fs::create_dir(&sticky).unwrap();
    fs::set_permissions(&sticky, Permissions::from_mode(0o1777)).unwrap();
    (directory, sticky)
}

/// Returns whether this test can give files to another user. Says so if it cannot.
fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("SKIPPED: only the superuser can give files away, so {test} has shown nothing");
    }
    is_root
}

fn victim(path: &Path) -> String {
    fs::write(path, "of somebody else").unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[track_caller]
fn assert_unchanged(path: &Path) {
    assert_eq!(fs::read_to_string(path).unwrap(), "of somebody else");
    assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o644);
}

#[track_caller]
fn assert_refused(finished: &Finished, path: &str, why: &str) {
    let message = format!("error: could not create the file of --trace, {path}: {why}\n");
    assert_eq!((finished.code(), finished.stderr.as_str()), (2, &*message), "{finished:?}");
}

#[test]
fn a_trace_replaces_no_file_of_another_user() {
    if !is_root("a_trace_replaces_no_file_of_another_user") {
        return;
    }
    let (_directory, tmp) = sticky();
    let trace = victim(&tmp.join("trace"));
    chown(&trace, Some(OTHER), Some(OTHER)).unwrap();
    let why = "it belongs to another user. Name another file";
    assert_refused(&mcpwire(&["info", "--demo", "--trace", &trace]), &trace, why);
    assert_unchanged(Path::new(&trace));
    assert_eq!(fs::metadata(&trace).unwrap().uid(), OTHER);
    let pipe = tmp.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    chown(&pipe, Some(OTHER), Some(OTHER)).unwrap();
    // A reader, so that opening the pipe would not wait.
    let _reader = File::options().read(true).write(true).open(&pipe).unwrap();
    let pipe = pipe.to_str().unwrap();
    assert_refused(&mcpwire(&["info", "--demo", "--trace", pipe]), pipe, why);
}

#[test]
fn a_trace_replaces_nothing_behind_a_link() {
    let (directory, tmp) = sticky();
    let own = directory.path().join("own");
    victim(&own);
    let (link, hard) = (tmp.join("link"), tmp.join("hard"));
    symlink(&own, &link).unwrap();
    let link = link.to_str().unwrap();
    let why = "it is a symbolic link, not a regular file";
    assert_refused(&mcpwire(&["info", "--demo", "--trace", link]), link, why);
    fs::hard_link(&own, &hard).unwrap();
    let hard = hard.to_str().unwrap();
    let why = "it is a file with several names (hard links). Name another file";
    assert_refused(&mcpwire(&["info", "--demo", "--trace", hard]), hard, why);
    assert_unchanged(&own);
    let missing = tmp.join("missing");
    symlink(directory.path().join("new"), &missing).unwrap();
    let finished = mcpwire(&["info", "--demo", "--trace", missing.to_str().unwrap()]);
    assert_eq!(finished.code(), 2, "{finished:?}");
    assert!(!directory.path().join("new").exists());
}

#[test]
fn a_trace_may_go_to_a_stream() {
    let finished = mcpwire(&["info", "--demo", "--trace", "/dev/stderr"]);
    assert_eq!(finished.code(), 0, "{finished:?}");
    assert!(finished.stderr.contains("server/discover"), "{finished:?}");
    assert_eq!(mcpwire(&["info", "--demo", "--trace", "/dev/null"]).code(), 0);
}

#[test]
fn content_is_not_saved_behind_a_link_of_another_user() {
    if !is_root("content_is_not_saved_behind_a_link_of_another_user") {
        return;
    }
    let (directory, tmp) = sticky();
    let (link, target) = (tmp.join("pictures"), directory.path().join("target"));
    fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    let result = r#"{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}"#;
    let words = ["call", "t", "--save", link.to_str().unwrap()];
    let count = || fs::read_dir(&target).unwrap().count();
    assert_eq!(mcpwire(&scripted(&words, "{}", result, "")).code(), 0);
    assert_eq!(count(), 1, "the link of this user is followed");
    lchown(&link, Some(OTHER), Some(OTHER)).unwrap();
    let refused = mcpwire(&scripted(&words, "{}", result, ""));
    assert_eq!((refused.code(), count()), (2, 1), "{refused:?}");
    assert!(refused.stderr.contains("it is a symbolic link of another user"), "{refused:?}");
}

#[test]
fn a_log_is_not_written_to_a_file_of_another_user() {
    if !is_root("a_log_is_not_written_to_a_file_of_another_user") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let added = at(place, &["server", "add", "noisy", "--json", "--", "sh", "-c", "echo noise >&2"]);
    let id = added.json()["id"].as_str().unwrap().to_owned();
    let run = || at(place, &["tools", "--server", "noisy"]);
    run();
    let log = crate::support::wait_for("the log", || {
        let shown = at(place, &["server", "logs", "noisy"]);
        let log = place.join(format!("state/logs/{id}.log"));
        shown.stdout.contains("noise").then_some(log)
    });
    victim(&log);
    chown(&log, Some(OTHER), Some(OTHER)).unwrap();
    run();
    assert_unchanged(&log);
}
