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
        .args(["--exact", "a_hub_that_is_killed", "--nocapture"])
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
    let until = Instant::now() + Duration::from_secs(60);
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

/// Starts a test of this file in a PID namespace of its own. Returns `None` where that is not allowed.
fn in_another_namespace(test: &str, directory: &TempDir) -> Option<Command> {
    let ways: [&[&str]; 2] = [&["--pid"], &["--pid", "--user", "--map-root-user"]];
    let unshare = |way: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(way).args(["--fork", "--kill-child", "--mount-proc"]).stdin(Stdio::piped()).stdout(Stdio::null());
        command
    };
    let is_allowed =
        |way: &&&[&str]| unshare(way).arg("true").stderr(Stdio::null()).status().is_ok_and(|end| end.success());
    let Some(way) = ways.iter().find(is_allowed) else {
        eprintln!("SKIPPED: this system allows no PID namespace, so hubs in different ones were not tried");
        return None;
    };
    let mut command = unshare(way);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    command.env("DIRECTORY_OF_NAMESPACE", directory.path());
    Some(command)
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_there() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::yield_now();
    }
}

/// The id and generation with which the tests of namespaces record their server.
fn recorded(pid: u32) -> ServerProcess {
    let container = serde_json::json!({"name": "mcp-of-a-test", "client": "false"});
    let container = Some(serde_json::from_value(container).unwrap());
    ServerProcess { id: Uuid::from_u128(7), generation: 1, pid, container }
}

/// Starts a server with the mark of this hub, and records it.
fn marked_server(registry: &ProcessRegistry) -> Bystander {
    let mark = format!("{}.1.{}", Uuid::from_u128(7), Host::current().token());
    let mut command = Command::new("sleep");
    let server = Bystander(command.arg("1000").env(MARK, mark).stdout(Stdio::null()).process_group(0).spawn().unwrap());
    registry.record(&recorded(server.0.id())).unwrap();
    server
}

/// Run as a program of its own in another namespace: a hub that runs until its input ends.
#[test]
fn a_hub_of_another_namespace() {
    let Some(directory) = std::env::var_os("DIRECTORY_OF_NAMESPACE").map(PathBuf::from) else { return };
    let mut server = marked_server(&ProcessRegistry::new(directory.join("state").join("ledger.json")));
    fs::write(directory.join("ready"), "").unwrap();
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    fs::write(directory.join("alive"), server.is_alive().to_string()).unwrap();
}

/// Run as a program of its own in another namespace: a hub that starts.
#[test]
fn a_next_hub_of_another_namespace() {
    let Some(directory) = std::env::var_os("DIRECTORY_OF_NAMESPACE").map(PathBuf::from) else { return };
    let registry = ProcessRegistry::new(directory.join("state").join("ledger.json"));
    let reaped = registry.reap(Duration::ZERO).unwrap();
    fs::write(directory.join("reaped"), format!("{reaped:?}")).unwrap();
}

#[test]
fn a_hub_of_another_namespace_counts_as_running() {
    let directory = TempDir::new().unwrap();
    let Some(mut hub) = in_another_namespace("a_hub_of_another_namespace", &directory) else { return };
    let mut hub = hub.spawn().unwrap();
    wait_for("the hub", || directory.path().join("ready").exists());
    let reaped = registry(&directory).reap(Duration::ZERO).unwrap();
    assert_eq!(reaped, Reaped::default());
    drop(hub.stdin.take());
    assert!(hub.wait().unwrap().success());
    assert_eq!(fs::read_to_string(directory.path().join("alive")).unwrap(), "true");
    let text = fs::read_to_string(directory.path().join("state").join("ledger.json")).unwrap();
    assert!(text.contains("mcp-of-a-test"), "{text}");
}

#[test]
fn a_hub_of_another_namespace_takes_this_one_for_running() {
    let directory = TempDir::new().unwrap();
    let mut server = marked_server(&registry(&directory));
    let Some(mut next) = in_another_namespace("a_next_hub_of_another_namespace", &directory) else { return };
    assert!(next.status().unwrap().success());
    assert_eq!(fs::read_to_string(directory.path().join("reaped")).unwrap(), format!("{:?}", Reaped::default()));
    assert!(server.is_alive());
}

#[test]
fn records_are_left_alone_unless_their_hub_has_surely_ended() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("ledger.json");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let started = format!("{}:1", boot.trim());
    let own = serde_json::to_value(Host::current()).unwrap()["namespaces"].clone();
    let elsewhere = serde_json::json!("pid:[1]");
    let child = serde_json::to_value(recorded(4_000_001)).unwrap();
    let boot_before = "another-boot:1".to_owned();
    for (started, namespaces, is_reaped) in [
        (&started, &own, true),
        (&started, &elsewhere, false),
        (&started, &serde_json::Value::Null, false),
        (&boot_before, &elsewhere, true),
    ] {
        let host = serde_json::json!({"pid": 4_000_000, "started": started, "namespaces": namespaces});
        let entry = serde_json::json!({"child": child, "started": started, "host": host});
        fs::write(&path, serde_json::json!({"version": 1, "children": [entry]}).to_string()).unwrap();
        let reaped = ProcessRegistry::new(&path).reap(Duration::ZERO).unwrap();
        assert_eq!(reaped.containers.len(), usize::from(is_reaped), "{host}");
        let is_recorded = fs::read_to_string(&path).unwrap().contains("mcp-of-a-test");
        assert!(is_recorded || is_reaped, "{host}");
    }
}

#[test]
fn descendants_of_a_left_process_are_ended_although_they_hide() {
    let directory = TempDir::new().unwrap();
    let pids = killed_hub(
        directory.path(),
        "echo $$ >> pids; env -u MCPWIRE_SERVER setsid sh -c 'echo $$ >> pids; exec sleep 1000' & wait",
    );
    assert!(pids.len() == 2 && pids.iter().all(|pid| is_running(*pid)));
    let reaped = registry(&directory).reap(Duration::from_secs(5)).unwrap();
    assert_eq!(reaped.ended.len(), 1, "{reaped:?}");
    assert!(pids.iter().all(|pid| !is_running(*pid)));
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
