//! `mcpwire generate`: writes a module for the tools of a server, and finds out whether it is up to date.

use std::fs;

use crate::support::{MCPWIRE, Place};

/// The list of tools from which the module is generated whose functions the tests of all clients call.
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/tests/tools/demo.json");

#[test]
fn a_module_is_printed_or_written() {
    let place = Place::with_demo();
    let file = place.file("demo.rs");
    let printed =
        place.run(&["generate", "rust", "demo"]).shows(&["pub async fn add<", "of the server `mcpwire-demo`"]);
    place.run(&["generate", "rust", "demo", "--out", &file]).gives(0, "");
    place.run(&["generate", "rust", "demo", "--json"]).json_has("/source", place.read("demo.rs"));
    printed.gives(0, &place.read("demo.rs"));
}

#[test]
fn a_file_that_is_up_to_date_is_left_alone() {
    let place = Place::new();
    let file = place.file("demo.rs");
    place.run(&["generate", "rust", "--demo", "--out", &file]).gives(0, "");
    let mut permissions = fs::metadata(&file).expect("it is there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).expect("it is ours");
    let modified = || fs::metadata(&file).and_then(|metadata| metadata.modified()).expect("it is there");
    let before = modified();
    place.run(&["generate", "rust", "--demo", "--out", &file]).gives(0, "");
    assert_eq!(modified(), before);
}

#[test]
fn a_check_names_the_tools_that_differ() {
    let place = Place::new();
    let file = place.file("demo.rs");
    place.run(&["generate", "rust", "--demo", "--out", &file]).gives(0, "");
    let check = ["generate", "rust", "--check", &file, "--demo"];
    place.run(&check).gives(0, "");
    // An older revision of the protocol has no output schemas.
    let old = [&check[..], &["--protocol", "2025-03-26"]].concat();
    place.run(&old).gives(1, "changed: \"add\", \"chart\", \"echo\", \"fail\", \"greet\", \"slow\", \"weather\"\n");
    place.run(&[&check[..], &["--json"]].concat()).gives(0, "{\"new\":[],\"gone\":[],\"changed\":[]}\n");
}

#[test]
fn a_file_of_somebody_else_is_no_module() {
    let place = Place::new();
    let file = place.write("demo.rs", "fn main() {}\n");
    place
        .run(&["generate", "rust", "--check", &file, "--demo"])
        .exits(2)
        .says(&["not a module that mcpwire has generated"]);
    place.run(&["generate", "rust", "--check", &place.file("absent"), "--demo"]).exits(2);
    place.run(&["generate", "rust"]).exits(2).says(&["mcpwire generate rust SERVER"]);
    assert_eq!(place.read("demo.rs"), "fn main() {}\n");
}

/// The demo server has no other tools than when `LIST` was saved.
#[test]
fn the_saved_list_of_the_demo_is_up_to_date() {
    let place = Place::new();
    let tools = place.run(&["tools", "--json", "--", MCPWIRE, "demo-server"]).json();
    let saved = fs::read_to_string(LIST).expect("the list is there");
    let saved: serde_json::Value = serde_json::from_str(&saved).expect("it is JSON");
    assert_eq!(tools["tools"], saved["tools"]);
}
