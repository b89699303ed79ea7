//! A server and its descendants are ended, whatever process group or session they have moved to.
#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_client::{GracePeriods, McpServerDef};
use mcpwire_core::Timestamp;
use mcpwire_process::procfs::ProcessStat;
use mcpwire_process::{Pipes, Process, ProcessShutdown, ShutdownAction, kill_tree};
use rustix::process::{Pid, getppid, setpgid, setsid};

/// Far longer than anything here takes: only a failing test waits so long.
const WATCHDOG: Duration = Duration::from_secs(300);

/// The program of the servers below: this test again, with what it does in a variable.
#[test]
fn server() {
    let Ok(role) = env::var("ROLE") else { return };
    match role.as_str() {
        "in the group of the client" => {
            // A session leader cannot change its group.
            let client = ProcessStat::read(getppid().unwrap().as_raw_nonzero().get().cast_unsigned()).unwrap();
            let moved = setpgid(None, Pid::from_raw(client.group.cast_signed()));
            assert_eq!(moved.is_err(), cfg!(feature = "setsid"));
            ready();
        }
        "with a child in a session" => start("in a session", Stdio::inherit()),
        "with a grandchild in a session" => start("with a child in a session", Stdio::inherit()),
        "with a session that exits at the end of input" => {
            start("in a session", Stdio::inherit());
            let mut input = Vec::new();
            std::io::stdin().read_to_end(&mut input).unwrap();
            process::exit(0);
        }
        "in a session" => {
            setsid().unwrap();
            ready();
        }
        "with a session that starts sessions" => start("in a session that starts others", Stdio::inherit()),
        "in a session that starts others" => {
            setsid().unwrap();
            for number in 0..300 {
                start("in a session", Stdio::null());
                if number == 10 {
                    ready();
                }
            }
        }
        _ => unreachable!(),
    }
    thread::sleep(WATCHDOG * 2);
}

fn ready() {
    println!("\nready");
}

/// Starts this program again in another role.
#[expect(clippy::zombie_processes, reason = "the tests end it")]
fn start(role: &str, stdout: Stdio) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(env::args_os().skip(1)).env("ROLE", role).stdin(Stdio::null()).stdout(stdout).spawn().unwrap();
}

struct Server {
    process: Process,
    pipes: Pipes,
    mark: String,
}

impl Server {
    fn start(role: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mark = format!("mark-{}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let def = McpServerDef::new(env::current_exe().unwrap().to_str().unwrap())
            .args(["--exact", "server", "--nocapture", &mark])
            .env("ROLE", role);
        let (process, mut pipes) = Process::spawn(&def).unwrap();
        let mut lines = BufReader::new(&mut pipes.stdout).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"), "the server does not start");
        drop(lines);
        Server { process, pipes, mark }
    }

    /// Ends the server step by step, and closes its input when the shutdown says so.
    fn shut_down(self, grace_periods: GracePeriods) -> String {
        let Server { mut process, pipes: Pipes { stdin, stdout: _stdout, stderr: _stderr }, mark } = self;
        let (mut stdin, begin) = (Some(stdin), Instant::now());
        let mut shutdown = ProcessShutdown::new(grace_periods);
        loop {
            match shutdown.next(Some(&mut process), false, false, Timestamp::from_origin(begin.elapsed())) {
                ShutdownAction::CloseInput => stdin = None,
                ShutdownAction::Wait(_) => thread::yield_now(),
                ShutdownAction::Done(_) => break,
            }
        }
        drop(stdin);
        mark
    }
}

fn processes(mark: &str) -> Vec<u32> {
    let has_mark = |pid: &u32| {
        let command_line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command_line.split(|byte| *byte == 0).any(|argument| argument == mark.as_bytes())
    };
    ProcessStat::all().into_iter().filter(|stat| !stat.is_zombie).map(|stat| stat.pid).filter(has_mark).collect()
}

fn assert_gone(mark: &str) {
    let begin = Instant::now();
    while !processes(mark).is_empty() {
        assert!(begin.elapsed() < WATCHDOG, "these processes are left: {:?}", processes(mark));
        thread::yield_now();
    }
}

const STRAYS: [&str; 4] = [
    "in the group of the client",
    "with a child in a session",
    "with a grandchild in a session",
    "with a session that starts sessions",
];

#[test]
fn dropping_the_process_ends_all() {
    for role in STRAYS {
        let server = Server::start(role);
        let mark = server.mark.clone();
        drop(server);
        assert_gone(&mark);
    }
}

#[test]
fn a_kill_ends_all() {
    for role in STRAYS {
        let mut server = Server::start(role);
        server.process.kill();
        assert_gone(&server.mark);
    }
}

#[test]
fn a_kill_by_id_ends_all() {
    for role in STRAYS {
        let server = Server::start(role);
        kill_tree(server.process.pid().unwrap());
        assert_gone(&server.mark);
    }
}

#[test]
fn a_shutdown_ends_all_by_sigterm() {
    // SIGTERM does not stop a process that is just starting another.
    for role in STRAYS.into_iter().filter(|role| *role != "with a session that starts sessions") {
        let server = Server::start(role);
        assert_gone(&server.shut_down(GracePeriods { after_close: Duration::ZERO, after_terminate: WATCHDOG * 10 }));
    }
}

#[test]
fn a_shutdown_ends_the_sessions_that_a_polite_server_leaves() {
    let server = Server::start("with a session that exits at the end of input");
    assert_gone(&server.shut_down(GracePeriods { after_close: WATCHDOG * 10, after_terminate: WATCHDOG * 10 }));
}

#[test]
fn a_server_leads_a_group_and_with_the_feature_setsid_a_session() {
    let server = Server::start("with a child in a session");
    let pid = server.process.pid().unwrap();
    assert_eq!(ProcessStat::read(pid).unwrap().group, pid);
    let session = session(pid);
    assert_eq!(session == pid, cfg!(feature = "setsid"));
    assert_eq!(session == self::session(process::id()), !cfg!(feature = "setsid"));
    drop(server.pipes);
}

/// Returns the session of a process: zero if its leader is outside this PID namespace, as in some containers.
fn session(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_ascii_whitespace().nth(3).unwrap().parse().unwrap()
}
