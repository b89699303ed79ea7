//! The clients have the same methods, and each habit of a server has a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

// The blocking and the async clients have the same methods.
//
// Most are written once, in `adapters/client`. This compares the names of all, as `docs/public-api` lists them.

/// The types whose methods are compared.
const TYPES: [&str; 8] =
    ["McpClient", "Call", "Pending", "RunningTask", "TaskOrResult", "Subscription", "Notifications", "Events"];

/// The methods that only one of the clients has, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    ("McpClient::canceller", "a blocking wait is ended from another thread; a future is dropped"),
    ("McpClient::listen", "the async client reads in the background"),
    ("McpClient::connect_on", "only async clients have a runtime"),
    ("McpClient::over_on", "only async clients have a runtime"),
    ("McpClient::over_messages_on", "only async clients have a runtime"),
    ("McpClient::without_runtime", "only async clients have a runtime"),
    ("Pending::wait", "the async request is awaited itself"),
    ("Notifications::next_within", "async programs use the timeout of their runtime"),
    ("Events::next_within", "async programs use the timeout of their runtime"),
    ("Subscription::next_within", "async programs use the timeout of their runtime"),
    ("Subscription::changes", "the async subscription is a `Stream` itself"),
];

/// Returns the public methods of a crate in its listing, as `Type::method`. Methods of traits are left out.
fn methods(package: &str) -> BTreeSet<String> {
    let listing = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/public-api/{package}.txt"));
    let listing = fs::read_to_string(listing).expect("the listing is there");
    let prefix = format!("fn {}::", package.replace('-', "_"));
    let mut is_of_trait = false;
    let mut methods = BTreeSet::new();
    for line in listing.lines() {
        if line.starts_with("impl") {
            is_of_trait = line.contains(" for mcpwire_");
        } else if !is_of_trait
            && let Some((_, function)) = line.split_once(&prefix)
            && let path = without_generics(function)
            && let Some((of_type, method)) = path.split_once("::")
            && TYPES.contains(&of_type)
        {
            methods.insert(format!("{of_type}::{method}"));
        }
    }
    methods
}

/// Returns the path of a function, up to its arguments.
fn without_generics(function: &str) -> String {
    let (mut path, mut depth) = (String::new(), 0);
    for character in function.chars() {
        match character {
            '(' if depth == 0 => break,
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 => path.push(character),
            _ => {}
        }
    }
    path
}

#[test]
fn blocking_and_async_clients_have_the_same_methods() {
    let (blocking, driver) = (methods("mcpwire-blocking"), methods("mcpwire-driver"));
    assert!(blocking.len() > 80, "the listing was read: {}", blocking.len());
    let different: BTreeSet<_> = blocking.symmetric_difference(&driver).map(String::as_str).collect();
    let known: BTreeSet<_> = DIFFERENCES.iter().map(|(method, _)| *method).collect();
    assert_eq!(different, known);
}

// The table of habits and the tests belong together.

#[test]
fn every_habit_has_a_test() {
    let output = Command::new(env!("CARGO_BIN_EXE_bad-habits")).arg("--list").output().expect("the program starts");
    let list = String::from_utf8(output.stdout).expect("the list is text");
    let tests = all_tests();
    let words: Vec<&str> = list.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(words.len() > 30, "{list}");
    for word in words {
        let uses = [format!("\"{word}\""), format!("\"{word} ")];
        assert!(uses.iter().any(|quoted| tests.contains(quoted)), "no test has a server with the habit {word:?}");
    }
}

fn all_tests() -> String {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    let mut tests = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the tests are there") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                tests += &fs::read_to_string(path).expect("a test is text");
            }
        }
    }
    tests
}
