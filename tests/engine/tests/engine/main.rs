//! The protocol without any input or output: messages go in, messages come out, and time is what a test says that it is.

mod any_format;
mod caching;
mod client_operations;
mod elicitation_and_sampling;
mod fuzz_targets;
mod handshake;
mod json_traps;
mod json_types;
mod limits;
mod official;
mod parameters;
mod received;
mod requests;
mod revisions;
mod round_trips;
mod rounds;
mod server_features;
mod server_requests;
mod structured;
mod subscriptions;
mod tasks;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The folders of the tests that are named after a requirement.
const FOLDERS: [&str; 3] = ["adapters/authorization/src", "core/oauth", "tests/tests/authorization"];

/// Adds the ids in front of the names of functions, such as O3 and O4 of `o3_o4_every_other_failure_...`.
fn collect(folder: &Path, ids: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            collect(&path, ids);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("code is text");
            let names = text.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
            ids.extend(names.flat_map(|name| name.split('_').take_while(|word| is_id(word)).map(str::to_uppercase)));
        }
    }
}

/// One or two letters and a number.
fn is_id(word: &str) -> bool {
    let number = word.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    matches!(word.len() - number.len(), 1 | 2) && number.parse::<u8>().is_ok()
}

#[test]
fn each_id_in_the_name_of_a_test_is_explained() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let explained = fs::read_to_string(tree.join("tests/requirements.md")).expect("the list is there");
    let mut ids = BTreeSet::new();
    for folder in FOLDERS {
        collect(&tree.join(folder), &mut ids);
    }
    assert!(ids.len() > 80, "{ids:?}");
    let missing: Vec<_> = ids.iter().filter(|id| !explained.contains(&format!("| {id} |"))).collect();
    assert!(missing.is_empty(), "add a line to tests/requirements.md: {missing:?}");
}
