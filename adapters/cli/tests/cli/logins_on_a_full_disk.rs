//! A token is not refreshed while the new one could not be stored, and a logout leaves no token on the disk.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::logins_survive_the_end_of_a_command::{document, logged_in, refreshes, stored};
use crate::support::guarded::Guarded;

/// Runs `mcpwire` as on a full disk: each write to a file fails.
fn run_without_space(guarded: &Guarded, arguments: &[&str]) -> (i32, String) {
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_mcpwire")])
        .args(guarded.words(arguments))
        .output()
        .expect("a shell");
    (output.status.code().expect("it exits"), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn an_expired_token_is_not_refreshed_on_a_full_disk_and_the_error_names_the_file() {
    for by_name in [false, true] {
        let guarded = logged_in(-1);
        let url = guarded.server.url();
        let arguments: &[&str] = if by_name { &["call", "notes__echo"] } else { &["call", "echo", "--url", &url] };
        let (code, stderr) = run_without_space(&guarded, arguments);
        assert_ne!(code, 0, "{stderr}");
        assert!(stderr.contains("token-") && stderr.contains("cannot be written"), "{stderr}");
        assert_eq!(refreshes(&guarded.authorization), 0, "the refresh token is not used up: {stderr}");
        let next = guarded.run(arguments);
        assert_eq!((next.code(), next.stdout.as_str()), (0, "hi\n"), "{next:?}");
    }
}

#[test]
fn a_token_that_expires_soon_is_used_on_a_full_disk() {
    let guarded = logged_in(30);
    let url = guarded.server.url();
    let (code, stderr) = run_without_space(&guarded, &["call", "echo", "--url", &url]);
    assert_eq!((code, refreshes(&guarded.authorization)), (0, 0), "{stderr}");
}

#[test]
fn a_logout_leaves_no_token_on_the_disk_after_a_kill() {
    let guarded = logged_in(3600);
    let url = guarded.server.url();
    let file = document(guarded.place()).unwrap();
    let tokens = ["access_token", "refresh_token"].map(|name| stored(&guarded, name));
    // A process that is killed before the rename leaves the new document under its temporary name.
    let name = file.file_name().unwrap().to_str().unwrap();
    fs::copy(&file, file.with_file_name(format!(".{name}.0123456789abcdef.tmp"))).unwrap();
    assert_eq!(containing(guarded.place(), &tokens).len(), 2);
    assert_eq!(guarded.run(&["logout", "--url", &url]).code(), 0);
    assert_eq!(containing(guarded.place(), &tokens), [] as [PathBuf; 0]);
}

/// Returns the files that contain one of these texts.
fn containing(directory: &Path, texts: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(containing(&path, texts));
        } else if let Ok(content) = fs::read(&path)
            && texts.iter().any(|text| content.windows(text.len()).any(|part| part == text.as_bytes()))
        {
            found.push(path);
        }
    }
    found
}
