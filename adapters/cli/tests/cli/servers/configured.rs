//! Servers that are configured or imported once, and then used by name. Imported servers are approved before they are started.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::support::servers::{Answering, DemoServer, Script};
use crate::support::{MCPWIRE, Place, SUM, mcpwire, wait_for};

#[test]
fn a_configured_server_is_listed_and_called_by_name() {
    let place = Place::with_demo();
    let listed = place.run("server list").shows(&["demo-server"]);
    assert!(listed.stdout.starts_with("demo  "), "{listed:?}");
    let tools = place.run("tools --json").json();
    assert!(tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "demo__add"), "{tools}");
    place.adds_up("demo__add");
    place.run(&format!("call add {SUM} --server Demo")).gives(0, "42\n");
    place.run("call demo__fail message=no").gives(1, "no\n");
    place.run("call demo__nothing --json").exits(4).error_has("code", "NOT_FOUND");
    place.run("info --server DEMO --json").json_has("/serverInfo/name", "mcpwire-demo");
    place.run("info demo --json").json_has("/serverInfo/name", "mcpwire-demo");
    place.run("ping --server demo").exits(0);
    place.run("tools demo add").exits(0).shows(&["a: number"]).hides(&["echo"]);
    place.run("call demo add a=2 b=40").gives(0, "42\n");
    for (wrong, says) in [
        ("info --server dmeo", "Did you mean `demo`?"),
        ("info dmeo", "Did you mean `demo`?"),
        ("info --server demo --env A=b", "--env"),
    ] {
        place.run(wrong).exits(2).says(&[says]);
    }
}

#[test]
fn a_typing_error_in_a_servers_name_starts_nothing() {
    let place = Place::new();
    let started = place.path().join("started");
    place.add_script("calc", &format!("touch '{}'; exec '{MCPWIRE}' demo-server", started.display()));
    place.run(&format!("call clac__add {SUM}")).gives(2, "").says(&["Did you mean calc__add?"]);
    place.run("tools --server clac").exits(2).says(&["Did you mean `calc`?"]);
    assert!(!started.exists());

    place.run("call calc__ad {}").exits(4).says(&["calc__ad"]);
    assert!(started.exists(), "that server is asked");
    place.run("call ecoh {}").exits(4).says(&["Did you mean calc__echo?"]);
}

#[test]
fn the_commands_that_info_suggests_work() {
    let place = Place::with_demo();
    for server in ["demo", "--demo"] {
        let info = place.run(&format!("info {server}")).exits(0);
        let info = info.shows(&["7 tools:", "add(a: number, b: number)", "2 prompts: greeting"]);
        let next: Vec<&str> = info.stdout.split("Next:\n").nth(1).unwrap().lines().collect();
        assert_eq!(next.len(), 4, "{next:?}");
        for command in next {
            place.run(command.trim_start().strip_prefix("mcpwire ").unwrap()).exits(0);
        }
    }
}

#[test]
fn a_server_is_added_in_each_way_and_the_next_command_is_said() {
    let place = Place::new();
    for (name, words, shown) in [
        ("a", "https://example.com/mcp", "https://example.com/mcp"),
        ("b", "--npm pkg -- --flag x", "npx -y pkg --flag x"),
        ("c", "--pypi pkg -- x", "uvx pkg x"),
        ("d", "--url https://example.com/mcp", "https://example.com/mcp"),
        ("e", "-- program --flag", "program --flag"),
    ] {
        let added = place.run(&format!("server add {name} {words}")).exits(0);
        added.says(&[&format!("added {name}; next: mcpwire info {name}")]);
        place.run(&format!("server show {name}")).exits(0).shows(&[shown]);
    }
    let url = "https://example.com/mcp";
    for wrong in ["", "example.com", &format!("{url} -- program"), &format!("{url} --npm pkg"), "--npm pkg --pypi pkg"]
    {
        place.run(&format!("server add f {wrong}")).exits(2);
    }
}

#[test]
fn servers_that_are_disabled_or_removed_are_not_said_to_be_ok() {
    let place = Place::with_demo();
    place.add_demo("second");
    place.run("server disable demo").exits(0);
    let doctor = place.run("server doctor").exits(0).shows(&["ok second: running, 7 tools"]);
    doctor.shows(&["off demo: it is disabled"]);
    place.run("server remove demo thrid").exits(2).says(&["thrid"]);
    place.run("server remove demo second").exits(0);
    for command in ["server list", "server doctor", "status"] {
        place.run(command).exits(0).shows(&["No servers are configured. Add one: mcpwire server add"]);
    }
}

#[test]
fn a_server_that_hangs_or_speaks_no_mcp_is_named_and_delays_no_other() {
    let place = Place::with_demo();
    // They end with their input, so that no shutdown takes long.
    place.add_script("hangs", "cat >/dev/null");
    place.add_script("babbles", "echo hello; echo world; cat >/dev/null");
    let babbled = "it sent 2 messages that are not MCP, the first: hello";
    // The tools of `demo` are there, though the start of the others ends only with the timeout.
    let tools = place.run("tools --timeout 1s").exits(3).shows(&["demo__add("]);
    tools.says(&["server `hangs`: handshake timed out after 1 s", babbled]);
    let info = place.run("info babbles --timeout 1s").exits(5);
    info.says(&["handshake timed out after 1 s", babbled]);
    let direct = place.run(&["info", "--timeout", "1s", "--", "sh", "-c", "echo hello; cat >/dev/null"]).exits(5);
    direct.says(&["1 message that is not MCP: hello", "Is it an MCP server? See what it does: sh -c"]);
    place.run("call demo add a=2 b=40 --timeout 20s").gives(0, "42\n");
    let doctor = place.run("server doctor --timeout 1s").exits(3);
    doctor.shows(&["ok demo", "failed hangs: handshake timed out after 1 s"]);
}

#[test]
fn a_name_of_any_length_in_a_file_is_shown_cut() {
    let place = Place::with_demo();
    place.add_demo("other");
    place.edit_servers(|servers| servers["servers"][0]["name"] = "x".repeat(70_000).into());
    for words in ["server list", "status", "server doctor", "tools"] {
        let shown = place.run(words).hides(&["panicked"]);
        assert!(shown.stdout.len() < 20_000 && shown.stderr.len() < 20_000, "{shown:?}");
    }
}

#[test]
fn a_server_that_fails_is_told_and_spoils_no_other() {
    let place = Place::with_demo();
    place.run("server add bad -- /no/such/program");
    place.run("tools").exits(3).shows(&["demo__add"]).says(&["server `bad`: command not found"]);
    place.run("tools --json").exits(3).shows(&["demo__add"]);
    place.run("server doctor").exits(3).shows(&["ok demo", "failed bad"]);
    let rows = place.status();
    assert_eq!((&rows[0]["state"], &rows[1]["state"]), (&"running".into(), &"failed".into()));
    place.run("server disable bad").exits(0);
    place.run("server enable bad").exits(3);
    // The flag is taken back.
    place.run("server list").shows(&["(disabled)"]);
}

#[test]
fn a_server_over_http_has_a_name_too() {
    let (place, server) = (Place::new(), DemoServer::start());
    let guarded = Answering::start("401 Unauthorized\r\nWWW-Authenticate: Bearer", "");
    for (name, url) in [("web", &*server.url), ("guarded", &guarded.url), ("nobody", "http://127.0.0.1:1/mcp")] {
        place.run(&format!("server add {name} --url {url}")).exits(0);
    }
    place.adds_up("web__add");
    let rows = place.status();
    assert_eq!((&rows[0]["state"], &rows[0]["pid"]), (&"running".into(), &Value::Null));
    assert_eq!(rows[1]["state"], "needs-login", "{rows}");
    let error = &rows[1]["last_error"];
    assert_eq!((&error["code"], &error["field"]), (&"VALIDATION_ERROR".into(), &"login".into()));
    assert_eq!(rows[2]["last_error"]["code"], "NETWORK_ERROR", "{rows}");
    place.run("server disable guarded").exits(0);
    place.run("server enable guarded").exits(6);
    // A login that is missing does not take the flag back.
    place.run("server list").hides(&["(disabled)"]);
}

#[test]
fn a_tool_whose_definition_has_changed_is_told() {
    let place = Place::new();
    let list = |description: &str| {
        let tool = json!({"name": "t", "description": description, "inputSchema": {"type": "object"}});
        place.write("list", json!({"tools": [tool]}).to_string());
    };
    list("reads");
    let server = Script::legacy(r#"{"tools":{}}"#);
    let server = server.does("tools/list", &format!("say \"\\\"result\\\":$(cat '{}')\"", place.file("list")));
    place.add_script("one", &server.text());
    for _ in 0..2 {
        place.run("tools").says_only("");
    }
    list("reads, and \u{1b}[2J sends it away");
    let told = "one: the definition of a tool has changed: t (description)";
    let tools = place.run("tools").exits(0);
    assert!(tools.stderr.starts_with(told), "{tools:?}");
    // It is told once.
    place.run("tools").says_only("");
    list("reads");
    let status = place.run("status --json");
    assert_eq!(status.json()[0]["changed_tools"][0]["tool"], "t");
    assert!(status.stderr.starts_with(told), "{status:?}");
}

#[test]
fn without_any_server_it_is_said_how_to_name_one() {
    let place = Place::new();
    place.run("tools").exits(2).says(&["mcpwire server add"]);
    place.run("server start demo").exits(3).says(&["mcpwire hub start"]);
}

#[test]
fn logs_have_the_local_time() {
    let place = Place::new();
    place.add_script("talks", "echo 'no database' >&2; exit 7");
    place.run("server doctor").exits(3);
    let logs = place.run("server logs talks");
    let (time, line) = logs.stdout.lines().next().and_then(|line| line.split_once(' ')).expect("a line");
    assert_eq!(line, "no database", "{logs:?}");
    // Date, `T`, time with milliseconds, offset.
    assert_eq!(time.len(), "2026-11-23T23:40:23.000+02:00".len(), "{logs:?}");
}

#[test]
fn doctor_says_of_a_server_that_is_still_being_ended_that_it_failed() {
    let place = Place::new();
    // A child of the server survives the failure for a while, and must be ended first.
    place.add_script("lingers", r#"echo "no database" >&2; (trap "" TERM; sleep 0.5) & exec 1>&-; wait"#);
    let doctor = place.run("server doctor").exits(3).shows(&["no database", "mcpwire server logs lingers"]);
    assert!(doctor.stdout.starts_with("failed lingers: "), "{doctor:?}");
}

/// The demo server.
fn demo() -> Value {
    json!({"command": MCPWIRE, "args": ["demo-server"]})
}

#[test]
fn another_programs_servers_are_taken_over_with_consent() {
    let place = Place::new();
    let servers = json!({"demo": demo(), "broken": {"command": "x", "url": "https://example.com"}});
    let import = format!("server import {}", place.write_import(&servers));
    place.run(&import).exits(0).shows(&["added demo", "left out broken"]);
    place.run(&format!("call demo__add {SUM} --json")).error_has("field", "consent");
    place.run("server enable demo --trust").exits(0);
    place.adds_up("demo__add");
    place.run("server remove demo").exits(0);
    place.run(&format!("{import} --trust")).exits(0);
    place.adds_up("demo__add");
}

#[test]
fn all_imported_servers_are_approved_and_enabled_at_once() {
    let place = Place::new();
    let file = place.write_import(&json!({"one": demo(), "two": demo(), "three": demo()}));
    let list = || place.run("server list");
    place.run(&format!("server import {file}")).shows(&["Review and approve: mcpwire server enable one"]);
    list().shows(&["(not approved yet)"]);
    place.run("server enable --all --trust").exits(0);
    list().hides(&["not approved"]);
    place.run("server disable one two").exits(0);
    assert_eq!(list().stdout.matches("(disabled)").count(), 2);
}

#[test]
fn clients_to_import_from_are_named_as_the_help_says() {
    let help = mcpwire("server import --help").stdout;
    let (_, names) = help.split_once("[possible values: ").expect("the names are listed");
    let names: Vec<&str> = names.split(']').next().unwrap().split(',').map(str::trim).collect();
    assert!(names.contains(&"vscode") && names.contains(&"gemini"), "{names:?}");
    let place = Place::new();
    let file = place.write("file", "{}");
    for name in names.into_iter().chain(["vs-code", "gemini-cli", "codex-toml"]) {
        place.run(&format!("server import {file} --from {name}")).hides(&["invalid value"]);
    }
    place.run(&format!("server import {file} --from emacs")).exits(2).says(&["vscode"]);
}

#[test]
fn the_approval_names_the_address_of_a_host_and_an_interrupt_of_it_changes_nothing() {
    let place = Place::new();
    // The host is a number.
    let servers = json!({"notes": {"url": "https://0x7f.1/mcp?x=y"}, "other": {"command": "a"}});
    let import = format!("server import {}", place.write_import(&servers));
    let shown = "https://0x7f.1/mcp?x=y (the host 127.0.0.1)";
    let asking = place.at_terminal(&import, &[]);
    asking.wait_for_stderr("Approve? [y/N]");
    asking.interrupt().exits(130).says(&["interrupted", shown]);
    place.run("server list").exits(0).shows(&["No servers are configured."]);
    place.run(&import).exits(0);
    place.run("server show notes").shows(&[shown]);
}

#[test]
fn imported_servers_are_started_by_a_running_hub_once_they_are_agreed_to() {
    let place = Place::new();
    let hub = place.hub();
    let file = place.write_import(&json!({"asks": demo()}));
    place.run(&format!("server import {file}")).shows(&["mcpwire server enable asks"]);
    let refused = place.run(&format!("call asks__add {SUM}")).gives(2, "");
    refused.says(&["Review and approve it: mcpwire server enable asks"]).hides(&["not found"]);
    // Without a terminal, the user cannot be asked.
    place.run("server enable asks").exits(2).says(&["was imported and needs your approval"]);
    place.run("server enable asks --trust").exits(0);
    place.adds_up("asks__add");

    let file = place.write_import(&json!({"trusted": demo()}));
    place.run(&format!("server import {file} --trust")).says(&["the running hub starts them"]);
    place.adds_up("trusted__add");
    hub.interrupt().exits(0);
}

#[test]
fn an_approval_shows_and_allows_what_the_running_hub_starts() {
    let place = Place::new();
    let list = || place.run("server list");
    let variable = "MCPWIRE_TEST_COMMAND";
    let depending = json!({"command": MCPWIRE, "args": [format!("${{{variable}:-missing}}")]});
    let import = format!("server import {}", place.write_import(&json!({"demo": depending})));
    place.run(&import).exits(0).shows(&["Review and approve"]);
    let hub = place.hub_with(&[(variable, "demo-server")]);
    // This command has no such variable, and alone it would start something else.
    place.run("server show demo").shows(&[&format!("{MCPWIRE} demo-server")]);
    list().shows(&["demo-server", "not approved yet"]);
    place.run("server enable demo --trust").exits(0);
    place.adds_up("demo__add");
    list().hides(&["not approved yet"]);

    place.run("server remove demo").exits(0);
    let asking = place.at_terminal(&import, &[]);
    asking.answer("Approve? [y/N]", "y\n").finish().exits(0).says(&[" demo-server"]).hides(&["missing"]);
    let call = format!("call demo__add {SUM}");
    wait_for("the server", || (place.run(&call).stdout == "42\n").then_some(()));
    hub.interrupt().exits(0);
    // The approval is for the hub's environment only.
    list().shows(&["not approved yet"]);
}
