//! Runs the README's hub example, word for word, a hundred times on each runtime.
//!
//! The build script takes it out of the README, and changes what names the runtime. The example keeps its files in the
//! home directory and starts `npx`, so it runs in a process of its own, with another home and another `npx`.

use std::env;
use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use mcpwire_tests::watched;

const RUNS: usize = 100;

/// Names the runtime, in the process that runs the example.
const RUNTIME: &str = "README_EXAMPLE_RUNTIME";

mod multi_thread {
    include!(concat!(env!("OUT_DIR"), "/readme_hub_multi_thread.rs"));

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

mod current_thread {
    include!(concat!(env!("OUT_DIR"), "/readme_hub_current_thread.rs"));

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

mod smol {
    include!(concat!(env!("OUT_DIR"), "/readme_hub_smol.rs"));

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        ::smol::block_on(main())
    }
}

/// What the tests below start.
#[test]
fn example() {
    let Ok(runtime) = env::var(RUNTIME) else { return };
    let run: fn() -> Result<(), Box<dyn Error>> = match runtime.as_str() {
        "multi_thread" => multi_thread::run,
        "current_thread" => current_thread::run,
        _ => smol::run,
    };
    for n in 1..=RUNS {
        run().unwrap_or_else(|error| panic!("run {n} on {runtime}: {error}"));
    }
}

fn runs_on(runtime: &str) {
    let home = tempfile::tempdir().expect("a directory");
    let npx = home.path().join("npx");
    let script = format!("#!/bin/sh\nexec '{}' well-behaved\n", env!("CARGO_BIN_EXE_bad-habits"));
    fs::write(&npx, script).expect("it is written");
    fs::set_permissions(&npx, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let ran = Command::new(env::current_exe().expect("this program"))
        .args(["readme_example::example", "--exact", "--nocapture"])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", home.path())
        .env(RUNTIME, runtime)
        .output()
        .expect("it starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{stdout}{stderr}");
    assert_eq!(stdout.lines().filter(|line| *line == "hi").count(), RUNS, "{stdout}{stderr}");
}

#[test]
fn it_runs_on_the_threads_of_tokio() {
    watched(|| runs_on("multi_thread"));
}

#[test]
fn it_runs_on_one_thread_of_tokio() {
    watched(|| runs_on("current_thread"));
}

#[test]
fn it_runs_on_smol() {
    watched(|| runs_on("smol"));
}
