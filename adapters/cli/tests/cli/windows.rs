//! The program on Windows: the hub in the background, secrets, imports and logins.
#![cfg(windows)]

use std::fs;

use serde_json::json;

use crate::support::login::{Guarded, answer, login_page};
use crate::support::{MCPWIRE, Place, Running};

#[test]
fn commands_share_a_hub_in_the_background() {
    let place = Place::with_demo();
    place.add_demo("other");
    place.run("hub status").exits(3);
    // The output ends, so the hub has not inherited it.
    place.run("hub start").gives(0, "").says(&["runs in the background"]);
    place.run("hub start").exits(0).says(&["running already"]);
    place.run("hub run").exits(2).says(&["a hub is running here already"]);
    for name in ["demo", "other"] {
        place.adds_up(&format!("{name}__add"));
    }
    place.run("hub status").exits(0).shows(&["2 of 2 servers run"]);
    place.run("status").exits(0).shows(&["demo", "other", "running"]);
    place.run("call add {\"a\":2,\"b\":40} --server other").gives(0, "42\n");
    place.run("hub logs").exits(0).shows(&["listening at 127.0.0.1:", "other: running"]);
    place.run("server logs other").exits(0);
    place.run("hub restart").exits(0);
    place.adds_up("other__add");
    place.run("hub stop").exits(0).says(&["the hub has ended"]);
    assert!(!place.path().join("state/hub.port").exists());
    place.run("hub stop").fails();
}

#[test]
fn a_file_that_no_hub_holds_open_is_not_believed() {
    let place = Place::with_demo();
    fs::create_dir_all(place.path().join("state")).unwrap();
    // After a power failure, the file of the last hub is still there.
    place.write("state/hub.port", format!("9 {}", "0".repeat(64)));
    place.run("hub status").exits(3);
    place.run("hub start").exits(0);
    place.adds_up("demo__add");
    place.run("hub stop").exits(0);
}

#[test]
fn a_secret_reaches_its_server_and_no_list() {
    let place = Place::new();
    place.run(&["server", "add", "demo", "--secret", "TOKEN", "--", MCPWIRE, "demo-server"]).exits(0);
    place.run("secret list demo").exits(0).shows(&["TOKEN"]);
    place.run_with_input("secret set demo TOKEN", "top-secret\r\n").exits(0).hides(&["top-secret"]);
    place.run("secret list demo").exits(0).shows(&["TOKEN"]).hides(&["top-secret"]);
    place.adds_up("demo__add");
    place.run("secret remove demo TOKEN").exits(0);
}

#[test]
fn the_files_of_other_programs_are_found() {
    let place = Place::new();
    let roaming = place.path().join("roaming");
    fs::create_dir_all(roaming.join("Claude")).unwrap();
    let servers = json!({"mcpServers": {"sums": {"command": MCPWIRE, "args": ["demo-server"]}}});
    fs::write(roaming.join("Claude/claude_desktop_config.json"), servers.to_string()).unwrap();
    let mut import = place.command("server import --all --yes");
    Running::start(import.env("APPDATA", &roaming).env("USERPROFILE", place.path()), "").finish().exits(0);
    place.run("server list").exits(0).shows(&["sums"]);
}

#[test]
fn the_address_of_a_login_is_pasted() {
    let guarded = Guarded::start().configured();
    let login = guarded.begin_open("login notes --no-browser");
    let address = answer(&login_page(&login));
    let login = login.answer("paste it here:", "what?\r\n");
    guarded.assert_no_secret(login.answer("That is not the address", &format!("{address}\r\n")).finish().exits(0));
    guarded.run("call notes__echo").gives(0, "hi\n");
}
