//! Files that other users could change or replace are refused, with the command that mends it, and files of others stay as they are.
#![cfg(target_os = "linux")]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::servers::Script;
use crate::support::{Finished, Place, SUM, mcpwire, run, wait_for};

/// Another user than the one of the tests.
const OTHER: u32 = 65534;

/// A group of the system, in which this user is not alone.
const DAEMON: u32 = 1;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

/// Returns whether this test can give files to another user. Says so if it cannot.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("SKIPPED: only the superuser can give files away, so this test has shown less");
    }
    is_root
}

/// Asserts that a command has failed because of `path` and its mode, and that it advises `chmod CLASSES-w PATH`.
#[track_caller]
fn assert_refused(finished: Finished, path: &Path, mode: &str, classes: &str) {
    let path = path.display().to_string();
    let finished = finished.fails().says(&[&path, mode, &format!("`chmod {classes}-w {path}`")]);
    assert_eq!(finished.stdout, "", "{finished:?}");
}

/// Creates the home `outer/home`, in which the demo server is configured. Returns it and `outer`.
fn home() -> (Place, PathBuf) {
    let home = Place::below("outer/home");
    home.add_demo("demo");
    let outer = home.path().parent().expect("a directory").to_owned();
    (home, outer)
}

fn call(home: &Place) -> Finished {
    home.run(&["call", "demo__add", SUM])
}

#[test]
fn a_configuration_that_others_can_change_starts_nothing() {
    let (home, outer) = home();
    let file = home.path().join("mcp/servers.json");
    set_mode(&file, 0o666);
    assert_refused(call(&home), &file, "0666", "o");
    set_mode(&file, 0o600);
    // The directory of the file, its home, and one above. The whole way counts, because a part could be replaced.
    for directory in [&*home.path().join("mcp"), home.path(), &outer] {
        set_mode(directory, 0o777);
        assert_refused(call(&home), directory, "0777", "o");
        // Nobody can replace the files of others in a sticky directory.
        for mode in [0o1777, 0o755] {
            set_mode(directory, mode);
            call(&home).gives(0, "42\n");
        }
    }
}

#[test]
fn a_configuration_that_its_group_can_change_starts_nothing() {
    if !is_root() {
        return;
    }
    let (home, outer) = home();
    let file = home.path().join("mcp/servers.json");
    let list = || home.run(&["server", "list"]);
    chown(&file, None, Some(DAEMON)).expect("it is given");
    for (mode, shown, classes) in [(0o664, "0664", "g"), (0o666, "0666", "go")] {
        set_mode(&file, mode);
        assert_refused(list(), &file, shown, classes);
    }
    set_mode(&file, 0o644);
    chown(&outer, None, Some(DAEMON)).expect("it is given");
    set_mode(&outer, 0o775);
    assert_refused(list(), &outer, "0775", "g");
    // What is above the home of the user is the administrator's.
    let list = || run(home.command(&["server", "list"]).env("HOME", home.path()));
    list().exits(0);
    set_mode(&outer, 0o777);
    assert_refused(list(), &outer, "0777", "o");
}

#[test]
fn the_links_on_the_way_are_followed() {
    let (home, outer) = home();
    let elsewhere = outer.parent().expect("a directory").join("elsewhere");
    fs::create_dir(&elsewhere).expect("it is created");
    fs::rename(home.path().join("mcp"), elsewhere.join("mcp")).expect("it is moved");
    symlink("../../elsewhere/mcp", home.path().join("mcp")).expect("it is linked");
    call(&home).gives(0, "42\n");
    set_mode(&elsewhere, 0o777);
    assert_refused(call(&home), &elsewhere, "0777", "o");
    // Another user could have put the link there.
    set_mode(&elsewhere, 0o755);
    if is_root() {
        lchown(home.path().join("mcp"), Some(DAEMON), None).expect("it is given");
        call(&home).says(&["mcp belongs to another user"]);
    }
}

#[test]
fn secrets_are_neither_stored_nor_used_where_others_could_replace_them() {
    let (home, outer) = home();
    let set = || home.run_with_input(&["secret", "set", "demo", "TOKEN"], "hunter22");
    let list = || home.run(&["secret", "list", "demo"]);
    set().exits(0);
    for directory in [home.path(), &*outer] {
        set_mode(directory, 0o777);
        assert_refused(list(), directory, "0777", "o");
        assert_refused(set(), directory, "0777", "o");
        set_mode(directory, 0o755);
    }
    list().shows(&["TOKEN"]);
    let secrets = home.path().join("secrets");
    set_mode(&secrets, 0o770);
    list().fails().says(&[&format!("(mode 0770). Run `chmod 700 {}`", secrets.display())]);
}

/// Creates a directory `tmp` in which every user can create files, such as `/tmp`.
fn sticky() -> (Place, PathBuf) {
    let place = Place::new();
    let tmp = place.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    set_mode(&tmp, 0o1777);
    (place, tmp)
}

/// Writes a file that nothing may change.
fn write_victim(path: &Path) {
    fs::write(path, "of somebody else").unwrap();
    set_mode(path, 0o644);
}

#[track_caller]
fn assert_unchanged(path: &Path) {
    assert_eq!(fs::read_to_string(path).unwrap(), "of somebody else");
    assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o644);
}

/// Asserts that a trace to this file is refused.
#[track_caller]
fn assert_no_trace(path: &Path, why: &str) {
    let path = path.to_str().expect("a plain path");
    let message = format!("error: could not create the file of --trace, {path}: {why}\n");
    mcpwire(&["info", "--demo", "--trace", path]).exits(2).says_only(&message);
}

#[test]
fn a_trace_replaces_no_file_of_another_user() {
    if !is_root() {
        return;
    }
    let (_place, tmp) = sticky();
    let why = "it belongs to another user. Name another file";
    let trace = tmp.join("trace");
    write_victim(&trace);
    chown(&trace, Some(OTHER), Some(OTHER)).unwrap();
    assert_no_trace(&trace, why);
    assert_unchanged(&trace);
    assert_eq!(fs::metadata(&trace).unwrap().uid(), OTHER);
    let pipe = tmp.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    chown(&pipe, Some(OTHER), Some(OTHER)).unwrap();
    // A reader, so that opening the pipe would not wait.
    let _reader = File::options().read(true).write(true).open(&pipe).unwrap();
    assert_no_trace(&pipe, why);
}

#[test]
fn a_trace_replaces_nothing_behind_a_link() {
    let (place, tmp) = sticky();
    let [own, new] = ["own", "new"].map(|name| place.path().join(name));
    write_victim(&own);
    symlink(&own, tmp.join("link")).unwrap();
    assert_no_trace(&tmp.join("link"), "it is a symbolic link, not a regular file");
    fs::hard_link(&own, tmp.join("hard")).unwrap();
    assert_no_trace(&tmp.join("hard"), "it is a file with several names (hard links). Name another file");
    assert_unchanged(&own);
    symlink(&new, tmp.join("missing")).unwrap();
    mcpwire(&["info", "--demo", "--trace", tmp.join("missing").to_str().unwrap()]).exits(2);
    assert!(!new.exists());
}

#[test]
fn a_trace_may_go_to_a_stream() {
    mcpwire(&["info", "--demo", "--trace", "/dev/stderr"]).exits(0).says(&["server/discover"]);
    mcpwire(&["info", "--demo", "--trace", "/dev/null"]).exits(0);
}

#[test]
fn content_is_not_saved_behind_a_link_of_another_user() {
    if !is_root() {
        return;
    }
    let (place, tmp) = sticky();
    let (link, target) = (tmp.join("pictures"), place.path().join("target"));
    fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    let server = Script::call(r#"{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}"#);
    let words = ["call", "t", "--save", link.to_str().unwrap()];
    let count = || fs::read_dir(&target).unwrap().count();
    server.run(&words).exits(0);
    assert_eq!(count(), 1, "the link of this user is followed");
    lchown(&link, Some(OTHER), Some(OTHER)).unwrap();
    server.run(&words).exits(2).says(&["it is a symbolic link of another user"]);
    assert_eq!(count(), 1);
}

#[test]
fn a_log_is_not_written_to_a_file_of_another_user() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let added = place.run(&["server", "add", "noisy", "--json", "--", "sh", "-c", "echo noise >&2"]);
    let log = place.path().join(format!("state/logs/{}.log", added.json()["id"].as_str().unwrap()));
    let start = || place.run(&["tools", "--server", "noisy"]);
    start();
    let is_logged = || place.run(&["server", "logs", "noisy"]).stdout.contains("noise").then_some(());
    wait_for("the log", is_logged);
    write_victim(&log);
    chown(&log, Some(OTHER), Some(OTHER)).unwrap();
    start();
    assert_unchanged(&log);
}
