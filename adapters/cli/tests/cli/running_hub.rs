//! A running hub (`mcpwire hub run`): commands share its servers, and say which do not run, and what to do; its socket, and clients that
//! do not wait for answers.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;

use crate::support::servers::{Script, quoted, say};
use crate::support::{MCPWIRE, Place, Running, SUM, WATCHDOG, each, wait_for};

/// Checks that a call with the arguments [`SUM`] fails with this exit status, that its error contains these texts, and that it does not say "not found".
#[track_caller]
fn assert_refused(place: &Place, call: &str, status: i32, says: &[&str]) {
    place.run(&format!("call {call} {SUM}")).gives(status, "").says(says).hides(&["not found"]);
}

#[test]
fn commands_share_the_servers_of_a_running_hub() {
    let (place, hub) = Place::with_running_demo();
    let socket = place.path().join("state/hub.sock");
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);

    let pid = || place.status()[0]["pid"].clone();
    let first = pid();
    for _ in 0..3 {
        place.adds_up("demo__add");
    }
    assert_eq!(pid(), first, "they share one process");
    assert_eq!(place.status()[0]["calls"], 3);
    place.run("server restart demo").exits(0);
    assert_ne!(pid(), first);
    place.add_demo("second");
    place.run("server start second").exits(0);
    place.adds_up("second__add");
    // There is a hub already.
    place.run("hub run").exits(2);

    place.edit_servers(|servers| servers["servers"][1]["name"] = "renamed".into());
    let before = pid();
    place.run("hub reload").exits(0);
    place.adds_up("renamed__add");
    assert_eq!(pid(), before, "the others are not touched");
    hub.interrupt().exits(0).says(&["renamed: stopped\n"]);
    assert!(!socket.exists());
}

/// All commands use the servers of the running hub, and start none beside it.
#[test]
fn every_command_goes_through_the_running_hub() {
    let place = Place::new();
    place.add_script("demo", &format!("echo x >> '{}'; exec '{MCPWIRE}' demo-server", place.file("started")));
    let hub = place.hub();
    // Asked while the hub is starting its servers: it waits.
    place.run("tools demo").exits(0).shows(&["demo__add(a: number, b: number)"]);
    place.run("info demo --json").json_has("/serverInfo/name", "mcpwire-demo");
    let uri = place.run("resources demo --json").json()["resources"][0]["uri"].clone();
    place.run(&format!("read demo {} --json", uri.as_str().unwrap())).json_has("/contents/0/uri", uri);
    let prompt = place.run("prompts demo --json").json()["prompts"][0].clone();
    let (name, argument) = (prompt["name"].as_str().unwrap(), prompt["arguments"][0]["name"].as_str().unwrap());
    place.run(&format!("prompt demo {name} {argument}=x")).exits(0).shows(&["user:"]);
    place.run(&format!("complete demo prompt {name} {argument}")).exits(0);
    place.run("ping demo").exits(0).shows(&["The server answered in "]);
    place.run("generate rust demo").exits(0).shows(&["pub async fn add<"]);
    place.run("request demo tools/list").json_has("/tools/0/name", "echo");
    place.run("request demo tools/call {}").exits(2).says(&["tools are called with"]);
    place.run("request demo no/such").exits(4).says(&["method not found"]);
    place.run("call demo add a=2 b=40").gives(0, "42\n");
    place.run("call demo add a=2").exits(2).says(&["missing argument: b", "mcpwire call demo add a=2 b="]);
    place.run("info dmeo").exits(2).says(&["Did you mean `demo`?"]);
    assert_eq!(place.read("started"), "x\n", "one process serves all commands");
    hub.interrupt().exits(0);
}

/// What a server asks during a call reaches the command of the call. It does not say which call it means, so a second one makes it
/// unanswerable.
#[test]
fn what_a_server_asks_reaches_the_only_command_with_a_call_in_flight() {
    let answers = r#"{"elicitation":[{"action":"accept","content":{"first_name":"Ada"},"repeat":true}]}"#;
    for era in ["modern", "legacy"] {
        let place = Place::with_demo();
        let greet = format!("call demo greet --answers {}", place.write("answers", answers));
        let hub = place.begin(&format!("hub run --protocol {era}"));
        hub.wait_for_stderr("demo: running");
        place.run(&greet).gives(0, "Hello, Ada!\n");
        // Nobody is at a terminal.
        place.run("call demo greet").says(&["demo asks: ", "(dismissed: "]);

        let slow = place.begin("call demo slow seconds=3600");
        wait_for("the slow call", || (place.status()[0]["calls"] == 3).then_some(()));
        let why = "several commands have a call in flight there";
        place.run(&greet).hides(&["Ada"]).says(&[why]);
        slow.wait_for_stderr(why);
        slow.interrupt().exits(130);
        place.run(&greet).gives(0, "Hello, Ada!\n");
        hub.interrupt().exits(0);
    }
}

/// A running hub declares sampling, because a command may have answers to it. Without a file of answers, nobody is told of one.
#[test]
fn a_sampling_request_without_a_file_of_answers_says_where_answers_come_from() {
    let asks = r#"{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}"#;
    let result = say(r#"{"content":[{"type":"text","text":"done"}]}"#);
    let code = format!("printf '%s\\n' {}; IFS= read -r reply; {result}", quoted(asks));
    let place = Place::new();
    let file = place.write("answers", r#"{"sampling":[{"message":"no such text","text":"x"}]}"#);
    place.add_script("asks", &Script::tools().does("tools/call", &code).text());
    let hub = place.hub();
    for (options, says) in [
        (String::new(), "asks: sampling requests are answered only from a file"),
        (format!("--answers {file}"), "asks: the file of --answers has no answer to this sampling request"),
    ] {
        place.run(&format!("call asks t {options}")).gives(0, "done\n").says(&[says]);
    }
    hub.interrupt().exits(0);
}

#[test]
fn a_hub_in_the_background_is_started_and_stopped() {
    let place = Place::with_demo();
    place.run("hub status").exits(3).shows(&["mcpwire hub start"]);
    place.run("hub stop").gives(0, "").says(&["no hub is running"]);
    place.run("hub start").exits(0).says(&["the hub runs in the background"]);
    place.run("hub start").exits(0).says(&["running already"]);
    place.adds_up("demo__add");
    place.run("hub status --json").json_has("/running_servers", 1);
    place.run("hub logs").exits(0).shows(&["listening at ", "demo: running"]);
    let pid = place.status()[0]["pid"].clone();
    place.run("hub restart").exits(0);
    place.adds_up("demo__add");
    assert_ne!(place.status()[0]["pid"], pid);
    place.run("hub stop").exits(0).says(&["the hub has ended"]);
    assert!(!place.path().join("state/hub.sock").exists());
    place.run("hub service systemd").exits(0).shows(&["ExecStart=", "--config-dir"]);
}

#[test]
fn a_shell_runs_commands_with_a_hub_of_its_own() {
    let place = Place::with_demo();
    let input = "tools\ncall add a=2 b=40\nuse nope\nuse\ncall demo add a=1 b=1\n'\nexit\n";
    let shell = place.run_with_input("shell demo", input).exits(0);
    shell.shows(&["demo__add(", "\n42\n2\n"]).says(&["no server is called `nope`", "the line cannot be read"]);
    place.run("hub status").exits(3);
}

/// A program with a hub of its own, or an editor, may have changed it.
#[test]
fn a_running_hub_does_not_take_what_it_read_for_what_the_file_says() {
    let (place, hub) = Place::with_running_demo();
    place.edit_servers(|servers| servers["servers"][0]["enabled"] = false.into());
    place.run("server enable demo").exits(0);
    assert_eq!(place.servers()["servers"][0]["enabled"], true);
    place.adds_up("demo__add");
    hub.interrupt().exits(0);
}

#[test]
fn doctor_tries_again_what_the_running_hub_has_given_up_or_let_sleep() {
    let place = Place::new();
    let [program, sleeper] = ["program", "sleeper"].map(|name| place.file(name));
    place.add("given-up", &[&program, "demo-server"]);
    place.run(&format!("server add sleeper --lazy -- {sleeper} demo-server")).exits(0);
    symlink(MCPWIRE, &sleeper).unwrap();
    // From now on its tools are known, so that a hub starts it with the first call.
    place.adds_up("sleeper__add");
    let hub = place.hub();
    wait_for("the start", || {
        let rows = place.status();
        (rows[0]["state"] == "failed" && rows[1]["state"] == "sleeping").then_some(())
    });

    fs::remove_file(&sleeper).unwrap();
    symlink(MCPWIRE, &program).unwrap();
    let doctor = place.run("server doctor").exits(3).shows(&["failed sleeper: command not found"]);
    assert!(doctor.stdout.starts_with("ok given-up: running, "), "{doctor:?}");
    symlink(MCPWIRE, &sleeper).unwrap();
    place.run("server doctor").exits(0);
    hub.interrupt().exits(0);
}

#[test]
fn doctor_does_not_start_what_somebody_has_stopped_and_says_what_a_hub_does_not_know() {
    let place = Place::with_demo();
    let hub = place.hub();
    place.run("server stop demo").exits(0);
    let doctor = place.run("server doctor").exits(3).shows(&["mcpwire server start demo"]);
    assert!(doctor.stdout.starts_with("failed demo: it is stopped, so it was not tried"), "{doctor:?}");
    place.edit_servers(|servers| servers["servers"][0]["id"] = "00000000-0000-4000-8000-000000000000".into());
    place.run("server doctor").exits(3).shows(&["does not know it", "mcpwire hub reload"]);
    hub.interrupt().exits(0);
}

#[test]
fn a_server_that_is_added_while_a_hub_runs_is_started_or_it_is_said_why_not() {
    let place = Place::new();
    let hub = place.hub();
    let demo = place.run(&format!("server add demo -- {MCPWIRE} demo-server"));
    demo.gives(0, "").says_only("demo: added, and started in the running hub; next: mcpwire info demo\n");
    place.adds_up("demo__add");

    let added = place.run(&["server", "add", "my bad", "--", "/no/such/program"]).gives(0, "");
    assert!(added.stderr.starts_with("my bad: added, but not started: command not found"), "{added:?}");
    assert!(added.stderr.ends_with("mcpwire server show 'my bad'\n"), "{added:?}");

    // A server that needs a secret, which the test then sets as suggested.
    let advice = "mcpwire secret set secretive TOKEN";
    let add = format!("server add secretive --secret TOKEN -- {MCPWIRE} demo-server");
    place.run(&add).gives(0, "").says(&[advice]);
    assert_refused(&place, "secretive__add", 2, &[advice, "server start secretive"]);
    place.run("server doctor").exits(3).shows(&[advice]);
    let set = place.run_with_input("secret set secretive TOKEN", "hunter22\n").exits(0);
    set.says(&["mcpwire server restart secretive"]);
    place.run("server restart secretive").exits(0);
    place.adds_up("secretive__add");
    hub.interrupt().exits(0);
}

#[test]
fn a_tool_of_a_server_that_does_not_run_is_not_said_to_be_missing() {
    let place = Place::new();
    for name in ["stopped", "disabled", "Two words"] {
        place.add_demo(name);
    }
    place.add("failed", &["/no/such/program"]);
    place.add_script("crashes", "echo no database >&2; exit 7");
    place.run("server disable disabled").exits(0);
    // Without a hub, each command starts the servers that it needs, except disabled ones.
    let enable = "mcpwire server enable disabled";
    assert_refused(&place, "disabled__add", 2, &["server `disabled`: it is disabled", enable]);
    assert_refused(&place, "add --server Disabled", 2, &[enable]);

    let hub = place.hub();
    hub.wait_for_stderr("crashes: backoff");
    hub.wait_for_stderr("failed: failed");
    for name in ["stopped", "two words"] {
        place.run(&["server", "stop", name]).exits(0);
    }
    let start = "mcpwire server start stopped";
    for (call, status, says) in [
        ("stopped__add", 3, ["server `stopped` is stopped", start]),
        ("two_words__add", 3, ["`Two words` is stopped", "mcpwire server start 'Two words'"]),
        ("add --server stopped", 3, [start, "stopped"]),
        ("disabled__add", 2, ["server `disabled` is disabled", enable]),
    ] {
        assert_refused(&place, call, status, &says);
    }
    let failed = ["server `failed` has failed: command not found", "server show failed", "server start failed"];
    place.run(&format!("call failed__add {SUM}")).exits(3).says(&failed);
    // The server may be restarting at this moment. Then the call waits, and fails with the error of the start.
    place
        .run(&format!("call crashes__add {SUM} --json"))
        .says(&["no database"])
        .error_has("code", "SERVICE_UNAVAILABLE");

    let states = ["stopped (stopped)", "Two words (stopped)", "mcpwire status"];
    place.run(&format!("call add {SUM}")).exits(4).says(&["tool not found: `add`"]).says(&states);
    place.run("tools --server stopped").exits(3).says(&["is stopped. Start it: mcpwire server start stopped"]);
    place.run("server start stopped").exits(0);
    place.adds_up("stopped__add");
    place.run("call stopped__nothing").exits(4).says(&["tool not found: `stopped__nothing`"]);
    hub.interrupt().exits(0);
}

#[test]
fn a_call_that_waited_for_a_start_that_fails_is_refused_as_a_later_one() {
    let place = Place::new();
    let gate = place.file("gate");
    place.add_script("slow", &format!("while [ ! -e '{gate}' ]; do sleep 0.01; done; echo 'no database' >&2; exit 7"));
    let hub = place.hub();
    hub.wait_for_stderr("slow: negotiating");
    let waiting = place.begin(&format!("call slow__add {SUM}"));
    // A second call fails at its time limit, so the first one waits by then.
    assert_refused(&place, "slow__add --timeout 300ms", 5, &["server `slow` is still starting"]);
    place.write("gate", "");
    let waited = waiting.finish().gives(3, "");
    waited.says(&["server `slow` has failed", "no database", "mcpwire server logs slow"]);
    hub.interrupt().exits(0);
}

const STATUS: &str = "{\"ask\":\"status\"}\n";

/// Returns the request that calls a tool of `demo`.
fn call(tool: &str, arguments: &str) -> String {
    format!("{{\"ask\":\"call\",\"tool\":\"{tool}\",\"server\":\"demo\",\"arguments\":{arguments}}}\n")
}

fn connect(place: &Place) -> UnixStream {
    UnixStream::connect(place.path().join("state/hub.sock")).expect("the hub listens")
}

#[test]
fn a_directory_whose_path_is_too_long_for_a_socket_works_too() {
    let (runtime, place) = (Place::new(), Place::below(&"x".repeat(150)));
    let begin = |line: &str| Running::start(place.command(line).env("XDG_RUNTIME_DIR", runtime.path()), "");
    begin(&format!("server add demo -- {MCPWIRE} demo-server")).finish().exits(0);
    let hub = begin("hub run");
    hub.wait_for_stderr("demo: running");
    let entries = fs::read_dir(runtime.path().join("mcpwire")).unwrap().map(|entry| entry.unwrap().path());
    let socket = entries.into_iter().find(|path| path.extension().is_some()).expect("a socket");
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let pid = || begin("status --json").finish().exits(0).json()[0]["pid"].clone();
    let first = pid();
    begin(&format!("call demo__add {SUM}")).finish().gives(0, "42\n");
    assert_eq!(pid(), first, "commands share the server");
    hub.interrupt().exits(0);
    assert!(!socket.exists());
}

#[test]
fn of_hubs_that_start_together_one_stays_and_keeps_its_socket() {
    let place = Place::with_demo();
    let mut hubs: Vec<Running> = (0..6).map(|_| place.begin("hub run")).collect();
    wait_for("all but one to end", || {
        while let Some(at) = (0..hubs.len()).find(|at| hubs[*at].status().is_some()) {
            // The others say that a hub is running.
            hubs.swap_remove(at).finish().exits(2);
        }
        (hubs.len() == 1).then_some(())
    });
    let socket = place.path().join("state/hub.sock");
    wait_for("the socket", || socket.exists().then_some(()));
    place.adds_up("demo__add");
    hubs.remove(0).interrupt().exits(0);
    assert!(!socket.exists());
}

#[test]
fn no_client_of_the_socket_keeps_another_from_a_call_and_its_own_call_ends_with_it() {
    let (place, hub) = Place::with_running_demo();
    // As many connections as the hub accepts ask without an end, and read nothing.
    let begin = |_| {
        let mut client = connect(&place);
        client.set_nonblocking(true).unwrap();
        let _ = client.write(STATUS.repeat(2_000).as_bytes());
        client
    };
    let clients: Vec<UnixStream> = (0..10).map(begin).collect();
    place.run(&format!("call demo__add {SUM} --timeout 10s")).gives(0, "42\n");
    drop(clients);

    // Requests that are sent together are answered in order.
    let mut client = connect(&place);
    client.write_all([call("add", SUM), STATUS.to_owned(), call("add", SUM)].concat().as_bytes()).unwrap();
    let answers: Vec<String> = BufReader::new(client).lines().take(3).map(Result::unwrap).collect();
    let is_sum = |answer: &String| answer.contains("done") && answer.contains("42");
    assert!(is_sum(&answers[0]) && answers[1].contains("demo") && is_sum(&answers[2]), "{answers:?}");

    // A client goes that has sent nothing after its call, bytes that the hub reads with the call, or more than its buffer takes.
    each([0, 1, 2_000], |more| {
        let mut client = connect(&place);
        client.write_all((call("slow", r#"{"seconds":600}"#) + &STATUS.repeat(more)).as_bytes()).unwrap();
        let mut answers = BufReader::new(client.try_clone().unwrap());
        let mut first = String::new();
        answers.read_line(&mut first).unwrap();
        assert!(first.contains("progress"), "{first}");
        client.shutdown(Shutdown::Write).unwrap();
        // Progress may come until the hub has seen the end. Without the end of the call, that is for ten minutes.
        client.set_read_timeout(Some(WATCHDOG)).unwrap();
        let mut rest = String::new();
        let end = answers.read_to_string(&mut rest).map_err(|error| error.kind());
        assert_ne!(end, Err(ErrorKind::WouldBlock), "{rest}");
        assert!(!rest.contains("done") && !rest.contains("error"), "{rest}");
    });
    place.adds_up("demo__add");
    hub.interrupt().exits(0);
}

/// The code of a server that sends a notification to all listeners, or to the subscription `$id`.
fn notifies(method: &str, params: &str) -> String {
    let message = format!(r#"{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{method}\",\"params\":{params}}}"#);
    format!("printf '%s\\n' \"{message}\"; ")
}

/// A server of an era whose tool `t` changes the list of tools, and logs its process id. The tool `draw` ends it.
fn teller(era: &str) -> String {
    let subscription = r#"{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$id},"#;
    let of = |rest: &str| format!("{subscription}{rest}}}");
    let log = notifies("message", r#"{\"level\":\"info\",\"data\":\"process $$\"}"#);
    let text = r#"\"content\":[{\"type\":\"text\",\"text\":\"$$\"}]"#;
    let (result, change) = match era {
        "modern" => {
            let change = notifies("tools/list_changed", &of(r#"\"x\":1"#));
            let change = format!("call=$id; for id in $all; do {change} done; id=$call; ");
            (format!(r#"{{\"resultType\":\"complete\",{text}}}"#), change)
        }
        _ => (format!("{{{text}}}"), notifies("tools/list_changed", "{}")),
    };
    let answer = format!("say \"\\\"result\\\":{result}\"");
    let call = format!("case $line in *'\"name\":\"draw\"'*) exit 3;; esac; {change}{log}{answer}");
    let tools =
        r#""tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"draw","inputSchema":{"type":"object"}}]"#;
    let capabilities = r#"{"tools":{"listChanged":true},"logging":{}}"#;
    let script = if era == "modern" {
        let agreed = notifies("subscriptions/acknowledged", &of(r#"\"notifications\":{\"toolsListChanged\":true}"#));
        Script::modern_with(capabilities)
            .answers("tools/list", &format!(r#"{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{tools}}}"#))
            .does("subscriptions/listen", &format!("all=\"$all $id\"; {agreed}"))
    } else {
        Script::legacy(capabilities).answers("logging/setLevel", "{}").answers("tools/list", &format!("{{{tools}}}"))
    };
    script.answers("ping", "{}").does("tools/call", &call).text()
}

/// What listeners print comes from the session of the calls, each change once, however many listen. None of them holds the others.
#[test]
fn several_listen_to_the_session_that_calls_use() {
    each(["modern", "legacy"], |era| {
        let place = Place::new();
        place.add_script("teller", &teller(era));
        let hub = place.hub();
        let listeners = [(); 3].map(|()| place.begin("listen teller"));
        for listener in &listeners {
            listener.wait_for_stderr("listening: tools (Ctrl-C ends it)");
        }
        // This listener reads nothing.
        let mut slow = connect(&place);
        slow.write_all(b"{\"ask\":\"listen\",\"server\":\"teller\",\"resources\":[]}\n").unwrap();

        let pid = place.run("call teller t").exits(0).stdout.trim().to_owned();
        assert_eq!(place.status()[0]["pid"].to_string(), pid);
        let told = format!("process {pid}\n");
        let has_told = |listener: &Running, times| {
            let heard = || (listener.stdout_so_far().matches(&told).count() == times).then_some(());
            wait_for("the log message", heard);
        };
        for listener in &listeners {
            has_told(listener, 1);
        }
        let [first, second, third] = listeners;
        // The first listener is interrupted, and the second is killed.
        first.interrupt().gives(0, &format!("tools changed\n[info] {told}"));
        second.signal(rustix::process::Signal::KILL);
        second.finish();
        place.run("call teller t").gives(0, &format!("{pid}\n"));
        has_told(&third, 2);

        // The server dies: the listener says so, and the hub goes on.
        place.run("call teller draw").exits(4).says(&["code 3"]);
        let ended = third.finish().exits(4).says(&["server `teller`: ", "code 3"]);
        assert_eq!(ended.stdout.matches("tools changed").count(), 2, "{ended:?}");
        place.run("server start teller").exits(0);
        hub.interrupt().exits(0);
    });
}

/// What the server of a shell tells appears before the next prompt.
#[test]
fn a_shell_shows_notifications_before_its_prompt() {
    let place = Place::new();
    place.add_script("teller", &teller("legacy"));
    let hub = place.hub();
    let mut shell = place.at_terminal("shell teller", &[]);
    // The shell does not say when it has begun to listen.
    wait_for("a notification", || {
        place.run("call teller t").exits(0);
        shell.types("\n");
        shell.stderr_so_far().contains("[teller] tools changed").then_some(())
    });
    // The line editor forgets what is typed while it reads another line.
    wait_for("the end of the shell", || {
        let ended = shell.status();
        if ended.is_none() {
            shell.types("exit\n");
        }
        ended
    });
    shell.finish().exits(0);
    hub.interrupt().exits(0);
}

/// An interrupt is for the command that runs, and the shell gets it as well. Here, it has started the hub itself.
#[test]
fn a_shell_goes_on_after_interrupts() {
    let place = Place::with_demo();
    let mut shell = place.begin_open("shell demo");
    for times in 1..=3 {
        shell.types("call add a=20 b=22\n");
        wait_for("a result", || (shell.stdout_so_far().matches("42").count() == times).then_some(()));
        shell.signal(rustix::process::Signal::INT);
    }
    shell.types("call echo message=unimpressed\n");
    shell.types("exit\n");
    shell.finish().exits(0).shows(&["unimpressed"]);
    place.run("hub status").exits(3);
}

/// A task belongs to the session of the hub, so that later commands find it.
#[test]
fn a_task_is_known_to_later_commands() {
    for era in ["modern", "legacy"] {
        let place = Place::with_demo();
        let hub = place.begin(&format!("hub run --protocol {era}"));
        hub.wait_for_stderr("demo: running");
        let begin = |seconds: &str| {
            let task = place.run(&format!("call demo slow seconds={seconds} --task --detach")).exits(0).stdout;
            place.write("task.json", task)
        };
        let slow = format!("@{}", begin("3600"));
        place.run(&format!("task demo get {slow}")).exits(0).shows(&[" working"]);
        let waiting = place.begin(&format!("task demo result {slow}"));
        place.run(&format!("task demo cancel {slow}")).exits(0).says(&["was asked to cancel"]);
        waiting.finish().exits(4).says(&["cancelled"]);
        place.run(&format!("task demo get {slow} --json")).json_has("/status", "cancelled");

        let quick = format!("@{}", begin("0.1"));
        place.run(&format!("task demo result {quick}")).gives(0, "Waited 0.1 s.\n");
        let followed = place.run("call demo slow seconds=0.1 --task").gives(0, "Waited 0.1 s.\n");
        followed.says(&[": working", ": completed"]);
        place.run("call demo echo message=hi --task --detach").gives(0, "hi\n");
        place.run("call demo none --task").exits(4).says(&["tool not found"]);
        hub.interrupt().exits(0);
    }
}
