//! Commands neither use nor change files that other users could change or have put there. The crate `mcpwire-files` tests all cases.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::Path;

use crate::support::servers::{Script, scripted};
use crate::support::{Place, SUM, mcpwire, run, wait_for};

/// Another user than the one of the tests.
const OTHER: u32 = 65534;

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

#[test]
fn a_configuration_and_secrets_that_others_can_change_are_not_used() {
    let home = Place::below("outer/home");
    let (file, outer) = (home.path().join("mcp/servers.json"), home.path().parent().expect("a directory"));
    home.add_demo("demo");
    let set = || home.run_with_input("secret set demo TOKEN", "hunter22");
    set().exits(0);
    for (path, mode) in [(&*file, 0o666), (outer, 0o777)] {
        set_mode(path, mode);
        let advice = format!("(mode {mode:04o}). Run `chmod o-w {}`", path.display());
        home.run(&format!("call demo__add {SUM}")).gives(3, "").says(&[&advice]);
        if path.is_dir() {
            set().fails().says(&[&advice]);
            home.run("secret list demo").fails().says(&[&advice]);
        }
        set_mode(path, mode & 0o755);
    }
    home.run("secret list demo").shows(&["TOKEN"]);
    // A directory above the home of the user belongs to the administrator: only every user may not write to it.
    if is_root() {
        chown(outer, None, Some(1)).expect("it is given");
        let list = || run(home.command("server list").env("HOME", home.path()));
        set_mode(outer, 0o775);
        list().exits(0);
        set_mode(outer, 0o777);
        list().fails().says(&["(mode 0777)"]);
    }
}

#[test]
fn a_trace_goes_to_a_stream_and_not_through_a_link_to_a_file() {
    let place = Place::new();
    let link = place.file("link");
    symlink(place.write("own", "mine"), &link).expect("it is linked");
    let message =
        format!("error: could not create the file of --trace, {link}: it is a symbolic link, not a regular file\n");
    mcpwire(&format!("info --demo --trace {link}")).exits(2).says_only(&message);
    assert_eq!(place.read("own"), "mine");
    mcpwire("info --demo --trace /dev/stderr").exits(0).says(&["server/discover"]);
}

#[test]
fn content_is_not_saved_behind_a_link_of_another_user() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (link, target) = (place.file("pictures"), place.path().join("target"));
    fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    let server = Script::call(r#"{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}"#);
    let count = || fs::read_dir(&target).unwrap().count();
    let save = format!("call t --save {link}");
    server.run(&save).exits(0);
    assert_eq!(count(), 1, "the link of this user is followed");
    lchown(&link, Some(OTHER), Some(OTHER)).unwrap();
    server.run(&save).exits(2).says(&["it is a symbolic link of another user"]);
    assert_eq!(count(), 1);
}

#[test]
fn a_log_is_not_written_to_a_file_of_another_user() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let added = place.run(&scripted("server add noisy --json", "echo noise >&2"));
    let log = place.path().join(format!("state/logs/{}.log", added.json()["id"].as_str().unwrap()));
    let start = || place.run("tools --server noisy");
    start();
    wait_for("the log", || place.run("server logs noisy").stdout.contains("noise").then_some(()));
    fs::write(&log, "of somebody else").unwrap();
    set_mode(&log, 0o644);
    chown(&log, Some(OTHER), Some(OTHER)).unwrap();
    start();
    let mode = fs::metadata(&log).unwrap().permissions().mode() & 0o777;
    assert_eq!((fs::read_to_string(&log).unwrap().as_str(), mode), ("of somebody else", 0o644));
}
