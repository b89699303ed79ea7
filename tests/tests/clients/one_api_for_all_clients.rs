//! The blocking and the async clients have the same methods.
//!
//! Most are written once, in `adapters/client`. This compares the names of all, as `docs/public-api` lists them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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
