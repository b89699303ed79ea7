//! Programs that cannot be started, each in its own words.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mcpwire_blocking::{ErrorKind, McpServerDef};
use mcpwire_tests::{Adapter, Failure, on_every_adapter, server};

fn a_program_that_is_nowhere_on_the_path<A: Adapter>() {
    let failure = fail_to_start::<A>("mcpwire-no-such-program");
    failure.assert(ErrorKind::Start, &["mcpwire-no-such-program", "not found"]);
}

fn a_path_that_leads_nowhere<A: Adapter>() {
    let failure = fail_to_start::<A>("/no/such/folder/server");
    failure.assert(ErrorKind::Start, &["/no/such/folder/server", "not found"]);
}

fn a_file_that_may_not_be_executed<A: Adapter>() {
    let file = a_file("not-permitted", b"#!/bin/sh\n", 0o644);
    let failure = fail_to_start::<A>(file.to_str().expect("the path is UTF-8"));
    failure.assert(ErrorKind::Start, &["not-permitted", "not executable"]);
}

fn a_file_that_is_no_program<A: Adapter>() {
    let file = a_file("no-program", b"\x7fELF but not really", 0o755);
    let failure = fail_to_start::<A>(file.to_str().expect("the path is UTF-8"));
    failure.assert(ErrorKind::Start, &["no-program", "not executable"]);
}

fn a_folder<A: Adapter>() {
    let failure = fail_to_start::<A>(env!("CARGO_TARGET_TMPDIR"));
    failure.assert(ErrorKind::Start, &[env!("CARGO_TARGET_TMPDIR"), "not executable"]);
}

fn a_working_directory_that_is_not_there<A: Adapter>() {
    let server = server!("well-behaved").defined(|def| def.cwd("/no/such/folder"));
    let failure = server.fail_to_open::<A>();
    failure.assert(ErrorKind::Start, &["/no/such/folder"]);
}

on_every_adapter!(
    a_program_that_is_nowhere_on_the_path,
    a_path_that_leads_nowhere,
    a_file_that_may_not_be_executed,
    a_file_that_is_no_program,
    a_folder,
    a_working_directory_that_is_not_there,
);

fn fail_to_start<A: Adapter>(command: &str) -> Failure {
    let server = server!("well-behaved").defined(|_| McpServerDef::new(command));
    server.fail_to_open::<A>()
}

fn a_file(name: &str, content: &[u8], mode: u32) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut file = File::create(&path).expect("the folder of the tests is writable");
    file.write_all(content).expect("there is space");
    drop(file);
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("the file is ours");
    path
}
