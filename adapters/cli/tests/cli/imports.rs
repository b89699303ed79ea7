//! `mcpwire server import`: servers of other programs are taken over, and approved before they are started.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::support::{MCPWIRE, Place, SUM, mcpwire, wait_for};

/// The demo server.
fn demo() -> Value {
    json!({"command": MCPWIRE, "args": ["demo-server"]})
}

#[test]
fn another_programs_servers_are_taken_over_with_consent() {
    let place = Place::new();
    let servers = json!({"demo": demo(), "broken": {"command": "x", "url": "https://example.com"}});
    let file = place.write_import(&servers);
    place.run(&["server", "import", &file]).exits(0).shows(&["added demo", "left out broken"]);
    let refused = place.run(&["call", "demo__add", SUM, "--json"]);
    assert_eq!(refused.error()["field"], "consent", "{refused:?}");
    place.run(&["server", "enable", "demo", "--trust"]).exits(0);
    place.adds_up("demo__add");
    place.run(&["server", "remove", "demo"]).exits(0);
    place.run(&["server", "import", &file, "--trust"]).exits(0);
    place.adds_up("demo__add");
}

#[test]
fn all_imported_servers_are_approved_and_enabled_at_once() {
    let place = Place::new();
    let file = place.write_import(&json!({"one": demo(), "two": demo(), "three": demo()}));
    let list = || place.run(&["server", "list"]);
    place.run(&["server", "import", &file]).shows(&["Review and approve: mcpwire server enable one"]);
    list().shows(&["(not approved yet)"]);
    place.run(&["server", "enable", "--all", "--trust"]).exits(0);
    list().hides(&["not approved"]);
    place.run(&["server", "disable", "one", "two"]).exits(0);
    assert_eq!(list().stdout.matches("(disabled)").count(), 2);
}

#[test]
fn clients_to_import_from_are_named_as_the_help_says() {
    let help = mcpwire(&["server", "import", "--help"]).stdout;
    let (_, names) = help.split_once("[possible values: ").expect("the names are listed");
    let names: Vec<&str> = names.split(']').next().unwrap().split(',').map(str::trim).collect();
    assert!(names.contains(&"vscode") && names.contains(&"gemini"), "{names:?}");
    let place = Place::new();
    let file = place.write("file", "{}");
    for name in names.into_iter().chain(["vs-code", "gemini-cli", "codex-toml"]) {
        place.run(&["server", "import", &file, "--from", name]).hides(&["invalid value"]);
    }
    place.run(&["server", "import", &file, "--from", "emacs"]).exits(2).says(&["vscode"]);
}

#[test]
fn an_interrupt_at_the_approval_changes_nothing() {
    let place = Place::new();
    let file = place.write_import(&json!({"a": {"command": "a"}, "b": {"command": "b"}}));
    let import = place.at_terminal(&["server", "import", &file], &[]);
    import.wait_for_stderr("Approve? [y/N]");
    import.interrupt().exits(130).says(&["interrupted"]);
    place.run(&["server", "list"]).gives(0, "");
}

/// The host is a number.
#[test]
fn the_approval_names_the_address_of_a_host() {
    let place = Place::new();
    let file = place.write_import(&json!({"notes": {"url": "https://0x7f.1/mcp?x=y"}}));
    let shown = "https://0x7f.1/mcp?x=y (the host 127.0.0.1)";
    let import = place.at_terminal(&["server", "import", &file], &[]);
    import.wait_for_stderr("Approve? [y/N]");
    import.interrupt().says(&[shown]);
    place.run(&["server", "import", &file]).exits(0);
    place.run(&["server", "show", "notes"]).shows(&[shown]);
}

#[test]
fn imported_servers_are_started_by_a_running_hub_once_they_are_agreed_to() {
    let place = Place::new();
    let hub = place.hub();
    let file = place.write_import(&json!({"asks": demo()}));
    place.run(&["server", "import", &file]).shows(&["mcpwire server enable asks"]);
    let refused = place.run(&["call", "asks__add", SUM]).gives(2, "");
    refused.says(&["Review and approve it: mcpwire server enable asks"]).hides(&["not found"]);
    // Without a terminal, the user cannot be asked.
    place.run(&["server", "enable", "asks"]).exits(2).says(&["was imported and needs your approval"]);
    place.run(&["server", "enable", "asks", "--trust"]).exits(0);
    place.adds_up("asks__add");

    let file = place.write_import(&json!({"trusted": demo()}));
    place.run(&["server", "import", &file, "--trust"]).says(&["the running hub starts them"]);
    place.adds_up("trusted__add");
    hub.interrupt().exits(0);
}

/// The variable that decides what the server of [`depending`] starts.
const VARIABLE: &str = "MCPWIRE_TEST_COMMAND";

/// Writes a file to import, with a server whose arguments depend on [`VARIABLE`].
fn depending(place: &Place) -> String {
    place.write_import(&json!({"demo": {"command": MCPWIRE, "args": [format!("${{{VARIABLE}:-missing}}")]}}))
}

#[test]
fn an_approval_shows_and_allows_what_the_running_hub_starts() {
    let place = Place::new();
    let list = || place.run(&["server", "list"]);
    place.run(&["server", "import", &depending(&place)]).exits(0).shows(&["Review and approve"]);
    let hub = place.hub_with(&[(VARIABLE, "demo-server")]);
    // This command has no such variable, and alone it would start something else.
    place.run(&["server", "show", "demo"]).shows(&[&format!("{MCPWIRE} demo-server")]);
    list().shows(&["demo-server", "not approved yet"]);
    place.run(&["server", "enable", "demo", "--trust"]).exits(0);
    place.adds_up("demo__add");
    list().hides(&["not approved yet"]);
    hub.interrupt().exits(0);
    // The approval is for the hub's environment only.
    list().shows(&["not approved yet"]);
}

#[test]
fn the_question_of_an_approval_shows_what_the_running_hub_starts() {
    let place = Place::new();
    let hub = place.hub_with(&[(VARIABLE, "demo-server")]);
    let mut import = place.at_terminal(&["server", "import", &depending(&place)], &[]);
    import.wait_for_stderr("Approve? [y/N]");
    import.types("y\n");
    import.finish().exits(0).says(&[" demo-server"]).hides(&["missing"]);
    let sum = || (place.run(&["call", "demo__add", SUM]).stdout == "42\n").then_some(());
    wait_for("the server", sum);
    hub.interrupt().exits(0);
}
