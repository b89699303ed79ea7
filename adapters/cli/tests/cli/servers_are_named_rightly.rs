//! Names of servers and tools: typing errors, long names, and `--server` for each command.
#![cfg(target_os = "linux")]

use std::fs;

use crate::support::configured::{MCPWIRE, add_demo, at};
use crate::support::mcpwire;

#[test]
fn a_typing_error_in_a_servers_name_starts_nothing() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let started = place.join("started");
    let script = format!("touch '{}'; exec '{MCPWIRE}' demo-server", started.display());
    assert_eq!(at(place, &["server", "add", "calc", "--", "sh", "-c", &script]).code(), 0);
    let called = at(place, &["call", "clac__add", r#"{"a":1,"b":2}"#]);
    assert_eq!((called.code(), called.stdout.as_str()), (4, ""), "{called:?}");
    assert!(called.stderr.contains("Did you mean calc__add?"), "{called:?}");
    let listed = at(place, &["tools", "--server", "clac"]);
    assert!(listed.code() == 2 && listed.stderr.contains("Did you mean `calc`?"), "{listed:?}");
    assert!(!started.exists());

    let called = at(place, &["call", "calc__ad", "{}"]);
    assert!(called.code() == 4 && called.stderr.contains("calc__ad"), "{called:?}");
    assert!(started.exists(), "that server is asked");
    let called = at(place, &["call", "ecoh", "{}"]);
    assert!(called.code() == 4 && called.stderr.contains("Did you mean calc__echo?"), "{called:?}");
}

#[test]
fn every_command_takes_a_configured_server() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    let info = at(place, &["info", "--server", "DEMO", "--json"]);
    assert_eq!(info.json()["serverInfo"]["name"], "mcpwire-demo", "{info:?}");
    assert_eq!(at(place, &["ping", "--server", "demo"]).code(), 0);
    let wrong = at(place, &["info", "--server", "dmeo"]);
    assert!(wrong.code() == 2 && wrong.stderr.contains("Did you mean `demo`?"), "{wrong:?}");
    let wrong = at(place, &["info", "demo"]);
    assert!(wrong.code() == 2 && wrong.stderr.contains("--server demo"), "{wrong:?}");
    let wrong = at(place, &["info", "--server", "demo", "--env", "A=b"]);
    assert!(wrong.code() == 2 && wrong.stderr.contains("--env"), "{wrong:?}");
}

#[test]
fn a_name_of_any_length_in_a_file_is_shown_cut() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    add_demo(place, "other");
    let file = place.join("mcp/servers.json");
    let long = fs::read_to_string(&file).unwrap().replace(r#""demo""#, &format!("\"{}\"", "x".repeat(70_000)));
    fs::write(&file, long).unwrap();
    for words in [&["server", "list"][..], &["status"], &["server", "doctor"], &["tools"]] {
        let shown = at(place, words);
        assert!(shown.stdout.len() < 20_000 && shown.stderr.len() < 20_000, "{words:?} {shown:?}");
        assert!(!shown.stderr.contains("panicked"), "{shown:?}");
    }
}

#[test]
fn all_imported_servers_are_approved_and_enabled_at_once() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let file = place.join("mcp.json");
    let server = serde_json::json!({"command": MCPWIRE, "args": ["demo-server"]});
    let servers = serde_json::json!({"mcpServers": {"one": server, "two": server, "three": server}});
    fs::write(&file, servers.to_string()).unwrap();
    let imported = at(place, &["server", "import", file.to_str().unwrap()]);
    assert!(imported.stdout.contains("Review and approve: mcpwire server enable one"), "{imported:?}");
    assert!(at(place, &["server", "list"]).stdout.contains("(not approved yet)"));
    let enabled = at(place, &["server", "enable", "--all", "--trust"]);
    assert_eq!(enabled.code(), 0, "{enabled:?}");
    assert!(!at(place, &["server", "list"]).stdout.contains("not approved"));
    assert_eq!(at(place, &["server", "disable", "one", "two"]).code(), 0);
    assert_eq!(at(place, &["server", "list"]).stdout.matches("(disabled)").count(), 2);
}

#[test]
fn clients_to_import_from_are_named_as_the_help_says() {
    let help = mcpwire(&["server", "import", "--help"]).stdout;
    let (_, names) = help.split_once("[possible values: ").expect("the names are listed");
    let names: Vec<&str> = names.split(']').next().unwrap().split(',').map(str::trim).collect();
    assert!(names.contains(&"vscode") && names.contains(&"gemini"), "{names:?}");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "{}").unwrap();
    for name in names.into_iter().chain(["vs-code", "gemini-cli", "codex-toml"]) {
        let imported = at(place.path(), &["server", "import", file.to_str().unwrap(), "--from", name]);
        assert!(!imported.stderr.contains("invalid value"), "{name}: {imported:?}");
    }
    let wrong = at(place.path(), &["server", "import", file.to_str().unwrap(), "--from", "emacs"]);
    assert!(wrong.code() == 2 && wrong.stderr.contains("vscode"), "{wrong:?}");
}

#[test]
fn a_url_without_a_scheme_gets_a_suggestion() {
    let wrong = mcpwire(&["info", "--url", "localhost:3911"]);
    assert!(wrong.code() == 2 && wrong.stderr.contains("Did you mean http://localhost:3911/mcp?"), "{wrong:?}");
}

#[test]
fn errors_name_the_package_and_not_its_launcher() {
    let place = tempfile::tempdir().unwrap();
    let npx = place.path().join("npx");
    fs::write(&npx, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&npx, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let failed = mcpwire(&["info", "--", npx.to_str().unwrap(), "-y", "@acme/server-things"]);
    assert!(failed.stderr.contains("@acme/server-things"), "{failed:?}");
    let failed = mcpwire(&["resources", "--", "sh", "-c", crate::support::SCRIPTED, "scripted", "{}", "{}", ""]);
    assert_eq!(failed.code(), 4, "{failed:?}");
    assert!(failed.stderr.contains("does not offer resources") && !failed.stderr.contains("raw request"), "{failed:?}");
}
