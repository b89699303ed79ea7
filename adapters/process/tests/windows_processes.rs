//! On Windows, scripts are found by their names and get their arguments unchanged, and all processes of a server end.
#![cfg(windows)]

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_client::{GracePeriods, McpServerDef, ShutdownStep, SpawnErrorKind};
use mcpwire_core::Timestamp;
use mcpwire_process::{Pipes, Process, ProcessShutdown, ShutdownAction};
use tempfile::TempDir;

/// Far longer than anything here takes: only a failing test waits so long.
const WATCHDOG: Duration = Duration::from_secs(300);

/// `DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP`: a process that has left the console and the group of its parent.
const DETACHED: u32 = 0x0000_0208;

/// The arguments that make this test program the one in `ROLE`.
const ARGUMENTS: [&str; 3] = ["--exact", "the_started_program", "--nocapture"];

fn again(role: &str) -> McpServerDef {
    McpServerDef::new(env::current_exe().unwrap().display().to_string()).args(ARGUMENTS).env("ROLE", role)
}

#[test]
fn the_started_program() {
    let Ok(role) = env::var("ROLE") else { return };
    match role.as_str() {
        "shows its arguments" => {
            println!("{}", shown(&env::args().skip_while(|argument| argument != "--").skip(1).collect::<Vec<_>>()));
        }
        "starts a script beside it" => {
            let def = McpServerDef::new("./tool").cwd("sub").arg("a b").env("ROLE", "shows its arguments");
            println!("{}", arguments_shown(&def).unwrap());
        }
        "is a client" => {
            let _started =
                Process::spawn(&again("has three generations").env("PORT", env::var("PORT").unwrap())).unwrap();
            rest();
        }
        "has three generations" | "is polite" => {
            start("has children", 0);
            let _connection = connect();
            if role == "is polite" {
                io::stdin().read_to_end(&mut Vec::new()).unwrap();
                return;
            }
            rest();
        }
        "has children" => {
            start("holds a connection", DETACHED);
            start("leaves an orphan", DETACHED);
            let _connection = connect();
            rest();
        }
        "leaves an orphan" => start("holds a connection", DETACHED),
        "holds a connection" => {
            let _connection = connect();
            rest();
        }
        _ => unreachable!("{role}"),
    }
}

/// Starts this program again in another role.
#[expect(clippy::zombie_processes, reason = "the job ends it")]
fn start(role: &str, flags: u32) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(ARGUMENTS).env("ROLE", role).stdin(Stdio::null()).creation_flags(flags).spawn().unwrap();
}

/// Connects to the test, which thus sees the end of this process.
fn connect() -> TcpStream {
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    TcpStream::connect(("127.0.0.1", port)).unwrap()
}

/// Goes on for as long as nobody ends this process.
fn rest() {
    thread::sleep(WATCHDOG * 2);
}

/// The connections of a server, its child, its grandchild, and a grandchild whose parent has exited.
struct Generations(TcpListener);

impl Generations {
    fn new() -> Self {
        Generations(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn port(&self) -> String {
        self.0.local_addr().unwrap().port().to_string()
    }

    /// Starts a server, and waits until all generations run.
    fn start(&self, role: &str) -> (Process, Pipes, [TcpStream; 4]) {
        let (process, pipes) = Process::spawn(&again(role).env("PORT", self.port())).unwrap();
        (process, pipes, self.connections())
    }

    fn connections(&self) -> [TcpStream; 4] {
        [(); 4].map(|()| self.0.accept().unwrap().0)
    }
}

/// Waits until the processes at the other ends are gone.
fn wait_for_end(connections: [TcpStream; 4]) {
    for mut connection in connections {
        connection.set_read_timeout(Some(WATCHDOG)).unwrap();
        match connection.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            other => panic!("the process goes on: {other:?}"),
        }
    }
}

/// Ends a server step by step. Returns the last step before its exit.
fn shut_down(mut process: Process, pipes: Pipes, grace_periods: GracePeriods) -> ShutdownStep {
    let Pipes { stdin, stdout: _stdout, stderr: _stderr } = pipes;
    let (mut stdin, begin) = (Some(stdin), Instant::now());
    let mut shutdown = ProcessShutdown::new(grace_periods);
    loop {
        match shutdown.next(Some(&mut process), false, false, Timestamp::from_origin(begin.elapsed())) {
            ShutdownAction::CloseInput => drop(stdin.take()),
            ShutdownAction::Wait(_) => thread::yield_now(),
            ShutdownAction::Done(report) => return report.last_step,
        }
    }
}

#[test]
fn a_kill_ends_all_generations() {
    let generations = Generations::new();
    let (mut process, _pipes, connections) = generations.start("has three generations");
    process.kill();
    wait_for_end(connections);
}

#[test]
fn dropping_the_process_ends_all_generations() {
    let generations = Generations::new();
    let (process, _pipes, connections) = generations.start("has three generations");
    drop(process);
    wait_for_end(connections);
}

#[test]
fn a_shutdown_ends_all_generations_of_a_server_that_ignores_the_end_of_its_input() {
    let generations = Generations::new();
    let (process, pipes, connections) = generations.start("has three generations");
    let grace_periods = GracePeriods { after_close: Duration::ZERO, after_terminate: WATCHDOG };
    assert_eq!(shut_down(process, pipes, grace_periods), ShutdownStep::Terminate);
    wait_for_end(connections);
}

#[test]
fn a_shutdown_ends_what_a_polite_server_leaves_behind() {
    let generations = Generations::new();
    let (process, pipes, connections) = generations.start("is polite");
    let grace_periods = GracePeriods { after_close: WATCHDOG, after_terminate: WATCHDOG };
    assert_eq!(shut_down(process, pipes, grace_periods), ShutdownStep::CloseInput);
    wait_for_end(connections);
}

#[test]
fn all_generations_end_if_the_client_is_killed() {
    let generations = Generations::new();
    let mut client = Command::new(env::current_exe().unwrap())
        .args(ARGUMENTS)
        .envs([("ROLE", "is a client"), ("PORT", &generations.port())])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let connections = generations.connections();
    client.kill().unwrap();
    client.wait().unwrap();
    wait_for_end(connections);
}

/// Writes a script that passes its arguments on to this program.
fn write_script(directory: &Path) {
    let program = env::current_exe().unwrap();
    let script = format!("@\"{}\" {} -- %*\r\n", program.display(), ARGUMENTS.join(" "));
    fs::write(directory.join("tool.cmd"), script).unwrap();
    // npm puts a script for other systems beside it.
    fs::write(directory.join("tool"), "#!/bin/sh\nexit 1\n").unwrap();
}

/// Formats arguments in one line, whatever they contain.
fn shown(arguments: &[String]) -> String {
    format!("arguments: {arguments:?}")
}

/// Starts a program that shows its arguments. Returns the line with them, or the reason why the start was refused.
fn arguments_shown(def: &McpServerDef) -> Result<String, String> {
    let (_process, Pipes { stdout, .. }) = Process::spawn(def).map_err(|error| {
        assert_eq!(error.kind(), SpawnErrorKind::Invalid, "{error}");
        error.to_string()
    })?;
    let mut lines = BufReader::new(stdout).lines().map(Result::unwrap);
    Ok(lines.find(|line| line.starts_with("arguments: ")).unwrap_or_default())
}

fn through_script(directory: &Path, arguments: &[String]) -> Result<String, String> {
    let path = format!("{};{}", directory.display(), env::var("PATH").unwrap());
    let def = McpServerDef::new("tool").args(arguments).cwd(directory);
    arguments_shown(&def.env("ROLE", "shows its arguments").env("Path", path))
}

#[test]
fn a_script_in_the_working_directory_is_found() {
    let directory = TempDir::new().unwrap();
    let sub = directory.path().join("sub");
    fs::create_dir(&sub).unwrap();
    write_script(&sub);
    let client = Command::new(env::current_exe().unwrap())
        .args(ARGUMENTS)
        .env("ROLE", "starts a script beside it")
        .current_dir(directory.path())
        .output()
        .unwrap();
    let output = String::from_utf8(client.stdout).unwrap();
    assert!(output.contains("\narguments: [\"a b\"]"), "{output}");
}

#[test]
fn a_file_that_is_no_program_is_named_as_such() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("server.py");
    fs::write(&file, "print(1)\n").unwrap();
    let error = Process::spawn(&McpServerDef::new(file.display().to_string())).unwrap_err();
    assert_eq!(error.kind(), SpawnErrorKind::NotExecutable, "{error}");
    assert!(error.to_string().contains("Start the program that runs this file"), "{error}");
}

#[test]
fn a_script_gets_its_arguments_unchanged_or_is_not_started() {
    const PARTS: [&str; 17] = [
        "\"",
        "%",
        "%PATH%",
        "^",
        " ",
        "\\",
        "&",
        "&canary",
        "|canary",
        "\" & canary & \"",
        "<",
        ">made ",
        "!",
        "a",
        "b c",
        "()",
        "=;,",
    ];
    let directory = TempDir::new().unwrap();
    write_script(directory.path());
    // A second command that is run leaves a file, as a redirection does.
    fs::write(directory.path().join("canary.cmd"), "@echo x>%~dp0sings\r\n").unwrap();
    // A generator of numbers that are the same in each run.
    let mut state = 30_u32;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % bound
    };
    let mut refused = 0;
    for _ in 0..40 {
        let mut arguments: Vec<String> =
            (0..5).map(|_| (0..next(5)).map(|_| PARTS[next(PARTS.len())]).collect()).collect();
        if let Some(index) = arguments.iter().position(|argument| argument.contains('%')) {
            let message = through_script(directory.path(), &arguments).unwrap_err();
            assert!(
                message.contains(&format!("`tool` cannot be run: argument {} contains `%`", index + 1)),
                "{message}"
            );
            refused += arguments.len();
            arguments.retain(|argument| !argument.contains('%'));
            refused -= arguments.len();
        }
        assert_eq!(through_script(directory.path(), &arguments).unwrap(), shown(&arguments));
    }
    assert!((10..100).contains(&refused), "{refused} of 200 arguments were refused");
    let mut files: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["canary.cmd", "tool", "tool.cmd"]);
}
