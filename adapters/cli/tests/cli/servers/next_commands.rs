//! What commands that change the configuration say that they did, and the next commands that they print, which work.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::support::login::Guarded;
use crate::support::{Finished, MCPWIRE, Place, SUM, run};

/// Returns the words of the commands that an output suggests, without `mcpwire`.
fn printed(finished: &Finished) -> Vec<Vec<String>> {
    let lines = finished.stdout.lines().chain(finished.stderr.lines());
    let commands = lines.flat_map(|line| line.split("mcpwire ").skip(1)).map(|command| {
        let end = [". ", "; ", ", ", " ("].iter().filter_map(|end| command.find(end)).min().unwrap_or(command.len());
        shell_words::split(command[..end].trim_end_matches('.')).expect("words of a shell")
    });
    // The demo server is started by this program, too.
    commands.filter(|command: &Vec<String>| command[0] != "demo-server").collect()
}

/// Runs the only command that an output suggests.
#[track_caller]
fn run_printed(place: &Place, finished: &Finished) -> Finished {
    let commands = printed(finished);
    let [command] = commands.as_slice() else { panic!("{commands:?} in {finished:?}") };
    place.run_with_input(&command.iter().map(String::as_str).collect::<Vec<_>>(), "hunter22\n")
}

/// A user with files of several programs, and a project folder.
struct Files(Place);

impl Files {
    fn new() -> Self {
        let files = Files(Place::below("home"));
        let demo = json!({"command": MCPWIRE, "args": ["demo-server"]});
        let with_secret = json!({"command": "x", "env": {"API_TOKEN": "hunter2-hunter2"}});
        let of = |servers| json!({"mcpServers": servers}).to_string();
        files.write(".cursor/mcp.json", &of(json!({"one": demo, "both": with_secret, "half": {"command": ""}})));
        files.write(".codeium/windsurf/mcp_config.json", &of(json!({"Both": demo, "two": demo})));
        files.write(".lmstudio/mcp.json", "{ this is no JSON: hunter2");
        files.write("settings/goose/config.yaml", "extensions: {memory: {type: builtin}, ");
        files.write("project/opencode.jsonc", r#"{"mcp": {"three": {"type": "local", "command": ["y"]}}} // and more"#);
        files
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let home = self.0.path();
        let mut command = self.0.command(words);
        command.env("HOME", home).env("XDG_CONFIG_HOME", home.join("settings")).env_remove("CODEX_HOME");
        command.current_dir(home.join("project"));
        command
    }

    fn run(&self, words: &[&str]) -> Finished {
        run(&mut self.command(words))
    }
}

#[test]
fn all_programs_files_are_shown_first_and_then_imported_by_the_printed_command() {
    let files = Files::new();
    let home = files.0.path().display().to_string();
    let shown = files.run(&["server", "import", "--all"]).exits(0).hides(&["hunter2"]).shows(&[
        &format!("{home}/.cursor/mcp.json"),
        &format!("would add one: {MCPWIRE} demo-server"),
        "would add both: x",
        "left out half: ",
        &format!("left out Both: a server of this name is in {home}/.cursor/mcp.json, too"),
        "would add two: ",
        &format!("left out {home}/.lmstudio/mcp.json: this is not a file of `lm-studio`"),
        &format!("left out {home}/settings/goose/config.yaml: this is not a file of `goose`: line 1 is not valid YAML"),
        "opencode.jsonc",
        "would add three: y",
        "Import 4 servers: mcpwire server import --all --yes",
    ]);
    assert!(!files.0.path().join("mcp").exists() && !files.0.path().join("secrets").exists(), "nothing is written");
    let document = files.run(&["server", "import", "--all", "--json"]).json();
    assert_eq!(document.as_array().unwrap().len(), 5, "{document}");
    assert_eq!(document.pointer("/0/servers/1/name"), Some(&json!("one")), "{document}");

    let [command] = printed(&shown).try_into().unwrap();
    let imported = files.run(&command.iter().map(String::as_str).collect::<Vec<_>>()).exits(0);
    let imported = imported.shows(&["added one. Review and approve: mcpwire server enable one", "left out Both"]);
    let imported = imported.says(&["mcpwire server enable --all"]);
    for command in printed(&imported) {
        files.0.run(&[&command.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--help"]].concat()).exits(0);
    }
    // A second time, each name is taken.
    let again = files.run(&["server", "import", "--all"]).exits(0).shows(&["There is nothing to import."]);
    again.shows(&["left out one: a server of this name is configured already"]);
}

#[test]
fn the_files_of_one_program_or_of_another_folder_are_found() {
    let files = Files::new();
    let cursor = files.run(&["server", "import", "--all", "--from", "cursor"]).exits(0).hides(&["lmstudio", "two"]);
    cursor.shows(&["Import 2 servers: mcpwire server import --all --from cursor --yes"]);
    files.write("other/.vscode/mcp.json", r#"{"servers": {"four": {"command": "z", "cwd": "${workspaceFolder}"}}}"#);
    let other = files.0.file("other");
    let shown = files.run(&["server", "import", "--all", "--folder", &other]).exits(0).hides(&["opencode"]);
    shown.shows(&["would add four: z", &format!("mcpwire server import --all --folder {other} --yes")]);
    for words in [&["server", "import"][..], &["server", "import", "x", "--all"], &["server", "import", "x", "--yes"]] {
        files.run(words).exits(2);
    }
}

#[test]
fn several_servers_are_approved_by_one_look() {
    let place = Place::new();
    let demo = json!({"command": MCPWIRE, "args": ["demo-server"]});
    let secret = json!({"command": MCPWIRE, "args": ["demo-server"], "env": {"API_TOKEN": "hunter2-hunter2"}});
    let file = place.write_import(&json!({"one": demo, "two": secret}));
    place.run(&["server", "import", &file]).exits(0);
    let refused = place.run(&["server", "enable", "--all"]).exits(2).hides(&["hunter2"]);
    let refused = refused.says(&["2 servers need your approval, so nothing was changed", "one starts:", "two starts:"]);
    place.run(&["server", "list"]).shows(&["not approved yet"]);
    place.run(&["server", "enable", "one", "two"]).exits(2).says(&["mcpwire server enable one two --yes"]);

    let mut declined = place.at_terminal(&["server", "enable", "--all"], &[]);
    declined.wait_for_stderr("Approve all? [y/N]");
    declined.types("\n");
    declined.finish().exits(2).says(&["nothing was changed"]);

    let mut agreed = place.at_terminal(&["server", "enable", "--all"], &[]);
    agreed.wait_for_stderr("Approve all? [y/N]");
    agreed.types("y\n");
    agreed.finish().exits(0).says(&["enabled one; next: mcpwire tools one", "enabled two; next: mcpwire tools two"]);
    place.adds_up("two__add");

    place.run(&["server", "remove", "one", "two"]).exits(0);
    place.run(&["server", "import", &file]).exits(0);
    run_printed(&place, &refused).exits(0).says(&["enabled one", "enabled two"]);
    place.adds_up("one__add");
}

#[test]
fn the_printed_command_sets_a_secret_of_any_kind() {
    for (name, format, server) in [
        ("input", "vscode", json!({"env": {"A": "${input:key}"}})),
        ("part of a text", "vscode", json!({"env": {"A": "x ${input:key} y"}})),
        ("variable", "mcp-servers", json!({"env": {"A_TOKEN": "${MCPWIRE_TEST_UNSET}"}})),
        ("variable in a text", "mcp-servers", json!({"env": {"A": "x ${MCPWIRE_TEST_UNSET}"}})),
    ] {
        let place = Place::new();
        let mut server = server;
        server["command"] = MCPWIRE.into();
        server["args"] = json!(["demo-server"]);
        let servers = json!({"my notes": server});
        let inputs = json!([{"id": "key", "type": "promptString", "password": true}]);
        let content = json!({"mcpServers": servers, "servers": servers, "inputs": inputs}).to_string();
        let file = place.write("file.json", content);
        let imported = place.run(&["server", "import", &file, "--from", format, "--trust"]).exits(0);
        let imported = imported.shows(&["added my notes. Set its secret: mcpwire secret set 'my notes' "]);
        let refused = place.run(&["tools", "my notes"]).exits(2).says(&["Set its secret: mcpwire secret set"]);
        assert_eq!(printed(&refused), printed(&imported), "{name}");
        let set = run_printed(&place, &refused).exits(0).hides(&["does not use", "hunter22"]);
        run_printed(&place, &set).exits(0);
        place.run(&["tools", "my notes"]).exits(0).shows(&["add("]);
    }
}

#[test]
fn the_commands_that_adding_enabling_and_disabling_print_work() {
    let place = Place::new();
    let added =
        place.run(&["server", "add", "demo", "--", MCPWIRE, "demo-server"]).exits(0).says(&["added demo; next:"]);
    run_printed(&place, &added).exits(0);
    let disabled = place.run(&["server", "disable", "demo"]).exits(0).says(&["disabled demo; to undo that:"]);
    let refused = place.run(&["call", "demo__add", SUM]).exits(2).says(&["is disabled"]);
    assert!(printed(&refused).contains(&printed(&disabled)[0]), "{refused:?}");
    let enabled = run_printed(&place, &disabled).exits(0).says(&["enabled demo; next:"]);
    run_printed(&place, &enabled).exits(0).shows(&["add("]);
    let taken = place.run(&["server", "add", "Demo", "--", "other"]).exits(2).says(&["Choose another name"]);
    run_printed(&place, &taken).exits(0).says_only("removed demo with its secrets and logs\n");

    let words = ["server", "add", "needs", "--secret", "A", "--secret", "B", "--", MCPWIRE, "demo-server"];
    let added = place.run(&words).exits(0).says(&["added needs\n"]);
    let commands = printed(&added);
    assert_eq!(commands, [["secret", "set", "needs", "A"], ["secret", "set", "needs", "B"]], "{added:?}");
    let set = place.run_with_input(&["secret", "set", "needs", "A"], "hunter22").exits(0);
    assert_eq!(printed(&set), commands[1..], "{set:?}");
    let set = run_printed(&place, &set).exits(0);
    assert_eq!(printed(&set), [["info", "needs"]], "{set:?}");
    run_printed(&place, &set).exits(0);
    let removed = place.run(&["secret", "remove", "needs", "A"]).exits(0);
    removed.says_only("removed the secret A of needs\n");
    let missing = place.run(&["secret", "remove", "needs", "A"]).exits(2);
    run_printed(&place, &missing).exits(0).shows(&["B\n", "env_vars.A: missing"]);
}

#[test]
fn a_server_without_a_name_is_called_as_its_package_or_host() {
    let place = Place::new();
    let from = "git+https://github.com/oraios/serena@v1";
    for (words, name) in [
        (&["--", "uvx", "--from", from, "start"][..], "serena"),
        (&["--", "uvx", "git+https://github.com/o/mcp-time.git"], "mcp-time"),
        (&["https://mcp.example.com/mcp"], "mcp.example.com"),
        (&["--npm", "@scope/pkg@1.0.0", "--", "x"], "pkg"),
    ] {
        let added = place.run(&[&["server", "add"], words].concat()).exits(0);
        assert_eq!(printed(&added), [["info", name]], "{added:?}");
        place.run(&["server", "show", name]).exits(0);
    }
    place.run(&["server", "show", "serena"]).shows(&[&format!("uvx --from {from} start")]);
    place.run(&["server", "add", "--", "docker", "run", "img"]).exits(2).says(&["the server needs a name"]);
    place.run(&["server", "add"]).exits(2).says(&["no server is given"]);
}

#[test]
fn a_login_is_removed_with_its_server_and_others_are_named() {
    let guarded = Guarded::start().configured();
    let url = guarded.server.url();
    guarded.log_in(&["notes"]);
    guarded.log_in(&["notes", "--account", "work"]);
    let removed = guarded.run(&["server", "remove", "notes"]).exits(0);
    let remains = format!("A login to {url} remains; to remove it: mcpwire logout --url {url} --account work\n");
    let removed = removed.says(&["removed notes with its secrets and logs, and logged out", &remains]);
    guarded.run(&["ping", "--url", &url, "--stored-auth-only"]).exits(6);
    run_printed(&guarded, &removed).exits(0);
    guarded.run(&["whoami"]).gives(0, "");

    // Two servers with one login.
    for name in ["one", "two"] {
        guarded.run(&["server", "add", name, "--url", &url]).exits(0);
    }
    guarded.log_in(&["one"]);
    let removed = guarded.run(&["server", "remove", "one"]).exits(0);
    let removed = removed.says(&["A login to two remains; to remove it: mcpwire logout two\n"]);
    guarded.run(&["ping", "two"]).exits(0);
    run_printed(&guarded, &removed).exits(0);
    guarded.run(&["server", "remove", "two"]).exits(0).says_only("removed two with its secrets and logs\n");
}

#[test]
fn a_call_by_name_uses_the_login_of_the_account() {
    let guarded = Guarded::start().configured();
    guarded.add_demo("demo");
    let call = ["call", "notes", "echo", "--account", "work"];
    let refused = guarded.run(&call).exits(6).says(&["mcpwire login notes --account work"]);
    let [command] = printed(&refused).try_into().unwrap();
    guarded.log_in(&command.iter().skip(1).map(String::as_str).collect::<Vec<_>>());
    let check = || {
        guarded.run(&call).gives(0, "hi\n");
        for words in [&["info", "notes"][..], &["tools", "notes"], &["call", "echo", "--server", "notes"]] {
            guarded.run(&[words, &["--account", "work"]].concat()).exits(0);
        }
        guarded.run(&["call", "notes", "echo"]).exits(6);
    };
    check();
    let hub = guarded.hub();
    check();
    hub.interrupt().exits(0);
    guarded.run(&["call", "demo", "add", "a=2", "b=40", "--account", "work"]).exits(2).says(&["`demo` has no login"]);
    for words in [&["call", "notes__echo"][..], &["tools"]] {
        guarded.run(&[words, &["--account", "work"]].concat()).exits(2).says(&["--account is for one server"]);
    }
    guarded.run(&["call", "echo", "--account", "work", "--demo"]).exits(2);
}
