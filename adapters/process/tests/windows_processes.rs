//! On Windows, scripts are found by their names and get their arguments unchanged, and all processes of a server end.
#![cfg(windows)]

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use mcpwire_client::{McpServerDef, SpawnErrorKind};
use mcpwire_process::{Pipes, Process};
use tempfile::TempDir;

/// Far longer than anything here takes: only a failing test waits so long.
const WATCHDOG: Duration = Duration::from_secs(300);

/// Starts this test program again, with what it does in a variable.
fn again(role: &str) -> McpServerDef {
    let program = env::current_exe().unwrap().display().to_string();
    McpServerDef::new(program).args(["--exact", "the_started_program", "--nocapture"]).env("ROLE", role)
}

#[test]
#[expect(clippy::zombie_processes, reason = "the job ends it")]
fn the_started_program() {
    let Ok(role) = env::var("ROLE") else { return };
    match role.as_str() {
        // It ends with a line that no argument is.
        "shows its arguments" => {
            for argument in env::args().skip_while(|argument| argument != "--").skip(1) {
                println!("<{argument}>");
            }
        }
        "holds a connection" => hold(),
        "starts another" => {
            Command::new(env::current_exe().unwrap())
                .args(["--exact", "the_started_program", "--nocapture"])
                .env("ROLE", "holds a connection")
                .spawn()
                .unwrap();
            hold();
        }
        "is a client" => {
            let server = again("starts another").env("PORT", env::var("PORT").unwrap());
            let started = Process::spawn(&server).unwrap();
            thread::sleep(WATCHDOG * 2);
            drop(started);
        }
        _ => unreachable!("{role}"),
    }
}

/// Connects to the test, and goes on for as long as nobody ends this process.
fn hold() {
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    let _connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    thread::sleep(WATCHDOG * 2);
}

/// Waits until the process at the other end is gone.
fn wait_for_end(mut connection: TcpStream) {
    connection.set_read_timeout(Some(WATCHDOG)).unwrap();
    match connection.read(&mut [0]) {
        Ok(0) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        other => panic!("the process goes on: {other:?}"),
    }
}

#[test]
fn a_kill_ends_the_processes_that_the_server_has_started() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let (mut process, _pipes) = Process::spawn(&again("starts another").env("PORT", port)).unwrap();
    let connections = [listener.accept().unwrap().0, listener.accept().unwrap().0];
    process.kill();
    connections.into_iter().for_each(wait_for_end);
}

#[test]
fn all_processes_of_a_server_end_if_the_client_is_killed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut client = Command::new(env::current_exe().unwrap())
        .args(["--exact", "the_started_program", "--nocapture"])
        .envs([("ROLE", "is a client"), ("PORT", &port)])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let connections = [listener.accept().unwrap().0, listener.accept().unwrap().0];
    client.kill().unwrap();
    client.wait().unwrap();
    connections.into_iter().for_each(wait_for_end);
}

/// Writes a script that passes its arguments on to this program.
fn write_script(directory: &Path) {
    let program = env::current_exe().unwrap();
    let script = format!("@\"{}\" --exact the_started_program --nocapture -- %*\r\n", program.display());
    fs::write(directory.join("tool.cmd"), script).unwrap();
    // npm puts a script for other systems beside it.
    fs::write(directory.join("tool"), "#!/bin/sh\nexit 1\n").unwrap();
}

/// Returns what the script has got as arguments, or `None` if the arguments were refused before the start.
fn arguments_through_script(directory: &Path, arguments: &[String]) -> Option<Vec<String>> {
    let path = format!("{};{}", directory.display(), env::var("PATH").unwrap());
    let def = McpServerDef::new("tool").args(arguments).env("ROLE", "shows its arguments").env("Path", path);
    let (_process, Pipes { stdout, .. }) = match Process::spawn(&def) {
        Ok(started) => started,
        Err(error) => {
            assert_eq!(error.kind(), SpawnErrorKind::Invalid, "{error}");
            return None;
        }
    };
    let lines = BufReader::new(stdout).lines().map(Result::unwrap);
    Some(lines.filter_map(|line| Some(line.strip_prefix('<')?.strip_suffix('>')?.to_owned())).collect())
}

#[test]
fn a_script_is_found_by_its_name_and_gets_its_arguments() {
    let directory = TempDir::new().unwrap();
    write_script(directory.path());
    let arguments = ["plain", "two words", "a=b;c,d", "C:\\x\\", ""].map(str::to_owned);
    assert_eq!(arguments_through_script(directory.path(), &arguments).unwrap(), arguments);
}

#[test]
fn arguments_that_a_script_would_not_get_unchanged_are_refused() {
    const PARTS: [&str; 14] = ["\"", "%", "%PATH%", "^", " ", "\\", "&", "|", "<", ">", "!", "a", "b c", "()"];
    let directory = TempDir::new().unwrap();
    write_script(directory.path());
    // A generator of numbers that are the same in each run.
    let mut state = 30_u32;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % bound
    };
    let mut refused = 0;
    for _ in 0..40 {
        let arguments: Vec<String> =
            (0..5).map(|_| (0..=next(4)).map(|_| PARTS[next(PARTS.len())]).collect()).collect();
        match arguments_through_script(directory.path(), &arguments) {
            Some(got) => assert_eq!(got, arguments),
            None => refused += 1,
        }
    }
    assert!((1..40).contains(&refused), "{refused} of 40 were refused");
}
