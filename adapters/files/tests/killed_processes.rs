//! A process that is killed while it replaces a file leaves the old content or the new one, and its lock is released.

#![cfg(feature = "replace")]

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mcpwire_files::{Fs as _, SystemFs, read_private, remove_leftovers, replace};

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
        let _ = writeln!(std::io::stderr(), "{number}");
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
