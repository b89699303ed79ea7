//! Files that other users could change or replace are refused, with the command that mends it.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use tempfile::TempDir;

use crate::support::configured::{add_demo, at};
use crate::support::{Finished, Running, command, mcpwire_with_input};

const SUM: &str = r#"{"a":2,"b":40}"#;

/// A group of the system, in which this user is not alone.
const DAEMON: u32 = 1;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

/// Asserts that a command has failed because of `path` and its mode, and that it advises `chmod CLASSES-w PATH`.
#[track_caller]
fn assert_refused(finished: &Finished, path: &Path, mode: &str, classes: &str) {
    let advice = format!("`chmod {classes}-w {}`", path.display());
    let is_named = finished.stderr.contains(&path.display().to_string()) && finished.stderr.contains(mode);
    assert!(finished.code() != 0 && finished.stdout.is_empty(), "{finished:?}");
    assert!(is_named && finished.stderr.contains(&advice), "wanted {advice}: {finished:?}");
}

/// Returns a directory with the home `outer/home`, in which a server is configured.
fn home() -> (TempDir, std::path::PathBuf, std::path::PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let outer = directory.path().canonicalize().expect("it exists").join("outer");
    let home = outer.join("home");
    fs::create_dir_all(&home).expect("it is created");
    add_demo(&home, "demo");
    (directory, outer, home)
}

#[test]
fn a_configuration_that_others_can_change_starts_nothing() {
    let (_directory, outer, home) = home();
    let call = || at(&home, &["call", "demo__add", SUM]);
    let file = home.join("mcp/servers.json");
    set_mode(&file, 0o666);
    assert_refused(&call(), &file, "0666", "o");
    set_mode(&file, 0o600);
    // The directory of the file, its home, and one above. The whole way counts, because a part could be replaced.
    for directory in [&home.join("mcp"), &home, &outer] {
        set_mode(directory, 0o777);
        assert_refused(&call(), directory, "0777", "o");
        set_mode(directory, 0o1777);
        assert_eq!(call().stdout, "42\n", "nobody can replace the files of others in a sticky directory");
        set_mode(directory, 0o755);
        assert_eq!(call().stdout, "42\n");
    }
}

#[test]
fn a_configuration_that_its_group_can_change_starts_nothing() {
    let (_directory, outer, home) = home();
    let file = home.join("mcp/servers.json");
    // Only the superuser can give a file to a group of others.
    if chown(&file, None, Some(DAEMON)).is_err() {
        return;
    }
    set_mode(&file, 0o664);
    assert_refused(&at(&home, &["server", "list"]), &file, "0664", "g");
    set_mode(&file, 0o666);
    assert_refused(&at(&home, &["server", "list"]), &file, "0666", "go");
    set_mode(&file, 0o644);
    chown(&outer, None, Some(DAEMON)).expect("as before");
    set_mode(&outer, 0o775);
    assert_refused(&at(&home, &["server", "list"]), &outer, "0775", "g");
    // What is above the home of the user is the administrator's.
    let list = |outer_mode| {
        set_mode(&outer, outer_mode);
        let mut list = command(&["server", "list", "--config-dir", home.to_str().expect("it is text")]);
        list.env("HOME", &home);
        Running::start_command(list).0.finish()
    };
    assert_eq!(list(0o775).code(), 0);
    assert_refused(&list(0o777), &outer, "0777", "o");
}

#[test]
fn the_links_on_the_way_are_followed() {
    let (directory, _, home) = home();
    let elsewhere = directory.path().canonicalize().expect("it exists").join("elsewhere");
    fs::create_dir(&elsewhere).expect("it is created");
    fs::rename(home.join("mcp"), elsewhere.join("mcp")).expect("it is moved");
    symlink("../../elsewhere/mcp", home.join("mcp")).expect("it is linked");
    assert_eq!(at(&home, &["call", "demo__add", SUM]).stdout, "42\n");
    set_mode(&elsewhere, 0o777);
    assert_refused(&at(&home, &["call", "demo__add", SUM]), &elsewhere, "0777", "o");
    // Another user could have put the link there.
    set_mode(&elsewhere, 0o755);
    if std::os::unix::fs::lchown(home.join("mcp"), Some(DAEMON), None).is_ok() {
        let refused = at(&home, &["call", "demo__add", SUM]);
        assert!(refused.stderr.contains("mcp belongs to another user"), "{refused:?}");
    }
}

#[test]
fn secrets_are_neither_stored_nor_used_where_others_could_replace_them() {
    let (_directory, outer, home) = home();
    let secret = |words: &[&str]| {
        let place = home.to_str().expect("it is text");
        mcpwire_with_input(&[&["secret"], words, &["--config-dir", place]].concat(), "hunter22")
    };
    assert_eq!(secret(&["set", "demo", "TOKEN"]).code(), 0);
    for directory in [&home, &outer] {
        set_mode(directory, 0o777);
        assert_refused(&secret(&["list", "demo"]), directory, "0777", "o");
        assert_refused(&secret(&["set", "demo", "TOKEN"]), directory, "0777", "o");
        set_mode(directory, 0o755);
    }
    assert!(secret(&["list", "demo"]).stdout.contains("TOKEN"));
    let secrets = home.join("secrets");
    set_mode(&secrets, 0o770);
    let refused = secret(&["list", "demo"]);
    let advice = format!("(mode 0770). Run `chmod 700 {}`", secrets.display());
    assert!(refused.code() != 0 && refused.stderr.contains(&advice), "{refused:?}");
}
