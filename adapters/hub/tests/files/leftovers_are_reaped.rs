//! What a hub leaves that was killed: it is ended by the next, and nothing else is.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::time::{Duration, Instant};

use mcpwire_hub::Uuid;
use mcpwire_hub::launch::{Instance, Launch, MARK};
use mcpwire_hub::process_registry::{Host, ProcessRegistry, Reaped, ServerProcess};
use mcpwire_hub::secrets::Secrets;
use tempfile::TempDir;

/// Ends with the test, whatever becomes of that.
struct Bystander(Process);

impl Bystander {
    fn start() -> Self {
        Bystander(Command::new("sleep").arg("1000").stdout(Stdio::null()).process_group(0).spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Starts this program again as a hub with servers, and kills it. What it wrote about its processes is returned.
fn killed_hub(directory: &Path, servers: &str) -> Vec<u32> {
    let mut hub = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers_are_reaped::a_hub_that_is_killed", "--nocapture"])
        .env("DIRECTORY_OF_HUB", directory)
        .env("SERVERS_OF_HUB", servers)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(hub.wait().unwrap().signal(), Some(9));
    let pids = fs::read_to_string(directory.join("pids")).unwrap();
    pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Run as a program of its own by the tests below.
#[test]
#[expect(clippy::zombie_processes, reason = "it is killed before they end")]
fn a_hub_that_is_killed() {
    let Some(directory) = std::env::var_os("DIRECTORY_OF_HUB").map(PathBuf::from) else { return };
    let registry = ProcessRegistry::new(directory.join("state").join("ledger.json"));
    for (generation, script) in std::env::var("SERVERS_OF_HUB").unwrap().split('|').enumerate() {
        let mut config = mcpwire_hub::config::McpConfig::binary("a", "sh").args(["-c", script]);
        if script.contains("docker") {
            config = mcpwire_hub::config::McpConfig::docker("a", "img");
        }
        let generation = generation as u64;
        let instance = Instance { generation, host: Host::current().token(), is_first: false };
        let launch = Launch::compose(&config, &Secrets::in_directory(directory.join("s")), &instance).unwrap();
        let child = ServerProcess { id: config.id, generation, pid: 0, container: launch.container };
        registry.record(&child).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .envs(&launch.def.env)
            .current_dir(&directory)
            .process_group(0)
            .stdout(Stdio::null());
        let process = command.spawn().unwrap();
        if !script.contains("killed before") {
            registry.record(&ServerProcess { pid: process.id(), ..child }).unwrap();
        }
    }
    // Each script says when it and its descendants are there.
    let expected = std::env::var("SERVERS_OF_HUB").unwrap().matches(">> pids").count();
    let until = Instant::now() + Duration::from_secs(30);
    while fs::read_to_string(directory.join("pids")).unwrap_or_default().split_whitespace().count() < expected {
        assert!(Instant::now() < until, "the servers do not start");
        std::thread::yield_now();
    }
    let me = rustix::process::getpid();
    rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
    unreachable!("it was killed");
}

fn registry(directory: &TempDir) -> ProcessRegistry {
    ProcessRegistry::new(directory.path().join("state").join("ledger.json"))
}

#[test]
fn case_41_what_a_killed_hub_left_is_ended_and_nothing_else() {
    let directory = TempDir::new().unwrap();
    let mut bystander = Bystander::start();
    // One that ends when asked, with a descendant; one that has to be killed; one whose first process is gone already, and
    // whose descendant has left the group.
    let pids = killed_hub(
        directory.path(),
        "echo $$ >> pids; sleep 1000 & echo $! >> pids; wait|trap '' TERM; echo $$ >> pids; while :; do sleep 1; done|\
         setsid sh -c 'echo $$ >> pids; exec sleep 1000' & exit 0",
    );
    assert_eq!(pids.len(), 4);
    assert!(pids.iter().all(|pid| is_running(*pid)), "they outlive the hub");
    let reaped = registry(&directory).reap(Duration::from_millis(300)).unwrap();
    assert_eq!((reaped.ended.len(), reaped.left.len(), reaped.foreign.len()), (3, 0, 0), "{reaped:?}");
    assert!(pids.iter().all(|pid| !is_running(*pid)));
    assert!(bystander.is_alive());
    assert_eq!(registry(&directory).reap(Duration::ZERO).unwrap(), Reaped::default(), "nothing is left to do");
}

#[test]
fn a_process_is_found_if_the_hub_was_killed_before_it_recorded_the_id() {
    let directory = TempDir::new().unwrap();
    let pids = killed_hub(directory.path(), ": killed before; echo $$ >> pids; sleep 1000 & echo $! >> pids; wait");
    assert!(pids.len() == 2 && pids.iter().all(|pid| is_running(*pid)));
    let reaped = registry(&directory).reap(Duration::from_secs(5)).unwrap();
    assert_eq!((reaped.ended.len(), reaped.left.len(), reaped.foreign.len()), (1, 0, 0), "{reaped:?}");
    assert!(pids.iter().all(|pid| !is_running(*pid)));
}

#[test]
fn a_process_stays_recorded_until_it_has_ended() {
    let directory = TempDir::new().unwrap();
    killed_hub(directory.path(), "trap 'echo 0 >>pids' TERM; echo $$ >> pids; while :; do sleep 0.01; done");
    let recorded = fs::read_to_string(directory.path().join("state").join("ledger.json")).unwrap();
    let registry = registry(&directory);
    std::thread::scope(|scope| {
        let reaping = scope.spawn(|| registry.reap(Duration::from_secs(2)).unwrap());
        let pids = || fs::read_to_string(directory.path().join("pids")).unwrap();
        while !pids().ends_with("\n0\n") {
            assert!(!reaping.is_finished(), "it is told to end first");
            std::thread::yield_now();
        }
        let now = fs::read_to_string(directory.path().join("state").join("ledger.json")).unwrap();
        assert_eq!(now, recorded, "a hub that is killed now leaves it to the next one");
        assert_eq!(reaping.join().unwrap().ended.len(), 1);
    });
    assert_eq!(registry.reap(Duration::ZERO).unwrap(), Reaped::default());
}

#[test]
fn case_41_a_process_that_has_the_id_of_another_is_not_touched() {
    let directory = TempDir::new().unwrap();
    let mut bystander = Bystander::start();
    let path = directory.path().join("ledger.json");
    let gone = serde_json::json!({"pid": 4_000_000, "started": "other-boot:1"});
    let child = serde_json::json!({"id": Uuid::new_v4(), "generation": 1, "pid": bystander.0.id()});
    for started in [serde_json::json!("other-boot:12"), serde_json::Value::Null] {
        let entry = serde_json::json!({"child": child, "started": started, "host": gone});
        fs::write(&path, serde_json::json!({"version": 1, "children": [entry]}).to_string()).unwrap();
        let reaped = ProcessRegistry::new(&path).reap(Duration::ZERO).unwrap();
        assert_eq!((reaped.ended.len(), reaped.foreign.len()), (0, 1));
        assert!(bystander.is_alive());
    }
}

#[test]
fn what_belongs_to_a_hub_that_runs_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let mut server = Bystander::start();
    let registry = registry(&directory);
    let child = ServerProcess { id: Uuid::new_v4(), generation: 1, pid: server.0.id(), container: None };
    registry.record(&child).unwrap();
    assert_eq!(registry.reap(Duration::ZERO).unwrap(), Reaped::default());
    assert!(server.is_alive());
    registry.forget(&child).unwrap();
    let text = fs::read_to_string(directory.path().join("state").join("ledger.json")).unwrap();
    assert!(!text.contains(&child.id.to_string()), "{text}");
}

#[test]
fn a_container_that_was_left_is_named() {
    let directory = TempDir::new().unwrap();
    killed_hub(directory.path(), "echo $$ >> pids; : docker; exit 0");
    let reaped = registry(&directory).reap(Duration::from_secs(5)).unwrap();
    assert_eq!(reaped.containers.len(), 1);
    assert!(reaped.containers[0].name.starts_with("mcp-"), "{reaped:?}");
    let again = registry(&directory).reap(Duration::ZERO).unwrap();
    assert_eq!(again.containers, reaped.containers, "it is named until it is said to be removed");
    registry(&directory).forget_reaped(&reaped).unwrap();
    assert_eq!(registry(&directory).reap(Duration::ZERO).unwrap(), Reaped::default());
}

#[test]
fn a_registry_that_cannot_be_read_does_not_stop_the_hub() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("ledger.json");
    fs::write(&path, "{\"version\":1,\"chil").unwrap();
    let registry = ProcessRegistry::new(&path);
    assert_eq!(registry.reap(Duration::ZERO).unwrap(), Reaped::default());
    assert!(!MARK.is_empty());
    assert_eq!(Host::current().token(), Host::current().token());
}
